import { addDays, daysBetween } from '../../../config/time.ts'

const two = (value: number) => String(value).padStart(2, '0')
const lastDay = (year: number, month: number) => new Date(Date.UTC(year, month, 0)).getUTCDate()

/** A day moved by months; the last day of the month where that month is shorter. */
export const addMonths = (day: string, months: number): string => {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  const index = year * 12 + (month - 1) + months
  const [y, m] = [Math.floor(index / 12), (((index % 12) + 12) % 12) + 1]
  return `${String(y).padStart(4, '0')}-${two(m)}-${two(Math.min(date, lastDay(y, m)))}`
}

export const firstOfMonth = (day: string): string => `${day.slice(0, 7)}-01`
export const endOfMonth = (day: string): string => addDays(addMonths(firstOfMonth(day), 1), -1)
export const isWholeMonths = (from: string, to: string): boolean => from === firstOfMonth(from) && to === endOfMonth(to)

export type Range = { from: string; to: string }

/** First days of the months that a range touches. */
export const monthsOf = ({ from, to }: Range): string[] => {
  const months: string[] = []
  for (let month = firstOfMonth(from); month <= to; month = addMonths(month, 1)) months.push(month)
  return months
}

/** The range before, as long as the range: months before months, else days before days. */
export const previousRange = ({ from, to }: Range): Range => {
  if (!isWholeMonths(from, to)) return { from: addDays(from, -daysBetween(from, to) - 1), to: addDays(from, -1) }
  return { from: addMonths(from, -monthsOf({ from, to }).length), to: addDays(from, -1) }
}

/** A range moved to the year before: 28 February for the 29th, and whole months for whole months. */
export const lastYearRange = ({ from, to }: Range): Range => ({
  from: addMonths(from, -12),
  to: isWholeMonths(from, to) ? endOfMonth(addMonths(firstOfMonth(to), -12)) : addMonths(to, -12),
})
