import type { PropertySettings } from '../../../config/property-settings.ts'
import { addDays, clockIn, localInstant, todayIn } from '../../../config/time.ts'

const halfHourMs = 1_800_000

/** The end of the quiet hours that now lies in, or null. They may span midnight. */
export const quietUntil = (
  { quietFrom, quietUntil: until }: Pick<PropertySettings['messages'], 'quietFrom' | 'quietUntil'>,
  timeZone: string,
  now: Date,
): Date | null => {
  const clock = clockIn(timeZone, now)
  const overnight = quietFrom > until
  const quiet = overnight ? clock >= quietFrom || clock < until : clock >= quietFrom && clock < until
  if (!quiet) return null
  const today = todayIn(timeZone, now)
  let end = localInstant(overnight && clock >= quietFrom ? addDays(today, 1) : today, until, timeZone)
  // In an hour that comes twice, the first of the two ends may be over.
  while (end <= now) end = new Date(end.getTime() + halfHourMs)
  return end
}
