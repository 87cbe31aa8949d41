import { raw } from 'objection'
import { notFound, versionConflict } from '../../config/errors.ts'
import { later, prepared, preparedOne } from './connection.ts'
import type { AnyTrx } from './connection.ts'
import type { Refused } from './outbox.ts'
import type { Table, TableName } from './models.ts'
import type { tables } from '../rows.ts'
import { builder, columnOf, fill, place, queryOf, shaped } from './shapes.ts'
import type { Shape } from './shapes.ts'

// Single records by the names of their fields. Objection builds each text once per shape (a table and the fields that were given); it runs prepared on
// the connection of the transaction, as SQL by hand does. Lists are in lists.ts. SQL by hand is for locks, counters, sets of rows, hot paths and reports.

declare const computed: unique symbol
/** A value that the database computes when a row is written. */
export type Expression = { readonly [computed]: true }
type Stored = { text: string; values: readonly unknown[] }
const expressions = new WeakMap<object, Stored>()

/** `expression('now() + make_interval(mins => ?)', 10)` as the value of a field. The text is constant and names columns as the database does. */
export const expression = (text: string, ...values: readonly unknown[]): Expression => {
  const made = {} as Expression
  expressions.set(made, { text, values })
  return made
}

type Of<Name extends TableName, List extends 'filled' | 'nullable' | 'computed'> = (typeof tables)[Name][List][number]
type Given<Value> = Value | (Date extends Value ? string : never) | Expression
type Optional<Name extends TableName> = Of<Name, 'filled' | 'nullable'>
/** A row to be inserted: fields that may be null or have a default can be left out; `undefined` leaves one out, too. */
export type New<Name extends TableName, Row> = {
  [Field in Exclude<keyof Row, Optional<Name> | Of<Name, 'computed'>>]: Given<Row[Field]>
} & { [Field in keyof Row & Optional<Name>]?: Given<Row[Field]> | undefined }
/** Fields to be written; `undefined` leaves one as it is. */
export type Change<Name extends TableName, Row> = {
  [Field in Exclude<keyof Row, 'tenantId' | 'id' | 'version' | Of<Name, 'computed'>>]?: Given<Row[Field]> | undefined
}
/** The id of a record, or fields that only one record has. */
export type Key<Row> = string | Partial<Row>

type Entry = readonly [field: string, value: unknown]
type AnyTable = Pick<Table, 'tableName' | 'columns'>

const known = ({ tableName, columns }: AnyTable, entries: readonly Entry[]) => {
  for (const [field] of entries) if (!columns.fields.includes(field)) throw new Error(`${tableName} has no ${field}`)
  return entries
}
const storedIn = (value: unknown) => (typeof value === 'object' && value !== null ? expressions.get(value) : undefined)
const keyOf = (entries: readonly Entry[]) =>
  entries
    .map(([field, value]) => {
      const stored = storedIn(value)
      return stored ? `${field}=${stored.text}` : field
    })
    .join()

const placed = (entries: readonly Entry[]) =>
  Object.fromEntries(
    entries.map(([field, value]) => {
      const stored = storedIn(value)
      if (!stored) return [field, place(field)]
      return [
        field,
        raw(
          stored.text,
          stored.values.map((_, index) => place(`${field} ${index}`)),
        ),
      ]
    }),
  )

const valuesOf = (shape: Shape, entries: readonly Entry[]) => {
  const values = new Map<string, unknown>()
  for (const [field, value] of entries) {
    const stored = storedIn(value)
    if (stored) for (const [index, one] of stored.values.entries()) values.set(`${field} ${index}`, one)
    else values.set(field, value)
  }
  return fill(shape, (name) => values.get(name))
}

/** Left out where the database has a default; null is said, so that records with and without a value have one text. */
const sentOf = ({ columns }: AnyTable, row: object): Entry[] =>
  Object.entries(row).flatMap(([field, value]: Entry): Entry[] =>
    value !== undefined ? [[field, value]] : columns.nullable.includes(field) ? [[field, null]] : [],
  )

type Insertion = { returning: readonly string[]; unique?: readonly string[] }

