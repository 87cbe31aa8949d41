import { daysIn } from '../../../config/time.ts'
import { onDay } from '../../lib/daily-series.ts'
import type { Daily } from '../../lib/daily-series.ts'
import type { Move } from '../inventory.ts'

export type Counters = {
  capacity: number
  sold: number
  held: number
  allotted: number
  blocked: number
  oversell: number
  forced: number
}
export type PoolNight = Counters & { poolId: string; night: string }

export const usage = (row: Counters) => row.sold + row.held + row.allotted + row.blocked

/** Quantities that one sale of a type takes on each night. */
export type PoolShare = { poolId: string; quantity: number }

/** Units left in a pool on a night, below 0 if oversold; null past the horizon. */
export type LeftOn = (poolId: string, night: string) => number | null

/** By counters that are read already. */
export const leftIn =
  (nights: Map<string, Map<string, PoolNight>>): LeftOn =>
  (poolId, night) => {
    const row = nights.get(poolId)?.get(night)
    return row ? row.capacity + row.oversell - usage(row) : null
  }

export type LeftInPools = (Daily & { poolId: string })[] | null

export const leftOf = (pools: LeftInPools): LeftOn => {
  const byPool = new Map((pools ?? []).map((pool) => [pool.poolId, onDay(pool)]))
  return (poolId, night) => byPool.get(poolId)?.(night) ?? null
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
