import { whereOf } from './conditions.ts'
import type { Columns, Condition } from './conditions.ts'
import { sql, sqlOne } from './connection.ts'
import type { AnyTrx } from './connection.ts'

/** A part of a statement, with what its question marks stand for. */
export type Part = { text: string; values: unknown[] }
export type Paging = { page: number; limit: number }
/** Some rows of a list, and how many there are in all. */
export type Page<Row> = { total: number; rows: Row[] }
export type Sort<Field extends string> = { field: Field; descending: boolean }[]

/** A condition where a filter was given. */
export const where = (text: string, value: unknown): Part[] =>
  value === undefined || value === null ? [] : [{ text, values: [value] }]

/** The records that the caller's role is for; `columns` hold what its condition asks for, one alone their property. */
export const inScope = (trx: AnyTrx, scope: Condition, columns: string | Columns): Part[] => [
  { text: '?', values: [whereOf(trx, scope, typeof columns === 'string' ? { propertyId: columns } : columns)] },
]

/** One condition of several. */
export const allOf = (conditions: readonly Part[]): Part => ({
  text: conditions.length === 0 ? 'true' : conditions.map((one) => one.text).join(' and '),
  values: conditions.flatMap((one) => one.values),
})

/** The order that was asked for, by the columns of its fields, and then by `id`, so that no page leaves a row out. */
export const orderBy = <Field extends string>(sort: Sort<Field>, columns: Record<Field, string>, id: string): string =>
  [...sort.map(({ field, descending }) => `${columns[field]} ${descending ? 'desc' : 'asc'}`), id].join(', ')

const partOf = (given: string | Part): Part => (typeof given === 'string' ? { text: given, values: [] } : given)

type List = {
  columns: string | Part
  from: string | Part
  /** Joined for the columns alone: no row becomes two by it, or none. */
  joins?: string
  conditions: readonly Part[]
  /** Ends with what no two rows have in common, so that no page leaves a row out. */
  order: string
  /** A statement around that of the page, for what is read of its rows alone. It puts them in order itself. */
  around?: (page: Part) => Part
}

/** One page of a list, and how many there are: asked together, in one round trip. */
export const readPage = async <Row>(
  trx: AnyTrx,
  { columns, from, joins = '', conditions, order, around = (found) => found }: List,
  { page, limit }: Paging,
): Promise<Page<Row>> => {
  const [head, source, given] = [partOf(columns), partOf(from), allOf(conditions)]
  const bound = [...source.values, ...given.values]
  const { text, values } = around({
    text: `select ${head.text} from ${source.text} ${joins} where ${given.text} order by ${order} limit ? offset ?`,
    values: [...head.values, ...bound, limit, (page - 1) * limit],
  })
  const [count, rows] = await Promise.all([
    // It binds a value whatever its conditions do, since what binds none goes by itself.
    sqlOne<{ total: number }>(trx, `select count(*) as total from ${source.text} where ${given.text} limit ?`, [
      ...bound,
      1,
    ]),
    sql<Row>(trx, text, values),
  ])
  return { total: count?.total ?? 0, rows }
}
