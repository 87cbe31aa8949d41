import { whereOf } from './conditions.ts'
import type { Columns, Condition } from './conditions.ts'
import { prepared } from './connection.ts'
import type { AnyTrx } from './connection.ts'
import { asksForColumns, asksForCounted, countsOf } from './counts.ts'
import type { Counted, CountedFact } from './counts.ts'
import type { Days, Term } from './days.ts'

/** A part of a statement, with what its question marks stand for. */
export type Part = { text: string; values: unknown[] }
export type Paging = { page: number; limit: number }
/** Some rows of a list, and how many there are in all. */
export type Page<Row> = { total: number; rows: Row[] }
export type Sort<Field extends string> = { field: Field; descending: boolean }[]

/** A condition where a filter was given. */
export const where = (text: string, value: unknown): Part[] =>
  value === undefined || value === null ? [] : [{ text, values: [value] }]

/** A column of a flag, in the text of its condition, where a filter asks for it: so that an index of those that have it serves it. */
export const flag = (column: string, given: boolean | undefined): Part[] =>
  given === undefined ? [] : [{ text: given ? column : `not ${column}`, values: [] }]

/** A fact that rows are asked to have or not to have. `counted` is the list of those that have it, where such a list is kept. */
export type Fact = Part & { is: boolean; counted?: CountedFact | undefined }

/** A fact in SQL, where a filter asks for it. One that is counted is never null; of one that is not, few rows have it: an index finds them. */
export const fact = (
  is: boolean | undefined,
  text: string,
  { values = [], counted }: Pick<Partial<Fact>, 'values' | 'counted'> = {},
): Fact[] => (is === undefined ? [] : [{ is, text, values, counted }])

/** The records that the caller's role is for; `columns` hold what its condition asks for, one alone their property. */
export const inScope = (scope: Condition, columns: string | Columns): Part[] => [
  { text: '?', values: [whereOf(scope, typeof columns === 'string' ? { propertyId: columns } : columns)] },
]

/** One condition of several. */
export const allOf = (conditions: readonly Part[]): Part => ({
  text: conditions.length === 0 ? 'true' : conditions.map((one) => one.text).join(' and '),
  values: conditions.flatMap((one) => one.values),
})

/** Facts as conditions. An index may hold the rows without one that is counted. */
const conditionsOf = (facts: readonly Fact[]): Part[] =>
  facts.map(({ is, text, values, counted }) => ({
    text: is ? `(${text})` : counted ? `not (${text})` : `(${text}) is not true`,
    values,
  }))

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
  /** Facts that rows have or have not, which are counted by themselves. */
  facts?: readonly Fact[]
  /** Further conditions, on a day by whose months the rows are counted as well. */
  days?: Days | undefined
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

/** Words of an order that name no column. */
const orderWords = new Set(['asc', 'desc', 'nulls', 'first', 'last', 'is', 'not', 'null', 'true', 'false', 'and', 'or'])

/** Tells if an order names nothing but columns of the tables that a list is of, by their aliases. */
const isOrderOf = ({ text }: Part, order: string): boolean =>
  [...order.replaceAll(/'[^']*'/g, '').matchAll(/(?:\b([a-z]\w*)\.)?"?\b([a-z]\w*)\b"?(\()?/gi)].every(
    ([, alias, name = '', call]) =>
      alias === undefined ? call !== undefined || orderWords.has(name) : new RegExp(`\\b${alias}\\b`).test(text),
  )

type Asked = {
  counted: Counted | undefined
  source: Part
  conditions: Part
  days: Days | undefined
  facts: readonly Fact[]
}

/** The number of rows within days: `kept` tells those of whole months, and null where it does not, `counted` those of months that are cut. */
export const totalWithin = (
  terms: readonly Term[],
  kept: (term: Term) => Part | null,
  counted: (cut: readonly Part[]) => Part,
): Part | null => {
  const parts = terms.flatMap((term) =>
    [kept(term), ...term.cuts.map(counted)].map((part) => part && { ...part, sign: term.minus ? '-' : '+' }),
  )
  const known = parts.flatMap((part) => part ?? [])
  if (known.length < parts.length) return null
  return {
    text: `select ${known.map(({ sign, text }) => `${sign} (${text})`).join(' ')} as total`,
    values: known.flatMap(({ values }) => values),
  }
}

/** The number of rows under conditions, one by one. */
export const numberOf = ({ text, values }: Part, conditions: readonly Part[]): Part => {
  const given = allOf(conditions)
  return { text: `select count(*) from ${text} where ${given.text}`, values: [...values, ...given.values] }
}

