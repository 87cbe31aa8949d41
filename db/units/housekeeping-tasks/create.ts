import { conflict, invalid, notFound, unprocessable } from '../../../config/errors.ts'
import {
  housekeepingTaskAssigned,
  housekeepingTaskCompleted,
  housekeepingTaskCreated,
  housekeepingTaskFailed,
  housekeepingTaskPassed,
  housekeepingTaskSkipped,
  housekeepingTaskStarted,
} from '../../../config/events/housekeeping.ts'
import type { TaskKind } from '../../../config/housekeeping.ts'
import { repeatedKeys } from '../../../config/property-settings.ts'
import { addDays } from '../../../config/time.ts'
import { prepared, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emitAll } from '../../lib/events.ts'
import { refuseArchived } from '../../lib/locked-property.ts'
import { presentDay } from '../state.ts'
import type { ChecklistItem, Task } from './read.ts'

/** Kinds that leave a unit clean. */
export const cleaningKinds: readonly string[] = ['departure', 'stayover', 'pickup', 'deep'] satisfies TaskKind[]

/** A new task. Fields that are left out follow from the unit, its property and the arriving guest. */
export type NewTask = {
  unitId: string
  date: string
  kind: TaskKind
  reservationId?: string | null
  assigneeId?: string | null
  /** Priority set by a person; otherwise it follows from arrivals and the kind. */
  priority?: number | undefined
  credits?: number | undefined
  /** Default, of a departure: when guests may check in. */
  dueAt?: string | null | undefined
  /** Default: the house's own of the kind. */
  checklist?: readonly Omit<ChecklistItem, 'done'>[] | undefined
  note?: string | undefined
}
export type MadeTask = Pick<Task, 'id' | 'propertyId' | 'unitId' | 'date' | 'kind' | 'assigneeId' | 'version'>

/** Rank of a task whose day is `date`: 2 when a guest arrives in the unit on it. 1 is set by people only. */
export const priorityOf = ({ unit, date, kind }: { unit: string; date: string; kind: string }): string =>
  `case when exists (select from unit_assignment c where c.tenant_id = ${unit}.tenant_id and c.unit_id = ${unit}.id and c.reservation_id is not null
     and c.status in ('proposed', 'locked') and c.starts_on = ${date}) then 2
   when ${kind} = 'departure' then 3 when ${kind} = 'stayover' then 4 else 5 end`

/**
 * Makes tasks in one statement, with an event each; answers those made. Of generated ones there is one per unit, day and kind: what is there
 * already stays as it is, and is not answered. Takes no lock on tasks that are there.
 */
export const insertTasks = async (trx: Trx, tasks: readonly NewTask[], generated: boolean): Promise<MadeTask[]> => {
  if (tasks.length === 0) return []
  const made = await prepared<MadeTask>(
    trx,
    `insert into housekeeping_task (property_id, unit_id, date, kind, assignee_id, sheet_id, priority, ranked, credits, due_at, checklist, reservation_id,
       note, generated)
     select u.property_id, u.id, n.date, n.kind, n.assignee_id,
       (select s.id from housekeeping_sheet s where s.property_id = u.property_id and s.date = n.date and s.attendant_id = n.assignee_id and s.status <> 'closed'
         for key share),
       coalesce(n.priority, ${priorityOf({ unit: 'u', date: 'n.date', kind: 'n.kind' })}), n.priority is not null,
       coalesce(n.credits, case when n.kind = any(?::text[]) then u.credits else 1 end),
       coalesce(n.due_at, case when n.kind = 'departure' then (n.date + y.check_in_from::time) at time zone y.timezone end),
       coalesce((select jsonb_agg(jsonb_build_object('key', c.item -> 'key', 'text', c.item -> 'text',
           'required', coalesce(c.item -> 'required', 'true'), 'done', false) order by c.position)
         from jsonb_array_elements(coalesce(n.checklist, y.settings #> array['housekeeping', 'checklists', n.kind])) with ordinality as c (item, position)), '[]'),
       n.reservation_id, coalesce(n.note, ''), ?
     from jsonb_to_recordset(?::jsonb) as n (unit_id uuid, date date, kind text, reservation_id uuid, assignee_id uuid, priority int, credits int,
       due_at timestamptz, checklist jsonb, note text)
     join unit u on u.id = n.unit_id
     join property y on y.tenant_id = u.tenant_id and y.id = u.property_id
     order by u.id
     on conflict (tenant_id, unit_id, date, kind) where generated do nothing
     returning id, property_id, unit_id, date, kind, assignee_id, version`,
    [
      cleaningKinds,
      generated,
      JSON.stringify(
        tasks.map((task) => ({
          unit_id: task.unitId,
          date: task.date,
          kind: task.kind,
          reservation_id: task.reservationId,
          assignee_id: task.assigneeId,
          priority: task.priority,
          credits: task.credits,
          due_at: task.dueAt,
          checklist: task.checklist,
          note: task.note,
        })),
      ),
    ],
  )
  await emitTasks(trx, 'created', made)
  return made
}

