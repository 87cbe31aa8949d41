import type { Knex } from 'knex'
import { whereOf } from './conditions.ts'
import type { Condition } from './conditions.ts'
import { prepared } from './connection.ts'
import type { AnyTrx } from './connection.ts'
import type { Table, TableName } from './models.ts'
import { countedBy, countedLists, monthsOf } from './counts.ts'
import type { CountedFact, CountedList } from './counts.ts'
import { dayStart, wholeMonths } from './days.ts'
import { limitOf } from './paging.ts'
import type { Page, Paging, Sort } from './paging.ts'
import { builder, columnOf, fill, place, queryOf, shaped } from './shapes.ts'

// Lists of one table, declared once. A list that joins tables is SQL by hand with `readPage`.

/** Compares the value of a filter with the records: in `text`, each `??` is the next of `fields`, and each `?` is the value. */
type Filter<Field extends string, Value> = {
  text: string
  fields: readonly Field[]
  /** For its type alone. */
  value?: Value
  /** Records are asked to have a fact or not to have it: `counted` is the list of those that have it, where such a list is kept. */
  fact?: { counted: CountedFact | undefined }
  /** The field is from the value on, or until it: a list may be counted by its months. */
  bound?: Bound
}
type Bound = 'from' | 'to'

/** The field is the value. */
export const equal = <Field extends string>(field: Field): Filter<Field, string | number | boolean> => ({
  text: '?? = ?',
  fields: [field],
})
/** The field is one of the values. */
export const oneOf = <Field extends string>(field: Field): Filter<Field, readonly (string | number)[]> => ({
  text: '?? = any(?)',
  fields: [field],
})
/** The field is the value, or more or later. */
export const from = <Field extends string>(field: Field): Filter<Field, string | number | Date> => ({
  text: '?? >= ?',
  fields: [field],
  bound: 'from',
})
/** The field is the value, or less or earlier. */
export const until = <Field extends string>(field: Field): Filter<Field, string | number | Date> => ({
  text: '?? <= ?',
  fields: [field],
  bound: 'to',
})
/** The time is in a day of UTC, or later. */
export const fromDay = <Field extends string>(field: Field): Filter<Field, string> => ({
  text: `?? >= ${dayStart.time}`,
  fields: [field],
  bound: 'from',
})
/** The time is in a day of UTC, or earlier. */
export const untilDay = <Field extends string>(field: Field): Filter<Field, string> => ({
  text: `?? < cast(cast(? as date) + 1 as timestamp) at time zone 'UTC'`,
  fields: [field],
  bound: 'to',
})
/** One of the fields contains the value; capitals do not matter. */
export const contains = <Field extends string>(...fields: readonly Field[]): Filter<Field, string> => ({
  text: `(${fields.map(() => 'strpos(lower(??), lower(?)) > 0').join(' or ')})`,
  fields,
})
/**
 * One of the fields, which hold small letters alone, begins with the value in any letters. It is written as a range: under row-level security
 * no index serves `starts_with`, `like` or `lower`, while one of the field `collate "C"` serves a range.
 */
export const prefix = <Field extends string>(...fields: readonly Field[]): Filter<Field, string> => ({
  text: `(${fields.map(() => `?? >= lower(?) collate "C" and ?? < lower(?) || chr(1114111) collate "C"`).join(' or ')})`,
  fields: fields.flatMap((field) => [field, field]),
})
/** A condition of its own in SQL, which names columns as the database does. */
export const matching = <Value>(text: string): Filter<never, Value> => ({ text, fields: [] })
/** The record has a fact or does not have it: a condition in SQL, which is never null. Of one that is not counted, few records have it: an index finds them. */
export const fact = (text: string, counted?: CountedFact): Filter<never, boolean> => ({
  text,
  fields: [],
  fact: { counted },
})

type Filters<Row> = Readonly<Record<string, Filter<string & keyof Row, unknown>>>
type Order<Row> = (string & keyof Row) | `${string & keyof Row} desc`
type List<Row> = {
  /** Ends with a field that no two records have in common, so that no page leaves a record out. */
  order: readonly Order<Row>[]
  filters?: Filters<Row>
  /** Values of filters that a caller leaves out. */
  defaults?: Readonly<Record<string, unknown>>
  /** The fields that conditions of roles ask for, by their names there; null for one that the records do not have. Lists of it ask for `scope`. */
  scope?: Readonly<Record<string, (string & keyof Row) | null>>
  /** Fields to sort by, before `order`. */
  sorts?: Readonly<Record<string, string & keyof Row>>
  /** The fields of the rows; all of the table if it is left out. */
  fields?: readonly (string & keyof Row)[]
  /** Holds for every record of the list: constant SQL. */
  only?: string
}

type Values<Spec> = Spec extends { filters: infer Given }
  ? { [Name in keyof Given]?: Given[Name] extends Filter<string, infer Value> ? Value | undefined : never }
  : object
