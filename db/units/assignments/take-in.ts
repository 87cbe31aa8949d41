import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { presentDay } from '../state.ts'
import { announceOccupancy, isAdded, lockRows } from './occupy.ts'

/**
 * Units that are added to those of a guest in the house are the guest's from their first night on: those of tonight become occupied, but of a unit that the
 * guest before has not left. A repeated call changes nothing.
 */
export const takeIn = async (trx: Trx, reservationId: string): Promise<void> => {
  const place = await sqlOne<{ today: string }>(
    trx,
    `select ${presentDay('y')} as today from reservation r join property y on y.tenant_id = r.tenant_id and y.id = r.property_id
     where r.id = ? and r.status = 'checked_in' for no key update of r`,
    [reservationId],
  )
  if (!place) return
  const rows = await lockRows(
    trx,
    [reservationId],
    `${isAdded} and a.starts_on <= ?::date and a.ends_on > ?::date and not exists (
       select from unit_assignment b where b.tenant_id = a.tenant_id and b.unit_id = a.unit_id and b.status = 'occupied')`,
    [place.today, place.today],
  )
  if (rows.length === 0) return
  await sql(trx, `update unit_assignment set status = 'occupied' where id = any(?::uuid[])`, [
    rows.map((row) => row.id),
  ])
  await announceOccupancy(trx, 'occupied', rows)
}

/** Stays of guests in the house who have a unit to come into, by id. */
export const staysToTakeIn = async (trx: Trx, propertyId: string): Promise<string[]> =>
  (
    await sql<{ id: string }>(
      trx,
      `select r.id from reservation r where r.property_id = ? and r.status = 'checked_in' and exists (
         select from unit_assignment a where a.tenant_id = r.tenant_id and a.reservation_id = r.id and a.status in ('proposed', 'locked')) order by r.id`,
      [propertyId],
    )
  ).map((row) => row.id)