/** A kept number without those of its rows that have what is asked not to be; null where it is not kept. */
export const less = (kept: Part | null, without: Part): Part | null =>
  kept && { text: `select (${kept.text}) - (${without.text}) as total`, values: [...kept.values, ...without.values] }

/** The sum of what is counted, under the conditions of the table itself; null where these ask for more than it is counted by. */
const sumOf = (trx: AnyTrx, { counted, conditions, days, source }: Asked, of?: CountedFact): Part | null => {
  if (!counted) return null
  const { as, list } = counted
  const sum = (column: string | undefined, whole: readonly Part[]): Part | null => {
    const kept = countsOf(trx, list, column)
    if (!kept || !asksForCounted(counted, kept.columns, conditions)) return null
    const all = allOf([conditions, ...whole])
    return {
      text: `select coalesce(sum(${as}.n), 0)::bigint as total from ${kept.counts} ${as} where ${as}.list = '${of ?? kept.list}' and ${all.text}`,
      values: all.values,
    }
  }
  if (days === undefined || days.rows.length === 0) return sum(undefined, [])
  // Facts are not counted by months.
  if (days.terms === null || of) return null
  return totalWithin(
    days.terms,
    ({ column, whole }) => sum(column, whole),
    (cut) => numberOf(source, [conditions, ...cut]),
  )
}

/** The sum of a list that is kept under a name of its own, by columns that its conditions name under the alias; null where these ask for more. */
export const keptTotal = (
  { list, as, columns }: { list: string; as: string; columns: readonly string[] },
  conditions: readonly Part[],
): Part | null => {
  const { text, values } = allOf(conditions)
  return asksForColumns(as, columns, { text, values })
    ? {
        text: `select coalesce(sum(${as}.n), 0)::bigint as total from list_count ${as} where ${as}.list = '${list}' and ${text}`,
        values,
      }
    : null
}

/** The rows that have the facts asked for, less those of them that have one which is not; null where no kept sum tells the first. */
const totalOf = (trx: AnyTrx, asked: Asked): Part | null => {
  const { source, conditions, days, facts } = asked
  const [on, off] = [facts.filter(({ is }) => is), facts.filter(({ is }) => !is)]
  const isKept = on.length === 0 || (on.length === 1 && on[0]?.counted !== undefined)
  const kept = isKept ? sumOf(trx, asked, on[0]?.counted) : null
  if (kept === null || off.length === 0) return kept
  const rest = off[0]?.counted && on.length === 0 && off.length === 1 ? sumOf(trx, asked, off[0].counted) : null
  const without = {
    text: `(${off.map(({ text }) => `(${text})`).join(' or ')})`,
    values: off.flatMap(({ values }) => values),
  }
  return less(kept, rest ?? numberOf(source, [conditions, ...(days?.rows ?? []), ...conditionsOf(on), without]))
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
    facts = [],
    days,
    counted,
    total: known,
    order,
    around = (found) => found,
    ...list
  }: List,
  paging: Paging,
): Promise<Page<Row>> => {
  const [head, source, conditions] = [partOf(columns), partOf(from), allOf(list.conditions)]
  const given = allOf([conditions, ...(days?.rows ?? []), ...conditionsOf(facts)])
  const bound = [...source.values, ...given.values]
  const offset = (paging.page - 1) * paging.limit
  const place = `limit ${limitOf(paging)}${offset === 0 ? '' : ' offset ?'}`
  const rowsFrom = `from ${source.text} ${joins} where ${given.text}`
  const of = counted ?? aloneIn(source)
  // Columns that are shown beside the rows are read of this page alone, and not of those before.
  const keys =
    offset > 0 && of && /\bselect\b|\bjoin\b/i.test(`${head.text} ${joins}`) && isOrderOf(source, order)
      ? ` and ${of.as}.id = any(array(select ${of.as}.id from ${source.text} where ${given.text} order by ${order} ${place}))`
      : null
  const { text, values } = around(
    keys === null
      ? {
          text: `select ${head.text} ${rowsFrom} order by ${order} ${place}`,
          values: [...head.values, ...bound, ...(offset === 0 ? [] : [offset])],
        }
      : {
          text: `select ${head.text} ${rowsFrom}${keys} order by ${order}`,
          values: [...head.values, ...bound, ...bound, offset],
        },
  )
  const count = known ??
    totalOf(trx, { counted: of, source, conditions, days, facts }) ?? {
      text: `select count(*) as total from ${source.text} where ${given.text}`,
      values: bound,
    }
  const [totals, rows] = await Promise.all([
    prepared<{ total: number }>(trx, count.text, count.values),
    prepared<Row>(trx, text, values),
  ])
  return { total: totals[0]?.total ?? 0, rows }
}
