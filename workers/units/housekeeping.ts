import { erasableRefusals, eraseRefusals, generateTasks, staysToTakeIn, takeIn } from '../../db/units/index.ts'
import * as jobs from '../../jobs/units.ts'
import { erasing } from '../lib/erasing.ts'
import { processor } from '../lib/processor.ts'
import type { Processor } from '../lib/processor.ts'

/** Daily tasks of units, and the erasure of evidence. */
export const housekeeping: readonly Processor[] = [
  // A short transaction for some units at a time: the desk waits for no more than those.
  processor(jobs.generateTasks, async ({ payload: { tenantId, ...day }, inTenant, finish, retryLater, signal }) => {
    for (let done = false; !done;) {
      if (signal.aborted) retryLater('the morning was interrupted')
      ;({ done } = await inTenant(tenantId, (trx) => generateTasks(trx, day)))
    }
    for (const id of await inTenant(tenantId, (trx) => staysToTakeIn(trx, day.propertyId)))
      await inTenant(tenantId, (trx) => takeIn(trx, id))
    await finish()
  }),

  erasing(jobs.eraseRefusals, erasableRefusals, eraseRefusals),
]