const eventOf = {
  created: housekeepingTaskCreated,
  assigned: housekeepingTaskAssigned,
  started: housekeepingTaskStarted,
  completed: housekeepingTaskCompleted,
  passed: housekeepingTaskPassed,
  failed: housekeepingTaskFailed,
  skipped: housekeepingTaskSkipped,
}

/** Tells of tasks that have been made or moved; `reason` of those that were skipped. */
export const emitTasks = (
  trx: Trx,
  what: keyof typeof eventOf,
  tasks: readonly MadeTask[],
  reason: string | null = null,
) =>
  emitAll(
    trx,
    eventOf[what],
    tasks.map(({ id, propertyId, unitId, date, kind, assigneeId, version }) => ({
      propertyId,
      id,
      version,
      data: { housekeepingTaskId: id, unitId, date, kind, assigneeId, reason },
    })),
  )

/**
 * Makes the tasks that an act of the house calls for, such as a departure at check-out, each once: where one of the unit, day and kind is open or
 * started, there is nothing to do. Where that of the morning is over (the unit was given away and is empty again), it makes another.
 * The caller holds the units.
 */
export const createTasks = async (trx: Trx, tasks: readonly NewTask[]): Promise<void> => {
  const keyOf = ({ unitId, date, kind }: Pick<NewTask, 'unitId' | 'date' | 'kind'>) => `${unitId} ${date} ${kind}`
  const made = new Set((await insertTasks(trx, tasks, true)).map(keyOf))
  const left = tasks.filter((task) => !made.has(keyOf(task)))
  if (left.length === 0) return
  const live = new Set(
    (
      await sql<Pick<Task, 'unitId' | 'date' | 'kind'>>(
        trx,
        `select unit_id, date, kind from housekeeping_task where unit_id = any(?::uuid[]) and date = any(?::date[]) and status in ('open', 'started')`,
        [left.map((task) => task.unitId), left.map((task) => task.date)],
      )
    ).map(keyOf),
  )
  await insertTasks(
    trx,
    left.filter((task) => !live.has(keyOf(task))),
    false,
  )
}

/** Furthest day ahead for which a task is planned. */
export const furthestDays = 365

/** 422 that names users who are not active members with access to the property; `fields` in the order of `userIds`. */
export const refuseStrangers = async (
  trx: Trx,
  propertyId: string,
  userIds: readonly string[],
  fieldOf: (index: number) => string,
): Promise<void> => {
  const known = await sql<{ userId: string }>(
    trx,
    `select m.user_id from membership m where m.user_id = any(?::uuid[]) and m.status = 'active' and (m.all_properties or exists (
       select from membership_property p where p.tenant_id = m.tenant_id and p.membership_id = m.id and p.property_id = ?)) for share of m`,
    [userIds, propertyId],
  )
  const members = new Set(known.map((row) => row.userId))
  const errors = userIds.flatMap((id, index) =>
    members.has(id) ? [] : [{ field: fieldOf(index), message: 'is no active member with access to this property' }],
  )
  if (errors.length > 0) throw unprocessable('reference_not_found', 'Somebody does not work at this property', errors)
}

type UnitPlace = { propertyId: string; status: string; today: string }

/** Creates a task for a person. `judge` throws if the caller's role may not create it. */
export const planTask = async (
  trx: Trx,
  task: NewTask & { kind: TaskKind },
  judge: (task: { propertyId: string; kind: TaskKind; assigneeId: string | null }) => void,
): Promise<string> => {
  const unit = await sqlOne<UnitPlace>(
    trx,
    `select u.property_id, u.status, ${presentDay('y')} as today from unit u
     join property y on y.tenant_id = u.tenant_id and y.id = u.property_id where u.id = ? for key share of u`,
    [task.unitId],
  )
  if (!unit) throw notFound('There is no such unit')
  const { propertyId, today } = unit
  judge({ propertyId, kind: task.kind, assigneeId: task.assigneeId ?? null })
  const twice = repeatedKeys(task.checklist ?? [])
  if (twice.length > 0)
    throw invalid(twice.map((index) => ({ field: `checklist.${index}.key`, message: 'stands twice' })))
  await refuseArchived(trx, propertyId)
  if (unit.status !== 'active') throw conflict('invalid_transition', 'The unit is archived')
  if (task.date < today || task.date > addDays(today, furthestDays))
    throw unprocessable('date_out_of_range', `A task is for ${today} or one of the ${furthestDays} days after it`, [
      { field: 'date', message: `must not be before ${today}, nor ${furthestDays} days after it` },
    ])
  if (task.assigneeId) await refuseStrangers(trx, propertyId, [task.assigneeId], () => 'assigneeId')
  if (task.reservationId) await refuseStay(trx, propertyId, task.reservationId)
  const [made] = await insertTasks(trx, [task], false)
  if (!made) throw new Error('the task was not made')
  return made.id
}

const refuseStay = async (trx: Trx, propertyId: string, reservationId: string) => {
  const stay = await sqlOne(trx, `select 1 from reservation where id = ? and property_id = ?`, [
    reservationId,
    propertyId,
  ])
  if (!stay)
    throw unprocessable('reference_not_found', 'The reservation is not of this property', [
      { field: 'reservationId', message: 'is no reservation of this property' },
    ])
}
