/** Figures frozen at the close of a day, and what is read from the ledger. Other modules and the edges import this file alone. */
export { dayTotals, snapshotDay } from './snapshot.ts'
export { markRates } from './exchange.ts'
export { readReport } from './read.ts'
export { runStatuses } from './models.ts'
export { enqueueVerification, verifyFacts } from './verify.ts'
export type { Chart, Column, FileRow, Meta, Reading, Sight } from './reading.ts'
export { report } from './registry.ts'
export { foldBooks } from './books.ts'
export { sumStayDays } from './stays.ts'
export { rightsOf } from './rights.ts'

export { announceRun, runSchedule, schedulesDue } from './schedule-runs.ts'
export { changeSchedule, createSchedule, deleteSchedule, listSchedules, readSchedule } from './schedules.ts'
export {
  beginRun,
  completeRun,
  expireRuns,
  failRun,
  keepPart,
  listRuns,
  narrowRun,
  openRunFile,
  readPart,
  readRun,
  startRun,
  tenantsWithRunsDue,
} from './runs.ts'
