import type { PropertySettings } from '../../../config/property-settings.ts'
import { addDays, localInstant, todayIn } from '../../../config/time.ts'

/** Business hours of a house, from its settings, and the zone of its clock. */
export type HouseHours = Pick<PropertySettings['issues'], 'businessHours' | 'holidays'> & { timeZone: string }

/** The time by which a clock runs. */
export type Hours = {
  /** The instant at which so many milliseconds of this time have passed after another one. */
  after: (from: Date, ms: number) => Date
  /** Milliseconds of this time between two instants; 0 where the second is no later. */
  between: (from: Date, until: Date) => number
}

/** Time that never stands. */
export const always: Hours = {
  after: (from, ms) => new Date(from.getTime() + ms),
  between: (from, until) => Math.max(0, until.getTime() - from.getTime()),
}

/** No target is so long that it lies further ahead: hours come to five a week at least. */
const mostDays = 6_000

/** 1 for Monday to 7 for Sunday. */
const weekDayOf = (day: string) => ((new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7) + 1

type Span = { from: number; until: number }

/** Open spans of a day, in their order. A change of the clocks makes one longer or shorter, or takes it away. */
const spansOf = ({ timeZone, businessHours, holidays }: HouseHours, day: string): Span[] => {
  if (holidays.includes(day)) return []
  const weekDay = weekDayOf(day)
  return businessHours
    .filter(({ days }) => days.includes(weekDay))
    .toSorted((a, b) => (a.from < b.from ? -1 : 1))
    .map(({ from, until }) => ({
      from: localInstant(day, from, timeZone).getTime(),
      until: localInstant(until === '00:00' ? addDays(day, 1) : day, until, timeZone).getTime(),
    }))
    .filter((span) => span.until > span.from)
}

/** Time that runs in the hours of a house alone, by its own clock and without its holidays. */
export const hoursOf = (house: HouseHours): Hours => {
  const spansFrom = function* (start: Date): Generator<Span> {
    const first = todayIn(house.timeZone, start)
    for (let days = 0; days < mostDays; days += 1) yield* spansOf(house, addDays(first, days))
  }
  return {
    after: (from, ms) => {
      if (ms <= 0) return from
      let left = ms
      for (const span of spansFrom(from)) {
        const open = span.until - Math.max(span.from, from.getTime())
        if (open <= 0) continue
        if (open >= left) return new Date(span.until - open + left)
        left -= open
      }
      throw new Error('the hours of the house come to nothing')
    },
    between: (from, until) => {
      let passed = 0
      for (const span of spansFrom(from)) {
        if (span.from >= until.getTime()) break
        passed += Math.max(0, Math.min(span.until, until.getTime()) - Math.max(span.from, from.getTime()))
      }
      return passed
    },
  }
}
