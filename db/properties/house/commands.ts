import { createHash, randomUUID } from 'node:crypto'
import { conflict, invalid, notFound, unprocessable } from '../../../config/errors.ts'
import type { Amenity } from '../../../config/amenities.ts'
import type { LocalText } from '../../../config/local-text.ts'
import { repeatedKeys } from '../../../config/property-settings.ts'
import type { PropertySettings, StoredSettings } from '../../../config/property-settings.ts'
import { todayIn } from '../../../config/time.ts'
import { isTimeZone } from '../../../config/validator.ts'
import { audit } from '../../lib/audit.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { defaultBook, openBusinessDay } from '../../financial/index.ts'
import { provisionChannels } from '../../ocp/index.ts'
import type { PropertyAddress } from '../sale/catalogue.ts'
import { lockForChange, lockProperty, requireTexts } from '../../lib/locked-property.ts'
import { changePortal } from '../../lib/public-version.ts'
import { blockersOf } from './readiness.ts'

export type NewProperty = {
  id?: string
  code: string
  slug: string
  name: string
  description?: LocalText
  kind: 'hotel' | 'inn' | 'hostel' | 'apart_hotel' | 'resort' | 'vacation_rental' | 'campsite'
  timezone: string
  currency: string
  locales: string[]
  address?: PropertyAddress
  geo?: { latitude: number; longitude: number } | null
  phone?: string | null
  email?: string | null
  website?: string | null
  legalName?: string | null
  legalDocument?: string | null
  registryNumber?: string | null
  /** Default: the tenant's default book. */
  bookId?: string
  checkInFrom?: string | null
  checkInUntil?: string | null
  checkOutUntil?: string | null
  cleaningMinutes?: number
  amenities?: Amenity[]
  houseRules?: LocalText
  settings?: StoredSettings
}

const duplicate = (what: 'code' | 'slug') =>
  conflict('duplicate_code', `This ${what} is taken`, [{ field: what, message: 'is taken' }])

export const createProperty = async (trx: Trx, property: NewProperty): Promise<string> => {
  if (!isTimeZone(property.timezone))
    throw unprocessable('rule_violated', 'No such time zone', [{ field: 'timezone', message: 'must be an IANA name' }])
  const book = property.bookId
    ? await sqlOne<{ id: string; currency: string }>(trx, `select id, currency from book where id = ?`, [
        property.bookId,
      ])
    : await defaultBook(trx)
  if (!book) throw notFound('The tenant has no such book')
  if (book.currency !== property.currency)
    throw unprocessable('currency_mismatch', 'A property has the currency of its book', [
      { field: 'currency', message: `must be ${book.currency}` },
    ])
  if (await sqlOne(trx, `select 1 from property_directory where slug = ?`, [property.slug])) throw duplicate('slug')
  if (await sqlOne(trx, `select 1 from property where code = ?`, [property.code])) throw duplicate('code')
  const id = property.id ?? randomUUID()
  await sql(
    trx,
    `insert into property (id, code, slug, name, description, kind, timezone, currency, locales, address, latitude, longitude, phone, email, website,
       legal_name, legal_document, registry_number, book_id, check_in_from, check_in_until, check_out_until, cleaning_minutes, amenities, house_rules, settings)
     values (?, ?, ?, ?, ?::jsonb, ?, ?, ?, ?::text[], ?::jsonb, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::text[], ?::jsonb, ?::jsonb)`,
    [
      id,
      property.code,
      property.slug,
      property.name,
      JSON.stringify(property.description ?? {}),
      property.kind,
      property.timezone,
      property.currency,
      property.locales,
      JSON.stringify(property.address ?? {}),
      property.geo?.latitude ?? null,
      property.geo?.longitude ?? null,
      property.phone ?? null,
      property.email ?? null,
      property.website ?? null,
      property.legalName ?? null,
      property.legalDocument ?? null,
      property.registryNumber ?? null,
      book.id,
      property.checkInFrom ?? null,
      property.checkInUntil ?? null,
      property.checkOutUntil ?? null,
      property.cleaningMinutes ?? 0,
      property.amenities ?? [],
      JSON.stringify(property.houseRules ?? {}),
      JSON.stringify(property.settings ?? {}),
    ],
  )
  await changePortal(trx, id)
  await provisionChannels(trx, id)
  await emit(trx, {
    type: 'property.created',
    propertyId: id,
    entity: { type: 'property', id, version: 1 },
    data: { propertyId: id, code: property.code, kind: property.kind },
  })
  return id
}