const insertion = (table: AnyTable, row: object, { returning, unique }: Insertion) => {
  const entries = sentOf(table, row)
  const key = `insert ${table.tableName} ${keyOf(entries)} once ${unique?.join() ?? ''} ${returning.join()}`
  const shape = shaped(key, () => {
    const query = queryOf(table)
      .insert(placed(known(table, entries)))
      .returning([...returning])
    return (unique ? query.onConflict([...unique]).ignore() : query).toKnexQuery()
  })
  return { text: shape.text, values: valuesOf(shape, entries) }
}

/** Inserts a record and answers it as it was stored, with its defaults. */
export const insertRow = async <Name extends TableName, Row extends object>(
  trx: AnyTrx,
  table: Table<Name, Row>,
  row: New<Name, Row>,
): Promise<Row> => {
  const { text, values } = insertion(table, row, { returning: table.columns.fields })
  return (await preparedOne<Row>(trx, text, values))!
}

/** Inserts a record, or answers null where another has the values of the unique fields already. */
export const insertIfNew = <Name extends TableName, Row extends object>(
  trx: AnyTrx,
  table: Table<Name, Row>,
  row: New<Name, Row>,
  unique: readonly (string & keyof Row)[],
): Promise<Row | null> => {
  const { text, values } = insertion(table, row, { returning: table.columns.fields, unique })
  return preparedOne<Row>(trx, text, values)
}

/** Inserts a record with the next statement of the transaction, at the latest with its commit: for what nothing else waits for. `refused` says what an error means. */
export const insertLater = <Name extends TableName, Row extends object>(
  trx: AnyTrx,
  table: Table<Name, Row>,
  row: New<Name, Row>,
  refused?: Refused,
): void => {
  const { text, values } = insertion(table, row, { returning: [] })
  later(trx, text, values, refused)
}

const inJson = (value: unknown) => (Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value)

/** A statement that writes, as a part of one text. */
export type Part = { text: string; values: readonly unknown[] }

/**
 * Insertion of records that all have the fields of the first, with one text whatever their number. A field that a later one lacks is null in it. Takes no
 * expressions. Null without records.
 */
export const rowsPart = <Name extends TableName, Row extends object>(
  table: Table<Name, Row>,
  rows: readonly New<Name, Row>[],
): Part | null => {
  const [first] = rows
  if (!first) return null
  const fields = known(table, sentOf(table, first)).map(([field]) => field)
  const shape = shaped(`insert many ${table.tableName} ${fields.join()}`, () => {
    const list = fields.map(() => '??').join(', ')
    return builder.raw(`insert into ?? (${list}) select ${list} from jsonb_populate_recordset(null::??, ?::jsonb)`, [
      table.tableName,
      ...fields,
      ...fields,
      table.tableName,
      place('rows'),
    ])
  })
  const columns = fields.map((field) => [field, columnOf(field)] as const)
  const given = rows.map((row: Record<string, unknown>) =>
    Object.fromEntries(columns.map(([field, column]) => [column, inJson(row[field])])),
  )
  return { text: shape.text, values: fill(shape, () => JSON.stringify(given)) }
}

/** Inserts the records of `rowsPart`. */
export const insertRows = async <Name extends TableName, Row extends object>(
  trx: AnyTrx,
  table: Table<Name, Row>,
  rows: readonly New<Name, Row>[],
): Promise<void> => {
  const part = rowsPart(table, rows)
  if (part) await prepared(trx, part.text, part.values)
}

/** Writes parts of different tables in one statement: a row may refer to one of an earlier part, and none sees what another has written. */
export const writeTogether = async (trx: AnyTrx, parts: readonly (Part | null)[]): Promise<void> => {
  const given = parts.filter((part) => part !== null)
  if (given.length === 0) return
  const text = `with ${given.map((part, index) => `part_${index} as (${part.text})`).join(', ')} select`
  await prepared(
    trx,
    text,
    given.flatMap(({ values }) => values),
  )
}

/** Inserts a record together with parts that refer to it, and answers it as it was stored. */
export const insertWith = async <Name extends TableName, Row extends object>(
  trx: AnyTrx,
  table: Table<Name, Row>,
  row: New<Name, Row>,
  parts: readonly (Part | null)[],
): Promise<Row> => {
  const { text, values } = insertion(table, row, { returning: table.columns.fields })
  const given = parts.filter((part) => part !== null)
  const all = [`made as (${text})`, ...given.map((part, index) => `part_${index} as (${part.text})`)]
  const bound = [...values, ...given.flatMap((part) => part.values)]
  return (await preparedOne<Row>(trx, `with ${all.join(', ')} select * from made`, bound))!
}

