import { Obj, Uuid } from '../config/schema.ts'
import { every, job } from './job.ts'
import type { Job, Schedule } from './job.ts'

/** Closes a business day of a property, and goes on where it stopped. */
export const closeBusinessDay = job({
  name: 'ledger.close-business-day',
  queue: 'ledger',
  payload: Obj({ tenantId: Uuid, nightAuditId: Uuid }),
  retry: 'internal',
})

/** Starts the close of every business day that is over, and goes on with what stopped. */
export const tickBusinessDays = job({
  name: 'maintenance.tick-business-days',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

export const nightAuditJobs: Job[] = [closeBusinessDay, tickBusinessDays]

export const nightAuditSchedules: Schedule[] = [every(300, tickBusinessDays)]
