import type { NoShowRules } from '../../../config/policy-rules.ts'
import { localInstant } from '../../../config/time.ts'
import { feeAmount } from '../../properties/rules/policies.ts'
import type { FeeBase, SaleProperty } from '../../properties/index.ts'
import type { ReservationRow } from '../../rows.ts'

/** The fee of a no-show by the rules of the stay's own copy of the policy, or less where the desk has lowered it; minor units. */
export const noShowFee = ({ fee }: NoShowRules, base: FeeBase, lowered: number = Infinity): number =>
  Math.min(lowered, feeAmount(fee, base))

/** The nights that stay sold after a no-show (R31): none, or those that the fee covers, which is at least the first. Dates in order. */
export const nightsKept = ({ fee, releaseRemaining }: NoShowRules, dates: readonly string[]): ReadonlySet<string> => {
  if (releaseRemaining) return new Set()
  if (fee.type === 'full') return new Set(dates)
  return new Set(dates.slice(0, fee.type === 'nights' ? Math.max(1, fee.value) : 1))
}

/**
 * The nights from the business date on that a no-show gives back (R31), in order. Those that an earlier fee has paid for stay sold where nights that a fee covers
 * do.
 */
export const nightsLeft = (
  rules: NoShowRules,
  { open, waived }: { open: readonly string[]; waived: readonly string[] },
  businessDate: string,
): string[] => {
  const kept = nightsKept(rules, open)
  return [...open.filter((date) => !kept.has(date)), ...(rules.releaseRemaining ? waived : [])]
    .filter((date) => date >= businessDate)
    .toSorted()
}

/** Tells whether a reservation counts as a no-show: from the day after arrival, or from the property's hour on the evening of arrival. */
export const isNoShow = (
  { arrival }: Pick<ReservationRow, 'arrival'>,
  { timezone, settings, now }: Pick<SaleProperty, 'timezone' | 'settings' | 'now'>,
  businessDate: string,
): boolean =>
  businessDate > arrival ||
  (businessDate === arrival && now >= localInstant(arrival, settings.frontDesk.noShowFrom, timezone))
