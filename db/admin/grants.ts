import { entitlementEnded, entitlementGranted } from '../../config/events/admin.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'

type Begin = { key: string; source: 'PLAN_DEFAULT' | 'STORE_PURCHASE'; planVersionId?: string; itemId?: string }
type Cause = 'plan_change' | 'plan_version' | 'cancelled'
type Moves = { end?: readonly string[]; begin?: readonly Begin[]; cause?: Cause; by: string | null }

type Ended = {
  id: string
  key: string
  source: 'PLAN_DEFAULT' | 'STORE_PURCHASE' | 'N1_GRANT'
  expiresAt: Date | null
  endCause: string
}

/**
 * Ends and begins grants of the tenant, whose row the caller has locked, and tells of each. A trigger rewrites its features in the same
 * transaction, so that they hold for every request that begins after the commit.
 */
export const moveGrants = async (
  trx: Trx,
  tenantId: string,
  { end = [], begin = [], cause = 'cancelled', by }: Moves,
): Promise<void> => {
  const ended =
    end.length === 0
      ? []
      : await sql<Ended>(
          trx,
          `update entitlement_grant set ended_at = now(), ended_by = ?, end_cause = case when expires_at <= now() then 'expired' else ? end
           where tenant_id = ? and id = any(?::uuid[]) and ended_at is null returning id, key, source, expires_at, end_cause`,
          [by, cause, tenantId, end],
        )
  for (const { id, key, source, expiresAt, endCause } of ended)
    await emit(trx, entitlementEnded, {
      propertyId: null,
      id,
      version: null,
      data: { key, source, expiresAt: expiresAt?.toISOString() ?? null, endCause },
    })
  for (const { key, source, planVersionId = null, itemId = null } of begin) {
    const [made] = await sql<{ id: string }>(
      trx,
      `insert into entitlement_grant (tenant_id, key, source, granted_by, plan_version_id, subscription_item_id) values (?, ?, ?, ?, ?, ?) returning id`,
      [tenantId, key, source, by, planVersionId, itemId],
    )
    await emit(trx, entitlementGranted, {
      propertyId: null,
      id: made?.id ?? '',
      version: null,
      data: { key, source, expiresAt: null },
    })
  }
}
