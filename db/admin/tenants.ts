import { unprocessable } from '../../config/errors.ts'
import type { Plan } from '../../config/plans.ts'
import { todayIn } from '../../config/time.ts'
import { audit } from '../lib/audit.ts'
import { enterTenant, sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { provisionBook } from '../financial/index.ts'
import { provisionMessages } from '../ocp/index.ts'
import { Subscription } from './models.ts'
import { periodEnd } from './rules/periods.ts'

export type NewTenant = {
  id?: string
  name: string
  legalName?: string | null
  document?: string | null
  country: string
  currency: string
  timeZone: string
  locale: string
  billingEmail: string
  plan: Plan
}

type PlanVersion = { id: string; features: { key: string }[]; prices: Record<string, number> }

/** The version of a plan that a tenant of today gets. */
const planVersionNow = async (trx: PlatformTrx, plan: Plan): Promise<PlanVersion> => {
  const found = await sqlOne<PlanVersion>(
    trx,
    `select id, features, prices from plan_version where plan = ? and effective_from <= now() order by number desc limit 1`,
    [plan],
  )
  if (!found) throw new Error(`the plan ${plan} has no version; the release writes it`)
  return found
}

/**
 * A tenant that can be used when the transaction commits: subscription, the features of its plan, its default book with the chart,
 * its message templates. Answers the transaction as it now is, inside the new tenant. 422 `plan_without_price`.
 */
export const createTenant = async (
  trx: PlatformTrx,
  given: NewTenant,
): Promise<{ tenantId: string; trx: Trx; bookId: string }> => {
  const { plan, country, currency, timeZone, locale, name, legalName = null, document = null } = given
  const version = await planVersionNow(trx, plan)
  if (version.prices[currency] === undefined)
    throw unprocessable('plan_without_price', `The plan ${plan} has no price in ${currency}`)
  const row = await sqlOne<{ id: string }>(
    trx,
    `insert into tenant (id, name, legal_name, document, billing_email, country, currency, time_zone, locale, plan)
     values (coalesce(?::uuid, gen_random_uuid()), ?, ?, ?, ?, ?, ?, ?, ?, ?) returning id`,
    [given.id ?? null, name, legalName, document, given.billingEmail, country, currency, timeZone, locale, plan],
  )
  const tenantId = row?.id ?? ''
  const start = todayIn(timeZone)
  const anchorDay = Number(start.slice(8))
  await Subscription.query(trx).insert({
    tenantId,
    plan,
    planVersionId: version.id,
    anchorDay,
    periodStart: start,
    periodEnd: periodEnd(start, anchorDay),
  })
  await sql(
    trx,
    `insert into entitlement_grant (tenant_id, key, source, plan_version_id) select ?, unnest(?::text[]), 'PLAN_DEFAULT', ?`,
    [tenantId, version.features.map((feature) => feature.key), version.id],
  )
  await audit(trx, {
    tenantId,
    action: 'tenant.create',
    subjectType: 'Tenant',
    subjectId: tenantId,
    changes: [
      { field: 'name', after: name },
      { field: 'plan', after: plan },
    ],
  })
  const inside = await enterTenant(trx, tenantId)
  const bookId = await provisionBook(inside, {
    name,
    countryCode: country,
    currency,
    timeZone,
    locale,
    document,
    ...(legalName === null ? {} : { legalName }),
  })
  await provisionMessages(inside)
  return { tenantId, trx: inside, bookId }
}
