import { conflict, unprocessable } from '../../config/errors.ts'
import { subscriptionPlanChanged } from '../../config/events/admin.ts'
import type { Plan } from '../../config/plans.ts'
import { audit } from '../lib/audit.ts'
import { contextOf, enterTenant, sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { billOf, readFacts } from './billing/bill.ts'
import { assertNotInUse, usesOf } from './feature-uses.ts'
import type { FeatureUse } from './feature-uses.ts'
import { moveGrants } from './grants.ts'
import { planVersionNow } from './plans.ts'
import { totalOf } from './rules/lines.ts'
import { lockOperated } from './tenant/operate.ts'

export type PlanChange = {
  plan: Plan
  planVersion: number
  dryRun: boolean
  gained: string[]
  lost: string[]
  /** Features of the old plan alone that stay, and by what. */
  keptBy: Record<string, 'STORE_PURCHASE' | 'N1_GRANT'>
  /** Features that had been revoked and come back with the plan. */
  reactivated: string[]
  /** Add-ons that are held and paid, though the new plan includes their feature. */
  overlappingAddOns: string[]
  inUse: Omit<FeatureUse, 'tenantId'>[]
  nextTotal: number
}

type Asked = { plan: Plan; reason: string; dryRun?: boolean | undefined; acceptLoss?: boolean | undefined }
type OpenGrant = { id: string; key: string; source: 'PLAN_DEFAULT' | 'STORE_PURCHASE' | 'N1_GRANT' }

/**
 * Changes the plan of a tenant at once: its default features are those of the new plan's version, whatever was revoked before; what was bought or
 * granted stays. `dryRun` answers the same and changes nothing. 422 `plan_without_price`, and `feature_in_use` unless `acceptLoss`.
 */
export const changePlan = async (
  trx: PlatformTrx,
  tenantId: string,
  { plan, reason, dryRun = false, acceptLoss = false }: Asked,
  expected: number | null = null,
): Promise<PlanChange> => {
  const tenant = await lockOperated(trx, tenantId, expected)
  if (tenant.status === 'deleted' || tenant.status === 'deleting')
    throw conflict('invalid_transition', `A tenant that is ${tenant.status} changes no plan`)
  const version = await planVersionNow(trx, plan)
  const price = version.prices[tenant.currency]
  if (price === undefined)
    throw unprocessable('plan_without_price', `The plan ${plan} has no price in ${tenant.currency}`)
  const open = await sql<OpenGrant>(
    trx,
    `select id, key, source from entitlement_grant where tenant_id = ? and ended_at is null and (expires_at is null or expires_at > now()) order by key`,
    [tenantId],
  )
  const included = new Set(version.features.map(({ key }) => key))
  const active = new Set(open.map(({ key }) => key))
  const others = open.filter(({ source }) => source !== 'PLAN_DEFAULT')
  const byOther = new Map(others.map(({ key, source }) => [key, source as 'STORE_PURCHASE' | 'N1_GRANT']))
  const ending = open.filter(({ source, key }) => source === 'PLAN_DEFAULT' && !included.has(key))
  const lost = ending.map(({ key }) => key).filter((key) => !byOther.has(key))
  const revoked = await sql<{ key: string }>(
    trx,
    `select distinct on (key) key, end_cause from entitlement_grant where tenant_id = ? and ended_at is not null and key = any(?) order by key, ended_at desc`,
    [tenantId, [...included].filter((key) => !active.has(key))],
  )
  const before = await sqlOne<{ keys: string[] }>(
    trx,
    `select array(select f->>'key' from jsonb_array_elements(v.features) f) as keys from subscription s join plan_version v on v.id = s.plan_version_id where s.tenant_id = ?`,
    [tenantId],
  )
  const losing = [{ tenantId, keys: lost }]
  if (!dryRun && !acceptLoss) await assertNotInUse(trx, losing)
  const uses = await usesOf(trx, losing)
  const facts = await readFacts(trx as never, tenantId)
  // A period that is over is billed at the plan of its end.
  const billedPlan = { id: version.id, name: plan, features: version.features, prices: version.prices }
  const isOver = facts.endsAt.getTime() <= Date.now()
  const { lines } = await billOf(trx as never, isOver ? facts : { ...facts, billedPlan })
  const held = await sql<{ key: string }>(
    trx,
    `select a.key from subscription_item i join add_on a on a.id = i.add_on_id where i.tenant_id = ? and i.ends_at is null and a.feature = any(?) order by a.key`,
    [tenantId, [...included]],
  )
  const change: PlanChange = {
    plan,
    planVersion: version.number,
    dryRun,
    gained: [...included].filter((key) => !active.has(key)).toSorted(),
    lost,
    keptBy: Object.fromEntries(
      ending.flatMap(({ key }) => {
        const source = byOther.get(key)
        return source ? [[key, source] as const] : []
      }),
    ),
    reactivated: revoked.map(({ key }) => key).filter((key) => before?.keys.includes(key)),
    overlappingAddOns: held.map(({ key }) => key),
    inUse: uses.map(({ feature, what, count }) => ({ feature, what, count })),
    nextTotal: totalOf(lines).total,
  }
  if (dryRun) return change
  const by = contextOf(trx).actor.id
  const isSame =
    tenant.plan === plan && facts.planVersionId === version.id && change.gained.length + ending.length === 0
  if (isSame) return change
  await sql(trx, `update subscription set plan = ?, plan_version_id = ?, version = version + 1 where tenant_id = ?`, [
    plan,
    version.id,
    tenantId,
  ])
  await sql(trx, `update tenant set plan = ?, version = version + 1 where id = ?`, [plan, tenantId])
  await audit(trx, {
    tenantId,
    action: 'subscription.change_plan',
    subjectType: 'Subscription',
    subjectId: tenantId,
    reason,
    changes: [
      { field: 'plan', before: tenant.plan, after: plan },
      { field: 'planVersion', before: facts.versionNumber, after: version.number },
      { field: 'gained', after: change.gained },
      { field: 'lost', after: lost },
    ],
  })
  const inside = await enterTenant(trx, tenantId)
  const defaults = open.filter(({ source }) => source === 'PLAN_DEFAULT').map(({ id }) => id)
  // Every default begins anew, so that its history names the version that gave it.
  await moveGrants(inside, tenantId, {
    end: defaults,
    begin: [...included].map((key) => ({ key, source: 'PLAN_DEFAULT' as const, planVersionId: version.id })),
    cause: 'plan_change',
    by,
  })
  await emit(inside, subscriptionPlanChanged, {
    propertyId: null,
    id: tenantId,
    version: facts.version + 1,
    data: { before: tenant.plan, after: plan },
  })
  return change
}
