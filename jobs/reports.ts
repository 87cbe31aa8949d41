import { Obj, Uuid } from '../config/schema.ts'
import { every, job } from './job.ts'
import type { Job, Schedule } from './job.ts'

/** Makes the file of a run. */
export const runReport = job({
  name: 'reports.run',
  queue: 'reports',
  payload: Obj({ tenantId: Uuid, reportRunId: Uuid }),
  retry: 'report',
})

/** Deletes files after 30 days and runs after a year, and ends runs that were lost. */
export const expireReportFiles = job({
  name: 'reports.expire-files',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

export const reportsJobs: Job[] = [runReport, expireReportFiles]
export const reportsSchedules: Schedule[] = [every(600, expireReportFiles)]
