import { channelsJobs, channelsSchedules } from './channels.ts'
import { inventoryJobs, inventorySchedules } from './inventory.ts'
import { jobsJobs, jobsSchedules } from './jobs.ts'
import { ledgerJobs, ledgerSchedules } from './ledger.ts'
import { maintenanceJobs, maintenanceSchedules } from './maintenance.ts'
import { messagesJobs } from './messages.ts'
import { paymentJobs, paymentSchedules } from './payments.ts'
import type { Job, Schedule } from './job.ts'

/** Every job that can be asked for. Boot fails when one of them lacks its processor. */
export const jobs: Job[] = [
  ...channelsJobs,
  ...inventoryJobs,
  ...jobsJobs,
  ...ledgerJobs,
  ...maintenanceJobs,
  ...messagesJobs,
  ...paymentJobs,
]

/** Every job that comes by the clock. */
export const schedules: Schedule[] = [
  ...channelsSchedules,
  ...inventorySchedules,
  ...jobsSchedules,
  ...ledgerSchedules,
  ...maintenanceSchedules,
  ...paymentSchedules,
]
