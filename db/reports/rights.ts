import { subjectFacts } from '../../config/subjects.ts'
import { abilityOf, abilityOfKey } from '../lib/ability.ts'
import type { Ability } from '../lib/ability.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { Sight } from './reading.ts'

type Row = {
  features: string[]
  isActive: boolean
  role: string | null
  roleId: string | null
  customKey: string | null
  permissions: { subject: string; actions: string[] }[] | null
  roleVersion: number | null
  scopes: string[] | null
  propertyIds: string[] | null
}

const features = `case when t.features_valid_until <= now() then active_features(t.id) else t.features end as features`

const ofMember = `
  select ${features}, t.status = 'active' and m.status = 'active' and u.status <> 'locked' as is_active, m.role, r.id as role_id, r.key as custom_key, r.permissions,
    r.version as role_version, null::text[] as scopes,
    case when m.all_properties then null else coalesce((select array_agg(p.property_id) from membership_property p where p.membership_id = m.id), '{}') end as property_ids
  from tenant t join membership m on m.tenant_id = t.id and m.user_id = :callerId join app_user u on u.id = m.user_id
  left join role r on r.tenant_id = m.tenant_id and r.id = m.role_id where t.id = :tenantId`
const ofKey = `
  select ${features}, t.status = 'active' and k.revoked_at is null and k.expires_at > now() as is_active, null as role, null::uuid as role_id,
    null as custom_key, null::jsonb as permissions, null::int as role_version, k.scopes,
    case when k.all_properties then null else coalesce((select array_agg(p.property_id) from api_key_property p where p.api_key_id = k.id), '{}') end as property_ids
  from tenant t join api_key k on k.tenant_id = t.id and k.id = :callerId where t.id = :tenantId`

const abilityIn = (row: Row): Ability => {
  if (row.scopes !== null) return abilityOfKey(row.scopes, row.propertyIds)
  const custom =
    row.roleId !== null && row.permissions
      ? { id: row.roleId, version: row.roleVersion ?? 0, permissions: row.permissions }
      : null
  return abilityOf(row.customKey ?? row.role ?? '', custom, row.propertyIds)
}

export type Rights = { sight: Sight; refusal: 'forbidden' | 'feature_not_enabled' | null }

const actionsOf = { make: ['create'], fetch: ['read', 'export'] } as const

/** The present rights of a member or key over a subject, and the reason why it may not be read. `to`: whether runs of it are made, or their files fetched. */
export const rightsOf = async (
  trx: Trx,
  {
    callerId,
    byKey,
    subject,
    to = 'make',
  }: { callerId: string; byKey: boolean; subject: string; to?: keyof typeof actionsOf },
): Promise<Rights> => {
  const row = await sqlOne<Row>(trx, byKey ? ofKey : ofMember, { callerId, tenantId: contextOf(trx).tenantId })
  const sight = { propertyIds: row?.propertyIds ?? null }
  if (!row?.isActive) return { sight, refusal: 'forbidden' }
  const ability = abilityIn(row)
  const mayRun = actionsOf[to].every((action) => ability.can(action, 'ReportRun'))
  if (!mayRun || !ability.can('read', subject)) return { sight, refusal: 'forbidden' }
  const { feature } = subjectFacts(subject)
  return { sight, refusal: feature !== null && !row.features.includes(feature) ? 'feature_not_enabled' : null }
}
