import { notFound } from '../../config/errors.ts'
import {
  Bool,
  Day,
  Instant,
  Int,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Sparse,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { changeTask, listTasks, planTask, readTask } from '../../db/units/index.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import {
  HousekeepingTask,
  housekeeping,
  ItemKey,
  Note,
  Priority,
  TaskKind,
  taskStatuses,
} from './housekeeping-schemas.ts'

const path = `${housekeeping}/tasks` as const
const ofTask = `${path}/:housekeepingTaskId` as const

const list = paged({
  id: 'housekeepingTasks.list',
  path,
  summary: 'List tasks',
  description:
    'The newest day first, and of a day what is urgent first, then by building, floor and door. Housekeepers see what is assigned to them or to nobody.',
  access: can('read', 'HousekeepingTask'),
  query: {
    propertyId: Opt(Uuid),
    date: Opt(Day),
    status: Opt(OneOf([...taskStatuses])),
    kind: Opt(TaskKind),
    assigneeId: Opt(Uuid),
    unitId: Opt(Uuid),
    sheetId: Opt(Uuid),
  },
  of: HousekeepingTask,
  find: ({ trx, query, admission }) => listTasks(trx, { ...query, scope: admission.scope('read', 'HousekeepingTask') }),
})

const create = route({
  id: 'housekeepingTasks.create',
  method: 'POST',
  path,
  summary: 'Create a task',
  description:
    'What is left out is known from the unit, its house and who arrives in it: priority, credits, due time and checklist. Maintenance creates tasks of its own kind.',
  access: can('create', 'HousekeepingTask'),
  status: 201,
  errors: ['date_out_of_range', 'reference_not_found', 'invalid_transition', 'not_found'],
  body: Obj({
    unitId: Uuid,
    date: Day,
    kind: TaskKind,
    assigneeId: Opt(Nullable(Uuid)),
    priority: Opt(Priority),
    credits: Opt(Int(1, 20)),
    dueAt: Opt(Nullable(Instant)),
    checklist: Opt(List(Obj({ key: ItemKey, text: Words(1, 200), required: Bool }), { max: 50 })),
    reservationId: Opt(Nullable(Uuid)),
    note: Opt(Note),
  }),
  returns: HousekeepingTask,
  handle: async ({ trx, body, admission }) =>
    readTask(
      trx,
      await planTask(trx, body, (task) => {
        // A unit of a property outside the caller's scope is answered as unknown.
        if (admission.propertyIds !== null && !admission.propertyIds.includes(task.propertyId)) throw notFound()
        admission.check('create', 'HousekeepingTask', task)
      }),
    ),
})

const read = route({
  id: 'housekeepingTasks.read',
  method: 'GET',
  path: ofTask,
  summary: 'Read a task with its checklist',
  access: can('read', 'HousekeepingTask'),
  returns: HousekeepingTask,
  handle: async ({ trx, params, admission }) => {
    const task = await readTask(trx, params.housekeepingTaskId)
    admission.check('read', 'HousekeepingTask', task)
    return task
  },
})

const change = route({
  id: 'housekeepingTasks.update',
  method: 'PATCH',
  path: ofTask,
  summary: 'Change assignee, priority, due time or notes',
  description: 'Of a task that is not over. Who is given it gets it onto his sheet of the day, where he has one.',
  access: can('update', 'HousekeepingTask'),
  record: { table: 'housekeeping_task', param: 'housekeepingTaskId' },
  errors: ['reference_not_found', 'invalid_transition'],
  body: Sparse(Obj({ assigneeId: Nullable(Uuid), priority: Priority, dueAt: Nullable(Instant), note: Text(0, 500) })),
  returns: HousekeepingTask,
  handle: async ({ trx, params, body }) => {
    await changeTask(trx, params.housekeepingTaskId, body)
    return readTask(trx, params.housekeepingTaskId)
  },
})

export const routes = [list, create, read, change]
