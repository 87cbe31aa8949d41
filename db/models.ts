import { Model } from 'objection'
import type { AnyTrx } from './connection.ts'

/** An Objection model of one table: no hooks, no virtuals. The row type comes from rows.ts. */
export const model = <Row extends object>(tableName: string, idColumn: string[] = ['tenantId', 'id']) => {
  class Table extends Model {
    static override tableName = tableName
    static override idColumn = idColumn
  }
  type Typed = Table & Row
  return Table as unknown as Omit<typeof Model, 'query' | 'prototype'> & {
    new (): Typed
    prototype: Typed
    query(trx: AnyTrx): import('objection').QueryBuilder<Typed, Typed[]>
  }
}
