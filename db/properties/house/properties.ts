import type { Amenity } from '../../../config/amenities.ts'
import { conflict, invalid, notFound, unprocessable } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import type { LocalText } from '../../../config/local-text.ts'
import { settingsOf } from '../../../config/property-settings.ts'
import type { PropertySettings, StoredSettings } from '../../../config/property-settings.ts'
import { isCnpj } from '../../../config/tax-ids.ts'
import type { Condition } from '../../lib/conditions.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { inScope, orderBy, readPage, where } from '../../lib/paging.ts'
import type { Paging, Sort } from '../../lib/paging.ts'
import type { PropertyRow } from '../../rows.ts'
import type { PropertyAddress } from '../sale/catalogue.ts'
import type { NewProperty } from './commands.ts'
import { changeRow, fieldsOf } from '../../lib/editing.ts'
import { lockForChange, lockProperty, requireTexts } from '../../lib/locked-property.ts'
import type { LockedProperty } from '../../lib/locked-property.ts'
import { changePortal } from '../../lib/public-version.ts'

const columns = `p.id, p.code, p.slug, p.name, p.description, p.kind, p.status, p.timezone, p.currency, p.locales, p.address, p.latitude::float8 as latitude,
  p.longitude::float8 as longitude, p.phone, p.email, p.website, p.legal_name, p.legal_document, p.registry_number, p.book_id, p.check_in_from,
  p.check_in_until, p.check_out_until, p.cleaning_minutes, p.amenities, p.house_rules, p.business_date, p.public_version, p.version, p.created_at, p.updated_at`

type Row = Omit<
  PropertyRow,
  'tenantId' | 'settings' | 'latitude' | 'longitude' | 'description' | 'houseRules' | 'address' | 'amenities'
> & {
  description: LocalText
  houseRules: LocalText
  address: PropertyAddress
  amenities: Amenity[]
  latitude: number | null
  longitude: number | null
}

const shown = ({ latitude, longitude, ...row }: Row) => ({
  ...row,
  geo: latitude === null || longitude === null ? null : { latitude, longitude },
})

export const propertySorts = { name: 'p.name', code: 'p.code', createdAt: 'p.created_at' } as const

type Filter = Paging & {
  status?: string | undefined
  kind?: string | undefined
  q?: string | undefined
  sort: Sort<keyof typeof propertySorts>
  /** The records that the caller's role is for. */
  scope: Condition
}

/** Properties without their settings; archived ones only where they are asked for. */
export const listProperties = async (trx: Trx, { status, kind, q, sort, scope, ...paging }: Filter) => {
  const { total, rows } = await readPage<Row>(
    trx,
    {
      columns,
      from: 'property p',
      conditions: [
        ...inScope(trx, scope, 'p.id'),
        ...(status === undefined ? [{ text: `p.status <> 'archived'`, values: [] }] : where('p.status = ?', status)),
        ...where('p.kind = ?', kind),
        ...(q === undefined
          ? []
          : [{ text: '(strpos(lower(p.name), lower(?)) > 0 or strpos(p.code, upper(?)) > 0)', values: [q, q] }]),
      ],
      order: orderBy(sort, propertySorts, 'p.id'),
    },
    paging,
  )
  return { total, rows: rows.map(shown) }
}

/** A property with its settings, every key of them. 404. */
export const readPropertyRecord = async (
  trx: Trx,
  propertyId: string,
): Promise<ReturnType<typeof shown> & { settings: PropertySettings }> => {
  const row = await sqlOne<Row & { settings: StoredSettings }>(
    trx,
    `select ${columns}, p.settings from property p where p.id = ?`,
    [propertyId],
  )
  if (!row) throw notFound()
  return { ...shown(row), settings: settingsOf(row.settings) }
}

/** What the schema cannot say of a property's own data. */
export const refuseIdentity = (
  place: Pick<LockedProperty, 'locales'> & { countryCode?: string | null | undefined },
  property: Partial<Pick<NewProperty, 'legalDocument' | 'description' | 'houseRules'>>,
): void => {
  requireTexts(place, { description: property.description, houseRules: property.houseRules })
  if (place.countryCode === 'BR' && property.legalDocument && !isCnpj(property.legalDocument))
    throw invalid([{ field: 'legalDocument', message: 'is not a valid CNPJ' }])
}

export type PropertyChange = {
  [Field in Exclude<keyof NewProperty, 'id' | 'bookId' | 'settings'>]?: NewProperty[Field] | undefined
}

