/** Rules of the house that people with the permission may set aside, each with a reason that is kept. */
export const overrideRules = [
  'availability',
  'restriction',
  'price',
  'fee',
  'deposit',
  'early_check_in',
  'unit_condition',
  'registration',
  'barred_guest',
  'balance',
  'credit_limit',
  'late_cancellation',
  'channel',
] as const
export type OverrideRule = (typeof overrideRules)[number]

export type Override = { readonly rules: readonly OverrideRule[]; readonly reason: string }

/** These two open the stock of the house and its restrictions; the permission is that of `Availability`. */
const ofAvailability: ReadonlySet<OverrideRule> = new Set(['availability', 'restriction'])

/** The subject whose permission `override` a rule needs. */
export const subjectOfRule = (rule: OverrideRule): 'Availability' | 'Reservation' =>
  ofAvailability.has(rule) ? 'Availability' : 'Reservation'

type Holding = {
  rules: readonly OverrideRule[]
  /** Basis points below the plan's price; null is without limit. */
  priceCutBps: number | null
}

const all: Holding = { rules: overrideRules, priceCutBps: null }

/** Rules of `override Reservation` by built-in role; a custom role with the permission holds all but prices below those of a manager. */
const holdings: Readonly<Record<string, Holding>> = {
  owner: all,
  admin: all,
  manager: { ...all, priceCutBps: 3000 },
  receptionist: { rules: ['early_check_in', 'unit_condition', 'registration'], priceCutBps: 0 },
  finance: { rules: ['balance', 'fee', 'deposit', 'credit_limit'], priceCutBps: 0 },
}

export const holdingOf = (role: string | null): Holding => holdings[role ?? ''] ?? { ...all, priceCutBps: 3000 }
