import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { ReservationRow } from '../rows.ts'
import type { Move } from '../units/index.ts'
import { movesOfMore, nightsToPickUp, writeMore } from './group/take-more.ts'

type Taken = { poolId: string; night: string; quantity: number }
const asSold = ({ poolId, night, quantity }: Taken): Move => ({ poolId, night, sold: quantity })

/** Opens released nights of a stay again. Answers the moves that take them, like new ones (R6), of the allotment of its group too. The booking is locked. */
export const nightsTaken = async (
  trx: Trx,
  { reservationId, groupId }: { reservationId: string; groupId: string | null },
  dates: readonly string[],
  status: 'open' | 'waived' = 'open',
): Promise<Move[]> => {
  const sold = (
    await sql<Taken>(
      trx,
      `with taken as (
         update reservation_night set status = ? where reservation_id = ? and date = any(?::date[]) and status = 'released'
         returning tenant_id, unit_type_id, date)
       select p.unit_pool_id as pool_id, n.date as night, sum(p.quantity)::int as quantity
       from taken n join unit_type_pool p on p.tenant_id = n.tenant_id and p.unit_type_id = n.unit_type_id group by 1, 2`,
      [status, reservationId, dates],
    )
  ).map(asSold)
  if (groupId === null || dates.length === 0) return sold
  const nights = await sql<{ date: string; unitTypeId: string }>(
    trx,
    `select date, unit_type_id from reservation_night where reservation_id = ? and date = any(?::date[]) and status = ? and not picked_up`,
    [reservationId, dates, status],
  )
  const picked = await nightsToPickUp(trx, groupId, nights)
  await writeMore(trx, groupId, reservationId, picked)
  return [...sold, ...(await movesOfMore(trx, picked))]
}

/** Gives a stay back what its check-out has cut off its daily extras. Answers the moves that take limited ones again. */
export const restoreExtras = async (trx: Trx, reservationId: string): Promise<Move[]> => {
  const moves = await sql<Taken>(
    trx,
    `select x.pool_id, d.day::date as night, sum(e.quantity)::int as quantity
     from reservation_extra e join extra x on x.tenant_id = e.tenant_id and x.id = e.extra_id and x.pool_id is not null
     cross join lateral generate_series((case when e.status = 'active' then e."until" + 1 else e."from" end)::timestamp,
       (e.cut->>'until')::date::timestamp, interval '1 day') as d (day)
     where e.reservation_id = ? and e.cut is not null group by 1, 2`,
    [reservationId],
  )
  await sql(
    trx,
    `update reservation_extra set "until" = (cut->>'until')::date, amount = (cut->>'amount')::bigint, taxes = cut->'taxes', status = 'active', cut = null,
       version = version + 1 where reservation_id = ? and cut is not null`,
    [reservationId],
  )
  return moves.map(asSold)
}

/** Moves that take the limited extras of a stay again, all their days. */
export const extrasTaken = async (trx: Trx, reservationId: string): Promise<Move[]> =>
  (
    await sql<Taken>(
      trx,
      `select x.pool_id, d.day::date as night, sum(e.quantity)::int as quantity
       from reservation_extra e join extra x on x.tenant_id = e.tenant_id and x.id = e.extra_id and x.pool_id is not null
       cross join lateral generate_series(e."from"::timestamp, e."until"::timestamp, interval '1 day') as d (day)
       where e.reservation_id = ? and e.status = 'active' group by 1, 2`,
      [reservationId],
    )
  ).map(asSold)

/** Writes the totals of a stay anew, as the sums of its open and charged nights and its active extras. */
export const retotal = async (trx: Trx, reservationId: string): Promise<ReservationRow> => {
  const row = await sqlOne<ReservationRow>(
    trx,
    `with night as (
       select coalesce(sum(n.amount), 0)::bigint as amount, coalesce(sum(t.tax), 0)::bigint as tax from reservation_night n
       cross join lateral (select coalesce(sum((x->>'amount')::bigint), 0) as tax from jsonb_array_elements(n.taxes) x where not (x->>'included')::boolean) t
       where n.reservation_id = :id and n.status in ('open', 'charged')),
     extra as (
       select coalesce(sum(e.amount), 0)::bigint as amount, coalesce(sum(t.tax), 0)::bigint as tax from reservation_extra e
       cross join lateral (select coalesce(sum((x->>'amount')::bigint), 0) as tax from jsonb_array_elements(e.taxes) x where not (x->>'included')::boolean) t
       where e.reservation_id = :id and e.status = 'active')
     update reservation r set room_total = n.amount, extras_total = e.amount, tax_total = n.tax + e.tax, total = n.amount + e.amount + n.tax + e.tax,
       version = r.version + 1 from night n, extra e where r.id = :id returning r.*`,
    { id: reservationId },
  )
  if (!row) throw new Error(`reservation ${reservationId} is gone`)
  return row
}
