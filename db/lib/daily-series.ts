import { dayNumber } from '../../config/time.ts'

/** Numbers by day in one row: from the day `first` on, one after the other; with `days`, on those, where some between are missing. */
export type Daily = { first: string; days: string[] | null; values: number[] }

/** The columns of a `Daily` over grouped rows, one for each day: a row for each day costs both sides more than its number. */
export const dailyColumns = (day: string, value: string): string =>
  `min(${day}) as first, case when max(${day}) - min(${day}) + 1 > count(*) then array_agg(${day} order by ${day}) end as days,
   array_agg(${value} order by ${day}) as values`

/** The number of a day; null where there is none. */
export const onDay = ({ first, days, values }: Daily): ((day: string) => number | null) => {
  if (days !== null) {
    const byDay = new Map(days.map((day, index) => [day, values[index] ?? null]))
    return (day) => byDay.get(day) ?? null
  }
  const start = dayNumber(first)
  return (day) => values[dayNumber(day) - start] ?? null
}
