import { sql } from '../connection.ts'
import type { Trx } from '../connection.ts'
import type { Move } from '../units/inventory.ts'

export type NightsStatus = 'open' | 'released'

/**
 * Moves for the nights of reservations that have a status, and for their extras with a daily limit: each pool's share times the
 * deltas, such as `{ held: -1, sold: 1 }`.
 */
export const stockMoves = async (
  trx: Trx,
  reservationIds: readonly string[],
  status: NightsStatus,
  deltas: Pick<Move, 'sold' | 'held'>,
): Promise<Move[]> => {
  const rows = await sql<{ poolId: string; night: string; quantity: number }>(
    trx,
    `select p.unit_pool_id as pool_id, n.date as night, sum(p.quantity)::int as quantity
     from reservation_night n join unit_type_pool p on p.tenant_id = n.tenant_id and p.unit_type_id = n.unit_type_id
     where n.reservation_id = any(?::uuid[]) and n.status = ? group by 1, 2
     union all
     select x.pool_id, d::date, sum(e.quantity)::int
     from reservation_extra e join extra x on x.tenant_id = e.tenant_id and x.id = e.extra_id and x.pool_id is not null
     cross join generate_series(e."from", e."until", interval '1 day') d
     where e.reservation_id = any(?::uuid[]) and e.status = 'active' group by 1, 2`,
    [reservationIds, status, reservationIds],
  )
  return rows.map(({ poolId, night, quantity }) => ({
    poolId,
    night,
    sold: (deltas.sold ?? 0) * quantity,
    held: (deltas.held ?? 0) * quantity,
  }))
}

/** Nights of reservations that stop or begin to count; the counters are moved beside it, by moves made before. */
export const setNights = (trx: Trx, reservationIds: readonly string[], from: NightsStatus, to: NightsStatus) =>
  sql(trx, `update reservation_night set status = ? where reservation_id = any(?::uuid[]) and status = ?`, [
    to,
    reservationIds,
    from,
  ])
