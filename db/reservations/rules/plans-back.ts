import type { ReservationNightRow } from '../../rows.ts'
import { sum } from '../../lib/amounts.ts'
import type { StayFacts } from '../facts.ts'
import { blocker } from './blockers.ts'
import { nightsKept } from './no-show.ts'
import { nothing } from './plans.ts'
import type { Plan, Scene } from './plans.ts'
import { policiesOf } from './policies.ts'

const released = (nights: readonly ReservationNightRow[], from: string) =>
  nights.filter((night) => night.status === 'released' && night.date >= from).map((night) => night.date)

/** Categories of fees for leaving early, and of those for not coming. */
export const earlyDepartureFees: ReadonlySet<string> = new Set(['early_departure'])
const missedFees: ReadonlySet<string> = new Set(['no_show'])
export const endingFees: ReadonlySet<string> = new Set(['cancellation', 'no_show'])

/** True of a fee of some categories. */
export const isFee = ({ category }: { category: string | null }, categories: ReadonlySet<string>) =>
  category !== null && categories.has(category)

/** Fees on folios of the stay; one that was moved away is taken back there. */
const leftOf = ({ fees, folios }: StayFacts, categories: ReadonlySet<string>) =>
  sum(
    fees
      .filter((fee) => isFee(fee, categories) && folios.some((one) => one.id === fee.folioId))
      .map(({ amount }) => amount),
  )

/** No stay of a guest whose personal data were erased comes back: nothing could tell who comes. */
const erased = ({ isErased }: StayFacts) =>
  blocker(isErased, 'guest_erased', 'The personal data of a guest were erased')

/** T14: on the day of the check-in, before its night is charged. */
export const planRevertCheckIn = ({ facts, businessDate }: Scene): Plan => {
  const { stay, nights } = facts
  const tonight = nights.find((night) => night.date === businessDate)
  return {
    blockers: [
      ...blocker(
        stay.checkInBusinessDate !== businessDate,
        'business_date_passed',
        `The guest was checked in on ${stay.checkInBusinessDate}`,
      ),
      ...blocker(tonight?.status === 'charged', 'night_charged', 'The night of the business date is charged'),
    ],
    warnings: [],
    effects: nothing(facts),
  }
}

/** Days of a no-show that its fee covers; those that are charged are paid for otherwise. */
const coveredDays = ({ stay, nights }: StayFacts): ReadonlySet<string> => {
  const { rules } = policiesOf(stay).noShow
  const dates = nights.filter((night) => night.status !== 'charged').map((night) => night.date)
  return nightsKept({ ...rules, releaseRemaining: false }, dates)
}

/** T17: on the day of the check-out; the nights that it gave back are taken again. `waived`: those that the kept fee of a no-show has paid for. */
export const planRevertCheckOut = ({ facts, businessDate }: Scene): Plan & { waived: string[] } => {
  const { stay, nights } = facts
  const before = nothing(facts)
  const taken = released(nights, businessDate)
  const isKept = (stay.feeAmount ?? 0) > 0 && facts.fees.some((fee) => isFee(fee, missedFees))
  const covered = isKept ? coveredDays(facts) : new Set<string>()
  return {
    blockers: [
      ...blocker(
        stay.checkOutBusinessDate !== businessDate,
        'business_date_passed',
        `The guest was checked out on ${stay.checkOutBusinessDate}`,
      ),
      ...erased(facts),
    ],
    warnings: [],
    effects: {
      ...before,
      balanceDue: before.balanceDue - leftOf(facts, earlyDepartureFees),
      nightsTaken: taken,
    },
    waived: taken.filter((date) => covered.has(date)),
  }
}

export type ReinstateTerms = { fee?: 'keep' | 'reverse' | undefined }

/**
 * T19 and T20: what brings a no-show or a cancelled stay back. `waived`: nights that a kept fee has paid for, which are never charged. `servedFrom`: the first day of
 * which the guest pays services; those of nights that were missed, and are not charged, were never served.
 */
export const planReinstate = (
  { facts, businessDate }: Scene,
  { fee = 'reverse' }: ReinstateTerms,
): Plan & { waived: string[]; opened: string[]; servedFrom: string } => {
  const { stay, nights } = facts
  const isNoShow = stay.status === 'no_show'
  const taken = released(nights, businessDate)
  const covered = isNoShow && fee === 'keep' && (stay.feeAmount ?? 0) > 0 ? coveredDays(facts) : new Set<string>()
  const kept = fee === 'keep' ? (stay.feeAmount ?? 0) : 0
  const before = nothing(facts)
  const reversed = fee === 'reverse' ? leftOf(facts, endingFees) : 0
  return {
    blockers: isNoShow
      ? [
          ...blocker(businessDate >= stay.departure, 'stay_over', `The stay ended on ${stay.departure}`),
          ...erased(facts),
        ]
      : [
          ...erased(facts),
          ...blocker(stay.confirmedAt === null, 'never_confirmed', 'The stay was held, and never confirmed'),
          ...blocker(businessDate > stay.arrival, 'arrival_past', `The stay began on ${stay.arrival}`),
          ...blocker(facts.refunded, 'refunded', 'Money of the stay was sent back; book it anew'),
        ],
    warnings: [],
    effects: { ...before, fee: kept, balanceDue: before.balanceDue - reversed, nightsTaken: taken },
    waived: nights
      .filter((night) => covered.has(night.date) && (night.status === 'open' || taken.includes(night.date)))
      .map((night) => night.date),
    opened: taken.filter((date) => !covered.has(date)),
    servedFrom:
      nights.find(({ date, status }) => date >= businessDate || (status === 'open' && !covered.has(date)))?.date ??
      stay.arrival,
  }
}
