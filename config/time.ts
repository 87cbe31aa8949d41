import { Temporal } from 'temporal-polyfill'

const dayMs = 86_400_000

/** The calendar day `days` later; both are plain days, so no time zone plays a part. */
export const addDays = (day: string, days: number) =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10)

const numbers = new Map<string, number>()
const mostNumbers = 5_000

/** A calendar day as a number: the next day is one more. NaN for what is no day. */
export const dayNumber = (day: string): number => {
  const known = numbers.get(day)
  if (known !== undefined) return known
  const number = Math.round(Date.parse(`${day}T00:00:00Z`) / dayMs)
  if (numbers.size >= mostNumbers) numbers.clear()
  numbers.set(day, number)
  return number
}

export const daysBetween = (from: string, until: string) => dayNumber(until) - dayNumber(from)

const written = new Map<string, readonly string[]>()
const mostWritten = 500

/** The days of `[from, until)`. Whoever prices stays asks for the same few stretches over and over: what is answered is shared. */
export const daysIn = (from: string, until: string): readonly string[] => {
  const key = `${from} ${until}`
  const known = written.get(key)
  if (known) return known
  const days = Array.from({ length: Math.max(0, daysBetween(from, until)) }, (_, index) => addDays(from, index))
  if (written.size >= mostWritten) written.clear()
  if (days.length <= 400) written.set(key, days)
  return days
}

/**
 * The instant at which a local time comes. A time that a clock change skips means the first instant after the gap, one
 * that occurs twice means the first.
 */
export const localInstant = (day: string, time: string, timeZone: string): Date => {
  const local = Temporal.PlainDateTime.from(`${day}T${time}`)
  const zoned = local.toZonedDateTime(timeZone, { disambiguation: 'compatible' })
  if (zoned.toPlainDateTime().equals(local)) return new Date(zoned.epochMilliseconds)
  // In a gap "earlier" stays before it, so the next transition is the gap itself.
  const before = local.toZonedDateTime(timeZone, { disambiguation: 'earlier' })
  return new Date((before.getTimeZoneTransition('next') ?? zoned).epochMilliseconds)
}

/** The calendar day in a time zone at an instant. */
export const todayIn = (timeZone: string, now: Date = new Date()): string =>
  Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timeZone).toPlainDate().toString()

/** The local time `HH:MM` in a time zone at an instant. */
export const clockIn = (timeZone: string, now: Date = new Date()): string =>
  Temporal.Instant.fromEpochMilliseconds(now.getTime())
    .toZonedDateTimeISO(timeZone)
    .toPlainTime()
    .toString()
    .slice(0, 5)
