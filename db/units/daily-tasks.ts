import { settingsOf } from '../../config/property-settings.ts'
import type { StoredSettings } from '../../config/property-settings.ts'
import { generateTasks as generateTasksJob } from '../../jobs/units.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { holdUnits, refusedUntil, writeConditions } from './unit-conditions.ts'
import { morningOf } from './rules/daily-tasks.ts'
import type { Awakening } from './rules/daily-tasks.ts'
import { fromUnits } from './state.ts'
import { emitTasks, insertTasks } from './housekeeping-tasks/create.ts'
import type { Task } from './housekeeping-tasks/read.ts'

const unitsAtOnce = 200

type Waking = Awakening & { id: string; reservationId: string | null; lastReservationId: string | null }

/**
 * Prepares the units of a property and their tasks for the beginning of `businessDate` (R18). It is the step housekeeping of a night audit, for the day that
 * comes. A call takes some units, and each unit has one turn a day, so a call may be repeated. `done` says that no unit is left.
 */
export const generateTasks = async (
  trx: Trx,
  { propertyId, businessDate }: { propertyId: string; businessDate: string },
): Promise<{ done: boolean }> => {
  const property = await sqlOne<{ settings: StoredSettings }>(trx, `select settings from property where id = ?`, [
    propertyId,
  ])
  if (!property) return { done: true }
  const due = await sql<{ id: string }>(
    trx,
    `select id from unit where property_id = ? and status = 'active' and (rolled_on is null or rolled_on < ?::date) order by id limit ? for no key update`,
    [propertyId, businessDate, unitsAtOnce],
  )
  const ids = due.map((row) => row.id)
  if (ids.length > 0) await wake(trx, ids, businessDate, settingsOf(property.settings).housekeeping)
  if (ids.length === unitsAtOnce) return { done: false }
  await closeBefore(trx, propertyId, businessDate)
  return { done: true }
}

/**
 * Asks for the same once more, when the day has begun: sheets and units may have come after the step of the night audit, and guests have moved in or out
 * (`wakeAnew` in assignments.ts).
 */
export const enqueueTasks = async (trx: Trx, propertyId: string, businessDate: string): Promise<void> => {
  const { tenantId } = contextOf(trx)
  if (tenantId === null) throw new Error('a business day belongs to a tenant')
  const day = { tenantId, propertyId, businessDate }
  await enqueue(trx, generateTasksJob, day, { uniqueKey: `${propertyId} ${businessDate}` })
}

const wake = async (
  trx: Trx,
  ids: readonly string[],
  date: string,
  settings: ReturnType<typeof settingsOf>['housekeeping'],
) => {
  await skipUndone(trx, `unit_id = any(?::uuid[])`, [ids], date)
  const held = new Map((await holdUnits(trx, ids)).map((unit) => [unit.id, unit]))
  const mornings = (await readWaking(trx, ids, date)).map((unit) => ({ unit, ...morningOf(unit, settings, date) }))
  // Of a unit that was woken before, and whose guest has left since.
  const vacant = mornings.flatMap(({ unit }) => (unit.stay ? [] : [unit]))
  const cleaned = vacant.filter(({ condition }) => condition === 'clean' || condition === 'inspected')
  await skip(
    trx,
    `date = ?::date and (kind = 'stayover' and unit_id = any(?::uuid[]) or kind = 'departure' and unit_id = any(?::uuid[]))`,
    [date, vacant.map((unit) => unit.id), cleaned.map((unit) => unit.id)],
    'not_needed',
  )
  await writeConditions(
    trx,
    mornings.flatMap(({ unit: { id }, condition }) => {
      const unit = held.get(id)
      return unit && condition ? [{ unit, condition }] : []
    }),
  )
  await sql(
    trx,
    `update unit set rolled_on = ?::date, make_up_requested = false, version = version + make_up_requested::int where id = any(?::uuid[])`,
    [date, ids],
  )
  await insertTasks(
    trx,
    mornings.flatMap(({ unit, tasks }) =>
      tasks.map((kind) => ({
        unitId: unit.id,
        date,
        kind,
        reservationId: unit.reservationId ?? (kind === 'departure' ? unit.lastReservationId : null),
      })),
    ),
    true,
  )
}

const readWaking = (trx: Trx, ids: readonly string[], date: string) =>
  sql<Waking>(
    trx,
    `select u.id, u.condition, not exists (select from unit_assignment a where a.tenant_id = u.tenant_id and a.unit_id = u.id and a.status = 'blocked'
         and a.starts_on <= cast(:date as date) and a.ends_on > cast(:date as date)) as in_service, u.make_up_requested, ${refusedUntil} as refused_until,
       case when o.reservation_id is not null then json_build_object('arrival', o.arrival, 'startsOn', o.starts_on, 'endsOn', o.ends_on) end as stay,
       o.reservation_id,
       exists (select from unit_assignment a where a.tenant_id = u.tenant_id and a.unit_id = u.id and a.reservation_id is not null
         and a.status in ('proposed', 'locked') and a.starts_on = cast(:date as date)) as guest_arrives,
       coalesce(t.skip_reason = 'not_done', false) as departure_left, t.reservation_id as last_reservation_id,
       coalesce((select max(a.ends_on) from unit_assignment a where a.tenant_id = u.tenant_id and a.unit_id = u.id and a.reservation_id is not null
         and a.status = 'ended'), u.active_from) as vacant_since,
       (coalesce(u.condition_at, u.created_at) at time zone y.timezone)::date as condition_since,
       coalesce((u.last_deep_clean_at at time zone y.timezone)::date, u.active_from) as deep_cleaned_on
     from ${fromUnits}
     left join lateral (select a.reservation_id, r.arrival, a.starts_on, a.ends_on from unit_assignment a
       join reservation r on r.tenant_id = a.tenant_id and r.id = a.reservation_id
       where a.tenant_id = u.tenant_id and a.unit_id = u.id and a.status = 'occupied' order by a.starts_on limit 1) o on true
     left join lateral (select h.skip_reason, h.reservation_id from housekeeping_task h
       where h.tenant_id = u.tenant_id and h.unit_id = u.id and h.kind = 'departure' and h.date < cast(:date as date)
       order by h.date desc, h.updated_at desc limit 1) t on true
     where u.id = any(:ids)`,
    { ids, date },
  )

/** Generated tasks that were not begun and no longer apply. */
const skip = async (trx: Trx, condition: string, values: unknown[], reason: 'not_done' | 'not_needed') => {
  const open = `${condition} and status = 'open' and generated`
  await sql(trx, `select id from housekeeping_task where ${open} order by id for no key update`, values)
  const skipped = await sql<Task>(
    trx,
    `update housekeeping_task set status = 'skipped', skip_reason = ?, version = version + 1 where ${open} returning *`,
    [reason, ...values],
  )
  await emitTasks(trx, 'skipped', skipped, reason)
}

/** Those of days that are over. */
const skipUndone = (trx: Trx, condition: string, values: unknown[], date: string) =>
  skip(trx, `${condition} and date < ?::date`, [...values, date], 'not_done')

/** Sheets of days that are over are closed, with what was left on them by units that are no more. */
const closeBefore = async (trx: Trx, propertyId: string, date: string) => {
  await skipUndone(trx, `property_id = ?`, [propertyId], date)
  await sql(
    trx,
    `update housekeeping_sheet set status = 'closed', version = version + 1 where id in (
       select id from housekeeping_sheet where property_id = ? and date < ?::date and status <> 'closed' order by id for no key update)`,
    [propertyId, date],
  )
}
