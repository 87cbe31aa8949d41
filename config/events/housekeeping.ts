import { Count, Day, Nullable, Obj, Uuid } from '../schema.ts'
import { Code, event } from './event.ts'
import type { Event } from './event.ts'

const housekeepingTask = {
  entity: 'housekeeping_task',
  subject: 'HousekeepingTask',
  data: Obj({
    housekeepingTaskId: Uuid,
    unitId: Uuid,
    date: Day,
    kind: Code,
    assigneeId: Nullable(Uuid),
    reason: Nullable(Code),
  }),
} as const
export const housekeepingTaskCreated = event({ type: 'housekeeping_task.created', ...housekeepingTask })
export const housekeepingTaskAssigned = event({ type: 'housekeeping_task.assigned', ...housekeepingTask })
export const housekeepingTaskStarted = event({ type: 'housekeeping_task.started', ...housekeepingTask })
export const housekeepingTaskCompleted = event({
  type: 'housekeeping_task.completed',
  ...housekeepingTask,
  listeners: ['kits'],
})
export const housekeepingTaskPassed = event({ type: 'housekeeping_task.passed', ...housekeepingTask })
export const housekeepingTaskFailed = event({ type: 'housekeeping_task.failed', ...housekeepingTask })
export const housekeepingTaskSkipped = event({ type: 'housekeeping_task.skipped', ...housekeepingTask })

export const housekeepingSheetPublished = event({
  type: 'housekeeping_sheet.published',
  entity: 'housekeeping_sheet',
  subject: 'HousekeepingSheet',
  data: Obj({ housekeepingSheetId: Uuid, date: Day, attendantId: Nullable(Uuid), taskCount: Count }),
})

export const housekeepingEvents: Event[] = [
  housekeepingTaskCreated,
  housekeepingTaskAssigned,
  housekeepingTaskStarted,
  housekeepingTaskCompleted,
  housekeepingTaskPassed,
  housekeepingTaskFailed,
  housekeepingTaskSkipped,
  housekeepingSheetPublished,
]
