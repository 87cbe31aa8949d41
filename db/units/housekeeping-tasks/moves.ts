import { forbidden, invalid, notFound, unprocessable, versionConflict } from '../../../config/errors.ts'
import type { TaskKind } from '../../../config/housekeeping.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { refuseArchived } from '../../lib/locked-property.ts'
import { holdUnit, holdUnits, writeConditions } from '../unit-conditions.ts'
import type { Condition, HeldUnit } from '../unit-conditions.ts'
import { cleaningKinds, emitTasks, insertTasks } from './create.ts'
import type { Task } from './read.ts'
import { taskLifecycle } from './read.ts'

export type Guarded = {
  /** Judges the locked task by the caller's conditions; throws if the caller may not act on it. */
  judge?: (task: Task) => void
  /** The version that the caller read. */
  expectedVersion?: number | null
}
export type SkipReason = NonNullable<Task['skipReason']>

type Held = { task: Task; unit: HeldUnit }

/** Locks a task after its unit, and reads both, so that concurrent commands see one another. */
const holdTask = async (trx: Trx, id: string, { judge, expectedVersion }: Guarded): Promise<Held> => {
  const known = await sqlOne<{ unitId: string }>(trx, `select unit_id from housekeeping_task where id = ?`, [id])
  if (!known) throw notFound()
  const unit = await holdUnit(trx, known.unitId)
  const task = await sqlOne<Task>(trx, `select * from housekeeping_task where id = ? for no key update`, [id])
  if (!task) throw notFound()
  judge?.(task)
  await refuseArchived(trx, task.propertyId)
  if (typeof expectedVersion === 'number' && task.version !== expectedVersion) throw versionConflict(task.version)
  return { task, unit }
}

const isCleaning = ({ kind }: Task) => cleaningKinds.includes(kind)

const actorOf = (trx: Trx): { userId: string | null; id: string } => {
  const { actor } = contextOf(trx)
  if (actor.id === null) throw new Error('a task is moved by somebody')
  return { userId: actor.type === 'user' ? actor.id : null, id: actor.id }
}

/** Refuses to begin work that may not be begun (R20). */
const refuseWork = ({ task, unit }: Held) => {
  if (task.kind === 'departure' && unit.occupancy === 'occupied')
    throw unprocessable('unit_occupied', 'The guest has not left yet')
  if (task.kind !== 'stayover' && task.kind !== 'turndown') return
  if (unit.doNotDisturb) throw unprocessable('do_not_disturb', 'The guest does not want to be disturbed')
  if (task.kind === 'stayover' && unit.refusedUntil !== null && unit.refusedUntil >= task.date)
    throw unprocessable('do_not_disturb', 'The guest has refused service for the day')
}

const becomes = (trx: Trx, unit: HeldUnit, condition: Condition, cleaned?: TaskKind) =>
  writeConditions(trx, [{ unit, condition }], cleaned ? { cleaned } : {})

/** Begins a task. A task without an attendant goes to the one who begins it (R24). */
export const startTask = async (trx: Trx, id: string, guarded: Guarded = {}): Promise<void> => {
  const { task, unit } = await holdTask(trx, id, guarded)
  if (!taskLifecycle.isDue('started', task.status)) return
  refuseWork({ task, unit })
  const [started] = await sql<Task>(
    trx,
    `update housekeeping_task set status = 'started', started_at = now(), assignee_id = coalesce(assignee_id, ?::uuid), version = version + 1
     where id = ? returning *`,
    [actorOf(trx).userId, id],
  )
  if (isCleaning(task)) await becomes(trx, unit, 'cleaning')
  if (started) await emitTasks(trx, 'started', [started])
}

export type Completion = {
  checklist?: readonly { key: string; done: boolean }[] | undefined
  minutes?: number | undefined
  note?: string | undefined
}

/** The checklist with what was said of it; every required item of it must be done. */
const checked = (task: Task, said: NonNullable<Completion['checklist']>) => {
  const unknown = said.flatMap(({ key }, index) =>
    task.checklist.some((item) => item.key === key)
      ? []
      : [{ field: `checklist.${index}.key`, message: 'is not on the checklist' }],
  )
  if (unknown.length > 0) throw invalid(unknown)
  const checklist = task.checklist.map((item) => ({
    ...item,
    done: said.findLast((one) => one.key === item.key)?.done ?? item.done,
  }))
  const missing = checklist.filter((item) => item.required && !item.done)
  if (missing.length > 0)
    throw unprocessable(
      'checklist_incomplete',
      'What is required has not all been done',
      missing.map(({ key, text }) => ({ field: `checklist.${key}`, message: text })),
    )
  return checklist
}

/** SQL that appends a note below the earlier ones. */
const withNote = `left(concat_ws(E'\\n', nullif(note, ''), ?::text), 4000)`