/** Without these nobody can be written to. */
const alwaysAsked = ['firstName', 'lastName', 'email'] as const

/** What is done of a checklist is told by the keys of its items. */
const refuseRepeated = (checklists: PropertySettings['housekeeping']['checklists']) => {
  const errors = Object.entries(checklists).flatMap(([kind, items]) =>
    repeatedKeys(items).map((index) => ({
      field: `housekeeping.checklists.${kind}.${index}.key`,
      message: 'stands twice',
    })),
  )
  if (errors.length > 0) throw invalid(errors)
}

/** Changes the keys that are named, section by section. */
export const changeSettings = async (trx: Trx, propertyId: string, change: StoredSettings): Promise<void> => {
  const property = await lockForChange(trx, propertyId)
  if (Object.values(change).every((section) => Object.keys(section).length === 0)) return
  requireTexts(property, { 'portal.terms': change.portal?.terms })
  refuseRepeated(change.housekeeping?.checklists ?? {})
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
  await sql(trx, `update property set settings = ?::jsonb, version = version + 1 where id = ?`, [
    JSON.stringify(merged),
    propertyId,
  ])
  await changePortal(trx, propertyId)
  await emit(trx, {
    type: 'property.settings_changed',
    propertyId,
    entity: { type: 'property', id: propertyId, version: row.version + 1 },
    data: { propertyId, sections: Object.keys(change) },
  })
}

/** Opens a property for sale: 422 `not_ready` names each blocker. Its first business day is today in its own zone. */
export const goLive = async (trx: Trx, propertyId: string): Promise<void> => {
  const property = await lockProperty(trx, propertyId)
  if (property.status === 'live') return
  const blockers = await blockersOf(trx, propertyId)
  if (blockers.length > 0)
    throw unprocessable(
      'not_ready',
      'The property is not ready to be sold',
      blockers.map(({ code, message }) => ({ field: code, message })),
    )
  const businessDate = property.businessDate ?? todayIn(property.timezone, property.now)
  if (property.businessDate === null) await openBusinessDay(trx, propertyId, businessDate)
  await sql(trx, `update property set status = 'live', business_date = ?, version = version + 1 where id = ?`, [
    businessDate,
    propertyId,
  ])
  await changePortal(trx, propertyId)
  await emit(trx, {
    type: 'property.published',
    propertyId,
    entity: { type: 'property', id: propertyId, version: property.version + 1 },
    data: { propertyId, businessDate },
  })
}

/** Stops all sales; stays go on. */
export const suspendProperty = async (trx: Trx, propertyId: string, reason?: string): Promise<void> => {
  const property = await lockProperty(trx, propertyId)
  if (property.status === 'suspended') return
  if (property.status !== 'live') throw conflict('invalid_transition', 'Only a live property can be suspended')
  if (reason !== undefined)
    await audit(trx, { action: 'property.suspend', subjectType: 'Property', subjectId: propertyId, reason })
  await sql(trx, `update property set status = 'suspended', version = version + 1 where id = ?`, [propertyId])
  await changePortal(trx, propertyId)
  await emit(trx, {
    type: 'property.suspended',
    propertyId,
    entity: { type: 'property', id: propertyId, version: property.version + 1 },
    data: { propertyId },
  })
}

/** What a guest accepts: the first 12 hex digits of the SHA-256 of the portal's terms, over all their locales. */
export const termsVersion = (terms: LocalText): string =>
  createHash('sha256')
    .update(JSON.stringify(Object.entries(terms).sort(([a], [b]) => (a < b ? -1 : 1))))
    .digest('hex')
    .slice(0, 12)
