import { invalid, unprocessable } from '../../../config/errors.ts'
import { localInstant } from '../../../config/time.ts'
import type { SaleProperty } from '../../properties/index.ts'

const minute = 60_000
const hour = 60 * minute

/** The end of a hold of the desk, and its furthest extension (R9). 422 `hold_too_long`. */
export const holdTimes = (
  { kind, until }: { kind: 'option' | 'payment'; until?: string | undefined },
  { settings: { holds }, timezone, now }: Pick<SaleProperty, 'settings' | 'timezone' | 'now'>,
  arrival: string,
): { expiresAt: Date; capAt: Date } => {
  const arrivalDay = localInstant(arrival, '00:00', timezone)
  const most =
    kind === 'option'
      ? Math.min(now.getTime() + holds.optionMaxDays * 24 * hour, arrivalDay.getTime())
      : now.getTime() + holds.paymentMaxHours * hour
  const usual = kind === 'option' ? most : Math.min(most, now.getTime() + holds.checkoutMinutes * minute)
  const wanted = until === undefined ? usual : new Date(until).getTime()
  const refuse = (message: string) =>
    unprocessable('hold_too_long', 'The hold cannot last so long', [{ field: 'hold.until', message }])
  if (wanted > most) throw refuse(`must not be after ${new Date(most).toISOString()}`)
  if (most <= now.getTime()) throw refuse('an option ends before the day of arrival begins, which is over')
  if (wanted <= now.getTime()) throw invalid([{ field: 'hold.until', message: 'must be in the future' }])
  return { expiresAt: new Date(wanted), capAt: new Date(most) }
}
