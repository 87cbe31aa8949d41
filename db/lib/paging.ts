import { whereOf } from './conditions.ts'
import type { Columns, Condition } from './conditions.ts'
import { prepared } from './connection.ts'
import type { AnyTrx } from './connection.ts'
import { asksForCounted, countsOf } from './counts.ts'
import type { Counted } from './counts.ts'
import type { Days } from './days.ts'

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
export const inScope = (scope: Condition, columns: string | Columns): Part[] => [
  { text: '?', values: [whereOf(scope, typeof columns === 'string' ? { propertyId: columns } : columns)] },
]

/** One condition of several. */
export const allOf = (conditions: readonly Part[]): Part => ({
  text: conditions.length === 0 ? 'true' : conditions.map((one) => one.text).join(' and '),
  values: conditions.flatMap((one) => one.values),
})

/**
 * The order that was asked for, by the columns of its fields, and then by `id`, so that no page leaves a row out. Where the last field is one of `alike`, whose
 * values many rows share, ids follow its direction: one index serves both, and rows of one value need no sorting.
 */
export const orderBy = <Field extends string>(
  sort: Sort<Field>,
  columns: Record<Field, string>,
  id: string,
  alike: readonly Field[] = [],
): string => {
  const last = sort.at(-1)
  const isDown = last !== undefined && last.descending && alike.includes(last.field)
  return [
    ...sort.map(({ field, descending }) => `${columns[field]} ${descending ? 'desc' : 'asc'}`),
    `${id}${isDown ? ' desc' : ''}`,
  ].join(', ')
}

const partOf = (given: string | Part): Part => (typeof given === 'string' ? { text: given, values: [] } : given)

type List = {
  columns: string | Part
  from: string | Part
  /** Joined for the columns alone: no row becomes two by it, or none. */
  joins?: string
  conditions: readonly Part[]
  /** Further conditions, on a day by which the rows are counted as well. */
  days?: Days | undefined
  /** Rows that the list leaves out, few of all: they are counted by themselves, and taken off the number that is kept. */
  except?: Part | undefined
  /** The counted table and its alias, given if `from` joins others to it and has one row for each of its rows all the same. */
  counted?: Counted
  /** A statement of the number of all rows, where sums are kept that tell it; its column is `total`. */
  total?: Part | null
  /** Ends with what no two rows have in common, so that no page leaves a row out. */
  order: string
  /** A statement around that of the page, for what is read of its rows alone. It puts them in order itself. */
  around?: (page: Part) => Part
}

/** Whole numbers that go into a text, since PostgreSQL that plans for all values must know how few rows are wanted. */
export const limitOf = ({ limit }: Paging): number => {
  if (!Number.isSafeInteger(limit) || limit < 1) throw new Error('a page has a number of rows')
  return limit
}

/** The table of a list that reads it alone. */
const aloneIn = ({ text }: Part): Counted | undefined => {
  const [, table = '', as = table] = /^(\w+)(?: (\w+))?$/.exec(text) ?? []
  return table === '' ? undefined : { list: table as Counted['list'], as }
}

/** The sum of what is counted, under the conditions of the table itself; null where these ask for more than it is counted by. */
const totalOf = (trx: AnyTrx, counted: Counted | undefined, conditions: Part, days: readonly Part[]): Part | null => {
  const kept = counted && countsOf(trx, counted.list, days.length > 0)
  if (!counted || !kept || !asksForCounted(counted, kept.columns, conditions)) return null
  const { as } = counted
  const all = allOf([conditions, ...days])
  return {
    text: `select coalesce(sum(${as}.n), 0)::bigint as total from ${kept.counts} ${as} where ${as}.list = '${kept.list}' and ${all.text}`,
    values: all.values,
  }
}

/** A kept number less that of the rows which are left out. */
const lessOf = (kept: Part | null, source: Part, given: Part, except: Part | undefined): Part | null =>
  kept === null || except === undefined
    ? kept
    : {
        text: `select (${kept.text}) - (select count(*) from ${source.text} where ${given.text} and ${except.text}) as total`,
        values: [...kept.values, ...source.values, ...given.values, ...except.values],
      }

/**
 * One page of a list, and how many there are: asked together, in one round trip. Connections keep the plans of both statements, so their texts depend on
 * which filters and which order were asked for, and never on values.
 */
export const readPage = async <Row>(
  trx: AnyTrx,
  {
    columns,
    from,
    joins = '',
    conditions,
    days,
    except,
    counted,
    total: known,
    order,
    around = (found) => found,
  }: List,
  paging: Paging,
): Promise<Page<Row>> => {
  const [head, source, own] = [partOf(columns), partOf(from), allOf(conditions)]
  const asked = allOf([...conditions, ...(days?.rows ?? [])])
  const given = except
    ? { text: `${asked.text} and (${except.text}) is not true`, values: [...asked.values, ...except.values] }
    : asked
  const bound = [...source.values, ...given.values]
  const offset = (paging.page - 1) * paging.limit
  const place = `limit ${limitOf(paging)}${offset === 0 ? '' : ' offset ?'}`
  const { text, values } = around({
    text: `select ${head.text} from ${source.text} ${joins} where ${given.text} order by ${order} ${place}`,
    values: [...head.values, ...bound, ...(offset === 0 ? [] : [offset])],
  })
  const count = known ??
    lessOf(totalOf(trx, counted ?? aloneIn(source), own, days?.counts ?? []), source, asked, except) ?? {
      text: `select count(*) as total from ${source.text} where ${given.text}`,
      values: bound,
    }
  const [totals, rows] = await Promise.all([
    prepared<{ total: number }>(trx, count.text, count.values),
    prepared<Row>(trx, text, values),
  ])
  return { total: totals[0]?.total ?? 0, rows }
}
