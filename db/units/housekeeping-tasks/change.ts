import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { refuseArchived } from '../../lib/locked-property.ts'
import { changeRow } from '../../lib/records.ts'
import { emitTasks, refuseStrangers } from './create.ts'
import { HousekeepingTask, readTask, taskLifecycle } from './read.ts'

export type TaskChange = {
  assigneeId?: string | null | undefined
  priority?: number | undefined
  dueAt?: string | null | undefined
  note?: string | undefined
}

/** Changes a task that is not over; the caller holds its row. It moves to the sheet of its attendant for the day. */
export const changeTask = async (trx: Trx, id: string, change: TaskChange): Promise<void> => {
  const task = await readTask(trx, id)
  taskLifecycle.allow('changed', task.status)
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
  const version = await changeRow(trx, HousekeepingTask, id, {
    ...change,
    ...(moved ? { sheetId: sheet?.id ?? null } : {}),
    ...(change.priority === undefined ? {} : { ranked: true }),
  })
  if (moved) await emitTasks(trx, 'assigned', [{ ...task, assigneeId, version }])
}
