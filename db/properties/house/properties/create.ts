import { randomUUID } from 'node:crypto'
import type { Amenity } from '../../../../config/amenities.ts'
import { conflict, invalid, notFound, unprocessable } from '../../../../config/errors.ts'
import { propertyCreated } from '../../../../config/events/properties.ts'
import type { LocalText } from '../../../../config/local-text.ts'
import type { StoredSettings } from '../../../../config/property-settings.ts'
import { isCnpj } from '../../../../config/tax-ids.ts'
import { isTimeZone } from '../../../../config/validator.ts'
import { defaultBook } from '../../../financial/index.ts'
import { sqlOne } from '../../../lib/connection.ts'
import type { Trx } from '../../../lib/connection.ts'
import { emit } from '../../../lib/events.ts'
import { requireTexts } from '../../../lib/locked-property.ts'
import type { LockedProperty } from '../../../lib/locked-property.ts'
import { model } from '../../../lib/models.ts'
import { changePortal } from '../../../lib/public-version.ts'
import { insertRow } from '../../../lib/records.ts'
import { provisionChannels } from '../../../ocp/index.ts'
import type { PropertyAddress } from '../../sale/catalogue.ts'

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

export const Property = model<
  'property',
  Pick<Required<NewProperty>, 'description' | 'address' | 'amenities' | 'houseRules' | 'settings'> &
    Record<'latitude' | 'longitude', number | null>
>('property')

const duplicate = (what: 'code' | 'slug') =>
  conflict('duplicate_code', `This ${what} is taken`, [{ field: what, message: 'is taken' }])

/** Refuses texts without the first locale, and a number of a company that its country does not give. 400. */
export const refuseIdentity = (
  place: Pick<LockedProperty, 'locales'> & { countryCode?: string | null | undefined },
  property: Partial<Pick<NewProperty, 'legalDocument' | 'description' | 'houseRules'>>,
): void => {
  requireTexts(place, { description: property.description, houseRules: property.houseRules })
  if (place.countryCode === 'BR' && property.legalDocument && !isCnpj(property.legalDocument))
    throw invalid([{ field: 'legalDocument', message: 'is not a valid CNPJ' }])
}

/** 400 for texts or numbers that the property's languages and country do not allow, 409 `duplicate_code`, 422 for zone and currency. */
export const createProperty = async (trx: Trx, property: NewProperty): Promise<string> => {
  refuseIdentity({ locales: property.locales, countryCode: property.address?.countryCode }, property)
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
  const { geo, ...row } = property
  await insertRow(trx, Property, { ...row, id, bookId: book.id, latitude: geo?.latitude, longitude: geo?.longitude })
  await changePortal(trx, id)
  await provisionChannels(trx, id)
  await emit(trx, propertyCreated, {
    propertyId: id,
    id,
    version: 1,
    data: { code: property.code, status: 'draft' },
  })
  return id
}