const locked = (field: string, message: string) =>
  unprocessable('locked_field', 'This field does not change any more', [{ field, message }])

const refuseTaken = async (trx: Trx, id: string, { code, slug }: PropertyChange) => {
  const errors: FieldError[] = []
  if (slug && (await sqlOne(trx, `select 1 from property_directory where slug = ? and property_id <> ?`, [slug, id])))
    errors.push({ field: 'slug', message: 'is taken' })
  if (code && (await sqlOne(trx, `select 1 from property where code = ? and id <> ?`, [code, id])))
    errors.push({ field: 'code', message: 'is taken' })
  if (errors.length > 0) throw conflict('duplicate_code', `This ${errors[0]?.field} is taken`, errors)
}

/** Dates of a house hang on its zone: it changes while nothing has a date yet. */
const refuseTimezone = async (trx: Trx, property: LockedProperty) => {
  const dated = await sqlOne(
    trx,
    `select 1 where exists (select from booking where property_id = :id)
       or exists (select from rate_plan r join rate_plan_unit_type t on t.tenant_id = r.tenant_id and t.rate_plan_id = r.id
         where r.property_id = :id and t.standard_amount is not null)
       or exists (select from rate_plan r join rate_cell c on c.tenant_id = r.tenant_id and c.rate_plan_id = r.id where r.property_id = :id)`,
    { id: property.id },
  )
  if (property.status !== 'draft' || dated)
    throw locked('timezone', 'changes only in a draft without prices and reservations')
}

/** Changes identity, address, hours or texts. 422 `locked_field` for the currency, and for the zone once something hangs on it. */
export const changeProperty = async (trx: Trx, propertyId: string, change: PropertyChange): Promise<void> => {
  const property = await lockForChange(trx, propertyId)
  if (fieldsOf(change).length === 0) return
  const { currency, geo, ...fields } = change
  if (currency !== undefined && currency !== property.currency) throw locked('currency', 'is that of the book')
  if (fields.timezone !== undefined && fields.timezone !== property.timezone) await refuseTimezone(trx, property)
  refuseIdentity(
    {
      locales: fields.locales ?? property.locales,
      countryCode: fields.address ? fields.address.countryCode : property.countryCode,
    },
    {
      description: fields.description ?? {},
      houseRules: fields.houseRules ?? {},
      // Another country judges the number that stands.
      legalDocument:
        fields.legalDocument === undefined && fields.address ? property.legalDocument : (fields.legalDocument ?? null),
    },
  )
  await refuseTaken(trx, propertyId, change)
  const place = geo === undefined ? {} : { latitude: geo?.latitude ?? null, longitude: geo?.longitude ?? null }
  const version = await changeRow(trx, 'property', propertyId, { ...fields, ...place }, [
    'description',
    'address',
    'houseRules',
  ])
  await changePortal(trx, propertyId)
  await emit(trx, {
    type: 'property.changed',
    propertyId,
    entity: { type: 'property', id: propertyId, version },
    data: { propertyId, fields: fieldsOf(change) },
  })
}

const openBusiness: [table: string, condition: string, what: string][] = [
  ['reservation', `status in ('held', 'confirmed', 'checked_in')`, 'has reservations that have not ended'],
  ['folio', `status = 'open'`, 'has open folios'],
  ['channel_connection', `status <> 'disconnected'`, 'is connected with channels'],
]

/** Retires a property. 422 `in_use` while a hold, a stay or a folio is open, or a channel connected; 409 while it is live. */
export const archiveProperty = async (trx: Trx, propertyId: string): Promise<void> => {
  const property = await lockProperty(trx, propertyId)
  if (property.status === 'archived') return
  if (property.status === 'live') throw conflict('invalid_transition', 'Suspend the property first')
  // Waits for bookings that are being written: they hold the property's key.
  await sql(trx, `select 1 from property where id = ? for update`, [propertyId])
  const errors: FieldError[] = []
  for (const [table, condition, message] of openBusiness)
    if (await sqlOne(trx, `select 1 from ${table} where property_id = ? and ${condition} limit 1`, [propertyId]))
      errors.push({ field: table, message })
  if (errors.length > 0) throw unprocessable('in_use', 'The property has open business', errors)
  await sql(trx, `update property set status = 'archived', version = version + 1 where id = ?`, [propertyId])
  await changePortal(trx, propertyId)
  await emit(trx, {
    type: 'property.archived',
    propertyId,
    entity: { type: 'property', id: propertyId, version: property.version + 1 },
    data: { propertyId },
  })
}
