import { entitlementEnded, entitlementGranted } from '../../config/events/admin.ts'
import { features, isFeature } from '../../config/features.ts'
import { invalid, notFound, unprocessable } from '../../config/errors.ts'
import { audit } from '../lib/audit.ts'
import { contextOf, enterTenant, sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { readPage, where } from '../lib/paging.ts'
import { endItem } from './billing/store.ts'
import type { HeldItem } from './billing/store.ts'
import type { Page, Paging } from '../lib/paging.ts'

export type Entitlement = {
  key: string
  name: string
  source: 'PLAN_DEFAULT' | 'STORE_PURCHASE' | 'N1_GRANT'
  reason: string | null
  grantedBy: string | null
  startsAt: Date
  expiresAt: Date | null
  addOnId: string | null
  billingType: 'FREE' | 'FLAT_MONTHLY' | 'METERED' | 'TIERED'
}

const longestDays = 731

// A plan says how its own features are billed; what a superuser gives is free.
const fields = `g.id, g.key, g.source, g.reason, g.granted_by, g.starts_at, g.expires_at, i.add_on_id,
    coalesce(a.billing_type, (select f->>'billingType' from jsonb_array_elements(v.features) f where f->>'key' = g.key limit 1), 'FREE') as billing_type`
const grants = `entitlement_grant g left join plan_version v on v.id = g.plan_version_id
  left join subscription_item i on i.id = g.subscription_item_id left join add_on a on a.id = i.add_on_id`
const isOpen = `g.ended_at is null and (g.expires_at is null or g.expires_at > now())`

type Row = Omit<Entitlement, 'name'> & { id: string }

const named = ({ key, source, reason, grantedBy, startsAt, expiresAt, addOnId, billingType }: Row): Entitlement => {
  const name = isFeature(key) ? features[key].name : key
  return { key, name, source, reason, grantedBy, startsAt, expiresAt, addOnId, billingType }
}

/** The row of the tenant is the lock of all that its grants decide, and the subscription before it, of what is billed. 404 where there is no such tenant. */
const lockTenant = async (trx: PlatformTrx, tenantId: string): Promise<void> => {
  await sql(trx, `select tenant_id from subscription where tenant_id = ? for no key update`, [tenantId])
  const row = await sqlOne(trx, `select 1 from tenant where id = ? and status <> 'deleted' for no key update`, [
    tenantId,
  ])
  if (!row) throw notFound('There is no such tenant')
}

type Filter = Paging & { key?: string | undefined; source?: string | undefined }

/** The open grants of a tenant: one record per feature and source. */
export const listEntitlements = async (
  trx: PlatformTrx,
  tenantId: string,
  { key, source, ...paging }: Filter,
): Promise<Page<Entitlement>> => {
  if (!(await sqlOne(trx, `select 1 from tenant where id = ? and status <> 'deleted'`, [tenantId])))
    throw notFound('There is no such tenant')
  const { total, rows } = await readPage<Row>(
    trx,
    {
      columns: fields,
      from: grants,
      conditions: [
        ...where(`g.tenant_id = ? and ${isOpen}`, tenantId),
        ...where('g.key = ?', key),
        ...where('g.source = ?', source),
      ],
      order: 'g.key, g.starts_at, g.id',
    },
    paging,
  )
  return { total, rows: rows.map(named) }
}

export type Grant = { tenantId: string; key: string; reason: string; expiresAt?: Date | null }

/**
 * Gives a feature, whatever the plan says; an open grant of the same kind ends as replaced. It holds for every request that begins
 * after the commit. 422 `unknown_feature`; 400 for an expiry that is past or over two years away.
 */
export const grantEntitlement = async (
  trx: PlatformTrx,
  { tenantId, key, reason, expiresAt = null }: Grant,
): Promise<Entitlement> => {
  if (!isFeature(key))
    throw unprocessable('unknown_feature', `There is no feature ${key}`, [
      { field: 'key', message: 'is not a feature' },
    ])
  await lockTenant(trx, tenantId)
  if (expiresAt) {
    const checked = await sqlOne<{ past: boolean; far: boolean }>(
      trx,
      `select ?::timestamptz <= now() as past, ?::timestamptz > now() + make_interval(days => ?) as far`,
      [expiresAt, expiresAt, longestDays],
    )
    if (checked?.past) throw invalid([{ field: 'expiresAt', message: 'must be in the future' }])
    if (checked?.far) throw invalid([{ field: 'expiresAt', message: 'must be at most two years away' }])
  }
  const by = contextOf(trx).actor.id
  await sql(
    trx,
    `update entitlement_grant set ended_at = now(), ended_by = ?, end_cause = case when expires_at <= now() then 'expired' else 'replaced' end
     where tenant_id = ? and key = ? and source = 'N1_GRANT' and ended_at is null`,
    [by, tenantId, key],
  )
  const made = await sqlOne<{ id: string }>(
    trx,
    `insert into entitlement_grant (tenant_id, key, source, reason, granted_by, expires_at) values (?, ?, 'N1_GRANT', ?, ?, ?) returning id`,
    [tenantId, key, reason, by, expiresAt],
  )
  const id = made?.id ?? ''
  await audit(trx, {
    tenantId,
    action: 'entitlement.grant',
    subjectType: 'Entitlement',
    subjectId: id,
    reason,
    changes: [
      { field: 'key', after: key },
      { field: 'source', after: 'N1_GRANT' },
      { field: 'expiresAt', after: expiresAt?.toISOString() ?? null },
    ],
  })
  await emit(await enterTenant(trx, tenantId), entitlementGranted, {
    propertyId: null,
    id,
    version: null,
    data: { key, source: 'N1_GRANT', expiresAt: expiresAt?.toISOString() ?? null },
  })
  const row = await sqlOne<Row>(trx, `select ${fields} from ${grants} where g.id = ?`, [id])
  if (!row) throw new Error('a grant that was just made is not there')
  return named(row)
}

/** Ends all open grants of a feature, whatever their source. Data stay as they are. 404 `feature_not_active`. */
export const revokeEntitlement = async (
  trx: PlatformTrx,
  { tenantId, key, reason }: { tenantId: string; key: string; reason: string },
): Promise<Entitlement[]> => {
  await lockTenant(trx, tenantId)
  const by = contextOf(trx).actor.id
  const ended = await sql<Row & { expired: boolean }>(
    trx,
    `with open as (select ${fields} from ${grants} where g.tenant_id = :tenantId and g.key = :key and g.ended_at is null),
       ended as (
         update entitlement_grant e set ended_at = now(), ended_by = :by,
           end_cause = case when e.expires_at <= now() then 'expired' else 'revoked' end,
           end_reason = case when e.expires_at <= now() then null else :reason end
         from open o where e.id = o.id)
     select o.*, coalesce(o.expires_at <= now(), false) as expired from open o order by o.starts_at, o.id`,
    { tenantId, key, by, reason },
  )
  const revoked = ended.filter((grant) => !grant.expired)
  if (revoked.length === 0) throw notFound('The feature is not active', 'feature_not_active')
  await audit(trx, {
    tenantId,
    action: 'entitlement.revoke',
    subjectType: 'Entitlement',
    subjectId: key,
    reason,
    changes: revoked.map(({ source }) => ({ field: 'source', before: source, after: null })),
  })
  const items = await sql<HeldItem>(
    trx,
    `select i.id as item_id, i.add_on_id, a.key, a.billing_type, a.meter from subscription_item i join add_on a on a.id = i.add_on_id
     where i.tenant_id = ? and a.feature = ? and i.ends_at is null`,
    [tenantId, key],
  )
  const inside = await enterTenant(trx, tenantId)
  for (const item of items) await endItem(inside, tenantId, item)
  for (const { id, source, expiresAt } of revoked)
    await emit(inside, entitlementEnded, {
      propertyId: null,
      id,
      version: null,
      data: { key, source, expiresAt: expiresAt?.toISOString() ?? null, endCause: 'revoked' },
    })
  return revoked.map(named)
}
