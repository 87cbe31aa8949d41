import { invalid, unprocessable } from '../../../config/errors.ts'
import { addDays } from '../../../config/time.ts'

/** The schedule of an installment from a day on. */
export type Version = { since: string; dueOn: string; amount: number }
export type Share = { dueOn: string; amount: number }
/** An installment as far as its schedule goes; amounts in minor units. */
export type Scheduled = Share & { id: string; seq: number; open: number; versions: readonly Version[] }
export type Rescheduled = Share & { id: string | null; seq: number; versions: Version[] }

const sumOf = (shares: readonly { amount: number }[]) => shares.reduce((total, { amount }) => total + amount, 0)

/**
 * The installments of a new document: those given, else one that is due after the days of the terms. 422 `installments_not_equal` where they do not add up to
 * the total; 422 `date_out_of_range` where one is due before the document is issued.
 */
export const installmentsOf = (
  { total, issuedOn, termDays }: { total: number; issuedOn: string; termDays: number },
  given: readonly Share[] | undefined,
): Share[] => {
  const made = given && given.length > 0 ? [...given] : [{ dueOn: addDays(issuedOn, termDays), amount: total }]
  if (sumOf(made) !== total)
    throw unprocessable('installments_not_equal', `The installments are ${sumOf(made)}, the total is ${total}`, [
      { field: 'installments', message: `must add up to ${total}` },
    ])
  const early = made.findIndex(({ dueOn }) => dueOn < issuedOn)
  if (early >= 0)
    throw unprocessable('date_out_of_range', 'An installment is due before the document is issued', [
      { field: `installments.${early}.dueOn`, message: `must not be before ${issuedOn}` },
    ])
  return made
}

/** A schedule of one day replaces another of that day; those of earlier days are kept. */
export const withVersion = (versions: readonly Version[], version: Version): Version[] => [
  ...versions.filter(({ since }) => since < version.since),
  version,
]

/** Keeps the days and amounts of `before` where the new schedule says the same. */
const versionsOf = (before: Scheduled | null, share: Share, since: string): Version[] => {
  if (before && before.dueOn === share.dueOn && before.amount === share.amount) return [...before.versions]
  return withVersion(before?.versions ?? [], { since, ...share })
}

/**
 * A new schedule of what is not paid (`wanted`), from today on. What was paid stays with its installment; an unpaid installment that is not wanted any more
 * keeps its past with an amount of 0. 422 `installments_not_equal` where the wanted ones are not the open amount.
 */
export const rescheduled = (current: readonly Scheduled[], wanted: readonly Share[], today: string): Rescheduled[] => {
  const open = current.reduce((total, one) => total + one.open, 0)
  if (wanted.some(({ amount }) => amount <= 0))
    throw invalid([{ field: 'installments', message: 'each amount is more than 0' }])
  if (sumOf(wanted) !== open)
    throw unprocessable('installments_not_equal', `The installments are ${sumOf(wanted)}, ${open} is open`, [
      { field: 'installments', message: `must add up to ${open}` },
    ])
  const left = [...wanted]
  const kept = current.map((one): Rescheduled => {
    const closed = one.amount - one.open
    const same = left.findIndex(({ dueOn }) => dueOn === one.dueOn)
    const free = closed === 0 && one.amount > 0 && same < 0 ? 0 : same
    const share = free >= 0 && left.length > 0 ? left.splice(free, 1)[0] : undefined
    const next = { dueOn: share?.dueOn ?? one.dueOn, amount: closed + (share?.amount ?? 0) }
    return { id: one.id, seq: one.seq, ...next, versions: versionsOf(one, next, today) }
  })
  const last = Math.max(0, ...current.map(({ seq }) => seq))
  const added = left.map((share, index): Rescheduled => ({
    id: null,
    seq: last + index + 1,
    ...share,
    versions: versionsOf(null, share, today),
  }))
  return [...kept, ...added]
}

/** Parts of an amount for open installments in their order: each takes what is open of it, as far as the amount goes. */
export const distributed = <One extends { open: number }>(
  installments: readonly One[],
  amount: number,
): { installment: One; amount: number }[] => {
  let left = amount
  return installments.flatMap((installment) => {
    const part = Math.min(left, installment.open)
    left -= part
    return part > 0 ? [{ installment, amount: part }] : []
  })
}

/** Buckets by the days after the due date on a day: the day itself is not due. */
export const buckets = ['notDue', 'd1to30', 'd31to60', 'd61to90', 'over90'] as const
export type Buckets = Record<(typeof buckets)[number] | 'total', number>
