import { conflict, notFound, overtaken, versionConflict } from '../../../config/errors.ts'
import type { unitChanged } from '../../../config/events/units.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import type { ChangedField } from '../../lib/events.ts'
import { lockForChange } from '../../lib/locked-property.ts'
import { archivable } from '../../lib/lifecycle.ts'
import { changeRow } from '../../lib/records.ts'
import type { Change } from '../../lib/records.ts'
import type { UnitRow } from '../../rows.ts'
import { clearUnits } from '../assignments/clear.ts'
import { lockPools } from '../assignments/occupy.ts'
import { moveInventory } from '../inventory.ts'
import type { Move } from '../inventory.ts'
import { lockCapacity, nightsFrom } from '../nights.ts'
import { presentDayOf } from '../state.ts'
import { Unit } from './read.ts'

export const unitLifecycle = archivable('A unit')

export type Placed = Pick<
  UnitRow,
  'id' | 'propertyId' | 'name' | 'unitTypeId' | 'unitPoolId' | 'activeFrom' | 'activeUntil' | 'status' | 'version'
>
/** The nights of a pool that a unit counts on; null where it counts on none. */
type Stand = { poolId: string; from: string; until: string | null } | null

const read = async (trx: Trx, id: string, lock: '' | 'for no key update' = ''): Promise<Placed> => {
  const unit = await sqlOne<Placed>(
    trx,
    `select id, property_id, name, unit_type_id, unit_pool_id, active_from, active_until, status, version from unit where id = ? ${lock}`,
    [id],
  )
  if (!unit) throw notFound()
  return unit
}

/** Locks the unit, the last lock of a command about it. 409 where it is not what its caller has read. */
export const lockUnit = async (trx: Trx, id: string, expectedVersion: number | null): Promise<Placed> => {
  const unit = await read(trx, id, 'for no key update')
  if (expectedVersion !== null && unit.version !== expectedVersion) throw versionConflict(unit.version)
  return unit
}

const standOf = ({ status, unitPoolId, activeFrom, activeUntil }: Placed): Stand =>
  status === 'active' ? { poolId: unitPoolId, from: activeFrom, until: activeUntil } : null

const capacityMoves = async (trx: Trx, stand: Stand, present: string, capacity: 1 | -1): Promise<Move[]> => {
  if (!stand) return []
  const { poolId, from, until } = stand
  const nights = await nightsFrom(trx, poolId, from > present ? from : present, until)
  return nights.map((night) => ({ poolId, night, capacity }))
}

/** Nights of pools on which the unit is out of order; each pool has counters up to a horizon of its own. */
const blockedNights = (trx: Trx, unitId: string, poolIds: readonly string[], present: string) =>
  sql<{ poolId: string; night: string }>(
    trx,
    `select n.pool_id, n.night from unit_assignment a
     join unit_block b on b.tenant_id = a.tenant_id and b.id = a.unit_block_id and b.kind = 'out_of_order'
     join pool_night n on n.tenant_id = a.tenant_id and n.pool_id = any(?::uuid[]) and n.night >= a.starts_on and n.night < a.ends_on
     where a.unit_id = ? and a.status = 'blocked' and n.night >= ?::date order by n.pool_id, n.night`,
    [poolIds, unitId, present],
  )

/**
 * Clears a unit of the stays that it is not for any more (R9): proposed ones go elsewhere. 409 `unit_conflict` names those that do not move: stays that are
 * promised the unit or in it, and blocks, which go along to another pool.
 */
const clear = async (trx: Trx, unit: Placed, after: Stand, present: string): Promise<void> => {
  const unitIds = [unit.id]
  if (after?.poolId !== unit.unitPoolId) {
    await refuseInside(trx, unit.id)
    await clearUnits(trx, { unitIds, from: present, to: null, keepBlocks: after !== null })
  }
  if (after && after.from > present) await clearUnits(trx, { unitIds, from: present, to: after.from })
  if (after?.until) await clearUnits(trx, { unitIds, from: after.until > present ? after.until : present, to: null })
}

/** A guest occupies the unit until they leave, also past their last night. */
const refuseInside = async (trx: Trx, unitId: string) => {
  const inside = await sqlOne<{ reservationId: string }>(
    trx,
    `select reservation_id from unit_assignment where unit_id = ? and status = 'occupied' limit 1`,
    [unitId],
  )
  if (inside)
    throw conflict('unit_conflict', 'A guest is in the unit', [
      { field: 'unitId', message: `is occupied by ${inside.reservationId}` },
    ])
}

export type Next = { row: Change<'unit', UnitRow>; stand: Stand }

/**
 * Changes where and when a unit counts: the capacity of its nights from the business date on, those it is out of order on, and the stays that it was
 * proposed to, in the one order of locks. `decide` says what the unit becomes, of what it is under the property's lock; null changes nothing.
 */
export const place = async (
  trx: Trx,
  id: string,
  expectedVersion: number | null,
  decide: (unit: Placed, present: string) => Promise<Next | null>,
): Promise<{ unit: Placed; version: number } | null> => {
  const { propertyId } = await read(trx, id)
  const property = await lockForChange(trx, propertyId)
  const present = presentDayOf(property)
  const unit = await read(trx, id)
  const next = await decide(unit, present)
  if (next === null) {
    await lockUnit(trx, id, expectedVersion)
    return null
  }
  const [before, after] = [standOf(unit), next.stand]
  const poolIds = [...new Set([before, after].flatMap((stand) => (stand ? [stand.poolId] : [])))]
  await lockCapacity(trx, poolIds)
  const repooled = poolIds.length === 2
  const blocked = repooled ? await blockedNights(trx, id, poolIds, present) : []
  const moves = [
    ...(await capacityMoves(trx, before, present, -1)),
    ...(await capacityMoves(trx, after, present, 1)),
    ...blocked.map((night) => ({ ...night, blocked: night.poolId === after?.poolId ? 1 : -1 })),
  ]
  await moveInventory(trx, moves, { refusal: 'capacity_in_use' })
  await lockPools(trx, poolIds)
  await lockUnit(trx, id, expectedVersion)
  // A block that was placed, moved or ended after it was looked for, and before the nights were locked.
  const now = repooled ? await blockedNights(trx, id, poolIds, present) : []
  if (JSON.stringify(now) !== JSON.stringify(blocked)) throw overtaken()
  if (before) await clear(trx, unit, after, present)
  return { unit, version: await changeRow(trx, Unit, id, next.row) }
}

export const tell = (
  trx: Trx,
  event: typeof unitChanged,
  { id, propertyId, name, unitTypeId }: Placed,
  version: number,
  changed: ChangedField[] = [],
) => emit(trx, event, { propertyId, id, version, data: { unitId: id, name, unitTypeId }, changed })
