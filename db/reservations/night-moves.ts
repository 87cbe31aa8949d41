import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { Move } from '../units/index.ts'
import { returnPickUps } from './group/pick-up.ts'

export type NightsStatus = 'open' | 'released'

/** Nights that are sold and not on a folio: those that a fee has paid for count too. */
const standing: Record<NightsStatus, string[]> = { open: ['open', 'waived'], released: ['released'] }

/**
 * Moves for the nights of reservations that have a status, and for their extras with a daily limit: each pool's share times the
 * deltas, such as `{ held: -1, sold: 1 }`. Nights of a group that are sold no more go back to its allotment.
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
     where n.reservation_id = any(?::uuid[]) and n.status = any(?::text[]) group by 1, 2
     union all
     select x.pool_id, d::date, sum(e.quantity)::int
     from reservation_extra e join extra x on x.tenant_id = e.tenant_id and x.id = e.extra_id and x.pool_id is not null
     cross join generate_series(e."from", e."until", interval '1 day') d
     where e.reservation_id = any(?::uuid[]) and e.status = 'active' group by 1, 2`,
    [reservationIds, standing[status], reservationIds],
  )
  const moves: Move[] = rows.map(({ poolId, night, quantity }) => ({
    poolId,
    night,
    sold: (deltas.sold ?? 0) * quantity,
    held: (deltas.held ?? 0) * quantity,
  }))
  return deltas.sold === -1 ? [...moves, ...(await returnPickUps(trx, await pickedUp(trx, reservationIds)))] : moves
}

const pickedUp = (trx: Trx, reservationIds: readonly string[]) =>
  sql<NightKey>(
    trx,
    `select reservation_id, date from reservation_night where reservation_id = any(?::uuid[]) and picked_up and status in ('open', 'waived')`,
    [reservationIds],
  )

export type NightKey = { reservationId: string; date: string }

/** Releases nights of confirmed stays that will not be used; the answered moves give them back. */
export const releaseNights = async (trx: Trx, nights: readonly NightKey[]): Promise<Move[]> => {
  if (nights.length === 0) return []
  const returned = await returnPickUps(trx, nights)
  const rows = await sql<{ poolId: string; night: string; quantity: number }>(
    trx,
    `with released as (
       update reservation_night n set status = 'released' from unnest(?::uuid[], ?::date[]) as v (reservation_id, date)
       where n.reservation_id = v.reservation_id and n.date = v.date and n.status in ('open', 'waived') returning n.tenant_id, n.unit_type_id, n.date)
     select p.unit_pool_id as pool_id, n.date as night, sum(p.quantity)::int as quantity
     from released n join unit_type_pool p on p.tenant_id = n.tenant_id and p.unit_type_id = n.unit_type_id group by 1, 2`,
    [nights.map((one) => one.reservationId), nights.map((one) => one.date)],
  )
  return [...returned, ...rows.map(({ poolId, night, quantity }) => ({ poolId, night, sold: -quantity }))]
}

/**
 * Moves that give back the limited extras of reservations: all of them, or the daily ones on their days of service from a day on that are not charged
 * yet.
 */
export const limitedExtras = async (
  trx: Trx,
  reservationIds: readonly string[],
  dailyFrom: string | null = null,
): Promise<Move[]> => {
  const rows = await sql<{ poolId: string; night: string; quantity: number }>(
    trx,
    `select x.pool_id, d.day::date as night, sum(e.quantity)::int as quantity
     from reservation_extra e join extra x on x.tenant_id = e.tenant_id and x.id = e.extra_id and x.pool_id is not null
     cross join lateral generate_series(e."from"::timestamp, e."until"::timestamp, interval '1 day') as d (day)
     where e.reservation_id = any(?::uuid[]) and e.status = 'active'
       and (?::date is null or e.basis in ('per_night', 'per_person_per_night')
         and d.day >= greatest(?::date, e.charged_until + 1)::timestamp) group by 1, 2`,
    [reservationIds, dailyFrom, dailyFrom],
  )
  return rows.map(({ poolId, night, quantity }) => ({ poolId, night, sold: -quantity }))
}

/** Nights of reservations that stop or begin to count; the counters are moved beside it, by moves made before. */
export const setNights = (trx: Trx, reservationIds: readonly string[], from: NightsStatus, to: NightsStatus) =>
  sql(
    trx,
    `update reservation_night set status = ? where reservation_id = any(?::uuid[]) and status = any(?::text[])`,
    [to, reservationIds, standing[from]],
  )
