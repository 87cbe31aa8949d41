import { conflict } from '../../config/errors.ts'
import { settingsOf } from '../../config/property-settings.ts'
import type { StoredSettings } from '../../config/property-settings.ts'
import { sql, sqlOne } from '../connection.ts'
import type { PlatformTrx, Trx } from '../connection.ts'
import { emit } from '../events.ts'
import { lockPools } from './assignments.ts'
import { forever, readBoard } from './board.ts'
import type { Board, BoardRow } from './board.ts'
import { pack } from './fit.ts'
import type { Packing, Piece, Taken } from './fit.ts'
import { lackingStays, lackingUnits } from './needs.ts'
import type { Need } from './needs.ts'
import { settle, strand, unstrand } from './settle.ts'
import type { Change, Stranded } from './settle.ts'
import { presentDay } from './state.ts'

const keyOf = (need: Need, index: number) => `${need.reservationId} ${need.from} ${index}`

/** What a packing changes: rows that go elsewhere, rows that have to go, and units for stays that had none. */
const changesOf = (packing: Packing, rows: readonly BoardRow[], needs: readonly Need[]): Change[] => [
  ...rows.flatMap((row) => {
    const place = packing.places.get(row.id) ?? null
    return row.reservationId === null || (place === row.unitId && row.status === 'proposed')
      ? []
      : [
          {
            assignmentId: row.id,
            reservationId: row.reservationId,
            poolId: row.poolId,
            from: row.from,
            to: row.to,
            fromUnitId: row.unitId,
            toUnitId: place,
          },
        ]
  }),
  ...needs.flatMap((need, index) => {
    const place = packing.places.get(keyOf(need, index))
    return place === undefined
      ? []
      : [
          {
            assignmentId: null,
            reservationId: need.reservationId,
            poolId: need.poolId,
            from: need.from,
            to: need.to,
            fromUnitId: null,
            toUnitId: place,
          },
        ]
  }),
]

const pieceOf = (row: BoardRow): Piece => ({
  key: row.id,
  unitTypeId: row.unitTypeId,
  from: row.from,
  to: row.to,
  unitId: row.unitId,
})

type Plan = { changes: Change[]; stranded: Stranded[] }

/** Finds places in one pool: `seek` and `needs` are placed, `taken` stands, and what else is proposed gives way where that helps. */
const planPool = (
  { units, rows }: Board,
  poolId: string,
  seek: ReadonlySet<string>,
  needs: readonly Need[],
  closed: readonly Taken[] = [],
): Plan => {
  const here = rows.filter((row) => row.poolId === poolId)
  const seeking = here.filter((row) => seek.has(row.id))
  const movable = here.filter((row) => row.status === 'proposed' && !seek.has(row.id))
  const fixed = here.filter((row) => row.status !== 'proposed' && !seek.has(row.id))
  const wanted = needs.filter((need) => need.poolId === poolId)
  const packing = pack(
    units.filter((unit) => unit.poolId === poolId),
    [...fixed, ...closed],
    movable.map(pieceOf),
    [...seeking.map(pieceOf), ...wanted.map((need, index) => ({ ...need, key: keyOf(need, index), unitId: null }))],
  )
  const without = new Set(packing.stranded)
  const stays = [
    ...seeking.filter((row) => without.has(row.id)),
    ...wanted.filter((need, index) => without.has(keyOf(need, index))),
  ]
  return {
    changes: changesOf(packing, [...seeking, ...movable], wanted),
    stranded: stays.flatMap(({ reservationId, from, to }) =>
      reservationId === null ? [] : [{ reservationId, poolId, from, to }],
    ),
  }
}

const settleAll = async (trx: Trx, plans: readonly Plan[]): Promise<void> => {
  const changes = plans.flatMap((plan) => plan.changes)
  await settle(trx, changes)
  const stranded = plans.flatMap((plan) => plan.stranded)
  const waiting = new Set(stranded.map(({ reservationId, poolId }) => `${reservationId} ${poolId}`))
  for (const poolId of new Set(changes.map((change) => change.poolId)))
    await unstrand(
      trx,
      poolId,
      changes.flatMap(({ reservationId, poolId: of }) =>
        of === poolId && !waiting.has(`${reservationId} ${poolId}`) ? [reservationId] : [],
      ),
    )
  await strand(trx, stranded)
}

export type Repack = {
  poolIds: readonly string[]
  /** Stays that arrive on `[from, to)`. */
  from: string
  to: string
  /** Whether those without a unit are given one. */
  unassigned: boolean
  dryRun?: boolean
}

/**
 * Rearranges what is proposed (R10): locked, occupied and blocked rows stay; the others are placed anew, by arrival, longer first, best fit, with a
 * thousand exchanges at most. Who finds no unit is left without and told of once. Never touches counters. Answers each row as planned.
 */
