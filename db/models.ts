import { Model } from 'objection'
import type { QueryBuilder } from 'objection'
import type { AnyTrx } from './connection.ts'

/**
 * An Objection model of one table: no hooks, no virtuals, no validation of its own. The row type comes from rows.ts. Models read and
 * write records; locks, sets of rows and reports are SQL.
 */
export const model = <Row extends object>(tableName: string, idColumn: string | string[] = ['tenantId', 'id']) => {
  class Table extends Model {
    static override tableName = tableName
    static override idColumn = idColumn
  }
  type Record = Model & Row
  return Table as unknown as { new (): Record; query: (trx: AnyTrx) => QueryBuilder<Record> }
}
