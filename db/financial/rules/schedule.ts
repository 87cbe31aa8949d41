import { addDays } from '../../../config/time.ts'

/** The days on which a recurring entry is due. */
export type Schedule = {
  every: number
  unit: 'week' | 'month' | 'year'
  /** Of months and years; the last day of a shorter month, for that month alone. That of `firstOn` where it is left out. */
  day?: number
  firstOn: string
  endsOn?: string | null
  mode: 'draft' | 'post'
}

/** The day of a month so many months after that of a date, or the month's last day. */
export const dayOfMonth = (from: string, months: number, day: number): string => {
  const [year = 0, month = 1] = from.split('-').map(Number)
  const last = new Date(Date.UTC(year, month + months, 0))
  return new Date(Date.UTC(last.getUTCFullYear(), last.getUTCMonth(), Math.min(day, last.getUTCDate())))
    .toISOString()
    .slice(0, 10)
}

const mostSteps = 10_000

/** The first due date that is `from` or later; null where the schedule has ended before. */
export const dueFrom = (schedule: Schedule, from: string): string | null => {
  const { every, unit, firstOn, endsOn } = schedule
  const day = schedule.day ?? Number(firstOn.slice(8))
  for (let step = 0; step < mostSteps; step += 1) {
    const on =
      unit === 'week'
        ? addDays(firstOn, 7 * every * step)
        : dayOfMonth(firstOn, every * step * (unit === 'year' ? 12 : 1), day)
    if (endsOn && on > endsOn) return null
    if (on >= firstOn && on >= from) return on
  }
  return null
}

/** Due dates from one to another day, 1,000 at most. */
export const duesBetween = (schedule: Schedule, from: string, to: string): string[] => {
  const dues: string[] = []
  for (
    let on = dueFrom(schedule, from);
    on !== null && on <= to && dues.length < 1_000;
    on = dueFrom(schedule, addDays(on, 1))
  )
    dues.push(on)
  return dues
}
