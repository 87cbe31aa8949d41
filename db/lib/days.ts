import { where } from './paging.ts'
import type { Part } from './paging.ts'

/** Days of a list whose rows are counted by day: conditions on its rows, and on the days of the counts that say the same. */
export type Days = { rows: Part[]; counts: Part[] }
type Asked = { from?: string | undefined; to?: string | undefined }

const countsOf = (column: string, { from, to }: Asked): Part[] => {
  const [as] = column.split('.')
  return [...where(`${as}.day >= ?::date`, from), ...where(`${as}.day <= ?::date`, to)]
}

/** Rows whose date is from one day to another, both included. */
export const onDays = (column: string, asked: Asked): Days => ({
  rows: [...where(`${column} >= ?::date`, asked.from), ...where(`${column} <= ?::date`, asked.to)],
  counts: countsOf(column, asked),
})

/** Rows whose time is in the days of UTC from one to another, both included. */
export const withinDays = (column: string, asked: Asked): Days => ({
  rows: [
    ...where(`${column} >= ?::date::timestamp at time zone 'UTC'`, asked.from),
    ...where(`${column} < (?::date + 1)::timestamp at time zone 'UTC'`, asked.to),
  ],
  counts: countsOf(column, asked),
})
