import { createHash } from 'node:crypto'
import { invalid, notFound } from '../../../../config/errors.ts'
import { propertySettingsChanged } from '../../../../config/events/properties.ts'
import type { LocalText } from '../../../../config/local-text.ts'
import { faultOfHours, repeatedKeys } from '../../../../config/property-settings.ts'
import type { PropertySettings, SettingsChange, StoredSettings } from '../../../../config/property-settings.ts'
import { hasAuthoritySecret, keepAuthoritySecret } from '../../../guests/index.ts'
import { sql, sqlOne } from '../../../lib/connection.ts'
import type { Trx } from '../../../lib/connection.ts'
import { emit, sentFields } from '../../../lib/events.ts'
import { lockForChange, requireTexts } from '../../../lib/locked-property.ts'
import { changePortal } from '../../../lib/public-version.ts'

/** Settings without which no message can be sent. */
const alwaysAsked = ['firstName', 'lastName', 'email'] as const

/** Done items of a checklist, by their keys. */
const refuseRepeated = (checklists: PropertySettings['housekeeping']['checklists']) => {
  const errors = Object.entries(checklists).flatMap(([kind, items]) =>
    repeatedKeys(items).map((index) => ({
      field: `housekeeping.checklists.${kind}.${index}.key`,
      message: 'stands twice',
    })),
  )
  if (errors.length > 0) throw invalid(errors)
}

/** Takes what is kept sealed out of a change, and keeps it; a house that reports its guests has an address and a secret for that. */
const keepSecrets = async (
  trx: Trx,
  propertyId: string,
  { registration, ...rest }: SettingsChange,
): Promise<{ change: StoredSettings; isSecretNew: boolean }> => {
  if (!registration) return { change: rest, isSecretNew: false }
  const { credentials, ...shown } = registration
  if (credentials !== undefined) await keepAuthoritySecret(trx, propertyId, credentials)
  return {
    change: { ...rest, ...(Object.keys(shown).length > 0 ? { registration: shown } : {}) },
    isSecretNew: credentials !== undefined,
  }
}

const requireAuthority = async (trx: Trx, propertyId: string, merged: StoredSettings): Promise<void> => {
  const { authority = 'none', endpointUrl = null } = merged.registration ?? {}
  if (authority === 'none') return
  const missing = [
    ...(endpointUrl === null ? ['endpointUrl'] : []),
    ...((await hasAuthoritySecret(trx, propertyId)) ? [] : ['credentials']),
  ]
  if (missing.length > 0)
    throw invalid(missing.map((field) => ({ field: `registration.${field}`, message: 'is needed to report guests' })))
}

/** Changes the keys that are named, section by section. */
export const changeSettings = async (trx: Trx, propertyId: string, given: SettingsChange): Promise<void> => {
  const property = await lockForChange(trx, propertyId)
  const { change, isSecretNew } = await keepSecrets(trx, propertyId, given)
  if (!isSecretNew && Object.values(change).every((section) => Object.keys(section).length === 0)) return
  requireTexts(property, { 'portal.terms': change.portal?.terms })
  refuseRepeated(change.housekeeping?.checklists ?? {})
  const hours = change.issues?.businessHours
  const fault = hours && faultOfHours(hours)
  if (fault) throw invalid([fault])
  const missing = alwaysAsked.filter((field) => change.portal?.requiredGuestFields?.includes(field) === false)
  if (missing.length > 0)
    throw invalid([{ field: 'portal.requiredGuestFields', message: `must hold ${missing.join(', ')}` }])
  const row = await sqlOne<{ settings: StoredSettings; version: number }>(
    trx,
    `select settings, version from property where id = ?`,
    [propertyId],
  )
  if (!row) throw notFound()
  const merged: Record<string, unknown> = { ...row.settings }
  for (const [section, values] of Object.entries(change))
    merged[section] = { ...row.settings[section as keyof StoredSettings], ...values }
  if (given.registration) await requireAuthority(trx, propertyId, merged)
  await sql(trx, `update property set settings = ?::jsonb, version = version + 1 where id = ?`, [
    JSON.stringify(merged),
    propertyId,
  ])
  await changePortal(trx, propertyId)
  await emit(trx, propertySettingsChanged, {
    propertyId,
    id: propertyId,
    version: row.version + 1,
    data: { code: property.code, status: property.status },
    changed: [
      ...Object.entries(change).flatMap(([section, values]) =>
        sentFields(values, row.settings[section as keyof StoredSettings]).map((one) => ({
          ...one,
          field: `${section}.${one.field}`,
        })),
      ),
      ...(isSecretNew ? [{ field: 'registration.credentials', before: null, after: null }] : []),
    ],
  })
}

/** Version of the terms that a guest accepts: the first 12 hex digits of their SHA-256, over all locales. */
export const termsVersion = (terms: LocalText): string =>
  createHash('sha256')
    .update(JSON.stringify(Object.entries(terms).sort(([a], [b]) => (a < b ? -1 : 1))))
    .digest('hex')
    .slice(0, 12)
