import type { Knex } from 'knex'
import { Model } from 'objection'
import type { QueryBuilder } from 'objection'
import { tables } from '../rows.ts'
import type { Rows } from '../rows.ts'

export type TableName = keyof Rows & keyof typeof tables

/** Of a table that rows.ts does not have yet: what writes rows.ts loads models, too. */
const unknown = { fields: [], filled: [], nullable: [], documents: [] }

/** A row of a table; `Known` are the types of its JSON columns, which the database does not know. */
export type RowOf<Name extends TableName, Known extends object = object> = Omit<Rows[Name], keyof Known> & Known

type Columns = Readonly<Record<'fields' | 'filled' | 'nullable', readonly string[]>>

/** One table: its name, its columns, and what builds queries of it. */
export type Table<Name extends TableName = TableName, Row extends object = object> = {
  new (): Model & Row
  tableName: Name
  columns: Columns
  /** For its type alone. */
  readonly row?: Row
  query: (knex: Knex) => QueryBuilder<Model & Row>
}

/**
 * An Objection model of one table: no hooks, no virtuals, no validation of its own. Its row type and its columns come from rows.ts. `Known` says what
 * its JSON columns hold, as in `model<'tax_rule', { name: LocalText }>('tax_rule')`. Commands use it through lib/records.ts and lib/lists.ts; locks,
 * counters, sets of rows and reports are SQL.
 */
export const model = <Name extends TableName, Known extends object = object>(
  tableName: Name,
  idColumn: string | string[] = ['tenantId', 'id'],
): Table<Name, RowOf<Name, Known>> => {
  const { documents, ...columns } = { ...unknown, ...tables[tableName] }
  class Of extends Model {
    static override tableName = tableName
    static override idColumn = idColumn
    static override jsonAttributes = [...documents]
    static columns: Columns = columns
  }
  return Of as unknown as Table<Name, RowOf<Name, Known>>
}
