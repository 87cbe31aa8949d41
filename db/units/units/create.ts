import type { UnitAttribute } from '../../../config/amenities.ts'
import { conflict, unprocessable } from '../../../config/errors.ts'
import { unitCreated } from '../../../config/events/units.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emitAll } from '../../lib/events.ts'
import { lockForChange } from '../../lib/locked-property.ts'
import { moveInventory } from '../inventory.ts'
import { lockCapacity, nightsFrom } from '../nights.ts'
import { presentDayOf } from '../state.ts'

export type NewUnits = {
  propertyId: string
  unitTypeId: string
  /** One of the type's pools; needed where it has several. */
  unitPoolId?: string
  names: string[]
  floor?: number | null
  building?: string | null
  /** Position of the first unit; default 1. The others follow it. */
  position?: number
  attributes?: UnitAttribute[]
  /** Default: the business date, or today. */
  activeFrom?: string
  activeUntil?: string | null
  condition?: 'dirty' | 'clean' | 'inspected'
  credits?: number
  notes?: string
}

/** The pool of a unit of this type: the one that is named, or `current` where the type has it, or the type's only one. 422. */
export const poolOfType = async (
  trx: Trx,
  unit: { propertyId: string; unitTypeId: string; unitPoolId?: string | undefined; current?: string },
): Promise<string> => {
  const type = await sqlOne<{ poolIds: string[] }>(
    trx,
    `select array(select s.unit_pool_id from unit_type_pool s where s.tenant_id = t.tenant_id and s.unit_type_id = t.id) as pool_ids
     from unit_type t where t.id = ? and t.property_id = ? and t.status = 'active'`,
    [unit.unitTypeId, unit.propertyId],
  )
  if (!type)
    throw unprocessable('reference_not_found', 'There is no such unit type here', [
      { field: 'unitTypeId', message: 'is no active unit type of this property' },
    ])
  const { poolIds } = type
  const kept = unit.current !== undefined && poolIds.includes(unit.current) ? unit.current : undefined
  const poolId = unit.unitPoolId ?? kept ?? (poolIds.length === 1 ? poolIds[0] : undefined)
  if (poolId === undefined || !poolIds.includes(poolId))
    throw unprocessable('unit_type_mismatch', 'The type is served by other pools', [
      { field: 'unitPoolId', message: 'must be one of the type’s pools' },
    ])
  return poolId
}

export const refuseDates = ({ activeFrom, activeUntil }: { activeFrom: string; activeUntil: string | null }): void => {
  if (activeUntil !== null && activeUntil <= activeFrom)
    throw unprocessable('date_out_of_range', 'A unit is active for a day at least', [
      { field: 'activeUntil', message: 'must be after activeFrom' },
    ])
}

/** Nights before `present` stay as they were. */
export const refusePast = (activeUntil: string | null, present: string): void => {
  if (activeUntil !== null && activeUntil < present)
    throw unprocessable('date_out_of_range', 'Past nights stay as they were', [
      { field: 'activeUntil', message: `must not be before ${present}` },
    ])
}

/** The last place of a house's round. */
const lastPosition = 100_000

/** Adds 1 to 200 units, or none, to the capacity of their pool's nights. 409 names each name that is taken. */
export const createUnits = async (trx: Trx, units: NewUnits): Promise<{ id: string; name: string }[]> => {
  const property = await lockForChange(trx, units.propertyId)
  const poolId = await poolOfType(trx, units)
  await refuseDuplicates(trx, units)
  const present = presentDayOf(property)
  const activeFrom = units.activeFrom ?? present
  const activeUntil = units.activeUntil ?? null
  refuseDates({ activeFrom, activeUntil })
  refusePast(activeUntil, present)
  await lockCapacity(trx, [poolId])
  const made = await sql<{ id: string; name: string }>(
    trx,
    `insert into unit (property_id, name, building, floor, position, unit_type_id, unit_pool_id, attributes, active_from, active_until, condition, credits, notes)
     select ?, n.name, ?, ?, least(n.position + ?::int, ${lastPosition}), ?, ?, ?::text[], ?, ?, ?, ?, ? from unnest(?::text[]) with ordinality as n (name, position)
     returning id, name`,
    [
      units.propertyId,
      units.building ?? null,
      units.floor ?? null,
      (units.position ?? 1) - 1,
      units.unitTypeId,
      poolId,
      units.attributes ?? [],
      activeFrom,
      activeUntil,
      units.condition ?? 'dirty',
      units.credits ?? 2,
      units.notes ?? '',
      units.names,
    ],
  )
  const nights = await nightsFrom(trx, poolId, activeFrom, activeUntil)
  await moveInventory(
    trx,
    nights.map((night) => ({ poolId, night, capacity: made.length })),
  )
  await emitAll(
    trx,
    unitCreated,
    made.map(({ id, name }) => ({
      propertyId: units.propertyId,
      id,
      version: 1,
      data: { unitId: id, name, unitTypeId: units.unitTypeId },
    })),
  )
  return made
}

const refuseDuplicates = async (trx: Trx, { propertyId, names }: NewUnits) => {
  const known = await sql<{ name: string }>(
    trx,
    `select name from unit where property_id = ? and status = 'active' and name = any(?::text[])`,
    [propertyId, names],
  )
  const taken = new Set(known.map((row) => row.name))
  const errors = names.flatMap((name, index) =>
    taken.has(name) || names.indexOf(name) !== index ? [{ field: `names.${index}`, message: `${name} is taken` }] : [],
  )
  if (errors.length > 0) throw conflict('duplicate_name', 'Each unit has a name of its own', errors)
}
