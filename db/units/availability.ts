import { prepared, preparedOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { dailyColumns } from '../lib/daily-series.ts'
import { leftOf } from './rules/availability.ts'
import type { LeftInPools, LeftOn, PoolNight } from './rules/availability.ts'

/** Counters of some pools on `[from, until)`, read without locks: they promise nothing. Keyed by pool, then night. */
export const readNights = async (
  trx: Trx,
  poolIds: readonly string[],
  from: string,
  until: string,
): Promise<Map<string, Map<string, PoolNight>>> => {
  const rows = await prepared<PoolNight>(
    trx,
    `select pool_id, night, capacity, sold, held, allotted, blocked, oversell, forced from pool_night
     where pool_id = any(?::uuid[]) and night >= ?::date and night < ?::date`,
    [poolIds, from, until],
  )
  const pools = new Map<string, Map<string, PoolNight>>(poolIds.map((id) => [id, new Map<string, PoolNight>()]))
  for (const row of rows) pools.get(row.poolId)?.set(row.night, row)
  return pools
}

/** SQL for what is left in `:poolIds` on the nights `[:from, :until)`, as one JSON value with a part for each pool. */
export const leftInPools = `(select json_agg(p) from (
     select pool_id as "poolId", ${dailyColumns('night', 'capacity + oversell - sold - held - allotted - blocked')}
     from pool_night where pool_id = any(:poolIds::uuid[]) and night >= :from::date and night < :until::date group by pool_id) p)`

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
