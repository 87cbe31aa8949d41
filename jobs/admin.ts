import { Bool, Day, Obj, Uuid } from '../config/schema.ts'
import { every, job } from './job.ts'
import type { Job, Schedule } from './job.ts'

/** Looks for subscriptions whose period is over. */
export const runBilling = job({ name: 'billing.run', queue: 'billing', payload: Obj({}), retry: 'tick' })

/** Writes the invoice of one period of one tenant, and opens the next. */
export const closeBillingPeriod = job({
  name: 'billing.close-period',
  queue: 'billing',
  payload: Obj({ tenantId: Uuid, periodStart: Day, billingRunId: Uuid, force: Bool }),
  retry: 'internal',
})

export const adminJobs: Job[] = [runBilling, closeBillingPeriod]

export const adminSchedules: Schedule[] = [every(3_600, runBilling)]
