import { features, isFeature } from '../../config/features.ts'
import { notFound } from '../../config/errors.ts'
import { actionsOf, subjectFacts, subjects } from '../../config/subjects.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'
import { readPage, where } from '../lib/paging.ts'
import type { Page, Paging } from '../lib/paging.ts'

export type PastGrant = {
  id: string
  key: string
  name: string
  source: 'PLAN_DEFAULT' | 'STORE_PURCHASE' | 'N1_GRANT'
  reason: string | null
  grantedBy: string | null
  startsAt: Date
  expiresAt: Date | null
  addOnId: string | null
  planVersion: number | null
  endedAt: Date | null
  endedBy: string | null
  endCause: string | null
  endReason: string | null
  active: boolean
}

// A grant whose time is over has ended, also before anything has written so.
const columns = `g.id, g.key, g.source, g.reason, g.granted_by, g.starts_at, g.expires_at, i.add_on_id, v.number as plan_version,
  coalesce(g.ended_at, case when g.expires_at <= now() then g.expires_at end) as ended_at, g.ended_by,
  coalesce(g.end_cause, case when g.expires_at <= now() then 'expired' end) as end_cause, g.end_reason,
  g.ended_at is null and (g.expires_at is null or g.expires_at > now()) as active`
const source = `entitlement_grant g left join plan_version v on v.id = g.plan_version_id left join subscription_item i on i.id = g.subscription_item_id`

const named = (row: Omit<PastGrant, 'name'>): PastGrant => ({
  ...row,
  name: isFeature(row.key) ? features[row.key].name : row.key,
})

const assertTenant = async (trx: PlatformTrx, tenantId: string): Promise<void> => {
  if (!(await sqlOne(trx, `select 1 from tenant where id = ?`, [tenantId]))) throw notFound('There is no such tenant')
}

/** All grants that a tenant ever had, newest first. */
export const listGrantHistory = async (
  trx: PlatformTrx,
  tenantId: string,
  { key, ...paging }: Paging & { key?: string | undefined },
): Promise<Page<PastGrant>> => {
  await assertTenant(trx, tenantId)
  const { total, rows } = await readPage<Omit<PastGrant, 'name'>>(
    trx,
    {
      columns,
      from: source,
      conditions: [...where('g.tenant_id = ?', tenantId), ...where('g.key = ?', key)],
      order: 'g.starts_at desc, g.id',
    },
    paging,
  )
  return { total, rows: rows.map(named) }
}

/** Subjects and actions that a feature opens. */
export const subjectsOfFeature = (key: string): string[] =>
  Object.keys(subjects).filter((subject) => subjectFacts(subject).feature === key && actionsOf(subject).length > 0)

/** Why a feature is active for a tenant, or is not. 404 for what is no feature. */
export const explainFeature = async (trx: PlatformTrx, tenantId: string, key: string) => {
  await assertTenant(trx, tenantId)
  if (!isFeature(key)) throw notFound('There is no such feature')
  const grants = (
    await sql<Omit<PastGrant, 'name'>>(
      trx,
      `select ${columns} from ${source} where g.tenant_id = ? and g.key = ? order by g.starts_at desc, g.id limit 200`,
      [tenantId, key],
    )
  ).map(named)
  const plan = await sqlOne<{ plan: 'Starter' | 'Professional' | 'Enterprise'; version: number; includes: boolean }>(
    trx,
    `select s.plan, v.number as version, exists (select from jsonb_array_elements(v.features) f where f->>'key' = ?) as includes
     from subscription s join plan_version v on v.id = s.plan_version_id where s.tenant_id = ?`,
    [key, tenantId],
  )
  const addOns = await sql<{ addOnId: string; key: string; onSale: boolean; prices: Record<string, unknown> }>(
    trx,
    `select a.id as add_on_id, a.key, a.on_sale, p.prices from add_on a
     join lateral (select prices from add_on_price where add_on_id = a.id and effective_from <= now() order by number desc limit 1) p on true
     where a.feature = ? order by a.key`,
    [key],
  )
  const tenant = await sqlOne<{ currency: string }>(trx, `select currency from tenant where id = ?`, [tenantId])
  return {
    key,
    active: grants.some(({ active }) => active),
    because: grants.filter(({ active }) => active),
    ended: grants.filter(({ active }) => !active).slice(0, 20),
    plan,
    addOns: addOns.map(({ prices, ...addOn }) => ({ ...addOn, price: prices[tenant?.currency ?? ''] ?? null })),
    subjects: subjectsOfFeature(key),
  }
}
