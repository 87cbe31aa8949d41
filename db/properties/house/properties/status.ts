import { unprocessable } from '../../../../config/errors.ts'
import type { FieldError } from '../../../../config/errors.ts'
import { propertyArchived, propertyPublished, propertySuspended } from '../../../../config/events/properties.ts'
import { todayIn } from '../../../../config/time.ts'
import { openBusinessDay } from '../../../financial/index.ts'
import { audit } from '../../../lib/audit.ts'
import { sql, sqlOne } from '../../../lib/connection.ts'
import type { Trx } from '../../../lib/connection.ts'
import { emit } from '../../../lib/events.ts'
import { lockProperty } from '../../../lib/locked-property.ts'
import { lifecycle } from '../../../lib/lifecycle.ts'
import { changePortal } from '../../../lib/public-version.ts'
import type { PropertyRow } from '../../../rows.ts'
import { blockersOf } from '../readiness.ts'

const propertyLifecycle = lifecycle<PropertyRow['status']>('A property')({
  published: { from: ['draft', 'suspended', 'archived'], to: 'live' },
  suspended: { from: ['live'], to: 'suspended' },
  archived: { from: ['draft', 'suspended'], to: 'archived' },
})

/**
 * Opens the first business day of a property that was run elsewhere until now, before it has units: their nights are counted from that day on. Go-live
 * takes today otherwise.
 */
export const takeOver = async (trx: Trx, propertyId: string, businessDate: string): Promise<void> => {
  await lockProperty(trx, propertyId)
  await openBusinessDay(trx, propertyId, businessDate)
  await sql(trx, `update property set business_date = ?, version = version + 1 where id = ?`, [
    businessDate,
    propertyId,
  ])
}

/** Opens a property for sale: 422 `not_ready` names each blocker. One that is archived comes back. Its first business day is today in its own zone. */
export const goLive = async (trx: Trx, propertyId: string): Promise<void> => {
  const property = await lockProperty(trx, propertyId)
  if (!propertyLifecycle.isDue('published', property.status)) return
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
  await emit(trx, propertyPublished, {
    propertyId,
    id: propertyId,
    version: property.version + 1,
    data: { code: property.code, status: 'live' },
    changed: [{ field: 'status', before: property.status, after: 'live' }],
  })
}

/** Stops all sales; stays go on. */
export const suspendProperty = async (trx: Trx, propertyId: string, reason?: string): Promise<void> => {
  const property = await lockProperty(trx, propertyId)
  if (!propertyLifecycle.isDue('suspended', property.status)) return
  if (reason !== undefined)
    await audit(trx, { action: 'property.suspend', subjectType: 'Property', subjectId: propertyId, reason })
  await sql(trx, `update property set status = 'suspended', version = version + 1 where id = ?`, [propertyId])
  await changePortal(trx, propertyId)
  await emit(trx, propertySuspended, {
    propertyId,
    id: propertyId,
    version: property.version + 1,
    data: { code: property.code, status: 'suspended' },
    changed: [{ field: 'status', before: property.status, after: 'suspended' }],
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
  if (!propertyLifecycle.isDue('archived', property.status)) return
  // Waits for bookings that are being written: they hold the property's key.
  await sql(trx, `select 1 from property where id = ? for update`, [propertyId])
  const errors: FieldError[] = []
  for (const [table, condition, message] of openBusiness)
    if (await sqlOne(trx, `select 1 from ${table} where property_id = ? and ${condition} limit 1`, [propertyId]))
      errors.push({ field: table, message })
  if (errors.length > 0) throw unprocessable('in_use', 'The property has open business', errors)
  await sql(trx, `update property set status = 'archived', version = version + 1 where id = ?`, [propertyId])
  await changePortal(trx, propertyId)
  await emit(trx, propertyArchived, {
    propertyId,
    id: propertyId,
    version: property.version + 1,
    data: { code: property.code, status: 'archived' },
    changed: [{ field: 'status', before: property.status, after: 'archived' }],
  })
}
