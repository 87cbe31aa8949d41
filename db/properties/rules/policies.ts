import type { CancellationRules, Fee } from '../../../config/policy-rules.ts'
import { scaled, shareOf, sum } from '../../lib/amounts.ts'

/** Base of a fee. `nights` are the prices of the nights, `total` has extras and taxes too. */
export type FeeBase = { nights: readonly number[]; roomTotal: number; total: number }

export type FeeInstants = {
  /** `localInstant(arrival, checkInFrom, timeZone)` */
  arrivalAt: Date
  bookedAt: Date
  now: Date
}

const hour = 3_600_000

/** A fee in minor units; never more than what it is taken of. */
export const feeAmount = (fee: Fee, base: FeeBase): number => {
  const whole = fee.of === 'room' ? base.roomTotal : base.total
  if (fee.type === 'none') return 0
  if (fee.type === 'full') return whole
  if (fee.type === 'percent') return Math.min(whole, shareOf(whole, fee.value))
  if (fee.type === 'amount') return Math.min(whole, fee.value)
  const first = sum(base.nights.slice(0, fee.value))
  if (fee.of === 'room' || base.roomTotal === 0) return Math.min(whole, first)
  return Math.min(whole, scaled(whole, first, base.roomTotal))
}

const deadline = (arrivalAt: Date, hoursBeforeArrival: number) =>
  new Date(arrivalAt.getTime() - hoursBeforeArrival * hour)

const graceEnds = (rules: CancellationRules, { arrivalAt, bookedAt }: Pick<FeeInstants, 'arrivalAt' | 'bookedAt'>) =>
  new Date(Math.min(bookedAt.getTime() + rules.graceHoursAfterBooking * hour, arrivalAt.getTime() - 1))

/**
 * The fee for cancelling at an instant: nothing in the grace after booking, else the first tier whose deadline is not past. Past all deadlines it is `after`.
 * At the deadline itself the tier still holds.
 */
export const feeAt = (rules: CancellationRules, base: FeeBase, instants: FeeInstants): number => {
  if (rules.graceHoursAfterBooking > 0 && instants.now <= graceEnds(rules, instants)) return 0
  const tier = rules.tiers.find((entry) => instants.now <= deadline(instants.arrivalAt, entry.hoursBeforeArrival))
  return feeAmount(tier?.fee ?? rules.after, base)
}

/** Fees from now on: each until an instant (included), the last one with null. Tiers that are past are left out. */
export const feeTiers = (
  rules: CancellationRules,
  base: FeeBase,
  { arrivalAt, now }: Pick<FeeInstants, 'arrivalAt' | 'now'>,
) => [
  ...rules.tiers
    .map((tier) => ({
      until: deadline(arrivalAt, tier.hoursBeforeArrival) as Date | null,
      fee: feeAmount(tier.fee, base),
    }))
    .filter((tier) => tier.until !== null && now <= tier.until),
  { until: null as Date | null, fee: feeAmount(rules.after, base) },
]

/** The last instant at which the present fee still holds; null when it will not change before arrival. */
export const nextDeadline = (rules: CancellationRules, base: FeeBase, instants: FeeInstants): Date | null => {
  const fee = feeAt(rules, base, instants)
  const ends = [
    graceEnds(rules, instants),
    ...rules.tiers.map((tier) => deadline(instants.arrivalAt, tier.hoursBeforeArrival)),
  ]
    .filter((end) => end >= instants.now)
    .sort((a, b) => a.getTime() - b.getTime())
  return ends.find((end) => feeAt(rules, base, { ...instants, now: new Date(end.getTime() + 1) }) !== fee) ?? null
}

/** The last instant at which cancelling is free; null when it already costs something. Always free: the arrival. */
export const freeUntil = (
  rules: CancellationRules,
  base: FeeBase,
  { arrivalAt, now }: Pick<FeeInstants, 'arrivalAt' | 'now'>,
): Date | null => {
  let last: Date | null = null
  for (const tier of feeTiers(rules, base, { arrivalAt, now })) {
    if (tier.fee > 0) return last
    last = tier.until ?? arrivalAt
  }
  return last
}

/** In one word, whether money comes back: by the best and the worst fee that the rules know. */
export const refundability = (rules: CancellationRules): 'full' | 'partial' | 'none' => {
  const fees = [...rules.tiers.map((tier) => tier.fee), rules.after]
  const base = { nights: [100, 100, 100, 100, 100, 100, 100], roomTotal: 700, total: 700 }
  const least = Math.min(...fees.map((fee) => feeAmount(fee, base)))
  return least === 0 ? 'full' : least < 700 ? 'partial' : 'none'
}
