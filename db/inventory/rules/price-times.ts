import { addDays } from '../../../config/time.ts'

/** The times at which a price holds: null is always. Times are `HH:MM`; one that ends before it begins goes over midnight, and belongs to the day that it begins on. */
export type PriceTimes = {
  validFrom: string | null
  validTo: string | null
  /** 1 = Monday … 7 */
  weekDays: readonly number[] | null
  timeFrom: string | null
  timeTo: string | null
}

const dayMinutes = 24 * 60
const weekMinutes = 7 * dayMinutes
const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5))
const weekDayOf = (day: string): number => ((new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7) + 1

/** Tells whether a price holds at a local day and time: from its first minute on, until before its last. */
export const holdsAt = (times: PriceTimes, day: string, clock: string): boolean => {
  const { validFrom, validTo, weekDays, timeFrom, timeTo } = times
  const on = (date: string) =>
    (validFrom === null || validFrom <= date) &&
    (validTo === null || date <= validTo) &&
    (weekDays === null || weekDays.includes(weekDayOf(date)))
  if (timeFrom === null || timeTo === null) return on(day)
  const [from, to, now] = [minutesOf(timeFrom), minutesOf(timeTo), minutesOf(clock)]
  if (from < to) return from <= now && now < to && on(day)
  return (now >= from && on(day)) || (now < to && on(addDays(day, -1)))
}

/** Minutes of the week in which a price holds. */
const spansOf = ({ weekDays, timeFrom, timeTo }: PriceTimes): [number, number][] =>
  (weekDays ?? [1, 2, 3, 4, 5, 6, 7]).flatMap((weekDay): [number, number][] => {
    const start = (weekDay - 1) * dayMinutes
    if (timeFrom === null || timeTo === null) return [[start, start + dayMinutes]]
    const [from, to] = [start + minutesOf(timeFrom), start + minutesOf(timeTo)]
    const end = from < to ? to : to + dayMinutes
    return end <= weekMinutes
      ? [[from, end]]
      : [
          [from, weekMinutes],
          [0, end - weekMinutes],
        ]
  })

/** Tells whether two prices of one code would hold at once (R4). One with hours goes before one without, so that these two may. */
export const overlap = (a: PriceTimes, b: PriceTimes): boolean => {
  if ((a.timeFrom === null) !== (b.timeFrom === null)) return false
  // Hours over midnight reach into the day after the last.
  const last = ({ validTo, timeFrom, timeTo }: PriceTimes) =>
    validTo !== null && timeFrom !== null && timeTo !== null && timeTo < timeFrom ? addDays(validTo, 1) : validTo
  const [endA, endB] = [last(a), last(b)]
  if (endA !== null && b.validFrom !== null && endA < b.validFrom) return false
  if (endB !== null && a.validFrom !== null && endB < a.validFrom) return false
  const others = spansOf(b)
  return spansOf(a).some(([from, to]) => others.some(([start, end]) => from < end && start < to))
}

/** The price of a code at a moment: one with hours in its hours, else one without. */
export const priceAt = <Price extends PriceTimes>(rows: readonly Price[], day: string, clock: string): Price | null => {
  const holding = rows.filter((row) => holdsAt(row, day, clock))
  return holding.find(({ timeFrom }) => timeFrom !== null) ?? holding[0] ?? null
}
