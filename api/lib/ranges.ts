import type { FieldError } from '../../config/errors.ts'

/** Endings of the name of the first field of a range, each with the name of its last. */
const ends: readonly (readonly [first: RegExp, last: string])[] = [
  [/^from$/, 'to'],
  [/From$/, 'To'],
  [/^startDate$/, 'endDate'],
]

type Range = { first: string; last: string }

/** The ranges among fields of these names: `from` and `to`, `dueFrom` and `dueTo`, `startDate` and `endDate`. */
export const rangesOf = (names: readonly string[]): Range[] =>
  names.flatMap((first) =>
    ends.flatMap(([pattern, end]) => {
      const last = first.replace(pattern, end)
      return pattern.test(first) && names.includes(last) ? [{ first, last }] : []
    }),
  )

/**
 * Problems of days, instants or numbers that end before they begin: such a list would be empty, and its reader would not know why. `at`: the path of the fields.
 * Other words, such as currencies `from` and `to`, are let through.
 */
export const reversedIn = (ranges: readonly Range[], given: Readonly<Record<string, unknown>>, at = ''): FieldError[] =>
  ranges.flatMap(({ first, last }) => {
    const [from, to] = [timeOf(given[first]), timeOf(given[last])]
    return from > to ? [{ field: `${at}${last}`, message: `must not be before ${first}` }] : []
  })

const timeOf = (value: unknown): number => {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^\d{4}-/.test(value) ? Date.parse(value) : Number.NaN
}
