import { forbidden, unprocessable } from '../../config/errors.ts'
import { sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { hasFeature } from '../lib/features.ts'

/** Suppliers and their orders are named with their feature alone. 403 `feature_not_enabled`. */
export const requireSuppliers = async (trx: Trx): Promise<void> => {
  if (await hasFeature(trx, 'suppliers')) return
  throw forbidden('feature_not_enabled', 'The feature is not active for this tenant', [
    { field: 'feature', message: 'suppliers' },
  ])
}

/** Holds an active supplier, which comes before stock and items in the order of locks. 403 `feature_not_enabled`; 422 `reference_not_found`. */
export const holdSupplier = async (trx: Trx, supplierId: string): Promise<void> => {
  await requireSuppliers(trx)
  const found = await sqlOne(trx, `select 1 from supplier where id = ? and status = 'active' for key share`, [
    supplierId,
  ])
  if (!found)
    throw unprocessable('reference_not_found', 'There is no such active supplier', [
      { field: 'supplierId', message: 'is no active supplier of the tenant' },
    ])
}
