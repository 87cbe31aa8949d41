import type { UnitAttribute } from '../../../config/amenities.ts'
import { unitChanged } from '../../../config/events/units.ts'
import type { Trx } from '../../lib/connection.ts'
import { sentFields } from '../../lib/events.ts'
import { refuseArchived } from '../../lib/locked-property.ts'
import { changeRow, fieldsOf } from '../../lib/records.ts'
import { poolOfType, refuseDates, refusePast } from './create.ts'
import { lockUnit, place, tell, unitLifecycle } from './place.ts'
import type { Next, Placed } from './place.ts'
import { Unit } from './read.ts'

export type UnitChange = {
  name?: string | undefined
  building?: string | null | undefined
  floor?: number | null | undefined
  position?: number | undefined
  attributes?: UnitAttribute[] | undefined
  unitTypeId?: string | undefined
  unitPoolId?: string | undefined
  activeFrom?: string | undefined
  activeUntil?: string | null | undefined
  credits?: number | undefined
  notes?: string | undefined
}

/**
 * Changes a unit. Its type, pool and active days move the capacity of nights: 409 `capacity_in_use` names those that are sold, 409 `unit_conflict` the stays
 * and blocks that hold the unit.
 */
export const changeUnit = async (
  trx: Trx,
  id: string,
  change: UnitChange,
  expectedVersion: number | null,
): Promise<void> => {
  const { unitTypeId, unitPoolId, activeFrom, activeUntil } = change
  const isPlaced = [unitTypeId, unitPoolId, activeFrom, activeUntil].some((value) => value !== undefined)
  const done = isPlaced
    ? await place(trx, id, expectedVersion, (unit, present) => decideChange(trx, unit, change, present))
    : await describe(trx, id, change, expectedVersion)
  if (done)
    await tell(
      trx,
      unitChanged,
      { ...done.unit, name: change.name ?? done.unit.name, unitTypeId: unitTypeId ?? done.unit.unitTypeId },
      done.version,
      sentFields(change, done.unit),
    )
}

const describe = async (trx: Trx, id: string, change: UnitChange, expectedVersion: number | null) => {
  const unit = await lockUnit(trx, id, expectedVersion)
  await refuseArchived(trx, unit.propertyId)
  unitLifecycle.allow('changed', unit.status)
  if (fieldsOf(change).length === 0) return null
  return { unit, version: await changeRow(trx, Unit, id, change) }
}

const decideChange = async (trx: Trx, unit: Placed, change: UnitChange, present: string): Promise<Next> => {
  unitLifecycle.allow('changed', unit.status)
  const { propertyId } = unit
  const { unitTypeId = unit.unitTypeId, unitPoolId, activeFrom = unit.activeFrom } = change
  const activeUntil = change.activeUntil === undefined ? unit.activeUntil : change.activeUntil
  refuseDates({ activeFrom, activeUntil })
  if (activeUntil !== unit.activeUntil) refusePast(activeUntil, present)
  const poolId = await poolOfType(trx, { propertyId, unitTypeId, unitPoolId, current: unit.unitPoolId })
  return {
    row: { ...change, unitTypeId, unitPoolId: poolId, activeFrom, activeUntil },
    stand: { poolId, from: activeFrom, until: activeUntil },
  }
}
