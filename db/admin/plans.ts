import { plans } from '../../config/plans.ts'
import type { Plan } from '../../config/plans.ts'
import { isFeature } from '../../config/features.ts'
import { invalid, notFound, unprocessable } from '../../config/errors.ts'
import { movePlan } from '../../jobs/admin.ts'
import { audit } from '../lib/audit.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import type { Page, Paging } from '../lib/paging.ts'
import { assertNotInUse } from './feature-uses.ts'
import { moveGrants } from './grants.ts'

type Tier = { upTo: number | null; unitPrice: string }
export type PlanFeature = {
  key: string
  billingType: 'FREE' | 'METERED' | 'TIERED'
  meters?: Record<string, Record<string, Tier[]>>
}
export type PlanVersion = {
  id: string
  plan: Plan
  number: number
  features: PlanFeature[]
  prices: Record<string, number>
  platformFeeRate: number
  effectiveFrom: Date
  note: string
}

const columns = `id, plan, number, features, prices, platform_fee_rate, effective_from, note`

/** The plans with their versions, newest first. */
export const listPlans = async (
  trx: PlatformTrx,
  { page, limit }: Paging,
): Promise<Page<{ plan: Plan; versions: PlanVersion[] }>> => {
  const rows = await sql<PlanVersion>(
    trx,
    `select ${columns} from (select *, row_number() over (partition by plan order by number desc) as n from plan_version) v where n <= 100
     order by plan, number desc`,
  )
  const all = plans.map((plan) => ({ plan, versions: rows.filter((row) => row.plan === plan) }))
  return { total: all.length, rows: all.slice((page - 1) * limit, page * limit) }
}

/** The version of a plan that a tenant of now gets. */
export const planVersionNow = async (trx: PlatformTrx, plan: Plan): Promise<PlanVersion> => {
  const found = await sqlOne<PlanVersion>(
    trx,
    `select ${columns} from plan_version where plan = ? and effective_from <= now() order by number desc limit 1`,
    [plan],
  )
  if (!found) throw new Error(`the plan ${plan} has no version; the release writes it`)
  return found
}

export type NewVersion = {
  features: PlanFeature[]
  prices: Record<string, number>
  platformFeeRate?: number | undefined
  effectiveFrom?: string | undefined
  note: string
  applyToExisting?: boolean | undefined
  acceptLoss?: boolean | undefined
}

const assertFeatures = (features: readonly PlanFeature[], prices: Record<string, number>): void => {
  const unknown = features.map(({ key }, index) => ({ key, index })).filter(({ key }) => !isFeature(key))
  if (unknown.length > 0)
    throw unprocessable(
      'unknown_feature',
      'A feature is not known',
      unknown.map(({ index }) => ({ field: `features.${index}.key`, message: 'is not a feature' })),
    )
  const keys = features.map(({ key }) => key)
  if (new Set(keys).size < keys.length) throw invalid([{ field: 'features', message: 'must name each feature once' }])
  for (const [index, { billingType, meters }] of features.entries()) {
    if ((billingType === 'FREE') !== (meters === undefined || Object.keys(meters).length === 0))
      throw invalid([{ field: `features.${index}.meters`, message: 'is for METERED and TIERED, and required there' }])
    for (const [meter, priced] of Object.entries(meters ?? {})) {
      const missing = Object.keys(prices).filter((currency) => priced[currency] === undefined)
      if (missing.length > 0)
        throw unprocessable('plan_without_price', `The meter ${meter} has no price in ${missing.join(', ')}`, [
          { field: `features.${index}.meters.${meter}`, message: `has no price in ${missing.join(', ')}` },
        ])
      for (const [currency, tiers] of Object.entries(priced))
        assertTiers(tiers, `features.${index}.meters.${meter}.${currency}`)
    }
  }
  const metered = features.flatMap(({ meters = {} }) => Object.keys(meters))
  if (new Set(metered).size < metered.length)
    throw invalid([{ field: 'features', message: 'must price each meter once' }])
}

/** Tiers rise, and only the last has no end. 400. */
export const assertTiers = (tiers: readonly Tier[], field: string): void => {
  let last = 0
  for (const [index, { upTo }] of tiers.entries()) {
    const isLast = index === tiers.length - 1
    if (isLast !== (upTo === null) || (upTo !== null && upTo <= last))
      throw invalid([{ field, message: 'must rise, and only the last tier has no end' }])
    last = upTo ?? last
  }
}

