import type { CodeOf } from '../../config/error-codes.ts'
import { invalid, notFound, unprocessable } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import { unitConditionChanged, unitMadeReady } from '../../config/events/units.ts'
import { audit } from '../lib/audit.ts'
import { contextOf, prepared, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emitAll } from '../lib/events.ts'
import { refuseArchived } from '../lib/locked-property.ts'
import type { UnitRow } from '../rows.ts'
import { fromUnits, presentDay, stateColumns } from './state.ts'
import type { UnitState } from './state.ts'

export type Condition = UnitRow['condition']
export type HeldUnit = Pick<
  UnitRow,
  'id' | 'propertyId' | 'name' | 'unitTypeId' | 'condition' | 'status' | 'version' | 'doNotDisturb'
> &
  UnitState & {
    /** The day that its property is on. */
    today: string
    /** Last day for which the unit's guest has refused service; null if they have not. */
    refusedUntil: string | null
  }

const readUnits = (trx: Trx, ids: readonly string[]) =>
  prepared<HeldUnit>(
    trx,
    `select u.id, u.property_id, u.name, u.unit_type_id, u.condition, u.status, u.version, u.do_not_disturb, d.today, ${stateColumns}, ${refusedUntil} as refused_until
     from ${fromUnits} where u.id = any(?::uuid[]) order by u.id`,
    [ids],
  )

/** SQL for statements on `fromUnits`: a refusal of service ends with the stay of its guest. */
export const refusedUntil = `case when not exists (select from unit_assignment c where c.tenant_id = u.tenant_id and c.unit_id = u.id and c.status = 'occupied'
  and c.reservation_id::text is distinct from u.service_refused ->> 'reservationId') then (u.service_refused ->> 'until')::date end`

/** Locks units by id, then reads them: the read begins under the locks, and sees what others have done meanwhile. Units come before their tasks. */
export const holdUnits = async (trx: Trx, ids: readonly string[]): Promise<HeldUnit[]> => {
  const [, units] = await Promise.all([
    prepared(trx, `select id from unit where id = any(?::uuid[]) order by id for no key update`, [ids]),
    readUnits(trx, ids),
  ])
  return units
}

export const holdUnit = async (trx: Trx, id: string): Promise<HeldUnit> => {
  const [unit] = await holdUnits(trx, [id])
  if (!unit) throw notFound()
  return unit
}

/** Stays of today whose units have all become ready, each by one of its units. */
const awaitedIn = async (trx: Trx, units: readonly HeldUnit[]): Promise<Map<string, string>> => {
  if (units.length === 0) return new Map()
  const rows = await prepared<{ unitId: string; reservationId: string }>(
    trx,
    `select distinct on (c.reservation_id) c.unit_id, c.reservation_id from unit_assignment c
     join reservation r on r.tenant_id = c.tenant_id and r.id = c.reservation_id and r.status = 'confirmed'
     join property p on p.tenant_id = r.tenant_id and p.id = r.property_id
     where c.unit_id = any(?::uuid[]) and c.status in ('proposed', 'locked') and c.starts_on = ${presentDay('p')}
       and not exists (select from unit_assignment o cross join (${fromUnits})
         where o.tenant_id = c.tenant_id and o.reservation_id = c.reservation_id and o.starts_on = c.starts_on and o.status in ('proposed', 'locked')
           and u.tenant_id = o.tenant_id and u.id = o.unit_id and not s.ready)
     order by c.reservation_id, c.unit_id`,
    [units.map((unit) => unit.id)],
  )
  return new Map(rows.map((row) => [row.unitId, row.reservationId]))
}

/** A unit as events tell of its state. */
export const stateOf = ({ id, propertyId, version, name, condition, occupancy, ready, discrepancy }: HeldUnit) => ({
  propertyId,
  id,
  version,
  data: { unitId: id, name, condition, occupancy, ready, discrepancy },
})

type Cleaned = {
  /** Kind of the task that has cleaned them: a stayover or pickup, or more thoroughly. */
  cleaned?: string
}

/**
 * The one writer of conditions of held units, with their events; the actor is noted on them. What becomes ready by it is told of. Answers the units as
 * they are then.
 */
