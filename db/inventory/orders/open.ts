import { randomUUID } from 'node:crypto'
import { conflict, invalid, unprocessable } from '../../../config/errors.ts'
import { orderOpened } from '../../../config/events/inventory.ts'
import { businessDay } from '../../financial/index.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { statusOf } from '../../lib/locked-property.ts'
import { insertRow } from '../../lib/records.ts'
import { PosOrder } from '../models.ts'
import { outletOf } from '../outlets/outlets.ts'
import type { OutletRecord } from '../outlets/outlets.ts'
import { addLines, priceLines } from './lines.ts'
import type { NewOrderLine } from './lines.ts'
import { lockPosOrder, personOf, refreshTotals, tellOrder } from './state.ts'

export type NewOrder = {
  outletId: string
  /** Of another point of sale; a second order with it is not made. */
  externalId?: string | undefined
  table?: string | undefined
  covers?: number | undefined
  reservationId?: string | undefined
  unitId?: string | undefined
  lines: NewOrderLine[]
  /** Minor units. */
  discount?: number | undefined
  discountReason?: string | undefined
  serviceCharge?: boolean | undefined
  note?: string | undefined
}

const orderOf = async (trx: Trx, outletId: string, externalId: string | undefined): Promise<string | null> =>
  externalId === undefined
    ? null
    : ((
        await sqlOne<{ id: string }>(trx, `select id from pos_order where outlet_id = ? and external_id = ?`, [
          outletId,
          externalId,
        ])
      )?.id ?? null)

const notInHouse = (field: string) =>
  unprocessable('not_in_house', 'There is no such guest in the house', [{ field, message: 'has no stay in the house' }])

/** Holds stays that must be in the house, so that none leaves before the commit. 422 `not_in_house`. */
export const holdStays = async (
  trx: Trx,
  propertyId: string,
  named: readonly { id: string; field: string }[],
): Promise<void> => {
  if (named.length === 0) return
  const rows = await sql<{ id: string }>(
    trx,
    `select id from reservation where id = any(?::uuid[]) and property_id = ? and status = 'checked_in' order by id for share`,
    [[...new Set(named.map(({ id }) => id))], propertyId],
  )
  const gone = named.find(({ id }) => !rows.some((row) => row.id === id))
  if (gone) throw notInHouse(gone.field)
}

/** The stay in the house in a unit (R25): the one that is named, where several share it. */
const stayIn = async (
  trx: Trx,
  { propertyId, unitId, named }: { propertyId: string; unitId: string; named: string | null },
): Promise<string | null> =>
  (
    await sqlOne<{ id: string }>(
      trx,
      `select r.id from unit_assignment a join reservation r on r.tenant_id = a.tenant_id and r.id = a.reservation_id and r.status = 'checked_in'
       where a.unit_id = ? and a.status = 'occupied' and r.property_id = ? and r.id = coalesce(?::uuid, r.id) order by r.id limit 1`,
      [unitId, propertyId, named],
    )
  )?.id ?? null

/** The stay that an order is for, held. */
const stayOf = async (trx: Trx, outlet: OutletRecord, given: NewOrder): Promise<string | null> => {
  const { reservationId, unitId } = given
  const isMinibar = outlet.kind === 'minibar'
  if (isMinibar && unitId === undefined) throw invalid([{ field: 'unitId', message: 'is required of a minibar' }])
  if (unitId !== undefined) {
    const unit = await sqlOne(trx, `select 1 from unit where id = ? and property_id = ?`, [unitId, outlet.propertyId])
    if (!unit)
      throw unprocessable('reference_not_found', 'The property does not have this unit', [
        { field: 'unitId', message: 'is no unit of the property' },
      ])
  }
  // A minibar is emptied by those who stay with it; any other guest may have an order brought to a unit.
  const isFound = unitId !== undefined && (isMinibar || reservationId === undefined)
  const found = isFound
    ? await stayIn(trx, { propertyId: outlet.propertyId, unitId, named: reservationId ?? null })
    : (reservationId ?? null)
  if (found === null && isMinibar) throw notInHouse(reservationId === undefined ? 'unitId' : 'reservationId')
  if (found !== null)
    await holdStays(trx, outlet.propertyId, [{ id: found, field: reservationId ? 'reservationId' : 'unitId' }])
  return found
}

/** Locks the numbers of an outlet and day; orders of one outlet are opened one after the other. */
const lockNumbers = (trx: Trx, outletId: string, date: string) =>
  sql(
    trx,
    `insert into pos_order_number (outlet_id, date) values (?, ?) on conflict (tenant_id, outlet_id, date) do update set last = pos_order_number.last`,
    [outletId, date],
  )
const nextNumber = async (trx: Trx, { id, code }: OutletRecord, date: string): Promise<string> => {
  const row = await sqlOne<{ last: number }>(
    trx,
    `update pos_order_number set last = last + 1 where outlet_id = ? and date = ? returning last`,
    [id, date],
  )
  return `${code}-${date.slice(2).replaceAll('-', '')}-${row?.last ?? 0}`
}

/**
 * Opens an order at the prices of now. Answers its id, and whether it was there already by its `externalId`. 409 `invalid_transition`; 422 `price_unknown`,
 * `not_in_house`, `reference_not_found`, `too_many`.
 */
export const openOrder = async (trx: Trx, given: NewOrder): Promise<{ id: string; repeated: boolean }> => {
  const { outletId, externalId } = given
  const outlet = await outletOf(trx, outletId)
  const first = await orderOf(trx, outletId, externalId)
  if (first !== null) return { id: first, repeated: true }
  const status = await statusOf(trx, outlet.propertyId)
  if (status !== 'live' && status !== 'suspended')
    throw conflict('invalid_transition', `A property that is ${status} sells nothing`)
  const businessDate = await businessDay(trx, outlet.propertyId)
  const reservationId = await stayOf(trx, outlet, given)
  const held = await sqlOne<{ currency: string }>(
    trx,
    `select p.currency from outlet o join property p on p.tenant_id = o.tenant_id and p.id = o.property_id
     where o.id = ? and o.status = 'active' for key share of o`,
    [outletId],
  )
  if (!held) throw unprocessable('reference_not_found', 'The outlet is archived')
  await lockNumbers(trx, outletId, businessDate)
  const other = await orderOf(trx, outletId, externalId)
  if (other !== null) return { id: other, repeated: true }
  const lines = await priceLines(trx, outlet, given.lines)
  const made = await insertRow(trx, PosOrder, {
    id: randomUUID(),
    propertyId: outlet.propertyId,
    outletId,
    number: await nextNumber(trx, outlet, businessDate),
    externalId: externalId ?? null,
    businessDate,
    table: given.table ?? null,
    covers: given.covers ?? 0,
    reservationId,
    unitId: given.unitId ?? null,
    currency: held.currency,
    serviceCharge: given.serviceCharge ?? true,
    serviceChargeRate: outlet.serviceChargeRate,
    note: given.note ?? null,
    openedBy: await personOf(trx),
  })
  await addLines(trx, made.id, lines, 0)
  const { discount = 0, discountReason = null } = given
  const version = await refreshTotals(trx, made, { discount, discountReason })
  const order = await lockPosOrder(trx, made.id)
  await tellOrder(trx, orderOpened, order, { version })
  return { id: made.id, repeated: false }
}
