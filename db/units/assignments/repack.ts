import { invalid, unprocessable } from '../../../config/errors.ts'
import { assignmentRepacked } from '../../../config/events/units.ts'
import { settingsOf } from '../../../config/property-settings.ts'
import type { StoredSettings } from '../../../config/property-settings.ts'
import { addDays, daysBetween } from '../../../config/time.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { PlatformTrx, Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { refuseArchived } from '../../lib/locked-property.ts'
import { planPool } from '../rules/pool-plan.ts'
import type { Plan } from '../rules/pool-plan.ts'
import { presentDay } from '../state.ts'
import { lockPools } from './occupy.ts'
import { forever, readBoard } from './pool-board.ts'
import { lackingStays, lackingUnits } from './unassigned.ts'
import type { Need } from './unassigned.ts'
import { settleAll } from './write.ts'
import type { Stranded } from './write.ts'

export type Repack = {
  poolIds: readonly string[]
  /** Stays that arrive on `[from, to)`. */
  from: string
  to: string
  /** True if stays without a unit are given one. */
  unassigned: boolean
  dryRun?: boolean
}

/**
 * Rearranges what is proposed (R10): locked, occupied and blocked rows stay; the others are placed anew, by arrival, longer first, best fit, with a
 * thousand exchanges at most. A stay that finds no unit is left without and told of once. Never touches counters. Answers each row as planned.
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
  const last = needs.reduce((day, need) => (need.to > day ? need.to : day), to)
  const board = await readBoard(trx, poolIds, from, last)
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
    // A stay never loses its unit to a new packing that is no better.
    const asItStands = planPool(standing, poolId, new Set(), needs)
    return asItStands.stranded.length <= anew.stranded.length ? asItStands : anew
  })
  if (!dryRun) {
    await settleAll(trx, plans)
    await announce(trx, plans)
  }
  return { changes: plans.flatMap((plan) => plan.changes), stranded: plans.flatMap((plan) => plan.stranded) }
}

const usualDays = 31
const mostDays = 92

/** Repacks pools of a property on request, and places stays that have no unit. 422 for a pool of another property. */
export const repackHouse = async (
  trx: Trx,
  house: {
    propertyId: string
    unitPoolIds?: readonly string[] | undefined
    from?: string | undefined
    to?: string | undefined
    dryRun?: boolean | undefined
  },
): Promise<Plan> => {
  const pools = await sql<{ id: string; today: string }>(
    trx,
    `select p.id, ${presentDay('y')} as today from unit_pool p join property y on y.tenant_id = p.tenant_id and y.id = p.property_id
     where p.property_id = ? and p.kind = 'unit' order by p.id`,
    [house.propertyId],
  )
  await refuseArchived(trx, house.propertyId)
  const today = pools[0]?.today ?? ''
  const known = new Set(pools.map((pool) => pool.id))
  const foreign = (house.unitPoolIds ?? []).flatMap((id, index) =>
    known.has(id) ? [] : [{ field: `unitPoolIds.${index}`, message: 'is not a pool of the property' }],
  )
  if (pools.length === 0) foreign.push({ field: 'propertyId', message: 'has no units' })
  if (foreign.length > 0) throw unprocessable('reference_not_found', 'The property has no such pool', foreign)
  const from = house.from !== undefined && house.from > today ? house.from : today
  const to = house.to ?? addDays(from, usualDays)
  if (to <= from || daysBetween(from, to) > mostDays)
    throw invalid([{ field: 'to', message: `must be after ${from}, and at most ${mostDays} days later` }])
  return repackPools(trx, {
    poolIds: [...known].filter((id) => house.unitPoolIds?.includes(id) ?? true),
    from,
    to,
    unassigned: true,
    dryRun: house.dryRun ?? false,
  })
}

const announce = async (trx: Trx, plans: readonly Plan[]) => {
  for (const { changes } of plans) {
    const poolId = changes[0]?.poolId
    if (poolId === undefined) continue
    const [pool] = await sql<{ propertyId: string }>(trx, `select property_id from unit_pool where id = ?`, [poolId])
    await emit(trx, assignmentRepacked, {
      propertyId: pool?.propertyId ?? null,
      id: poolId,
      version: null,
      data: {
        unitPoolId: poolId,
        reservationIds: [...new Set(changes.map((change) => change.reservationId))].slice(0, 100),
        from: changes.reduce((day, change) => (change.from < day ? change.from : day), changes[0]?.from ?? ''),
        to: changes.reduce((day, change) => (change.to > day ? change.to : day), ''),
      },
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

/** Plans units for stays without one in their pools, and the moves of others that this needs. Changes nothing. */
export const planStays = async (trx: Trx, needs: readonly Need[]): Promise<Plan[]> => {
  const poolIds = [...new Set(needs.map((need) => need.poolId))].sort()
  const days = needs.flatMap((need) => [need.from, need.to]).sort()
  const board = await readBoard(trx, poolIds, days[0] ?? forever, days.at(-1) ?? forever)
  return poolIds.map((poolId) => planPool(board, poolId, new Set(), needs))
}

/** Places stays without units in their pools, moving others if that helps. The pools are locked. Answers stays still without a unit. */
export const placeStays = async (trx: Trx, needs: readonly Need[]): Promise<Stranded[]> => {
  const plans = await planStays(trx, needs)
  await settleAll(trx, plans)
  return plans.flatMap((plan) => plan.stranded)
}

/** Pools with proposed stays, or with some that wait for a unit, of every tenant; by id, beyond `after`. */
export const poolsToRepack = (trx: PlatformTrx, after: string, most: number) =>
  sql<{ tenantId: string; poolId: string }>(trx, `select tenant_id, pool_id from pools_to_repack(?, ?)`, [after, most])
