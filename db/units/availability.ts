import { daysIn } from '../../config/time.ts'
import { prepared } from '../connection.ts'
import type { Trx } from '../connection.ts'
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

/** Free units of a type on a night: what its tightest pool still gives; null past the horizon. */
export const freeOn = (
  nights: Map<string, Map<string, PoolNight>>,
  shares: readonly PoolShare[],
  night: string,
): number | null => {
  let free: number | null = null
  for (const { poolId, quantity } of shares) {
    const row = nights.get(poolId)?.get(night)
    if (!row) return null
    const left = Math.max(0, Math.floor((row.capacity + row.oversell - usage(row)) / quantity))
    free = free === null ? left : Math.min(free, left)
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
    .map((share) => ({ row: nights.get(share.poolId)?.get(night), free: freeOn(nights, [share], night) ?? -1 }))
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
