import { conflict } from '../../../config/errors.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { planPool } from '../rules/pool-plan.ts'
import { lockPools } from './occupy.ts'
import { forever, readBoard } from './pool-board.ts'
import type { Board, BoardRow } from './pool-board.ts'
import { settleAll } from './write.ts'

export type Clearing = {
  unitIds: readonly string[]
  from: string
  /** null is for good. */
  to: string | null
  /** Rows of this block, which is being changed, are not in the way. */
  blockId?: string | undefined
  /** A stay that is to have the units: its own proposed rows in them go. */
  reservationId?: string | undefined
  /** Locked rows give way too. */
  force?: boolean
  /** Blocks stay with their units. */
  keepBlocks?: boolean
  dryRun?: boolean
}
export type Cleared = {
  /** Proposed stays that go elsewhere; no unit where none was found. */
  moves: { reservationId: string; fromUnitId: string; toUnitId: string | null }[]
  /** Locked stays that had to go. */
  displaced: { reservationId: string; unitId: string; from: string; to: string }[]
}

const inTheWay = (rows: readonly BoardRow[], board: Board) => {
  const nameOf = new Map(board.units.map((unit) => [unit.id, unit.name]))
  return conflict(
    'unit_conflict',
    'A unit is taken by a locked or occupied stay, or a block',
    rows.slice(0, 50).map((row) => ({
      field: 'unitIds',
      message: `${nameOf.get(row.unitId)} is ${row.status} from ${row.from} to ${row.to} by ${row.reservationId ?? row.unitBlockId}`,
    })),
  )
}

/**
 * Makes room in units for a command (R9): proposed stays move elsewhere in the same transaction; 409 `unit_conflict` where others stand. Locks the
 * pools of the units, after the caller has locked the nights that it moves.
 */
export const clearUnits = async (
  trx: Trx,
  { unitIds, from, to: until, blockId, reservationId, force = false, keepBlocks = false, dryRun = false }: Clearing,
): Promise<Cleared> => {
  const to = until ?? forever
  const pools = await sql<{ poolId: string }>(
    trx,
    `select distinct unit_pool_id as pool_id from unit where id = any(?::uuid[]) order by 1`,
    [unitIds],
  )
  const poolIds = pools.map((one) => one.poolId)
  if (!dryRun) await lockPools(trx, poolIds)
  const board = await readBoard(trx, poolIds, from, to)
  const units = new Set(unitIds)
  const there = board.rows.filter(
    (row) =>
      units.has(row.unitId) &&
      row.from < to &&
      row.to > from &&
      !(row.unitBlockId !== null && (keepBlocks || row.unitBlockId === blockId)) &&
      !(reservationId !== undefined && row.reservationId === reservationId),
  )
  const others = there.filter((row) => row.status !== 'proposed' && !(force && row.status === 'locked'))
  if (others.length > 0) throw inTheWay(others, board)
  const seek = new Set(there.map((row) => row.id))
  const closed = unitIds.map((unitId) => ({ unitId, from, to }))
  const plans = poolIds.map((poolId) => planPool(board, poolId, seek, [], closed))
  if (!dryRun) await settleAll(trx, plans)
  const locked = new Set(there.filter((row) => row.status === 'locked').map((row) => row.id))
  return {
    moves: plans
      .flatMap((plan) => plan.changes)
      .flatMap((change) =>
        change.fromUnitId === null
          ? []
          : [{ reservationId: change.reservationId, fromUnitId: change.fromUnitId, toUnitId: change.toUnitId }],
      ),
    displaced: there.flatMap((row) =>
      locked.has(row.id) && row.reservationId !== null
        ? [{ reservationId: row.reservationId, unitId: row.unitId, from: row.from, to: row.to }]
        : [],
    ),
  }
}