export const repackPools = async (
  trx: Trx,
  { poolIds, from, to, unassigned, dryRun = false }: Repack,
): Promise<Plan> => {
  const lacking = unassigned ? await lackingStays(trx, poolIds, from, to) : []
  if (!dryRun) {
    // One that is being cancelled is waited for, and then not given a unit.
    await sql(trx, `select id from reservation where id = any(?::uuid[]) order by id for share`, [lacking])
    await lockPools(trx, poolIds)
  }
  const needs = (await lackingUnits(trx, lacking)).filter((need) => need.from >= from && need.from < to)
  const board = await readBoard(trx, poolIds, from, to)
  const seek = new Set(
    board.rows.filter((row) => row.status === 'proposed' && row.from >= from && row.from < to).map((row) => row.id),
  )
  // A row beyond the dates stands: only those that arrive within may move.
  const standing = {
    ...board,
    rows: board.rows.map((row) =>
      row.status === 'proposed' && !seek.has(row.id) ? { ...row, status: 'locked' as const } : row,
    ),
  }
  const plans = poolIds.map((poolId) => {
    const anew = planPool(standing, poolId, seek, needs)
    if (anew.stranded.length === 0) return anew
    // Who has a unit never loses it to a new beginning that is no better.
    const asItStands = planPool(standing, poolId, new Set(), needs)
    return asItStands.stranded.length <= anew.stranded.length ? asItStands : anew
  })
  if (!dryRun) {
    await settleAll(trx, plans)
    await announce(trx, plans)
  }
  return { changes: plans.flatMap((plan) => plan.changes), stranded: plans.flatMap((plan) => plan.stranded) }
}

const announce = async (trx: Trx, plans: readonly Plan[]) => {
  for (const { changes, stranded } of plans) {
    const poolId = changes[0]?.poolId
    if (poolId === undefined) continue
    const [pool] = await sql<{ propertyId: string }>(trx, `select property_id from unit_pool where id = ?`, [poolId])
    await emit(trx, {
      type: 'assignment.repacked',
      propertyId: pool?.propertyId ?? null,
      entity: { type: 'unit_pool', id: poolId, version: null },
      data: { unitPoolId: poolId, moved: changes.length, stranded: stranded.length },
    })
  }
}

/**
 * The days of arrivals in a pool that may have to be rearranged, from the present day on, and whether its house gives out units by itself; null where there
 * is nothing to move.
 */
export const repackRange = async (
  trx: Trx,
  poolId: string,
): Promise<{ from: string; until: string; automatic: boolean } | null> => {
  const row = await sqlOne<{ from: string; until: string | null; settings: StoredSettings }>(
    trx,
    `select d.today as "from", y.settings, greatest(
       (select max(a.starts_on) from unit u join unit_assignment a on a.tenant_id = u.tenant_id and a.unit_id = u.id and a.status = 'proposed'
        where u.tenant_id = p.tenant_id and u.unit_pool_id = p.id),
       (select max(r.arrival) from unit_type_pool s join reservation r on r.tenant_id = s.tenant_id and r.unit_type_id = s.unit_type_id
          and r.status in ('confirmed', 'checked_in') where s.tenant_id = p.tenant_id and s.unit_pool_id = p.id), d.today) + 1 as until
     from unit_pool p join property y on y.tenant_id = p.tenant_id and y.id = p.property_id
     cross join lateral (select ${presentDay('y')} as today) d where p.id = ?`,
    [poolId],
  )
  return row?.until
    ? { from: row.from, until: row.until, automatic: settingsOf(row.settings).assignment.automatic }
    : null
}

/** Places what a stay lacks in its pools, others giving way where that helps. The pools are locked. Answers who is still without. */
export const placeStays = async (trx: Trx, needs: readonly Need[]): Promise<Stranded[]> => {
  const poolIds = [...new Set(needs.map((need) => need.poolId))].sort()
  const days = needs.flatMap((need) => [need.from, need.to]).sort()
  const board = await readBoard(trx, poolIds, days[0] ?? forever, days.at(-1) ?? forever)
  const plans = poolIds.map((poolId) => planPool(board, poolId, new Set(), needs))
  await settleAll(trx, plans)
  return plans.flatMap((plan) => plan.stranded)
}

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
  { unitIds, from, to: until, blockId, reservationId, force = false, dryRun = false }: Clearing,
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
      !(blockId !== undefined && row.unitBlockId === blockId) &&
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

/** Pools with proposed stays, or with some that wait for a unit, of every tenant; by id, beyond `after`. */
export const poolsToRepack = (trx: PlatformTrx, after: string, most: number) =>
  sql<{ tenantId: string; poolId: string }>(trx, `select tenant_id, pool_id from pools_to_repack(?, ?)`, [after, most])
