import { daysIn } from '../../config/time.ts'
import { prepared, preparedOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { dailyColumns, onDay } from '../lib/daily-series.ts'
import type { Daily } from '../lib/daily-series.ts'
import { usage } from './inventory.ts'
import type { Counters, Move, PoolNight } from './inventory.ts'

/** What one sale of a type takes on each night. */
export type PoolShare = { poolId: string; quantity: number }

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

/** What is left in a pool on a night, below 0 where it is oversold; null past the horizon. */
export type LeftOn = (poolId: string, night: string) => number | null

/** By counters that are read already. */
export const leftIn =
  (nights: Map<string, Map<string, PoolNight>>): LeftOn =>
  (poolId, night) => {
    const row = nights.get(poolId)?.get(night)
    return row ? row.capacity + row.oversell - usage(row) : null
  }

/** What is left in `:poolIds` on the nights `[:from, :until)`, as one value of JSON: a part for each pool. */
export const leftInPools = `(select json_agg(p) from (
     select pool_id as "poolId", ${dailyColumns('night', 'capacity + oversell - sold - held - allotted - blocked')}
     from pool_night where pool_id = any(:poolIds::uuid[]) and night >= :from::date and night < :until::date group by pool_id) p)`

const leftText = `select ${leftInPools} as pools`

export type LeftInPools = (Daily & { poolId: string })[] | null

export const leftOf = (pools: LeftInPools): LeftOn => {
  const byPool = new Map((pools ?? []).map((pool) => [pool.poolId, onDay(pool)]))
  return (poolId, night) => byPool.get(poolId)?.(night) ?? null
}

/** What is left in some pools on `[from, until)`, read without locks: it promises nothing. */
export const readLeft = async (trx: Trx, poolIds: readonly string[], from: string, until: string): Promise<LeftOn> => {
  const row = await preparedOne<{ pools: LeftInPools }>(trx, leftText, { poolIds, from, until })
  return leftOf(row?.pools ?? null)
}

/** Free units of a type on a night: what its tightest pool still gives; null past the horizon. */
export const freeOn = (left: LeftOn, shares: readonly PoolShare[], night: string): number | null => {
  let free: number | null = null
  for (const { poolId, quantity } of shares) {
    const inPool = left(poolId, night)
    if (inPool === null) return null
    const units = Math.max(0, Math.floor(inPool / quantity))
    free = free === null ? units : Math.min(free, units)
  }
  return free
}

/** Counters of the pool that decides on a night; null past the horizon. */
export const tightestOn = (
  nights: Map<string, Map<string, PoolNight>>,
  shares: readonly PoolShare[],
  night: string,
): Counters | null => {
  const [first] = shares
    .map((share) => ({ row: nights.get(share.poolId)?.get(night), free: freeOn(leftIn(nights), [share], night) ?? -1 }))
    .sort((a, b) => a.free - b.free)
  if (!first?.row) return null
  const { poolId: _pool, night: _night, ...counters } = first.row
  return counters
}

/** Moves for the nights of one stay: each pool's share times the deltas, such as `{ held: -1, sold: 1 }`. */
export const stayMoves = (
  shares: readonly PoolShare[],
  { arrival, departure }: { arrival: string; departure: string },
  deltas: Partial<Pick<Move, 'sold' | 'held' | 'allotted'>>,
): Move[] =>
  shares.flatMap(({ poolId, quantity }) =>
    daysIn(arrival, departure).map((night) => ({
      poolId,
      night,
      sold: (deltas.sold ?? 0) * quantity,
      held: (deltas.held ?? 0) * quantity,
      allotted: (deltas.allotted ?? 0) * quantity,
    })),
  )
