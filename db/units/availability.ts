import { prepared, preparedOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { dailyColumns } from '../lib/daily-series.ts'
import { leftOf } from './rules/availability.ts'
import type { LeftInPools, LeftOn, PoolNight } from './rules/availability.ts'

/**
 * SQL for units by `pool_id` and `night` that holds past their time still take in the counters, between two expressions for days. The next hold ends them
 * (`reapHolds`), so a search for a room shows them as free, also while no worker runs. Holds with any money are left to their own end.
 */
const overdueUnits = (from: string, until: string) => `(
    with late as materialized (
      select r.tenant_id, r.id from booking b
      join reservation r on r.tenant_id = b.tenant_id and r.booking_id = b.id and r.status = 'held'
      where b.hold_expires_at <= now() and b.credit = 0 and not exists (select from payment y where y.tenant_id = b.tenant_id
        and y.target_type = 'booking' and y.target_id = b.id and y.status not in ('failed', 'cancelled')))
    select pool_id, night, sum(quantity)::int as units from (
      select s.unit_pool_id as pool_id, n.date as night, s.quantity from late
      join reservation_night n on n.tenant_id = late.tenant_id and n.reservation_id = late.id and n.status = 'open'
        and n.date >= ${from} and n.date < ${until}
      join unit_type_pool s on s.tenant_id = n.tenant_id and s.unit_type_id = n.unit_type_id
      union all
      select e.pool_id, d.day::date, x.quantity from late
      join reservation_extra x on x.tenant_id = late.tenant_id and x.reservation_id = late.id and x.status = 'active'
      join extra e on e.tenant_id = x.tenant_id and e.id = x.extra_id and e.pool_id is not null
      cross join lateral generate_series(greatest(x."from", ${from}), least(x."until", ${until} - 1), interval '1 day') as d (day)
    ) as each group by pool_id, night)`

/**
 * Counters of some pools on `[from, until)`, read without locks: they promise nothing. Keyed by pool, then night. What overdue holds take is not
 * held any more.
 */
export const readNights = async (
  trx: Trx,
  poolIds: readonly string[],
  from: string,
  until: string,
): Promise<Map<string, Map<string, PoolNight>>> => {
  const rows = await prepared<PoolNight>(
    trx,
    `select c.pool_id, c.night, capacity, sold, greatest(0, held - coalesce(o.units, 0)) as held, allotted, blocked, oversell, forced
     from pool_night c left join ${overdueUnits('?::date', '?::date')} o on o.pool_id = c.pool_id and o.night = c.night
     where c.pool_id = any(?::uuid[]) and c.night >= ?::date and c.night < ?::date`,
    [from, until, from, until, poolIds, from, until],
  )
  const pools = new Map<string, Map<string, PoolNight>>(poolIds.map((id) => [id, new Map<string, PoolNight>()]))
  for (const row of rows) pools.get(row.poolId)?.set(row.night, row)
  return pools
}

/** SQL for what is left in `:poolIds` on the nights `[:from, :until)`, as one JSON value with a part for each pool; overdue holds leave theirs. */
export const leftInPools = `(select json_agg(p) from (
     select c.pool_id as "poolId", ${dailyColumns('c.night', 'capacity + oversell - sold - greatest(0, held - coalesce(o.units, 0)) - allotted - blocked')}
     from pool_night c left join ${overdueUnits(':from::date', ':until::date')} o on o.pool_id = c.pool_id and o.night = c.night
     where c.pool_id = any(:poolIds::uuid[]) and c.night >= :from::date and c.night < :until::date group by c.pool_id) p)`

const leftText = `select ${leftInPools} as pools`

/** Units left in some pools on `[from, until)`, read without locks, so it promises nothing. */
export const readLeft = async (trx: Trx, poolIds: readonly string[], from: string, until: string): Promise<LeftOn> => {
  const row = await preparedOne<{ pools: LeftInPools }>(trx, leftText, { poolIds, from, until })
  return leftOf(row?.pools ?? null)
}

type Stay = { id: string; unitTypeId: string; arrival: string; departure: string }

/** Nights of some stays that were sold beyond what there is, in order, with the most units that a pool of the type is short of. */
export const forcedNights = (trx: Trx, stays: readonly Stay[]) =>
  prepared<{ reservationId: string; date: string; units: number }>(
    trx,
    `select s.id as reservation_id, n.night as date, max(n.forced)::int as units
     from unnest(?::uuid[], ?::uuid[], ?::date[], ?::date[]) as s (id, unit_type_id, arrival, departure)
     join unit_type_pool t on t.unit_type_id = s.unit_type_id
     join pool_night n on n.pool_id = t.unit_pool_id and n.night >= s.arrival and n.night < s.departure and n.forced > 0
     group by s.id, n.night order by s.id, n.night`,
    [
      stays.map((stay) => stay.id),
      stays.map((stay) => stay.unitTypeId),
      stays.map((stay) => stay.arrival),
      stays.map((stay) => stay.departure),
    ],
  )
