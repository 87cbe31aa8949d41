import { conflict, invalid, notFound, unprocessable } from '../../../config/errors.ts'
import type { Plan } from '../../../config/plans.ts'
import { isCnpj, isCpf } from '../../../config/tax-ids.ts'
import { audit } from '../../lib/audit.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { PlatformTrx } from '../../lib/connection.ts'
import type { KeptMethod } from '../billing/collect/shared.ts'
import { enterTenant } from '../../lib/connection.ts'
import { allOf, fact, readPage, where } from '../../lib/paging.ts'
import type { Page, Paging, Part } from '../../lib/paging.ts'
import { byIds, inLine, tenantsLike, tenantsWith } from '../../lib/words.ts'
import { versionConflict } from '../../../config/errors.ts'

export type TenantStatus = 'active' | 'suspended' | 'deleting' | 'deleted'
export type OperatedTenant = {
  id: string
  name: string
  legalName: string | null
  document: string | null
  billingEmail: string
  billingAddress: unknown
  country: string
  currency: string
  timeZone: string
  locale: string
  status: TenantStatus
  reason: string | null
  deleteAfter: string | null
  plan: Plan
  features: string[]
  entitlementsVersion: number
  pastDueSince: Date | null
  version: number
  createdAt: Date
  updatedAt: Date
}

const features = `case when t.features_valid_until <= now() then active_features(t.id) else t.features end`
const columns = `t.id, t.name, t.legal_name, t.document, t.billing_email, t.billing_address, t.country, t.currency, t.time_zone, t.locale, t.status, t.reason,
  t.delete_after::text as delete_after, t.plan, ${features} as features,
  t.entitlements_version, s.past_due_since, t.version, t.created_at, t.updated_at`
const isPastDue = 's.past_due_since is not null'
const source = `tenant t left join subscription s on s.tenant_id = t.id`

type Filter = Paging & {
  status?: string | undefined
  plan?: string | undefined
  feature?: string | undefined
  pastDue?: boolean | undefined
  q?: string | undefined
}

/** The number of tenants with a feature: as it is kept, with those of which a grant has expired looked at one by one. */
const totalWith = (feature: string, conditions: readonly Part[]): Part => {
  const { text, values } = allOf(conditions)
  return {
    text: `select (select coalesce(sum(t.n), 0)::bigint from platform_count t where t.list = 'tenant_feature' and t.feature = ? and ${text})
      + (select count(*) filter (where ? = any(active_features(t.id))) - count(*) filter (where ? = any(t.features)) from tenant t
         where t.features_valid_until <= now() and ${text}) as total`,
    values: [feature, ...values, feature, feature, ...values],
  }
}

/** Tenants, newest first. `q` finds what a name begins with, an id, a document, or an address for bills. */
export const listTenants = async (
  trx: PlatformTrx,
  { status, plan, feature, pastDue, q, ...paging }: Filter,
): Promise<Page<OperatedTenant>> => {
  const asked = q?.trim()
  const named = feature === undefined ? null : await tenantsWith(trx, feature)
  const ofKind = [...where('t.status = ?', status), ...where('t.plan = ?', plan)]
  const isKept = feature !== undefined && named === null && pastDue === undefined && !asked
  return readPage<OperatedTenant>(
    trx,
    {
      columns,
      from: source,
      counted: { list: 'tenant', as: 't' },
      total: isKept ? totalWith(feature, ofKind) : null,
      conditions: [
        ...ofKind,
        ...where('t.id = any(?::uuid[])', named),
        ...where(`? = any(${features})`, feature),
        ...(asked
          ? [
              byIds(
                // Its lines are name, legal name, address, document and id: a part of the first two, or all of another.
                {
                  't.id': await tenantsLike(
                    trx,
                    inLine('%', asked, '%\n%\n%\n%'),
                    inLine('%\n', asked, '\n%'),
                    inLine('%\n', asked, ''),
                  ),
                },
                {
                  text: `(strpos(lower(t.name), lower(?)) > 0 or strpos(lower(coalesce(t.legal_name, '')), lower(?)) > 0 or lower(t.billing_email) = lower(?)
                    or lower(t.document) = lower(?) or t.id::text = lower(?))`,
                  values: [asked, asked, asked, asked, asked],
                },
              ),
            ]
          : []),
      ],
      facts: fact(pastDue, isPastDue),
      order: 't.created_at desc, t.id',
    },
    paging,
  )
}