export const completeTask = async (
  trx: Trx,
  id: string,
  { checklist = [], minutes, note }: Completion,
  guarded: Guarded = {},
): Promise<void> => {
  const { task, unit } = await holdTask(trx, id, guarded)
  if (!taskLifecycle.isDue('completed', task.status)) return
  if (task.status === 'open') refuseWork({ task, unit })
  const { id: by, userId } = actorOf(trx)
  const [done] = await sql<Task>(
    trx,
    `update housekeeping_task set status = 'done', completed_at = now(), completed_by = ?, assignee_id = coalesce(assignee_id, ?::uuid), checklist = ?::jsonb,
       minutes = coalesce(?::int, least(1440, round(extract(epoch from now() - started_at) / 60))), note = ${withNote}, version = version + 1
     where id = ? returning *`,
    [by, userId, JSON.stringify(checked(task, checklist)), minutes ?? null, note ?? null, id],
  )
  if (isCleaning(task)) await becomes(trx, unit, 'clean', task.kind)
  else if (task.kind === 'inspection') await becomes(trx, unit, 'inspected')
  if (done) await emitTasks(trx, 'completed', [done])
}

/** Inspects a task, never by the attendant who did it. If it fails, a new task is made. */
export const inspectTask = async (
  trx: Trx,
  id: string,
  { result, note }: { result: 'pass' | 'fail'; note?: string | undefined },
  guarded: Guarded = {},
): Promise<void> => {
  const { task, unit } = await holdTask(trx, id, guarded)
  const to = result === 'pass' ? 'passed' : 'failed'
  if (!taskLifecycle.isDue(to, task.status)) return
  const { id: by } = actorOf(trx)
  if (task.completedBy === by) throw forbidden('self_approval', 'Another person than who did the work inspects it')
  const [inspected] = await sql<Task>(
    trx,
    `update housekeeping_task set status = ?, inspected_at = now(), inspected_by = ?, note = ${withNote}, version = version + 1 where id = ? returning *`,
    [to, by, result === 'pass' ? (note ?? null) : null, id],
  )
  const cleans = isCleaning(task)
  // A unit that was used since, or is being cleaned anew, is not made ready by what was done before.
  const isUsed = unit.condition === 'dirty' || unit.condition === 'cleaning'
  if (result === 'pass' && cleans && !isUsed) await becomes(trx, unit, 'inspected')
  if (result === 'fail' && (cleans || task.kind === 'inspection')) await becomes(trx, unit, 'dirty')
  if (inspected) await emitTasks(trx, to, [inspected])
  if (result === 'fail')
    await insertTasks(
      trx,
      [
        {
          unitId: task.unitId,
          date: task.date > unit.today ? task.date : unit.today,
          kind: task.kind,
          reservationId: task.reservationId,
          assigneeId: task.assigneeId,
          credits: task.credits,
          dueAt: task.dueAt?.toISOString(),
          checklist: task.checklist.map(({ key, text, required }) => ({ key, text, required })),
          note,
        },
      ],
      false,
    )
}

export const skipTask = async (
  trx: Trx,
  id: string,
  { reason, note }: { reason: SkipReason; note?: string | undefined },
  guarded: Guarded = {},
): Promise<void> => {
  const { task, unit } = await holdTask(trx, id, guarded)
  if (!taskLifecycle.isDue('skipped', task.status)) return
  await skipHeld(trx, [task], unit, reason, note)
}

/** Skips the open tasks of a unit that is given up. The caller holds the unit. */
export const skipLeft = async (trx: Trx, unitId: string): Promise<void> => {
  const tasks = await sql<Task>(
    trx,
    `select * from housekeeping_task where unit_id = ? and status in ('open', 'started') order by id for no key update`,
    [unitId],
  )
  if (tasks.length > 0) await skipHeld(trx, tasks, await holdUnit(trx, unitId), 'not_needed')
}

/** Skips the service of a day for guests who have left some units, also where it was begun: the departure is cleaned. The caller holds the units. */
export const skipService = async (
  trx: Trx,
  reservationId: string,
  { unitIds, date }: { unitIds: readonly string[]; date: string },
): Promise<void> => {
  const tasks = await sql<Task>(
    trx,
    `select * from housekeeping_task where reservation_id = ? and unit_id = any(?::uuid[]) and date = ?::date and kind in ('stayover', 'turndown')
       and status in ('open', 'started') order by id for no key update`,
    [reservationId, unitIds, date],
  )
  if (tasks.length === 0) return
  for (const unit of await holdUnits(trx, unitIds))
    await skipHeld(
      trx,
      tasks.filter((task) => task.unitId === unit.id),
      unit,
      'not_needed',
    )
}

/** Skips locked tasks of a locked unit; cleaning that was begun leaves it dirty. */
export const skipHeld = async (
  trx: Trx,
  tasks: readonly Task[],
  unit: HeldUnit,
  reason: SkipReason,
  note?: string,
): Promise<void> => {
  if (tasks.length === 0) return
  const skipped = await sql<Task>(
    trx,
    `update housekeeping_task set status = 'skipped', skip_reason = ?, note = ${withNote}, version = version + 1 where id = any(?::uuid[]) returning *`,
    [reason, note ?? null, tasks.map((task) => task.id)],
  )
  if (tasks.some((task) => task.status === 'started' && isCleaning(task))) await becomes(trx, unit, 'dirty')
  await emitTasks(trx, 'skipped', skipped, reason)
}