type Scoped<Spec> = Spec extends { scope: object } ? { scope: Condition } : object
type Sorted<Spec> = Spec extends { sorts: infer Given } ? { sort?: Sort<string & keyof Given> } : object
type Shown<Spec, Row> = Spec extends { fields: readonly (infer Field)[] } ? Pick<Row, Field & keyof Row> : Row
type Asked<Spec> = Paging & Values<Spec> & Scoped<Spec> & Sorted<Spec>

type Part = {
  text: string
  bindings: string[]
  values: readonly (readonly [name: string, value: unknown])[]
  /** The fields that it looks at; null where its text names columns itself. */
  fields: readonly (string | null)[] | null
  fact?: { is: boolean; text: string; counted: CountedFact | undefined }
  bound?: { end: Bound; field: string; value: unknown }
}

/** Its places in the order of its text: a field, or the value, under `name`. */
const filterPart = (
  name: string,
  { text, fields, fact: asked, bound }: Filter<string, unknown>,
  value: unknown,
): Part => {
  if (asked) {
    const is = value === true
    const made = { bindings: [], values: [], fields: null }
    return { ...made, text: is ? `(${text})` : `not (${text})`, fact: { ...asked, is, text } }
  }
  const left = [...fields]
  const bindings = [...text.matchAll(/\\\?|\?\??/g)].flatMap(([found]) =>
    found === '??' ? [left.shift() ?? ''] : found === '?' ? [place(name)] : [],
  )
  const ends = bound && { bound: { end: bound, field: fields[0] ?? '', value } }
  return { text, bindings, values: [[name, value]], fields: fields.length === 0 ? null : fields, ...ends }
}

const firstMonth = 'the first whole month'
const endMonth = 'the month after the whole ones'

/** The months between bounds, as values of a text. */
const monthValues = (parts: readonly Part[]): [string, unknown][] => {
  const given = (end: Bound) => {
    const value = parts.find(({ bound }) => bound?.end === end)?.bound?.value
    return value instanceof Date ? value.toISOString() : typeof value === 'string' ? value : undefined
  }
  const { from: first, to: last } = wholeMonths({ from: given('from'), to: given('to') })
  return [
    [firstMonth, first],
    [endMonth, last],
  ]
}

const scopePart = (scope: Condition, fields: Readonly<Record<string, string | null>>): Part => {
  const columns = Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, field === null ? null : columnOf(field)]),
  )
  const { sql, bindings } = whereOf(scope, columns)
  const values = bindings.map((value, index) => [`scope ${index}`, value] as const)
  return { text: sql, bindings: values.map(([name]) => place(name)), values, fields: Object.values(fields) }
}

const asksForCounted = (list: CountedList, { text, fields }: Part): boolean => {
  const known: readonly string[] = countedLists[list]
  if (text === 'true') return true
  return fields?.every((field) => field === null || known.includes(columnOf(field))) ?? false
}

const allOf = (parts: readonly Part[]): [text: string, bindings: string[]] => [
  parts.length === 0 ? 'true' : parts.map(({ text }) => text).join(' and '),
  parts.flatMap(({ bindings }) => bindings),
]

type Counting = {
  sumOf: (list: string) => Knex.QueryBuilder
  numberOf: (parts: readonly Part[]) => Knex.QueryBuilder
}

/** The number of records between bounds of one field: of whole months as it is kept, and of those that a bound cuts one by one. As `totalWithin` does it. */
const withinMonths = (list: CountedList, parts: readonly Part[], { sumOf, numberOf }: Counting) => {
  const bounds = parts.flatMap(({ bound }) => bound ?? [])
  const field = bounds[0]?.field ?? ''
  const type = monthsOf(list, columnOf(field))
  if (type === undefined || bounds.some((bound) => bound.field !== field)) return null
  const kept = sumOf(`${list}_by_${columnOf(field)}`)
  const cuts = bounds.map(({ end }) => {
    const [month, inside, outside] = end === 'from' ? [firstMonth, '>=', '<'] : [endMonth, '<', '>=']
    void kept.whereRaw(`day ${inside} cast(? as date)`, [place(month)])
    const cut = { text: `?? ${outside} ${dayStart[type]}`, bindings: [field, place(month)], values: [], fields: null }
    return numberOf([...parts, cut])
  })
  return builder.select(builder.raw(`${['(?)', ...cuts.map(() => '(?)')].join(' + ')} as total`, [kept, ...cuts]))
}

/**
 * The number of records that have the facts asked for, less those of them that have one which is not; null where no kept sum tells the first. As `readPage`
 * does it.
 */
