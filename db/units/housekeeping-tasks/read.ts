import { notFound } from '../../../config/errors.ts'
import type { Condition } from '../../lib/conditions.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { lifecycle } from '../../lib/lifecycle.ts'
import { model } from '../../lib/models.ts'
import { inScope, readPage, where } from '../../lib/paging.ts'
import type { Paging, Part } from '../../lib/paging.ts'
import type { HousekeepingTaskRow } from '../../rows.ts'

export type ChecklistItem = { key: string; text: string; required: boolean; done: boolean }
export type Task = Omit<HousekeepingTaskRow, 'tenantId' | 'checklist'> & { checklist: ChecklistItem[] }

export const taskLifecycle = lifecycle<Task['status']>('A task')({
  changed: { from: ['open', 'started'] },
  started: { from: ['open'], to: 'started' },
  completed: { from: ['open', 'started'], to: 'done' },
  passed: { from: ['done'], to: 'passed' },
  failed: { from: ['done'], to: 'failed' },
  skipped: { from: ['open', 'started'], to: 'skipped' },
})

export const HousekeepingTask = model<'housekeeping_task', Pick<Task, 'checklist'>>('housekeeping_task')

/** A task as people read it, with its unit by the name on the door. */
export type ShownTask = Task & { unitName: string; building: string | null; floor: number | null }

const columns = `t.id, t.property_id, t.unit_id, u.name as unit_name, u.building, u.floor, t.date, t.kind, t.status, t.assignee_id, t.sheet_id, t.priority, t.credits,
  t.due_at, t.checklist, t.reservation_id, t.issue_id, t.note, t.started_at, t.completed_at, t.completed_by, t.inspected_at, t.inspected_by, t.minutes,
  t.skip_reason, t.generated, t.version, t.created_at, t.updated_at`
export const from = `housekeeping_task t join unit u on u.tenant_id = t.tenant_id and u.id = t.unit_id`
/** The way round a house: by building, floor and door. */
export const doorOrder = `u.building nulls first, u.floor nulls first, u.position, u.name`
/** Urgent tasks come first. */
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
      counted: { list: 'housekeeping_task', as: 't' },
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
