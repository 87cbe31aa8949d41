import { notFound, overtaken, versionConflict } from '../../../config/errors.ts'
import type { unitBlockCreated } from '../../../config/events/units.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emitAll } from '../../lib/events.ts'
import type { ChangedField } from '../../lib/events.ts'
import { lifecycle } from '../../lib/lifecycle.ts'
import type { UnitBlockRow } from '../../rows.ts'
import { lockPools, soil } from '../assignments/occupy.ts'
import { createTasks } from '../housekeeping-tasks/create.ts'
import { holdUnits } from '../unit-conditions.ts'
import type { Condition } from '../unit-conditions.ts'
import type { BlockUnit } from './counters.ts'

export type Unit = BlockUnit & { propertyId: string; status: string }

export const readUnits = (trx: Trx, unitIds: readonly string[], lock = '') =>
  sql<Unit>(
    trx,
    `select id, name, unit_pool_id as pool_id, property_id, status, active_from, active_until from unit where id = any(?::uuid[]) order by id ${lock}`,
    [unitIds],
  )

const facts = ['id', 'poolId', 'status', 'activeFrom', 'activeUntil'] as const
const areStill = (now: readonly Unit[], before: readonly Unit[]) =>
  now.length === before.length &&
  now.every((unit, index) => facts.every((fact) => unit[fact] === before[index]?.[fact]))

/** Locks units after their pools, before what stands in them and before the block itself, and sees that they are still what was judged. */
export const lockUnits = async (trx: Trx, before: readonly Unit[]) => {
  const ids = before.map((unit) => unit.id)
  await lockPools(
    trx,
    before.map((unit) => unit.poolId),
  )
  if (!areStill(await readUnits(trx, ids, 'for no key update'), before)) throw overtaken()
}

export const lockBlock = async (trx: Trx, before: UnitBlockRow, expected: number | null) => {
  const now = await sqlOne<{ version: number }>(trx, `select version from unit_block where id = ? for no key update`, [
    before.id,
  ])
  if (!now) throw notFound()
  if (expected !== null && now.version !== expected) throw versionConflict(now.version)
  if (now.version !== before.version) throw overtaken()
}

/**
 * Sees that a block and its units are still what its nights were reckoned by, before they are written. A command that changes them meanwhile waits for the
 * nights, or for their pools.
 */
export const seenAs = (trx: Trx, before: UnitBlockRow, units: readonly Unit[]) => async (): Promise<void> => {
  const now = await sqlOne<{ version: number }>(trx, `select version from unit_block where id = ?`, [before.id])
  const stillThere = await readUnits(
    trx,
    units.map((unit) => unit.id),
  )
  if (now?.version !== before.version || !areStill(stillThere, units)) throw overtaken()
}

export const readRow = async (trx: Trx, id: string): Promise<UnitBlockRow> => {
  const row = await sqlOne<UnitBlockRow>(trx, `select * from unit_block where id = ?`, [id])
  if (!row) throw notFound()
  return row
}

export const addRows = (trx: Trx, id: string, unitIds: readonly string[], from: string, to: string) =>
  sql(
    trx,
    `insert into unit_assignment (unit_id, unit_block_id, during, status) select u, ?, daterange(?::date, ?::date), 'blocked' from unnest(?::uuid[]) u`,
    [id, from, to, unitIds],
  )

type Told = Pick<UnitBlockRow, 'id' | 'propertyId' | 'version' | 'kind' | 'from' | 'to' | 'unitIds'> & {
  issueId?: string | null | undefined
}

export const tell = (trx: Trx, event: typeof unitBlockCreated, blocks: readonly Told[], changed: ChangedField[] = []) =>
  emitAll(
    trx,
    event,
    blocks.map(({ id, propertyId, version, kind, from, to, unitIds, issueId = null }) => ({
      propertyId,
      id,
      version,
      data: { unitBlockId: id, kind, unitIds, from, to, issueId },
      changed,
    })),
  )

export const blockLifecycle = lifecycle<UnitBlockRow['status']>('A block')({
  changed: { from: ['open'] },
  ended: { from: ['open'], to: 'ended' },
  cancelled: { from: ['open'], to: 'cancelled' },
})

/** Rows of a block end today; those that have not begun are as if they had never been. */
export const endRows = (trx: Trx, ids: readonly string[], unitIds: readonly string[], today: string) =>
  sql(
    trx,
    `update unit_assignment set status = case when starts_on < ?::date then 'ended' else 'released' end,
       during = case when starts_on < ?::date then daterange(starts_on, least(ends_on, ?::date)) else during end
     where unit_block_id = any(?::uuid[]) and unit_id = any(?::uuid[]) and status = 'blocked'`,
    [today, today, today, ids, unitIds],
  )

/** Ends work in units: the vacant ones get the condition, and an inspection task unless they are inspected. */
export const giveBack = async (trx: Trx, all: readonly string[], today: string, condition: Condition) => {
  const unitIds = (await holdUnits(trx, all)).filter((unit) => unit.occupancy === 'vacant').map((unit) => unit.id)
  if (unitIds.length === 0) return
  await soil(trx, unitIds, condition)
  if (condition !== 'inspected')
    await createTasks(
      trx,
      unitIds.map((unitId) => ({ unitId, date: today, kind: 'inspection' as const })),
    )
}