/** A tenant as operators see it. 404. */
export const readOperatedTenant = async (trx: PlatformTrx, tenantId: string): Promise<OperatedTenant> => {
  const row = await sqlOne<OperatedTenant>(trx, `select ${columns} from ${source} where t.id = ?`, [tenantId])
  if (!row) throw notFound('There is no such tenant')
  return row
}

/**
 * Holds subscription and tenant until the end of the transaction, in the order that the store keeps. 404; a deleted tenant changes no more. 409
 * `version_conflict` where the tenant has another version than the one that is expected.
 */
export const lockOperated = async (
  trx: PlatformTrx,
  tenantId: string,
  expected: number | null = null,
): Promise<OperatedTenant> => {
  await sql(trx, `select tenant_id from subscription where tenant_id = ? for no key update`, [tenantId])
  await sql(trx, `select id from tenant where id = ? for no key update`, [tenantId])
  const tenant = await readOperatedTenant(trx, tenantId)
  if (expected !== null && expected !== tenant.version) throw versionConflict(tenant.version)
  return tenant
}

/** A tenant with its size, its debts and when it was last in use. */
export const readTenantDetail = async (trx: PlatformTrx, tenantId: string) => {
  const tenant = await readOperatedTenant(trx, tenantId)
  const subscription = await sqlOne<{
    planVersion: number
    periodStart: string
    periodEnd: string
    paymentMethod: KeptMethod | null
    overdueTotal: number
    openTotal: number
  }>(
    trx,
    `select v.number as plan_version, s.period_start::text as period_start, s.period_end::text as period_end, s.payment_method,
       coalesce((select sum(i.total) from subscription_invoice i where i.tenant_id = s.tenant_id and i.status = 'issued'
         and i.due_on < (now() at time zone 'UTC')::date), 0)::bigint as overdue_total,
       coalesce((select sum(i.total) from subscription_invoice i where i.tenant_id = s.tenant_id and i.status = 'issued'), 0)::bigint as open_total
     from subscription s join plan_version v on v.id = s.plan_version_id where s.tenant_id = ?`,
    [tenantId],
  )
  const usage = await sql<{ meter: string; quantity: number }>(
    trx,
    `select u.meter, (case when u.meter like 'storage.%' then max(u.quantity) else sum(u.quantity) end)::bigint as quantity
     from usage_day u join subscription s on s.tenant_id = u.tenant_id
     where u.tenant_id = ? and u.day >= s.period_start and u.day < s.period_end group by u.meter order by u.meter`,
    [tenantId],
  )
  const inside = await enterTenant(trx, tenantId, undefined, { evenMoved: true })
  const counts = await sqlOne<{ properties: number; units: number; users: number; lastActivityAt: Date | null }>(
    inside,
    `select (select count(*) from property where tenant_id = :tenantId) as properties, (select count(*) from unit where tenant_id = :tenantId) as units,
       (select count(*) from membership where tenant_id = :tenantId and status = 'active') as users,
       greatest((select max(at) from audit_entry where chain = :tenantId),
         (select max(last_used_at) from api_key where tenant_id = :tenantId)) as last_activity_at`,
    { tenantId },
  )
  return {
    ...tenant,
    counts: {
      properties: counts?.properties ?? 0,
      units: counts?.units ?? 0,
      users: counts?.users ?? 0,
    },
    subscription: subscription && {
      planVersion: subscription.planVersion,
      periodStart: subscription.periodStart,
      periodEnd: subscription.periodEnd,
      paymentMethod: subscription.paymentMethod && {
        kind: subscription.paymentMethod.kind,
        status: subscription.paymentMethod.status,
      },
    },
    usage,
    overdueTotal: subscription?.overdueTotal ?? 0,
    openTotal: subscription?.openTotal ?? 0,
    lastActivityAt: counts?.lastActivityAt ?? null,
  }
}

