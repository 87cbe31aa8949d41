import type { NoShowRules } from '../../../config/policy-rules.ts'

/** The nights that stay sold after a no-show (R31): none, or those that the fee covers, which is at least the first. Dates in order. */
export const nightsKept = ({ fee, releaseRemaining }: NoShowRules, dates: readonly string[]): ReadonlySet<string> => {
  if (releaseRemaining) return new Set()
  if (fee.type === 'full') return new Set(dates)
  return new Set(dates.slice(0, fee.type === 'nights' ? Math.max(1, fee.value) : 1))
}
