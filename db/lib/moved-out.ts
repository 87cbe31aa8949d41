import { sql } from './connection.ts'
import type { AnyTrx } from './connection.ts'

/**
 * Those of these records whose tenant has not moved to another installation. Nothing enters one that has: a sweep that goes through tenants in one transaction would
 * do nothing for all others, as long as records of that one are due here.
 */
export const ofTenantsHere = async <Found extends { tenantId: string }>(
  trx: AnyTrx,
  found: readonly Found[],
): Promise<Found[]> => {
  if (found.length === 0) return []
  const moved = await sql<{ tenantId: string }>(
    trx,
    `select tenant_id from tenant_move where direction = 'out' and tenant_id = any(?::uuid[])`,
    [[...new Set(found.map(({ tenantId }) => tenantId))]],
  )
  const gone = new Set(moved.map(({ tenantId }) => tenantId))
  return found.filter(({ tenantId }) => !gone.has(tenantId))
}