export type OperatedChange = {
  name?: string | undefined
  legalName?: string | null | undefined
  document?: string | null | undefined
  billingEmail?: string | undefined
  billingAddress?: object | null | undefined
  country?: string | undefined
  currency?: string | undefined
  timeZone?: string | undefined
  locale?: string | undefined
}

const columnOf: Record<keyof OperatedChange, string> = {
  name: 'name',
  legalName: 'legal_name',
  document: 'document',
  billingEmail: 'billing_email',
  billingAddress: 'billing_address',
  country: 'country',
  currency: 'currency',
  timeZone: 'time_zone',
  locale: 'locale',
}

/** Refuses a document of another form than that of the country. */
export const assertDocument = (country: string, document: string | null | undefined): void => {
  if (country === 'BR' && document && !isCnpj(document) && !isCpf(document))
    throw invalid([{ field: 'document', message: 'is neither a valid CNPJ nor a valid CPF' }])
}

/** The currency of bills stays once there is an invoice, or an add-on that is held at its price. */
const assertCurrency = async (trx: PlatformTrx, tenant: OperatedTenant, currency: string): Promise<void> => {
  const row = await sqlOne<{ billed: boolean; priced: boolean }>(
    trx,
    `select exists (select from subscription_invoice where tenant_id = :id) or exists (select from subscription_item where tenant_id = :id and ends_at is null) as billed,
       coalesce((select v.prices -> :currency::text is not null from subscription s join plan_version v on v.id = s.plan_version_id where s.tenant_id = :id), false) as priced`,
    { id: tenant.id, currency },
  )
  if (row?.billed) throw unprocessable('locked_field', 'The currency stays once something was billed or bought in it')
  if (!row?.priced) throw unprocessable('plan_without_price', `The plan ${tenant.plan} has no price in ${currency}`)
}

/** Changes what the provider may change of a tenant: the fields that are given. Of personal ones the trail keeps the names alone. */
export const changeOperatedTenant = async (
  trx: PlatformTrx,
  tenantId: string,
  change: OperatedChange,
  expected: number | null,
): Promise<OperatedTenant> => {
  const before = await lockOperated(trx, tenantId, expected)
  if (before.status === 'deleted') throw conflict('invalid_transition', 'The tenant is deleted')
  const sent = Object.entries(change).filter(([, value]) => value !== undefined) as [keyof OperatedChange, unknown][]
  assertDocument(change.country ?? before.country, change.document === undefined ? before.document : change.document)
  if (change.currency !== undefined && change.currency !== before.currency)
    await assertCurrency(trx, before, change.currency)
  if (sent.length === 0) return before
  await sql(
    trx,
    `update tenant set ${sent.map(([field]) => `${columnOf[field]} = ?${field === 'billingAddress' ? '::jsonb' : ''}`).join(', ')}, version = version + 1 where id = ?`,
    [
      ...sent.map(([field, value]) => (field === 'billingAddress' && value !== null ? JSON.stringify(value) : value)),
      tenantId,
    ],
  )
  const plain = new Set<string>(['country', 'currency', 'timeZone', 'locale'])
  await audit(trx, {
    tenantId,
    action: 'tenant.update',
    subjectType: 'Tenant',
    subjectId: tenantId,
    changes: sent.map(([field, value]) =>
      plain.has(field) ? { field, before: before[field], after: value } : { field },
    ),
  })
  return readOperatedTenant(trx, tenantId)
}
