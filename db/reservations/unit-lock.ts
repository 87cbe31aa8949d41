import { conflict, notFound, overtaken, unprocessable } from '../../config/errors.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { ReservationRow, UnitRow } from '../rows.ts'
import { lockPools, clearUnits, presentDay, tellAssigned } from '../units/index.ts'
import { stayLifecycle } from './rules/states.ts'

type Stay = Pick<ReservationRow, 'propertyId' | 'status' | 'unitTypeId' | 'arrival' | 'departure'> & { today: string }

const lockStay = async (trx: Trx, reservationId: string): Promise<Stay> => {
  const stay = await sqlOne<Stay>(
    trx,
    `select r.property_id, r.status, r.unit_type_id, r.arrival, r.departure, ${presentDay('y')} as today
     from reservation r join property y on y.tenant_id = r.tenant_id and y.id = r.property_id where r.id = ? for no key update of r`,
    [reservationId],
  )
  if (!stay) throw notFound()
  stayLifecycle.allow('promised a unit', stay.status)
  return stay
}

type Asked = Pick<UnitRow, 'id' | 'propertyId' | 'unitPoolId' | 'status' | 'activeFrom' | 'activeUntil'> & {
  quantity: number | null
}

/** A unit that serves the type of the stay, on all of its days. */
const judge = (unit: Asked | null, stay: Stay, from: string) => {
  if (unit?.propertyId !== stay.propertyId || unit.status !== 'active')
    throw unprocessable('unit_not_in_property', 'The unit does not belong to the property', [
      { field: 'unitId', message: 'is not an active unit of the property' },
    ])
  if (unit.quantity === null)
    throw unprocessable('unit_type_mismatch', 'The unit is of another type', [
      { field: 'unitId', message: 'does not serve the type that is reserved' },
    ])
  if (unit.activeFrom > from || (unit.activeUntil !== null && unit.activeUntil < stay.departure))
    throw conflict('unit_conflict', 'The unit is not there on all days of the stay', [
      { field: 'unitId', message: 'is not active on all days of the stay' },
    ])
  return { ...unit, quantity: unit.quantity }
}

/**
 * Gives a confirmed stay the unit that its guest has asked for, and promises it (R8): the system never moves it. Proposed stays give way; 409 `unit_conflict`
 * where another is promised it or in it, or it is blocked. It stands for one of those that the stay had of the pool.
 */
export const promiseUnit = async (trx: Trx, reservationId: string, unitId: string): Promise<void> => {
  const stay = await lockStay(trx, reservationId)
  const from = stay.arrival > stay.today ? stay.arrival : stay.today
  const pool = await sqlOne<{ id: string }>(trx, `select unit_pool_id as id from unit where id = ?`, [unitId])
  if (pool) await lockPools(trx, [pool.id])
  const unit = judge(
    await sqlOne<Asked>(
      trx,
      `select u.id, u.property_id, u.unit_pool_id, u.status, u.active_from, u.active_until, s.quantity from unit u
       left join unit_type_pool s on s.tenant_id = u.tenant_id and s.unit_pool_id = u.unit_pool_id and s.unit_type_id = ? where u.id = ?`,
      [stay.unitTypeId, unitId],
    ),
    stay,
    from,
  )
  if (unit.unitPoolId !== pool?.id) throw overtaken()
  await clearUnits(trx, { unitIds: [unitId], from, to: stay.departure, reservationId })
  // A stay may hold several units of the pool. Release one for the locked unit: this one if it already has it, else a proposed one.
  await sql(
    trx,
    `with had as (
       select a.unit_id, row_number() over (order by a.unit_id = cast(:unitId as uuid) desc, bool_or(a.status = 'locked'), a.unit_id) as rank, count(*) over () as units
       from unit_assignment a join unit u on u.tenant_id = a.tenant_id and u.id = a.unit_id and u.unit_pool_id = :poolId
       where a.reservation_id = :reservationId and a.status in ('proposed', 'locked') group by a.unit_id)
     update unit_assignment a set status = 'released' from had h
     where a.reservation_id = :reservationId and a.unit_id = h.unit_id and a.status in ('proposed', 'locked') and (h.unit_id = :unitId or (h.rank = 1 and h.units >= :quantity) or :quantity = 1)`,
    { unitId, reservationId, poolId: unit.unitPoolId, quantity: unit.quantity },
  )
  await sql(
    trx,
    `insert into unit_assignment (unit_id, reservation_id, during, status) values (?, ?, daterange(?::date, ?::date), 'locked')`,
    [unitId, reservationId, from, stay.departure],
  )
  if (unit.quantity === 1)
    await sql(trx, `delete from stranded_stay where reservation_id = ? and unit_pool_id = ?`, [
      reservationId,
      unit.unitPoolId,
    ])
  await tellAssigned(trx, [{ reservationId, unitId }], true)
}

/** Turns a stay's promised unit into a proposed one, which the system may move. */
export const withdrawPromise = async (trx: Trx, reservationId: string): Promise<void> => {
  await lockStay(trx, reservationId)
  const rows = await sql<{ reservationId: string; unitId: string }>(
    trx,
    `update unit_assignment set status = 'proposed' where reservation_id = ? and status = 'locked' returning reservation_id, unit_id`,
    [reservationId],
  )
  await tellAssigned(trx, rows, false)
}
