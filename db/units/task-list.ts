import { conflict, invalid, notFound, unprocessable } from '../../config/errors.ts'
import { repeatedKeys } from '../../config/property-settings.ts'
import { addDays } from '../../config/time.ts'
import type { Condition } from '../lib/conditions.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { inScope, readPage, where } from '../lib/paging.ts'
import type { Paging, Part } from '../lib/paging.ts'
import { changeRow } from '../lib/editing.ts'
import { refuseArchived } from '../lib/locked-property.ts'
import { presentDay } from './state.ts'
import { emitTasks, insertTasks } from './tasks.ts'
import type { TaskKind } from '../../config/housekeeping.ts'
import type { NewTask, Task } from './tasks.ts'

/** A task as people read it, with its unit by the name on the door. */
export type ShownTask = Task & { unitName: string; building: string | null; floor: number | null }

const columns = `t.id, t.property_id, t.unit_id, u.name as unit_name, u.building, u.floor, t.date, t.kind, t.status, t.assignee_id, t.sheet_id, t.priority, t.credits,
  t.due_at, t.checklist, t.reservation_id, t.issue_id, t.note, t.started_at, t.completed_at, t.completed_by, t.inspected_at, t.inspected_by, t.minutes,
  t.skip_reason, t.generated, t.version, t.created_at, t.updated_at`
const from = `housekeeping_task t join unit u on u.tenant_id = t.tenant_id and u.id = t.unit_id`
/** The way round a house: by building, floor and door. */
export const doorOrder = `u.building nulls first, u.floor nulls first, u.position, u.name`
/** What is urgent comes first on it. */
const roundOrder = `t.priority, ${doorOrder}`

/** The tasks that a role's condition is for; `t` names them. */
export const tasksInScope = (scope: Condition): Part[] =>
  inScope(scope, { propertyId: 't.property_id', assigneeId: 't.assignee_id', kind: 't.kind' })

export type TaskFilter = Paging & {
  propertyId?: string | undefined
  date?: string | undefined
  status?: string | undefined
  kind?: string | undefined
  assigneeId?: string | undefined
  unitId?: string | undefined
  sheetId?: string | undefined
  /** The tasks that the caller may read. */
  scope: Condition
}

export const listTasks = (trx: Trx, { scope, ...filter }: TaskFilter) =>
  readPage<ShownTask>(
    trx,
    {
      columns,
      from,
      conditions: [
        ...tasksInScope(scope),
        ...where('t.property_id = ?', filter.propertyId),
        ...where('t.date = ?::date', filter.date),
        ...where('t.status = ?', filter.status),
        ...where('t.kind = ?', filter.kind),
        ...where('t.assignee_id = ?', filter.assigneeId),
        ...where('t.unit_id = ?', filter.unitId),
        ...where('t.sheet_id = ?', filter.sheetId),
      ],
      order: `t.date desc, ${roundOrder}, t.id`,
    },
    filter,
  )

/** Tasks by their ids, in the order of the round. */
export const readTasks = (trx: Trx, condition: Part): Promise<ShownTask[]> =>
  sql<ShownTask>(
    trx,
    `select ${columns} from ${from} where ${condition.text} order by ${roundOrder}, t.id`,
    condition.values,
  )

export const readTask = async (trx: Trx, id: string): Promise<ShownTask> => {
  const [task] = await readTasks(trx, { text: 't.id = ?', values: [id] })
  if (!task) throw notFound()
  return task
}

/** Furthest day ahead for which a task is planned. */
export const furthestDays = 365

/** 422 that names who is no active member with access to the property; `fields` in the order of `userIds`. */
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

export type TaskChange = {
  assigneeId?: string | null | undefined
  priority?: number | undefined
  dueAt?: string | null | undefined
  note?: string | undefined
}

/** Changes a task that is not over; the caller holds its row. It moves to the sheet of its attendant for the day. */
export const changeTask = async (trx: Trx, id: string, change: TaskChange): Promise<void> => {
  const task = await readTask(trx, id)
  if (task.status !== 'open' && task.status !== 'started')
    throw conflict('invalid_transition', `A task that is ${task.status} is not changed any more`)
  await refuseArchived(trx, task.propertyId)
  const { assigneeId } = change
  const moved = assigneeId !== undefined && assigneeId !== task.assigneeId
  if (moved && assigneeId !== null) await refuseStrangers(trx, task.propertyId, [assigneeId], () => 'assigneeId')
  const sheet =
    moved && assigneeId !== null
      ? await sqlOne<{ id: string }>(
          trx,
          `select id from housekeeping_sheet where property_id = ? and date = ?::date and attendant_id = ? and status <> 'closed' for key share`,
          [task.propertyId, task.date, assigneeId],
        )
      : null
  const version = await changeRow(trx, 'housekeeping_task', id, {
    ...change,
    ...(moved ? { sheetId: sheet?.id ?? null } : {}),
    ...(change.priority === undefined ? {} : { ranked: true }),
  })
  if (moved) await emitTasks(trx, 'assigned', [{ ...task, assigneeId, version }])
}
