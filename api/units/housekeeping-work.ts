import { invalid } from '../../config/errors.ts'
import { Bool, Int, List, Obj, OneOf, Opt } from '../../config/schema.ts'
import { readTask, completeTask, inspectTask, skipTask, startTask } from '../../db/units/index.ts'
import type { Guarded } from '../../db/units/index.ts'
import { can } from '../lib/access/kinds.ts'
import type { Admission } from '../lib/caller.ts'
import { route } from '../lib/route.ts'
import { HousekeepingTask, housekeeping, ItemKey, Note } from './housekeeping-schemas.ts'

const path = `${housekeeping}/tasks/:housekeepingTaskId` as const
// Its unit is locked before it.
const record = { table: 'housekeeping_task', param: 'housekeepingTaskId', lockedBy: 'command' } as const

/** Who comes second judges the task as the first has left it. */
const guarded = (action: string, admission: Admission, expectedVersion: number | null): Guarded => ({
  expectedVersion,
  judge: (task) => admission.check(action, 'HousekeepingTask', task),
})

const start = route({
  id: 'housekeepingTasks.start',
  method: 'POST',
  path: `${path}/start`,
  summary: 'Start a task',
  description:
    'One that is assigned to nobody becomes the task of who starts it. A departure waits until the guest has left; a stayover or turndown for no do-not-disturb.',
  access: can('perform', 'HousekeepingTask'),
  record,
  errors: ['invalid_transition', 'unit_occupied', 'do_not_disturb'],
  returns: HousekeepingTask,
  handle: async ({ trx, params, admission, expectedVersion }) => {
    await startTask(trx, params.housekeepingTaskId, guarded('perform', admission, expectedVersion))
    return readTask(trx, params.housekeepingTaskId)
  },
})

const complete = route({
  id: 'housekeepingTasks.complete',
  method: 'POST',
  path: `${path}/complete`,
  summary: 'Complete a task',
  description:
    'Each required item of its checklist must be done. Without `minutes`, the time since it was started counts. What cleans leaves the unit clean, an inspection leaves it inspected.',
  access: can('perform', 'HousekeepingTask'),
  record,
  errors: ['invalid_transition', 'checklist_incomplete', 'unit_occupied', 'do_not_disturb'],
  body: Obj({
    checklist: Opt(List(Obj({ key: ItemKey, done: Bool }), { max: 50 })),
    minutes: Opt(Int(0, 1440)),
    note: Opt(Note),
  }),
  returns: HousekeepingTask,
  handle: async ({ trx, params, body, admission, expectedVersion }) => {
    await completeTask(trx, params.housekeepingTaskId, body, guarded('perform', admission, expectedVersion))
    return readTask(trx, params.housekeepingTaskId)
  },
})

const inspect = route({
  id: 'housekeepingTasks.inspect',
  method: 'POST',
  path: `${path}/inspect`,
  summary: 'Pass or fail a completed task',
  description:
    'Never by who did the work. What fails leaves the unit dirty, and is to be done again: a new task with the note, for the same person.',
  access: can('inspect', 'HousekeepingTask'),
  record,
  errors: ['invalid_transition', 'self_approval'],
  body: Obj({ result: OneOf(['pass', 'fail']), note: Opt(Note) }),
  returns: HousekeepingTask,
  handle: async ({ trx, params, body, admission, expectedVersion }) => {
    if (body.result === 'fail' && body.note === undefined)
      throw invalid([{ field: 'note', message: 'says what is to be done again' }])
    await inspectTask(trx, params.housekeepingTaskId, body, guarded('inspect', admission, expectedVersion))
    return readTask(trx, params.housekeepingTaskId)
  },
})

const skip = route({
  id: 'housekeepingTasks.skip',
  method: 'POST',
  path: `${path}/skip`,
  summary: 'Skip a task with a reason',
  description: 'Cleaning that was begun leaves the unit dirty.',
  access: can('perform', 'HousekeepingTask'),
  record,
  errors: ['invalid_transition'],
  body: Obj({
    reason: OneOf(['do_not_disturb', 'refused', 'not_needed', 'no_time', 'mistake']),
    note: Opt(Note),
  }),
  returns: HousekeepingTask,
  handle: async ({ trx, params, body, admission, expectedVersion }) => {
    await skipTask(trx, params.housekeepingTaskId, body, guarded('perform', admission, expectedVersion))
    return readTask(trx, params.housekeepingTaskId)
  },
})

export const routes = [start, complete, inspect, skip]
