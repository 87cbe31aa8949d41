import { unprocessable } from '../../config/errors.ts'
import { sql } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'

type Losing = { tenantId: string; keys: readonly string[] }
export type FeatureUse = { tenantId: string; feature: string; what: string; count: number }

/**
 * Uses of features by tenants at this moment: keys that were used within 30 days and have no other way in, connected channels, active endpoints of
 * webhooks.
 */
export const usesOf = async (trx: PlatformTrx, losing: readonly Losing[]): Promise<FeatureUse[]> => {
  if (losing.length === 0) return []
  const found = await sql<FeatureUse>(trx, `select tenant_id, feature, what, count from feature_uses(?::uuid[])`, [
    losing.map(({ tenantId }) => tenantId),
  ])
  const lost = new Map(losing.map(({ tenantId, keys }) => [tenantId, new Set(keys)]))
  return found.filter(({ tenantId, feature }) => lost.get(tenantId)?.has(feature))
}

/** 422 `feature_in_use` where something uses what would be lost. */
export const assertNotInUse = async (trx: PlatformTrx, losing: readonly Losing[]): Promise<void> => {
  const uses = await usesOf(trx, losing)
  if (uses.length > 0)
    throw unprocessable(
      'feature_in_use',
      'Features that would be lost are in use; end their use, or send acceptLoss',
      uses.slice(0, 20).map(({ tenantId, feature, what, count }) => ({
        field: feature,
        message: `${count} ${what} of tenant ${tenantId}`,
      })),
    )
}