const keyEntries = (key: Key<object>): Entry[] => {
  const entries: Entry[] = typeof key === 'string' ? [['id', key]] : Object.entries(key)
  if (entries.length === 0 || entries.some(([, value]) => value === undefined || value === null))
    throw new Error('a record is named by values')
  return entries.map(([field, value]) => [`key ${field}`, value])
}
const fieldsOfKey = (entries: readonly Entry[]) => entries.map(([name]) => name.slice('key '.length))
const whereKey = (entries: readonly Entry[]) =>
  Object.fromEntries(fieldsOfKey(entries).map((field) => [field, place(`key ${field}`)]))

/** A record, or null. `fields` are those wanted; all of them if it is left out. */
export const findRow = async <Name extends TableName, Row extends object, Field extends string & keyof Row>(
  trx: AnyTrx,
  table: Table<Name, Row>,
  key: Key<Row>,
  fields: readonly Field[] = table.columns.fields as readonly Field[],
): Promise<Pick<Row, Field> | null> => {
  const entries = keyEntries(key)
  const shape = shaped(`read ${table.tableName} ${keyOf(entries)} ${fields.join()}`, () =>
    queryOf(table)
      .select([...fields])
      .where(whereKey(entries))
      .toKnexQuery(),
  )
  return preparedOne(trx, shape.text, valuesOf(shape, entries))
}

/** A record; 404 where there is none. `fields` are those wanted; all of them if it is left out. */
export const readRow = async <Name extends TableName, Row extends object, Field extends string & keyof Row>(
  trx: AnyTrx,
  table: Table<Name, Row>,
  key: Key<Row>,
  fields?: readonly Field[],
): Promise<Pick<Row, Field>> => {
  const row = await findRow(trx, table, key, fields)
  if (!row) throw notFound()
  return row
}

/** Versions begin with a default; a `version` without one says something else. */
const isCountedIn = ({ columns }: AnyTable) => columns.filled.includes('version')
/** The version of a table's records; null for a table without. */
type VersionOf<Row> = Row extends { version: number } ? number : null

/**
 * Writes the fields that were given and raises the version, which it answers. Without any field the record stays as it is. 404 where there is none, and
 * 409 `version_conflict` where `expected` is no longer its version.
 */
export const changeRow = async <Name extends TableName, Row extends object>(
  trx: AnyTrx,
  table: Table<Name, Row>,
  key: Key<Row>,
  change: Change<Name, Row>,
  expected: number | null = null,
): Promise<VersionOf<Row>> => {
  const named = keyEntries(key)
  const sent = Object.entries(change).filter(([, value]) => value !== undefined)
  const isCounted = isCountedIn(table)
  const guard: Entry[] = expected === null ? [] : [['expected', expected]]
  const shape = shaped(`change ${table.tableName} ${keyOf(sent)} by ${keyOf([...named, ...guard])}`, () => {
    const query = queryOf(table).where({
      ...whereKey(named),
      ...(expected === null ? {} : { version: place('expected') }),
    })
    const answer = isCounted ? ['version'] : fieldsOfKey(named)
    if (sent.length === 0) return query.select(answer).toKnexQuery()
    return query
      .patch({ ...placed(known(table, sent)), ...(isCounted ? { version: raw('version + 1') } : {}) })
      .returning(answer)
      .toKnexQuery()
  })
  const row = await preparedOne<{ version?: number }>(trx, shape.text, valuesOf(shape, [...sent, ...named, ...guard]))
  if (row) return (row.version ?? null) as VersionOf<Row>
  if (expected === null) throw notFound()
  const { version } = (await readRow(trx, table, key)) as { version?: number }
  throw versionConflict(version ?? 0)
}

/** Names of the fields that a change has, for its event. */
export const fieldsOf = (change: object): string[] =>
  Object.entries(change).flatMap(([field, value]) => (value === undefined ? [] : [field]))
