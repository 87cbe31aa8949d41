import { addDays, daysIn } from '../../../config/time.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { readNights } from '../availability.ts'
import type { Move } from '../inventory.ts'
import { lockCapacity } from '../nights.ts'
import { usage } from '../rules/availability.ts'

export type BlockSpan = {
  unitIds: readonly string[]
  kind: 'out_of_order' | 'out_of_service'
  from: string
  to: string
}
export type BlockUnit = { id: string; name: string; poolId: string; activeFrom: string; activeUntil: string | null }

/** The part of a block that counts from a day on; null is none. */
export const spanFrom = (block: BlockSpan | null, day: string): BlockSpan | null => {
  if (!block) return null
  const from = block.from > day ? block.from : day
  return from < block.to ? { ...block, from } : null
}

const nightsOf = (span: BlockSpan | null, poolOf: ReadonlyMap<string, string>, by: 1 | -1): Move[] =>
  span === null || span.kind === 'out_of_service'
    ? []
    : span.unitIds.flatMap((unitId) => {
        const poolId = poolOf.get(unitId)
        return poolId === undefined ? [] : daysIn(span.from, span.to).map((night) => ({ poolId, night, blocked: by }))
      })

/**
 * The moves of the counters for a block that stood as `before` and is to stand as `after`: the delta alone. Nights beyond the horizon have no counters yet.
 * They get them later, with the blocks that are known then. The pools' rows are locked, so that no counters come in between.
 */
export const blockMoves = async (
  trx: Trx,
  units: readonly BlockUnit[],
  before: BlockSpan | null,
  after: BlockSpan | null,
): Promise<Move[]> => {
  const poolOf = new Map(units.map((unit) => [unit.id, unit.poolId]))
  const moves = [...nightsOf(before, poolOf, -1), ...nightsOf(after, poolOf, 1)]
  if (moves.length === 0) return []
  const poolIds = [...new Set(moves.map((move) => move.poolId))].sort()
  await lockCapacity(trx, poolIds)
  const last = new Map(
    (
      await sql<{ poolId: string; last: string }>(
        trx,
        `select pool_id, max(night) as last from pool_night where pool_id = any(?::uuid[]) group by 1`,
        [poolIds],
      )
    ).map((row) => [row.poolId, row.last]),
  )
  return moves.filter((move) => move.night <= (last.get(move.poolId) ?? ''))
}

export type ShortNight = { unitPoolId: string; night: string; shortage: number }

/** Nights that moves would take more of than there is; read without locks. */
export const shortNights = async (trx: Trx, moves: readonly Move[]): Promise<ShortNight[]> => {
  const wanted = new Map<string, { poolId: string; night: string; blocked: number }>()
  for (const { poolId, night, blocked = 0 } of moves) {
    const key = `${poolId} ${night}`
    wanted.set(key, { poolId, night, blocked: (wanted.get(key)?.blocked ?? 0) + blocked })
  }
  const days = [...wanted.values()].map((one) => one.night).sort()
  const pools = await readNights(
    trx,
    [...new Set([...wanted.values()].map((one) => one.poolId))],
    days[0] ?? '9999-12-31',
    addDays(days.at(-1) ?? '9999-12-30', 1),
  )
  return [...wanted.values()].flatMap(({ poolId, night, blocked }) => {
    const row = pools.get(poolId)?.get(night)
    const shortage = row ? usage(row) + blocked - row.capacity - row.oversell - row.forced : 0
    return blocked > 0 && shortage > 0 ? [{ unitPoolId: poolId, night, shortage }] : []
  })
}
