import type { ApiError } from '../../config/errors.ts'
import { contextOf, sql, sqlState } from './connection.ts'
import type { Trx } from './connection.ts'

const stillNamed = '23503'

/** Does what a foreign key of another table may forbid; then `refusal` is thrown. */
export const unlessNamed = async (work: Promise<unknown>, refusal: () => ApiError): Promise<void> => {
  try {
    await work
  } catch (error) {
    throw sqlState(error) === stillNamed ? refusal() : error
  }
}

/** Deletes a record of the tenant, unless another record names it. */
export const removeUnused = (trx: Trx, table: string, id: string, refusal: () => ApiError): Promise<void> =>
  unlessNamed(sql(trx, `delete from ?? where tenant_id = ? and id = ?`, [table, contextOf(trx).tenantId, id]), refusal)
