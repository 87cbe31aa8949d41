import { raw } from 'objection'
import { invalid, notFound } from '../../config/errors.ts'
import type { Static } from '../../config/schema.ts'
import { isCnpj, isCpf } from '../../config/tax-ids.ts'
import { audit } from '../lib/audit.ts'
import { contextOf } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { Tenant } from './models.ts'
import { mergeSettings, wholeSettings } from './settings.ts'
import type { TenantSettingsChange } from './settings.ts'

type Settings = Static<typeof TenantSettingsChange>

type AddressField = 'line1' | 'line2' | 'district' | 'city' | 'region' | 'postalCode' | 'countryCode'
type Address = { [F in AddressField]?: string }

type TenantChange = {
  name?: string | undefined
  legalName?: string | null | undefined
  document?: string | null | undefined
  billingEmail?: string | undefined
  billingAddress?: Address | null | undefined
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
  const billingAddress = row.billingAddress as Address | null
  return { ...row.toJSON(), billingAddress, settings: wholeSettings(row.settings as Settings) }
}

/** Changes what a tenant may change of itself: the fields sent, and of the settings the keys sent. The pipeline has locked the row. */
export const changeTenant = async (trx: Trx, change: TenantChange) => {
  const before = await readTenant(trx)
  if (before.country === 'BR' && change.document && !isCnpj(change.document) && !isCpf(change.document))
    throw invalid([{ field: 'document', message: 'is neither a valid CNPJ nor a valid CPF' }])
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
    changes: Object.keys(change).map((field) =>
      field === 'locale' ? { field, before: before.locale, after: change.locale } : { field },
    ),
  })
  return readTenant(trx)
}