export const writeConditions = async (
  trx: Trx,
  changes: readonly { unit: HeldUnit; condition: Condition; notes?: string | undefined }[],
  { cleaned }: Cleaned = {},
): Promise<HeldUnit[]> => {
  if (changes.length === 0) return []
  const { actor } = contextOf(trx)
  const before = new Map(changes.map(({ unit }) => [unit.id, unit]))
  const writing = sql(
    trx,
    `update unit u set condition = n.condition, condition_at = now(), condition_by = ?, notes = coalesce(n.notes, u.notes), version = u.version + 1,
       last_cleaned_at = case when ? then now() else u.last_cleaned_at end,
       last_deep_clean_at = case when ? then now() else u.last_deep_clean_at end,
       make_up_requested = u.make_up_requested and not ?
     from jsonb_to_recordset(?::jsonb) as n (id uuid, condition text, notes text) where u.id = n.id`,
    [
      actor.type === 'user' ? actor.id : null,
      cleaned !== undefined,
      cleaned === 'deep',
      cleaned !== undefined,
      JSON.stringify(changes.map(({ unit, condition, notes }) => ({ id: unit.id, condition, notes }))),
    ],
  )
  const [, after] = await Promise.all([writing, readUnits(trx, [...before.keys()])])
  const ready = after.filter((unit) => unit.ready && !before.get(unit.id)?.ready)
  const awaited = await awaitedIn(trx, ready)
  await emitAll(
    trx,
    unitConditionChanged,
    after
      .filter((unit) => unit.condition !== before.get(unit.id)?.condition)
      .map((unit) => ({
        ...stateOf(unit),
        changed: [{ field: 'condition', before: before.get(unit.id)?.condition, after: unit.condition }],
      })),
  )
  await emitAll(
    trx,
    unitMadeReady,
    ready.map((unit) => ({ ...stateOf(unit), awaitedBy: awaited.get(unit.id) ?? null })),
  )
  return after
}

export type ConditionItem = { unitId: string; condition: Condition; note?: string | undefined }

/** The refusal of a condition that is not set by hand here, with its code; null where it may be set. */
const refusalOf = (unit: HeldUnit | undefined, condition: Condition): (FieldError & { code: CodeOf<422> }) | null => {
  if (!unit) return { code: 'unit_not_in_property', message: 'is no active unit of this property', field: 'unitId' }
  if (condition === 'cleaning')
    return { code: 'condition_not_allowed', message: 'is not set by hand: start a task', field: 'condition' }
  if (condition === 'inspected' && unit.occupancy === 'occupied')
    return { code: 'unit_occupied', message: `${unit.name} is occupied`, field: 'condition' }
  return null
}

/** Sets conditions by hand, all or none; the trail keeps the old ones. A note takes the place of the unit's notes. */
export const setConditions = async (
  trx: Trx,
  propertyId: string,
  items: readonly ConditionItem[],
): Promise<HeldUnit[]> => {
  await refuseArchived(trx, propertyId)
  const twice = items.flatMap(({ unitId }, index) =>
    items.findIndex((one) => one.unitId === unitId) === index
      ? []
      : [{ field: `items.${index}.unitId`, message: 'stands here twice' }],
  )
  if (twice.length > 0) throw invalid(twice)
  const held = await holdUnits(
    trx,
    items.map((item) => item.unitId),
  )
  const units = new Map(
    held.filter((unit) => unit.propertyId === propertyId && unit.status === 'active').map((unit) => [unit.id, unit]),
  )
  const refusals = items.flatMap(({ unitId, condition }, index) => {
    const refusal = refusalOf(units.get(unitId), condition)
    return refusal ? [{ ...refusal, field: `items.${index}.${refusal.field}` }] : []
  })
  const [first] = refusals
  if (first)
    throw unprocessable(
      first.code,
      'Nothing was changed: some units cannot be set so',
      refusals.slice(0, 50).map(({ field, message }): FieldError => ({ field, message })),
    )
  const changes = items.flatMap(({ unitId, condition, note }) => {
    const unit = units.get(unitId)
    return unit ? [{ unit, condition, notes: note }] : []
  })
  await audit(trx, {
    action: 'unit_condition.update',
    subjectType: 'UnitCondition',
    subjectId: propertyId,
    changes: changes.map(({ unit, condition }) => ({ field: unit.id, before: unit.condition, after: condition })),
  })
  return writeConditions(trx, changes)
}
