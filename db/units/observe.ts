import { conflict, unprocessable } from '../../config/errors.ts'
import { unitChanged, unitDiscrepancyDetected } from '../../config/events/units.ts'
import { addDays } from '../../config/time.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit, sentFields } from '../lib/events.ts'
import { refuseArchived } from '../lib/locked-property.ts'
import { changeRow, expression } from '../lib/records.ts'
import { holdUnit, stateOf } from './unit-conditions.ts'
import type { HeldUnit } from './unit-conditions.ts'
import { sealRefusal } from './refusals.ts'
import type { Refusal } from './refusals.ts'
import { skipHeld } from './housekeeping-tasks/moves.ts'
import { createTasks } from './housekeeping-tasks/create.ts'
import type { Task } from './housekeeping-tasks/read.ts'
import { Unit } from './units/read.ts'

export type Observation = {
  occupancy?: 'vacant' | 'occupied' | undefined
  doNotDisturb?: boolean | undefined
  makeUpRequested?: boolean | undefined
  serviceRefused?: Refusal | null | undefined
  /** Takes the place of the unit's notes. */
  note?: string | undefined
}

/** Longest time for which service is refused at once. */
const longestDays = 60
/** A report this soon after a guest came or went may have crossed it, and tells nothing. */
const quietMinutes = 30

/** Records what was seen of a unit. `judge` throws if the caller's role may not report it. */
export const observe = async (
  trx: Trx,
  unitId: string,
  { occupancy, doNotDisturb, makeUpRequested, serviceRefused, note }: Observation,
  judge: (unit: HeldUnit) => void,
): Promise<void> => {
  const unit = await holdUnit(trx, unitId)
  judge(unit)
  await refuseArchived(trx, unit.propertyId)
  if (unit.status !== 'active') throw conflict('invalid_transition', 'The unit is archived')
  const stay = await occupant(trx, unitId)
  const refusal = serviceRefused ? await refusalOf(trx, unit, serviceRefused, stay) : serviceRefused
  const { actor } = contextOf(trx)
  const change = {
    doNotDisturb,
    makeUpRequested,
    notes: note,
    serviceRefused: refusal,
    ...(occupancy === undefined
      ? {}
      : {
          observedOccupancy: occupancy,
          observedAt: expression('now()'),
          observedBy: actor.type === 'user' ? actor.id : null,
        }),
  }
  const version = await changeRow(trx, Unit, unitId, change)
  await emit(trx, unitChanged, {
    propertyId: unit.propertyId,
    id: unitId,
    version,
    data: { unitId, name: unit.name, unitTypeId: unit.unitTypeId },
    changed: sentFields(change),
  })
  if (refusal) await skipStayover(trx, unit)
  const isRefused = refusal ? true : refusal !== null && unit.refusedUntil !== null && unit.refusedUntil >= unit.today
  if (makeUpRequested && stay !== null && !isRefused)
    await createTasks(trx, [{ unitId, date: unit.today, kind: 'stayover', reservationId: stay }])
  if (occupancy !== undefined) await tellDiscrepancy(trx, unitId)
}

/** Reservation that occupies the unit; null if it is vacant. */
const occupant = async (trx: Trx, unitId: string): Promise<string | null> =>
  (
    await sqlOne<{ reservationId: string }>(
      trx,
      `select reservation_id from unit_assignment where unit_id = ? and status = 'occupied' order by starts_on desc limit 1`,
      [unitId],
    )
  )?.reservationId ?? null

const refusalOf = (trx: Trx, unit: HeldUnit, refusal: Refusal, reservationId: string | null) => {
  const last = addDays(unit.today, longestDays)
  if (refusal.until < unit.today || refusal.until > last)
    throw unprocessable('date_out_of_range', 'Service is refused for today or some days to come', [
      { field: 'serviceRefused.until', message: `must be from ${unit.today} to ${last}` },
    ])
  return sealRefusal(trx, unit.id, refusal, reservationId)
}

/** The day's stayover is not done, also where it was begun (R20). */
const skipStayover = async (trx: Trx, unit: HeldUnit) => {
  const tasks = await sql<Task>(
    trx,
    `select * from housekeeping_task where unit_id = ? and date = ?::date and kind = 'stayover' and status in ('open', 'started')
     order by id for no key update`,
    [unit.id, unit.today],
  )
  await skipHeld(trx, tasks, unit, 'refused')
}

/** Once per unit and business date (R22). */
const tellDiscrepancy = async (trx: Trx, unitId: string) => {
  const unit = await holdUnit(trx, unitId)
  if (unit.discrepancy === null) return
  const first = await sqlOne(
    trx,
    `update unit u set discrepancy_on = ?::date where u.id = ? and u.discrepancy_on is distinct from ?::date
       and not exists (select from unit_assignment a where a.tenant_id = u.tenant_id and a.unit_id = u.id and a.reservation_id is not null
         and a.status in ('occupied', 'ended') and a.updated_at > now() - make_interval(mins => ?)) returning u.id`,
    [unit.today, unitId, unit.today, quietMinutes],
  )
  if (!first) return
  await emit(trx, unitDiscrepancyDetected, stateOf(unit))
}
