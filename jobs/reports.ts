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

/** Makes the runs of schedules whose time has come, or whose business day has closed. */
export const tickReportSchedules = job({
  name: 'reports.tick-schedules',
  queue: 'reports',
  payload: Obj({}),
  retry: 'tick',
})

/** Proves the facts of a property beside the records that they stand for. It repairs nothing. */
export const verifyFacts = job({
  name: 'reports.verify-facts',
  queue: 'maintenance',
  payload: Obj({ tenantId: Uuid, propertyId: Uuid }),
  retry: 'tick',
})

export const reportsJobs: Job[] = [runReport, expireReportFiles, tickReportSchedules, verifyFacts]
export const reportsSchedules: Schedule[] = [every(600, expireReportFiles), every(60, tickReportSchedules)]
