import { conflict } from '../../../config/errors.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { AnyTrx } from '../../lib/connection.ts'

/** Tells whether a tenant was exported to another installation. */
export const hasMoved = async (trx: AnyTrx, tenantId: string): Promise<boolean> =>
  (await sqlOne(trx, `select 1 from tenant_move where tenant_id = ? and direction = 'out'`, [tenantId])) !== null

/** 409 `invalid_transition` for a tenant that was exported to another installation: it may be in use at one alone. */
export const assertHere = async (trx: AnyTrx, tenantId: string): Promise<void> => {
  if (await hasMoved(trx, tenantId))
    throw conflict('invalid_transition', 'The tenant was exported to another installation, and is used there')
}
