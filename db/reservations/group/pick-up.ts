import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { Move } from '../../units/index.ts'
import type { NightKey } from '../night-moves.ts'
import { allotmentMoves } from './allotment.ts'

type Returned = { unitTypeId: string; night: string; rooms: number }

/**
 * Gives nights of picked-up stays that end back to the allotments of their groups, and answers the moves for it: to the allotment while the group is confirmed
 * and the night not released, else to free sale (R46). The groups are locked, and the nights are those that will not be sold any more.
 */
export const returnPickUps = async (trx: Trx, nights: readonly NightKey[]): Promise<Move[]> => {
  if (nights.length === 0) return []
  const rows = await sql<Returned>(
    trx,
    `with given as (
       update reservation_night n set picked_up = false from unnest(?::uuid[], ?::date[]) as v (reservation_id, date)
       where n.reservation_id = v.reservation_id and n.date = v.date and n.picked_up returning n.tenant_id, n.reservation_id, n.unit_type_id, n.date),
     counted as (
       select b.tenant_id, b.group_id, g.unit_type_id, g.date, count(*)::int as rooms from given g
       join reservation r on r.tenant_id = g.tenant_id and r.id = g.reservation_id
       join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id group by 1, 2, 3, 4),
     kept as (
       update booking_group_night x set picked_up = x.picked_up - c.rooms,
         allotted = x.allotted - case when o.status = 'confirmed' and not x.released then 0 else c.rooms end
       from counted c join booking_group o on o.tenant_id = c.tenant_id and o.id = c.group_id
       where x.tenant_id = c.tenant_id and x.group_id = c.group_id and x.unit_type_id = c.unit_type_id and x.night = c.date
       returning x.unit_type_id, x.night, case when o.status = 'confirmed' and not x.released then c.rooms else 0 end as rooms)
     select unit_type_id, night, rooms from kept where rooms > 0`,
    [nights.map((one) => one.reservationId), nights.map((one) => one.date)],
  )
  return allotmentMoves(trx, rows)
}
