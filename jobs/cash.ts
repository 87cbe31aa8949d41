import { Obj, Uuid } from '../config/schema.ts'
import { daily, job } from './job.ts'
import type { Job, Schedule } from './job.ts'

/** Reads the file of a bank and keeps its lines. */
export const importStatementJob = job({
  name: 'reports.import-statement',
  queue: 'reports',
  payload: Obj({ tenantId: Uuid, bankStatementId: Uuid }),
  retry: 'internal',
})

/** Erases the files of statements that are 90 days old. */
export const eraseStatementFilesJob = job({
  name: 'maintenance.erase-statement-files',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

export const cashJobs: Job[] = [importStatementJob, eraseStatementFilesJob]
export const cashSchedules: Schedule[] = [daily('03:35', eraseStatementFilesJob)]
