import { notFound } from '../../config/errors.ts'
import { sampleDay, sampleId } from '../../config/samples.ts'
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
import { resource } from '../lib/resource.ts'
import {
  HousekeepingTask,
  housekeeping,
  ItemKey,
  Note,
  Priority,
  TaskKind,
  taskStatuses,
} from './housekeeping-schemas.ts'

/** Changed under their own lock, and moved under that of their unit, which comes first. */
export const ofTasks = {
  name: 'housekeepingTasks',
  subject: 'HousekeepingTask',
  table: 'housekeeping_task',
  path: `${housekeeping}/tasks`,
  param: 'housekeepingTaskId',
  record: HousekeepingTask,
  read: readTask,
} as const
const tasks = resource(ofTasks)

const list = tasks.list({
  summary: 'List tasks',
  description:
    'The newest day first, and of a day what is urgent first, then by building, floor and door. Housekeepers see what is assigned to them or to nobody.',
  query: {
    propertyId: Opt(Uuid),
    date: Opt(Day),
    status: Opt(OneOf([...taskStatuses])),
    kind: Opt(TaskKind),
    assigneeId: Opt(Uuid),
    unitId: Opt(Uuid),
    sheetId: Opt(Uuid),
  },
  example: { date: sampleDay(0) },
  find: ({ trx, filter }) => listTasks(trx, filter),
})

const create = tasks.create({
  summary: 'Create a task',
  description:
    'What is left out is known from the unit, its house and who arrives in it: priority, credits, due time and checklist. Maintenance creates tasks of its own kind.',
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
  example: { unitId: sampleId('unitId'), date: sampleDay(1), kind: 'deep' },
  command: ({ trx, body, admission }) =>
    planTask(trx, body, (task) => {
      // A unit of a property outside the caller's scope is answered as unknown.
      if (admission.propertyIds !== null && !admission.propertyIds.includes(task.propertyId)) throw notFound()
      admission.check('create', 'HousekeepingTask', task)
    }),
})

const read = tasks.read({
  summary: 'Read a task with its checklist',
})

const change = tasks.change({
  summary: 'Change assignee, priority, due time or notes',
  description: 'Of a task that is not over. Who is given it gets it onto his sheet of the day, where he has one.',
  errors: ['reference_not_found', 'invalid_transition'],
  body: Sparse(Obj({ assigneeId: Nullable(Uuid), priority: Priority, dueAt: Nullable(Instant), note: Text(0, 500) })),
  example: { priority: 1, note: 'The guest arrives early' },
  command: ({ trx, id, body }) => changeTask(trx, id, body),
})

export const routes = [list, create, read, change]
