import { conflict, unprocessable } from '../../../../config/errors.ts'
import type { FieldError } from '../../../../config/errors.ts'
import { propertyChanged } from '../../../../config/events/properties.ts'
import { sqlOne } from '../../../lib/connection.ts'
import type { Trx } from '../../../lib/connection.ts'
import { emit, sentFields } from '../../../lib/events.ts'
import { lockForChange } from '../../../lib/locked-property.ts'
import type { LockedProperty } from '../../../lib/locked-property.ts'
import { changePortal } from '../../../lib/public-version.ts'
import { changeRow, fieldsOf } from '../../../lib/records.ts'
import type { PropertyRow } from '../../../rows.ts'
import { Property, refuseIdentity } from './create.ts'
import type { NewProperty } from './create.ts'

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
  const version = await changeRow(trx, Property, propertyId, { ...fields, ...place })
  await changePortal(trx, propertyId)
  await emit(trx, propertyChanged, {
    propertyId,
    id: propertyId,
    version,
    data: { code: fields.code ?? property.code, status: property.status },
    changed: sentFields(change),
  })
}

/** Ends the replacement of a set: raises the version that the next `If-Match` names, and emits the event. The caller calls `changePortal`. */
export const closeSet = async (trx: Trx, propertyId: string, set: string): Promise<void> => {
  const row = await sqlOne<Pick<PropertyRow, 'code' | 'status' | 'version'>>(
    trx,
    `update property set version = version + 1 where id = ? returning code, status, version`,
    [propertyId],
  )
  if (!row) throw new Error(`property ${propertyId} is gone`)
  await emit(trx, propertyChanged, {
    propertyId,
    id: propertyId,
    version: row.version,
    data: { code: row.code, status: row.status },
    changed: [{ field: set, before: null, after: null }],
  })
}
