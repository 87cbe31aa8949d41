import { addDays, daysBetween, localInstant, todayIn } from '../../../config/time.ts'
import { addMonths, endOfMonth, firstOfMonth } from './dates.ts'

export const periods = [
  'today',
  'yesterday',
  'last_7_days',
  'last_week',
  'month_to_date',
  'last_month',
  'year_to_date',
  'last_year',
  'next_30_days',
] as const
export type Period = (typeof periods)[number]

/** Every day, on a day of the week (1 is Monday), or on a day of the month: the last one of shorter months for 29 to 31. */
export type Clock = {
  type: 'clock'
  every: 'day' | 'week' | 'month'
  at: string
  weekDay?: number
  day?: number
  timeZone: string
}
export type Trigger = Clock | { type: 'business_day_closed'; propertyId: string }

/** 1 for Monday to 7 for Sunday. */
const weekDayOf = (day: string) => (((daysBetween('1970-01-05', day) % 7) + 7) % 7) + 1

const isDay = ({ every, weekDay = 1, day = 1 }: Clock, date: string): boolean => {
  if (every === 'day') return true
  if (every === 'week') return weekDayOf(date) === weekDay
  const last = endOfMonth(date)
  const wanted = addDays(firstOfMonth(date), day - 1)
  return date === (wanted > last ? last : wanted)
}

/** The first time of a clock after an instant: its day in the zone, and the instant. A time that the zone skips comes when the clock has moved on. */
export const nextSlot = (clock: Clock, after: Date): { date: string; at: Date } => {
  const start = addDays(todayIn(clock.timeZone, after), -1)
  for (let days = 0; days < 70; days += 1) {
    const date = addDays(start, days)
    if (!isDay(clock, date)) continue
    const at = localInstant(date, clock.at, clock.timeZone)
    if (at > after) return { date, at }
  }
  throw new Error('the clock has no next time')
}

/** The days of a period as seen on a day. Weeks begin on Monday. */
export const daysOfPeriod = (period: Period, on: string): { from: string; to: string } => {
  const month = firstOfMonth(on)
  const monday = addDays(on, 1 - weekDayOf(on))
  const lastYear = String(Number(on.slice(0, 4)) - 1)
  const ranges: Record<Period, readonly [string, string]> = {
    today: [on, on],
    yesterday: [addDays(on, -1), addDays(on, -1)],
    last_7_days: [addDays(on, -7), addDays(on, -1)],
    last_week: [addDays(monday, -7), addDays(monday, -1)],
    month_to_date: [month, on],
    last_month: [addMonths(month, -1), addDays(month, -1)],
    year_to_date: [`${on.slice(0, 4)}-01-01`, on],
    last_year: [`${lastYear}-01-01`, `${lastYear}-12-31`],
    next_30_days: [addDays(on, 1), addDays(on, 30)],
  }
  const [from, to] = ranges[period]
  return { from, to }
}

/** Parameters of a run with the days of their period in the fields that the report has for days. */
export const parametersOn = (
  given: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
  on: string,
): Record<string, unknown> => {
  const { period, ...parameters } = given
  if (period === undefined) return parameters
  const { from, to } = daysOfPeriod(period as Period, on)
  const days: Record<string, unknown> = known.has('startDate')
    ? { startDate: from, endDate: to }
    : known.has('asOf')
      ? { asOf: to }
      : known.has('date')
        ? { date: to }
        : known.has('days')
          ? { days: 30 }
          : {}
  return { ...parameters, ...days }
}
