import type { FeatureKey } from '../../config/features.ts'
import { contextOf, preparedOne } from './connection.ts'
import type { Trx } from './connection.ts'

/** Tells whether a feature is active for the tenant at this moment. */
export const hasFeature = async (trx: Trx, feature: FeatureKey): Promise<boolean> => {
  const row = await preparedOne<{ on: boolean }>(
    trx,
    `select :feature = any(case when features_valid_until <= now() then active_features(id) else features end) as "on" from tenant where id = :tenantId`,
    { feature, tenantId: contextOf(trx).tenantId },
  )
  return row?.on ?? false
}
