import knex from 'knex'
import type { Knex } from 'knex'
import { knexSnakeCaseMappers } from 'objection'
import type { Model, QueryBuilder } from 'objection'
import { memo } from '../../config/memo.ts'
import type { Table } from './models.ts'

/** A value of a query: its name, and whether its column holds JSON. */
type Slot = { name: string; isDocument: boolean }
/** A text that binds values by position, and the places of those values in that order. */
export type Shape = { text: string; slots: readonly Slot[] }

// A character of the private use area: JSON leaves it as it is.
const mark = '\uE000'
/** Stands for a value while a text is built; what a caller sends is never part of one. */
export const place = (name: string): string => `${mark}${name}`

const mappers = knexSnakeCaseMappers() as { wrapIdentifier: (name: string, wrap: (name: string) => string) => string }
// It builds texts and never connects.
export const builder: Knex = knex({ client: 'pg', wrapIdentifier: mappers.wrapIdentifier })
/** A query of a table's model, for its text. */
export const queryOf = (table: Pick<Table, 'tableName'>): QueryBuilder<Model> =>
  (table as unknown as typeof Model).query(builder)
/** The column of a field. */
export const columnOf = (field: string): string => mappers.wrapIdentifier(field, (name) => name)

type Built = { toSQL: () => { sql: string; bindings: readonly unknown[] } }

/** Objection writes what a JSON column is given as JSON, and the mark in it says so. */
const slotOf = (binding: unknown): Slot => {
  if (typeof binding === 'string' && binding.startsWith(mark)) return { name: binding.slice(1), isDocument: false }
  if (typeof binding === 'string' && binding.startsWith(`"${mark}`))
    return { name: binding.slice(2, -1), isDocument: true }
  throw new Error('a value would be part of a text')
}

/** More texts than these are not in use at once. */
const shapes = memo<Shape>(2_000)

/**
 * The text of a query, built by Objection when its shape is first asked for: building costs more than most queries do. `key` says all that the text
 * depends on.
 */
export const shaped = (key: string, build: () => Built): Shape =>
  shapes(key, () => {
    const { sql, bindings } = build().toSQL()
    return { text: sql, slots: bindings.map(slotOf) }
  })

/** The values of a shape in the order of its places. */
export const fill = ({ slots }: Shape, valueOf: (name: string) => unknown): unknown[] =>
  slots.map(({ name, isDocument }) => {
    const value = valueOf(name)
    if (value === undefined) throw new Error(`no value for ${name}`)
    return isDocument && value !== null ? JSON.stringify(value) : value
  })
