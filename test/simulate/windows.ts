import type { Mark } from './measure.ts'

export type Measure = 'ms' | 'pages' | 'rows' | 'bytes'
type By = 'bookings' | 'requests'

const between = (a: Mark, b: Mark, by: By): Record<Measure, number> => {
  const count = Math.max(1, b[by] - a[by])
  const each = (of: Measure) => (b[of] - a[of]) / count
  return { ms: each('ms'), pages: each('pages'), rows: each('rows'), bytes: each('bytes') }
}

/** The last day of the first month, or of the first half of a short run, and how many days up to it are compared with as many at the end. */
const daysOf = (days: number) => {
  const window = Math.max(1, Math.min(15, Math.floor(days / 4)))
  const early = days >= 40 ? 30 : Math.max(window, Math.floor(days / 2))
  return { window, early }
}

/** The days at whose ends the tables are looked at. */
export const watchedDays = (days: number): Set<number> => {
  const { window, early } = daysOf(days)
  return new Set([Math.max(1, early - window), early, days - window, days])
}

/** The days that are compared, two windows of as many each: the last of the first month, and the last of all. */
export const windowsOf = (days: number, marks: readonly Mark[]) => {
  const [first, last] = [marks[0], marks.at(-1)]
  if (!first || !last) throw new Error('no day was lived')
  const { window, early } = daysOf(days)
  const at = (day: number) => marks[day] ?? last
  const young = [at(early - window), at(early)] as const
  const old = [at(days - window), last] as const
  const growth = (by: By, of: Measure) => {
    const [before, now] = [between(...young, by)[of], between(...old, by)[of]]
    return { whole: between(first, last, by)[of], young: before, old: now, factor: now / before }
  }
  return { last, early, young, old, growth }
}