/** Adds a version of a plan; versions do not change. With `applyToExisting` tenants of the plan follow it, by a job, from its time on. */
export const createPlanVersion = async (
  trx: PlatformTrx,
  plan: Plan,
  given: NewVersion,
): Promise<{ plan: Plan; versions: PlanVersion[] }> => {
  const { features, prices, platformFeeRate = 0, effectiveFrom, note, applyToExisting = false } = given
  if (Object.keys(prices).length === 0)
    throw unprocessable('plan_without_price', 'The plan has no price', [{ field: 'prices', message: 'is empty' }])
  assertFeatures(features, prices)
  await sql(trx, `select pg_advisory_xact_lock(hashtext('plan_version'), hashtext(?))`, [plan])
  const clock = await sqlOne<{ past: boolean; startsAt: Date }>(
    trx,
    `select coalesce(?::timestamptz < now() - interval '1 minute', false) as past, coalesce(?::timestamptz, now()) as starts_at`,
    [effectiveFrom ?? null, effectiveFrom ?? null],
  )
  if (clock?.past) throw invalid([{ field: 'effectiveFrom', message: 'must not be past' }])
  if (applyToExisting) {
    const missing = await sqlOne<{ currency: string }>(
      trx,
      `select t.currency from subscription s join tenant t on t.id = s.tenant_id where s.plan = ? and t.status <> 'deleted' and not (?::jsonb ?? t.currency) limit 1`.replace(
        '??',
        '\\?',
      ),
      [plan, JSON.stringify(prices)],
    )
    if (missing)
      throw unprocessable('plan_without_price', `Tenants of the plan pay in ${missing.currency}, which has no price`)
    if (!given.acceptLoss) await assertPlanNotInUse(trx, plan, features)
  }
  const made = await sqlOne<{ id: string; number: number }>(
    trx,
    `insert into plan_version (plan, number, features, prices, platform_fee_rate, effective_from, note, created_by)
     select :plan, coalesce(max(number), 0) + 1, :features::jsonb, :prices::jsonb, :rate, :startsAt, :note, :by from plan_version where plan = :plan
     returning id, number`,
    {
      plan,
      features: JSON.stringify(features),
      prices: JSON.stringify(prices),
      rate: platformFeeRate,
      startsAt: clock?.startsAt.toISOString() ?? null,
      note,
      by: contextOf(trx).actor.id,
    },
  )
  const id = made?.id ?? ''
  await audit(trx, {
    tenantId: null,
    action: 'plan.create_version',
    subjectType: 'Plan',
    subjectId: id,
    reason: note,
    changes: [
      { field: 'plan', after: plan },
      { field: 'number', after: made?.number },
      { field: 'features', after: features.map(({ key }) => key) },
      { field: 'prices', after: prices },
      { field: 'applyToExisting', after: applyToExisting },
    ],
  })
  if (applyToExisting)
    await enqueue(
      trx,
      movePlan,
      { planVersionId: id, after: null },
      { uniqueKey: id, ...(effectiveFrom === undefined ? {} : { at: new Date(effectiveFrom) }) },
    )
  const { rows } = await listPlans(trx, { page: 1, limit: 10 })
  const found = rows.find((row) => row.plan === plan)
  if (!found) throw notFound()
  return found
}

/** Refuses to take a feature from all tenants of a plan while one of them uses it. */
const assertPlanNotInUse = async (trx: PlatformTrx, plan: Plan, features: readonly PlanFeature[]): Promise<void> => {
  const kept = features.map(({ key }) => key)
  const losing = await sql<{ tenantId: string; keys: string[] }>(
    trx,
    `select g.tenant_id, array_agg(g.key) as keys from entitlement_grant g join subscription s on s.tenant_id = g.tenant_id
     where s.plan = ? and g.source = 'PLAN_DEFAULT' and g.ended_at is null and not (g.key = any(?))
       and not exists (select from entitlement_grant o where o.tenant_id = g.tenant_id and o.key = g.key and o.id <> g.id and o.ended_at is null
         and (o.expires_at is null or o.expires_at > now()))
     group by g.tenant_id order by g.tenant_id`,
    [plan, kept],
  )
  await assertNotInUse(trx, losing)
}

type Moved = { planVersionId: string; features: { key: string }[] }
const atOnce = 50

/** Tenants of the plan of a version, by id: some at a time. */
export const tenantsOfPlan = (trx: PlatformTrx, planVersionId: string, after: string | null) =>
  sql<{ tenantId: string }>(
    trx,
    `select s.tenant_id from subscription s join plan_version v on v.plan = s.plan
     where v.id = ? and (?::uuid is null or s.tenant_id > ?::uuid) order by s.tenant_id limit ${atOnce}`,
    [planVersionId, after, after],
  )

/** Moves one tenant to a version of its plan, if that is newer than its own: only what differs between the versions is given or taken. */
export const applyPlanVersion = async (trx: Trx, tenantId: string, planVersionId: string): Promise<void> => {
  const version = await sqlOne<PlanVersion>(trx, `select ${columns} from plan_version where id = ?`, [planVersionId])
  if (!version) return
  // Locked before it is read: of a version that changed while a joined statement waited, that would find none.
  await sql(trx, `select tenant_id from subscription where tenant_id = ? for no key update`, [tenantId])
  const tenant = await sqlOne<{ status: string; currency: string }>(
    trx,
    `select status, currency from tenant where id = ? for no key update`,
    [tenantId],
  )
  const row = await sqlOne<Moved>(
    trx,
    `select s.plan_version_id, v.features from subscription s join plan_version v on v.id = s.plan_version_id
     where s.tenant_id = ? and s.plan = ? and v.number < ?`,
    [tenantId, version.plan, version.number],
  )
  if (!row || !tenant || tenant.status === 'deleted') return
  // One that came after the version was written, and pays in a currency without a price there, would pay nothing.
  if (version.prices[tenant.currency] === undefined) return
  const before = new Set(row.features.map(({ key }) => key))
  const now = new Set(version.features.map(({ key }) => key))
  const open = await sql<{ id: string; key: string }>(
    trx,
    `select id, key from entitlement_grant where tenant_id = ? and source = 'PLAN_DEFAULT' and ended_at is null`,
    [tenantId],
  )
  await sql(trx, `update subscription set plan_version_id = ?, version = version + 1 where tenant_id = ?`, [
    planVersionId,
    tenantId,
  ])
  const held = new Set(open.map(({ key }) => key))
  await moveGrants(trx, tenantId, {
    end: open.filter(({ key }) => !now.has(key)).map(({ id }) => id),
    begin: [...now]
      .filter((key) => !before.has(key) && !held.has(key))
      .map((key) => ({ key, source: 'PLAN_DEFAULT' as const, planVersionId })),
    cause: 'plan_version',
    by: null,
  })
  await audit(trx, {
    action: 'subscription.apply_plan_version',
    subjectType: 'Subscription',
    subjectId: tenantId,
    changes: [{ field: 'planVersionId', before: row.planVersionId, after: planVersionId }],
  })
}
