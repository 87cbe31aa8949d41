import { addDays } from '../../config/time.ts'
import { where } from './paging.ts'
import type { Part } from './paging.ts'

// A list that is asked for days is counted by months: whole ones as they are kept, and the rows of the month that a day cuts one by one.

/** Rows from one day or time on, or to another: `whole` tells the months of the counts that lie within, and each of `cuts` the rows of one that is cut. */
export type Term = { column: string; minus: boolean; whole: Part[]; cuts: Part[][] }
/** Conditions on the rows of a list, and how to count these; null where no months tell it. */
export type Days = { rows: Part[]; terms: Term[] | null }
type Asked = { from?: string | undefined; to?: string | undefined }

const isDay = (given: string) => given.length === 10
const dayOf = (given: string) => (isDay(given) ? given : new Date(given).toISOString().slice(0, 10))
const monthOf = (day: string) => `${day.slice(0, 8)}01`
const isMonth = (given: string) => /^\d{4}-\d\d-01(T00:00(:00(\.0+)?)?Z)?$/.test(given)

/** The first month of which all days are from a day, or a time, on; as its first day. */
export const wholeFrom = (given: string): string =>
  isMonth(given) ? given.slice(0, 10) : monthOf(addDays(monthOf(dayOf(given)), 31))

/** The first month that is not all over by the end of a day, or by a time; as its first day. */
export const wholeUntil = (given: string): string => monthOf(isDay(given) ? addDays(given, 1) : dayOf(given))

/** SQL of the beginning of a day, by the type of the column that is compared with it. */
export const dayStart = {
  date: 'cast(? as date)',
  time: `cast(cast(? as date) as timestamp) at time zone 'UTC'`,
} as const

/** Both of the months above, of which the second is never before the first: within one month there is none that is whole. */
export const wholeMonths = ({ from, to }: Asked): Asked => {
  const [first, end] = [from && wholeFrom(from), to && wholeUntil(to)]
  return { from: first, to: first && end && end < first ? first : end }
}

const termOf = (column: string, type: keyof typeof dayStart, rows: Part[], asked: Asked, minus = false): Term => {
  const { from, to } = wholeMonths(asked)
  const day = column.includes('.') ? `${column.split('.')[0]}.day` : 'day'
  const cut = (comparison: string, month: string | undefined): Part[][] =>
    month === undefined ? [] : [[...rows, ...where(`${column} ${comparison} ${dayStart[type]}`, month)]]
  return {
    column: column.replace(/^\w+\./, '').replaceAll('"', ''),
    minus,
    whole: [...where(`${day} >= ?::date`, from), ...where(`${day} < ?::date`, to)],
    cuts: [...cut('<', from), ...cut('>=', to)],
  }
}

const daysOf = (column: string, type: keyof typeof dayStart, rows: Part[], asked: Asked): Days => ({
  rows,
  terms: rows.length === 0 ? [] : [termOf(column, type, rows, asked)],
})

/** Rows whose date is from one day to another, both included. */
export const onDays = (column: string, asked: Asked): Days =>
  daysOf(
    column,
    'date',
    [...where(`${column} >= ?::date`, asked.from), ...where(`${column} <= ?::date`, asked.to)],
    asked,
  )

/** Rows whose time is in the days of UTC from one to another, both included. */
export const withinDays = (column: string, asked: Asked): Days =>
  daysOf(
    column,
    'time',
    [
      ...where(`${column} >= ?::date::timestamp at time zone 'UTC'`, asked.from),
      ...where(`${column} < (?::date + 1)::timestamp at time zone 'UTC'`, asked.to),
    ],
    asked,
  )

/**
 * Rows whose time is in the days of a zone from one to another, both included. The zone is a column, and half a day from UTC at most: the bounds of UTC are
 * those that an index serves, and months are whole in every zone a day further in.
 */
export const withinDaysOf = (zone: string, column: string, { from, to }: Asked): Days =>
  daysOf(
    column,
    'time',
    [
      ...where(`${column} >= (?::date - 1)::timestamp at time zone 'UTC'`, from),
      ...where(`${column} < (?::date + 2)::timestamp at time zone 'UTC'`, to),
      ...where(`${column} >= ?::date::timestamp at time zone ${zone}`, from),
      ...where(`${column} < (?::date + 1)::timestamp at time zone ${zone}`, to),
    ],
    { from: from && addDays(from, 1), to: to && addDays(to, -1) },
  )

/** Rows whose time is from one instant to another, the second included or not. */
export const withinTimes = (column: string, asked: Asked, until: '<' | '<='): Days =>
  daysOf(
    column,
    'time',
    [...where(`${column} >= ?::timestamptz`, asked.from), ...where(`${column} ${until} ?::timestamptz`, asked.to)],
    asked,
  )

/**
 * Rows that end after a day and begin before another. Both are those that begin before the one, without those of them that ended by the other; a range that
 * ends before it begins tells no such thing. No row is longer than `mostDays`, in SQL or as a number, so that an index of first days is not read from the beginning of time.
 */
export const overDays = (
  { first, end, mostDays }: { first: string; end: string; mostDays: number | string },
  { after, before }: { after: string | undefined; before: string | undefined },
): Days => {
  const begun = where(`${first} < ?::date`, before)
  const rows = [...where(`${end} > ?::date`, after), ...where(`${first} >= ?::date - ${mostDays}`, after), ...begun]
  const beginning = () => termOf(first, 'date', begun, { to: addDays(before ?? '', -1) })
  if (after === undefined) return { rows, terms: before === undefined ? [] : [beginning()] }
  if (before === undefined) return { rows, terms: [termOf(end, 'date', rows, { from: addDays(after, 1) })] }
  if (before <= after) return { rows, terms: null }
  return { rows, terms: [beginning(), termOf(end, 'date', where(`${end} <= ?::date`, after), { to: after }, true)] }
}
