import type { ApiError } from '../../config/errors.ts'
import { contextOf, sql, sqlState } from './connection.ts'
import type { Trx } from './connection.ts'

const stillNamed = '23503'

/** Deletes a record of the tenant; where a foreign key of another table still holds it, `refusal` is thrown. */
export const removeUnused = async (trx: Trx, table: string, id: string, refusal: () => ApiError): Promise<void> => {
  try {
    await sql(trx, `delete from ?? where tenant_id = ? and id = ?`, [table, contextOf(trx).tenantId, id])
  } catch (error) {
    throw sqlState(error) === stillNamed ? refusal() : error
  }
}
