import { raw } from 'objection'
import { notFound, unprocessable } from '../../config/errors.ts'
import type { Plan } from '../../config/plans.ts'
import type { Static } from '../../config/schema.ts'
import { todayIn } from '../../config/time.ts'
import { provisionBook } from '../financial/index.ts'
import { audit } from '../lib/audit.ts'
import { contextOf, enterTenant, sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { Subscription, Tenant } from './models.ts'
import { planVersionNow } from './plans.ts'
import { provisionParts } from './provisions.ts'
import { assertDocument } from './tenant/operate.ts'
import { periodEnd } from './rules/periods.ts'
import { changesOfSettings, mergeSettings, wholeSettings } from './rules/tenant-settings.ts'
import type { TenantSettingsChange } from './rules/tenant-settings.ts'

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

/**
 * A tenant that can be used when the transaction commits: subscription, the features of its plan, its default book with the chart,
 * its message templates. Answers the transaction as it now is, inside the new tenant. 422 `plan_without_price`.
 */
export const createTenant = async (
  trx: PlatformTrx,
  given: NewTenant,
): Promise<{ tenantId: string; trx: Trx; bookId: string }> => {
  const { plan, country, currency, timeZone, locale, name, legalName = null, document = null } = given
  assertDocument(country, document)
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
  await provisionParts(inside)
  return { tenantId, trx: inside, bookId }
}

type Settings = Static<typeof TenantSettingsChange>

type AddressField = 'line1' | 'line2' | 'district' | 'city' | 'region' | 'postalCode' | 'countryCode'
/** The address of a tenant on its bills. */
export type BillingAddress = { [F in AddressField]?: string }

type TenantChange = {
  name?: string | undefined
  legalName?: string | null | undefined
  document?: string | null | undefined
  billingEmail?: string | undefined
  billingAddress?: BillingAddress | null | undefined
  locale?: string | undefined
  settings?: Settings | undefined
}

const own = [
  'id',
  'name',
  'legalName',
  'document',
  'billingEmail',
  'billingAddress',
  'country',
  'currency',
  'timeZone',
  'locale',
  'status',
  'plan',
  'entitlementsVersion',
  'settings',
  'version',
  'createdAt',
  'updatedAt',
] as const

/** The transaction's own tenant, with its settings whole. */
export const readTenant = async (trx: Trx) => {
  const id = contextOf(trx).tenantId ?? ''
  // An expiry holds from its instant on, also before anything has rewritten the row.
  const features = raw('case when features_valid_until <= now() then active_features(id) else features end')
  const row = await Tenant.query(trx)
    .findById(id)
    .select(...own, features.as('features'))
  if (!row) throw notFound()
  const billingAddress = row.billingAddress as BillingAddress | null
  return { ...row.toJSON(), billingAddress, settings: wholeSettings(row.settings as Settings) }
}

/** The support sessions that the transaction's tenant allows. */
export const supportAccessOf = async (trx: Trx): Promise<'write' | 'read' | 'none'> => {
  const row = await Tenant.query(trx)
    .findById(contextOf(trx).tenantId ?? '')
    .select('settings')
  return wholeSettings(row?.settings ?? {}).support.access
}

/** Changes what a tenant may change of itself: the fields sent, and of the settings the keys sent. The pipeline has locked the row. */
export const changeTenant = async (trx: Trx, change: TenantChange) => {
  const before = await readTenant(trx)
  assertDocument(before.country, change.document)
  const { settings, ...fields } = change
  const sent = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  const stored = await Tenant.query(trx).findById(before.id).select('settings')
  await Tenant.query(trx)
    .findById(before.id)
    .patch({
      ...sent,
      ...(settings ? { settings: mergeSettings(stored?.settings ?? {}, settings) } : {}),
      version: before.version + 1,
    })
  await audit(trx, {
    action: 'tenant.update',
    subjectType: 'Tenant',
    subjectId: before.id,
    // A tenant's legal name may be a person's, so the audit trail keeps only the names of changed fields.
    changes: Object.keys(change).flatMap((field) =>
      field === 'locale'
        ? [{ field, before: before.locale, after: change.locale }]
        : field === 'settings'
          ? changesOfSettings(before.settings, settings ?? {})
          : [{ field }],
    ),
  })
  return readTenant(trx)
}
