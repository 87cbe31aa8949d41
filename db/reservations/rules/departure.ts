import { addDays, todayIn } from '../../../config/time.ts'
import type { SaleProperty } from '../../properties/index.ts'

const later = (a: string, b: string) => (a > b ? a : b)

/**
 * The last night that a guest who leaves now has to pay (R22). The night before the calendar day was slept, whether the night audit has closed it or
 * not. `chargeTonight` adds that of the business date, for day use and late departures.
 */
export const lastNightDue = (
  { timezone, now }: Pick<SaleProperty, 'timezone' | 'now'>,
  businessDate: string,
  chargeTonight: boolean,
): string => {
  const slept = addDays(later(businessDate, todayIn(timezone, now)), -1)
  return chargeTonight ? later(slept, businessDate) : slept
}
