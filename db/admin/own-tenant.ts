import { invalid, notFound } from '../../config/errors.ts'
import type { Static } from '../../config/schema.ts'
import type { Plan } from '../../config/plans.ts'
import { isCnpj, isCpf } from '../../config/tax-ids.ts'
import { audit } from '../audit.ts'
import { contextOf, sql, sqlOne } from '../connection.ts'
import type { Trx } from '../connection.ts'
import { mergeSettings, wholeSettings } from './settings.ts'
import type { TenantSettingsChange } from './settings.ts'

type Settings = Static<typeof TenantSettingsChange>

type AddressField = 'line1' | 'line2' | 'district' | 'city' | 'region' | 'postalCode' | 'countryCode'
type Address = { [F in AddressField]?: string }

type OwnTenant = {
  id: string
  name: string
  legalName: string | null
  document: string | null
  billingEmail: string
  billingAddress: Address | null
  country: string
  currency: string
  timeZone: string
  locale: string
  status: 'active' | 'suspended' | 'deleting' | 'deleted'
  plan: Plan
  features: string[]
  entitlementsVersion: number
  settings: Settings
  version: number
  createdAt: Date
  updatedAt: Date
}

type TenantChange = {
  name?: string | undefined
  legalName?: string | null | undefined
  document?: string | null | undefined
  billingEmail?: string | undefined
  billingAddress?: Address | null | undefined
  locale?: string | undefined
  settings?: Settings | undefined
}

/** The transaction's own tenant, with its settings whole. */
export const readTenant = async (trx: Trx) => {
  const row = await sqlOne<OwnTenant>(
    trx,
    `select id, name, legal_name, document, billing_email, billing_address, country, currency, time_zone, locale, status, plan,
       case when features_valid_until <= now() then active_features(id) else features end as features, entitlements_version, settings, version, created_at, updated_at
     from tenant where id = ?`,
    [contextOf(trx).tenantId],
  )
  if (!row) throw notFound()
  return { ...row, settings: wholeSettings(row.settings) }
}

const plain = ['name', 'legalName', 'document', 'billingEmail', 'locale'] as const

/** Changes what a tenant may change of itself: the fields sent, and of the settings the keys sent. The pipeline has locked the row. */
export const changeTenant = async (trx: Trx, change: TenantChange) => {
  const before = await readTenant(trx)
  if (before.country === 'BR' && change.document && !isCnpj(change.document) && !isCpf(change.document))
    throw invalid([{ field: 'document', message: 'is neither a valid CNPJ nor a valid CPF' }])
  const stored = await sqlOne<{ settings: Settings }>(trx, `select settings from tenant where id = ?`, [before.id])
  await sql(
    trx,
    `update tenant set name = :name, legal_name = :legalName, document = :document, billing_email = :billingEmail, billing_address = :billingAddress::jsonb, locale = :locale,
       settings = :settings::jsonb, version = version + 1 where id = :id`,
    {
      id: before.id,
      ...Object.fromEntries(plain.map((field) => [field, change[field] === undefined ? before[field] : change[field]])),
      billingAddress: JSON.stringify(change.billingAddress === undefined ? before.billingAddress : change.billingAddress),
      settings: JSON.stringify(mergeSettings(stored?.settings ?? {}, change.settings ?? {})),
    },
  )
  await audit(trx, {
    action: 'tenant.update',
    subjectType: 'Tenant',
    subjectId: before.id,
    // A person may run a house under his own name: of his data the trail keeps the names of the fields.
    changes: Object.keys(change).map((field) => (field === 'locale' ? { field, before: before.locale, after: change.locale } : { field })),
  })
  return readTenant(trx)
}
