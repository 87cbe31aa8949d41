import { accountsPayableJobs, accountsPayableSchedules } from './accounts-payable.ts'
import { accountsReceivableJobs, accountsReceivableSchedules } from './accounts-receivable.ts'
import { adminJobs, adminSchedules } from './admin.ts'
import { authJobs, authSchedules } from './auth.ts'
import { cashJobs, cashSchedules } from './cash.ts'
import { channelsJobs, channelsSchedules } from './channels.ts'
import { documentsJobs, documentsSchedules } from './documents.ts'
import { financialJobs, financialSchedules } from './financial.ts'
import { fiscalJobs, fiscalSchedules } from './fiscal.ts'
import { guestsJobs, guestsSchedules } from './guests.ts'
import { inventoryJobs, inventorySchedules } from './inventory.ts'
import { issuesJobs, issuesSchedules } from './issues.ts'
import { jobsJobs, jobsSchedules } from './jobs.ts'
import { nightAuditJobs, nightAuditSchedules } from './night-audit.ts'
import { ocpJobs, ocpSchedules } from './ocp.ts'
import { paymentJobs, paymentSchedules } from './payment.ts'
import { propertiesJobs, propertiesSchedules } from './properties.ts'
import { reportsJobs, reportsSchedules } from './reports.ts'
import { reservationsJobs, reservationsSchedules } from './reservations.ts'
import { unitsJobs, unitsSchedules } from './units.ts'
import { webhooksJobs, webhooksSchedules } from './webhooks.ts'
import type { Job, Schedule } from './job.ts'

/** Every job that can be asked for. Boot fails when one of them lacks its processor. */
export const jobs: Job[] = [
  ...accountsPayableJobs,
  ...accountsReceivableJobs,
  ...adminJobs,
  ...authJobs,
  ...cashJobs,
  ...channelsJobs,
  ...documentsJobs,
  ...financialJobs,
  ...fiscalJobs,
  ...guestsJobs,
  ...inventoryJobs,
  ...issuesJobs,
  ...jobsJobs,
  ...nightAuditJobs,
  ...ocpJobs,
  ...paymentJobs,
  ...propertiesJobs,
  ...reportsJobs,
  ...reservationsJobs,
  ...unitsJobs,
  ...webhooksJobs,
]

/** Every job that comes by the clock. */
export const schedules: Schedule[] = [
  ...accountsPayableSchedules,
  ...accountsReceivableSchedules,
  ...adminSchedules,
  ...authSchedules,
  ...cashSchedules,
  ...channelsSchedules,
  ...documentsSchedules,
  ...financialSchedules,
  ...fiscalSchedules,
  ...guestsSchedules,
  ...inventorySchedules,
  ...issuesSchedules,
  ...jobsSchedules,
  ...nightAuditSchedules,
  ...ocpSchedules,
  ...paymentSchedules,
  ...propertiesSchedules,
  ...reportsSchedules,
  ...reservationsSchedules,
  ...unitsSchedules,
  ...webhooksSchedules,
]
