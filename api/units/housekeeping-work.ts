import { invalid } from '../../config/errors.ts'
import { Bool, Int, List, Obj, OneOf, Opt } from '../../config/schema.ts'
import { completeTask, inspectTask, skipTask, startTask } from '../../db/units/index.ts'
import type { Guarded } from '../../db/units/index.ts'
import type { Admission } from '../lib/caller.ts'
import { resource } from '../lib/resource.ts'
import { ItemKey, Note } from './housekeeping-schemas.ts'
import { ofTasks } from './housekeeping-tasks.ts'

const tasks = resource({ ...ofTasks, lockedBy: 'command' })

/** Judges the task under its lock, so a second caller sees it as the first has left it. */
const guarded = (action: string, admission: Admission, expectedVersion: number | null): Guarded => ({
  expectedVersion,
  judge: (task) => admission.check(action, 'HousekeepingTask', task),
})

const start = tasks.act('start', {
  summary: 'Start a task',
  description:
    'One that is assigned to nobody becomes the task of who starts it. A departure waits until the guest has left; a stayover or turndown for no do-not-disturb.',
  action: 'perform',
  errors: ['invalid_transition', 'unit_occupied', 'do_not_disturb'],
  command: ({ trx, id, admission, expectedVersion }) =>
    startTask(trx, id, guarded('perform', admission, expectedVersion)),
})

const complete = tasks.act('complete', {
  summary: 'Complete a task',
  description:
    'Each required item of its checklist must be done. Without `minutes`, the time since it was started counts. What cleans leaves the unit clean, an inspection leaves it inspected.',
  action: 'perform',
  errors: ['invalid_transition', 'checklist_incomplete', 'unit_occupied', 'do_not_disturb'],
  body: Obj({
    checklist: Opt(List(Obj({ key: ItemKey, done: Bool }), { max: 50 })),
    minutes: Opt(Int(0, 1440)),
    note: Opt(Note),
  }),
  example: { minutes: 25 },
  command: ({ trx, id, body, admission, expectedVersion }) =>
    completeTask(trx, id, body, guarded('perform', admission, expectedVersion)),
})

const inspect = tasks.act('inspect', {
  summary: 'Pass or fail a completed task',
  description:
    'Never by who did the work. What fails leaves the unit dirty, and is to be done again: a new task with the note, for the same person.',
  errors: ['invalid_transition', 'self_approval'],
  body: Obj({ result: OneOf(['pass', 'fail']), note: Opt(Note) }),
  example: { result: 'pass' },
  command: ({ trx, id, body, admission, expectedVersion }) => {
    if (body.result === 'fail' && body.note === undefined)
      throw invalid([{ field: 'note', message: 'says what is to be done again' }])
    return inspectTask(trx, id, body, guarded('inspect', admission, expectedVersion))
  },
})

const skip = tasks.act('skip', {
  summary: 'Skip a task with a reason',
  description: 'Cleaning that was begun leaves the unit dirty.',
  action: 'perform',
  errors: ['invalid_transition'],
  body: Obj({
    reason: OneOf(['do_not_disturb', 'refused', 'not_needed', 'no_time', 'mistake']),
    note: Opt(Note),
  }),
  example: { reason: 'not_needed' },
  command: ({ trx, id, body, admission, expectedVersion }) =>
    skipTask(trx, id, body, guarded('perform', admission, expectedVersion)),
})

export const routes = [start, complete, inspect, skip]