const totalOf = (
  list: CountedList,
  parts: readonly Part[],
  numberOf: (parts: readonly Part[]) => Knex.QueryBuilder,
) => {
  const bounds = parts.flatMap(({ bound }) => bound ?? [])
  const plain = parts.filter((part) => part.fact === undefined && part.bound === undefined)
  const on = parts.filter((part) => part.fact?.is === true)
  const off = parts.flatMap((part) => (part.fact?.is === false ? [part.fact] : []))
  const [first] = on
  if (on.length > 1 || (first && first.fact?.counted === undefined)) return null
  if (!plain.every((part) => asksForCounted(list, part))) return null
  const sumOf = (of: string) =>
    builder('list_count')
      .where('list', builder.raw(`'${of}'`))
      .whereRaw(...allOf(plain))
      .select(builder.raw('coalesce(sum(n), 0)::bigint as total'))
  if (bounds.length > 0) return parts.some((part) => part.fact) ? null : withinMonths(list, parts, { sumOf, numberOf })
  const kept = sumOf(first?.fact?.counted ?? list)
  if (off.length === 0) return kept
  const without = {
    bindings: [],
    values: [],
    fields: null,
    text: `(${off.map(({ text }) => `(${text})`).join(' or ')})`,
  }
  const isSum = off.length === 1 && !first && off[0]?.counted !== undefined
  const less = isSum ? sumOf(off[0]!.counted!) : numberOf([...plain, ...on, without])
  return builder.select(builder.raw('(?) - (?) as total', [kept, less]))
}

const given = (value: unknown) => value !== undefined && value !== null
let lists = 0

/**
 * Makes a list of a table: one page of it, and how many records there are in all, in one round trip. A filter that is left out or null does not filter.
 * Each set of filters that are given, and each order, is one text, which connections keep planned.
 */
export const pageOf = <Name extends TableName, Row extends object, const Spec extends List<Row>>(
  table: Table<Name, Row>,
  spec: Spec,
): ((trx: AnyTrx, asked: Asked<Spec>) => Promise<Page<Shown<Spec, Row>>>) => {
  const { order, filters = {}, defaults = {}, scope, sorts = {}, only }: List<Row> = spec
  const counted = countedBy(table.tableName)
  const fields: readonly string[] = spec.fields ?? table.columns.fields
  lists += 1
  const list = `list ${lists}`

  const partsOf = (asked: Record<string, unknown>): Part[] => [
    ...(only === undefined ? [] : [{ text: only, bindings: [], values: [], fields: null }]),
    ...(scope === undefined ? [] : [scopePart(asked['scope'] as Condition, scope)]),
    ...Object.entries(filters).flatMap(([name, filter]) => {
      const value = given(asked[name]) ? asked[name] : defaults[name]
      return given(value) ? [filterPart(name, filter, value)] : []
    }),
  ]
  const orderOf = (sort: Sort<string>) => [
    ...sort.map(({ field, descending }) => ({ column: sorts[field] ?? '', order: descending ? 'desc' : 'asc' })),
    ...order.map((one) => ({ column: one.replace(/ desc$/, ''), order: one.endsWith(' desc') ? 'desc' : 'asc' })),
  ]

  return async (trx, { page, limit, ...asked }) => {
    const parts = partsOf(asked)
    const { sort = [] } = asked as { sort?: Sort<string> }
    // Filters of two fields may have one text: the fields tell their queries apart.
    const conditions = parts.map(({ text, bindings }) => `${text} ${bindings.join()}`).join(' and ')
    const values = new Map<string, unknown>([
      ...parts.flatMap((part) => part.values),
      ...monthValues(parts),
      ['offset', (page - 1) * limit],
    ])
    const query = (of: readonly Part[] = parts) =>
      of.reduce((made, { text, bindings }) => made.whereRaw(text, bindings), queryOf(table))
    const numberOf = (of: readonly Part[]) => query(of).count({ total: '*' }).toKnexQuery()
    const count = shaped(
      `${list} count ${conditions}`,
      () => (counted === undefined ? null : totalOf(counted, parts, numberOf)) ?? numberOf(parts),
    )
    const sorted = orderOf(sort)
    const by = sorted.map(({ column, order: way }) => `${column} ${way}`).join()
    const rows = shaped(`${list} ${conditions} by ${by} ${limit} ${page === 1}`, () => {
      const made = query()
        .select([...fields])
        .orderBy(sorted as never)
        .toKnexQuery()

        .limit(limitOf({ page, limit }), { skipBinding: true })
      return page === 1 ? made : made.offset(builder.raw('?', [place('offset')]) as never)
    })
    const valueOf = (name: string) => values.get(name)
    const [totals, found] = await Promise.all([
      prepared<{ total: number }>(trx, count.text, fill(count, valueOf)),
      prepared<Shown<Spec, Row>>(trx, rows.text, fill(rows, valueOf)),
    ])
    return { total: totals[0]?.total ?? 0, rows: found }
  }
}
