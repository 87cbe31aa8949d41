import { Temporal } from 'temporal-polyfill'
import { memo } from './memo.ts'

const dayMs = 86_400_000

/** The calendar day `days` later; both are plain days, so no time zone plays a part. */
export const addDays = (day: string, days: number) =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10)

const numbers = memo<number>(5_000)

/** A calendar day as a number: the next day is one more. NaN for what is no day. */
export const dayNumber = (day: string): number => numbers(day, () => Math.round(Date.parse(`${day}T00:00:00Z`) / dayMs))

export const daysBetween = (from: string, until: string) => dayNumber(until) - dayNumber(from)

/** Remembers results of a function that is called often with few different arguments. Results are shared. */
const remembered = <Asked extends string[], Value extends {}>(most: number, work: (...asked: Asked) => Value) => {
  const values = memo<Value>(most)
  return (...asked: Asked): Value => values(asked.join(' '), () => work(...asked))
}

const listDays = (from: string, until: string): readonly string[] =>
  Array.from({ length: Math.max(0, daysBetween(from, until)) }, (_, index) => addDays(from, index))
const rememberedDays = remembered(500, listDays)

/** The days of `[from, until)`. */
export const daysIn = (from: string, until: string): readonly string[] =>
  daysBetween(from, until) > 800 ? listDays(from, until) : rememberedDays(from, until)

const localMs = remembered(1_000, (day: string, time: string, timeZone: string): number => {
  const local = Temporal.PlainDateTime.from(`${day}T${time}`)
  const zoned = local.toZonedDateTime(timeZone, { disambiguation: 'compatible' })
  if (zoned.toPlainDateTime().equals(local)) return zoned.epochMilliseconds
  // In a gap "earlier" stays before it, so the next transition is the gap itself.
  const before = local.toZonedDateTime(timeZone, { disambiguation: 'earlier' })
  return (before.getTimeZoneTransition('next') ?? zoned).epochMilliseconds
})

/**
 * The instant at which a local time comes. A time that a clock change skips means the first instant after the gap, one
 * that occurs twice means the first.
 */
export const localInstant = (day: string, time: string, timeZone: string): Date =>
  new Date(localMs(day, time, timeZone))

const minuteMs = 60_000
const dayOfMinute = remembered(1_000, (timeZone: string, minute: string): string =>
  Temporal.Instant.fromEpochMilliseconds(Number(minute) * minuteMs)
    .toZonedDateTimeISO(timeZone)
    .toPlainDate()
    .toString(),
)

/** The calendar day in a time zone at an instant; days begin with a minute everywhere since 1972. */
export const todayIn = (timeZone: string, now: Date = new Date()): string =>
  dayOfMinute(timeZone, String(Math.floor(now.getTime() / minuteMs)))

/** The local time `HH:MM` in a time zone at an instant. */
export const clockIn = (timeZone: string, now: Date = new Date()): string =>
  Temporal.Instant.fromEpochMilliseconds(now.getTime())
    .toZonedDateTimeISO(timeZone)
    .toPlainTime()
    .toString()
    .slice(0, 5)
