import { Day, Int, Obj, Uuid } from '../config/schema.ts'
import { daily, every, job } from './job.ts'
import type { Job, Schedule } from './job.ts'

/** Turns the waiting events of a book into entries, until none is left. */
export const ledgerPost = job({
  name: 'ledger.post',
  queue: 'ledger',
  payload: Obj({ tenantId: Uuid, bookId: Uuid }),
  retry: 'internal',
})

/** Makes one ledger.post for each book with events that are due: what failed, and what a lost job left behind. */
export const ledgerSweepPostings = job({
  name: 'ledger.sweep-postings',
  queue: 'ledger',
  payload: Obj({}),
  retry: 'tick',
})

/** Makes the next fiscal year of each book whose last one ends within 60 days. */
export const ledgerEnsureYears = job({ name: 'ledger.ensure-years', queue: 'ledger', payload: Obj({}), retry: 'tick' })

/** Runs the checks of one integrity run. */
export const ledgerCheckIntegrity = job({
  name: 'ledger.check-integrity',
  queue: 'ledger',
  payload: Obj({ tenantId: Uuid, integrityRunId: Uuid }),
  retry: 'internal',
  class: 'bulk',
})

/** Starts an integrity run in every active book, nightly. */
export const ledgerSweepIntegrity = job({
  name: 'ledger.sweep-integrity',
  queue: 'ledger',
  payload: Obj({}),
  retry: 'tick',
})

/** Assesses the taxes on the revenue of a period that has soft-closed, and after each late entry. Ends by asking for its numbers. */
export const ledgerAssessTaxes = job({
  name: 'ledger.assess-taxes',
  queue: 'ledger',
  payload: Obj({ tenantId: Uuid, bookId: Uuid, periodId: Uuid }),
  retry: 'internal',
})

/** Numbers and seals the entries of closed periods, a thousand in each transaction. */
export const ledgerSeal = job({
  name: 'ledger.seal',
  queue: 'ledger',
  payload: Obj({ tenantId: Uuid, bookId: Uuid, periodId: Uuid }),
  retry: 'internal',
})

/** Carries the result of a year to equity, and closes it. */
export const ledgerCloseYear = job({
  name: 'ledger.close-year',
  queue: 'ledger',
  payload: Obj({ tenantId: Uuid, fiscalYearId: Uuid, closeRun: Int(1, 2_147_483_647) }),
  retry: 'internal',
})

/** Asks for the daily work of each book in whose zone a new day has begun. */
export const ledgerTickBooks = job({ name: 'ledger.tick-books', queue: 'ledger', payload: Obj({}), retry: 'tick' })

/** Posts what is due in a book up to a day: recurring entries, accruals, and reversals of entries that said when. */
export const ledgerRunDue = job({
  name: 'ledger.run-due',
  queue: 'ledger',
  payload: Obj({ tenantId: Uuid, bookId: Uuid, date: Day }),
  retry: 'internal',
  feature: 'financial',
})

/** Erases the files of entries that were posted five years ago. */
export const eraseEntryFilesJob = job({
  name: 'maintenance.erase-entry-files',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

export const financialJobs: Job[] = [
  ledgerPost,
  ledgerSweepPostings,
  ledgerEnsureYears,
  ledgerCheckIntegrity,
  ledgerSweepIntegrity,
  ledgerAssessTaxes,
  ledgerSeal,
  ledgerCloseYear,
  ledgerTickBooks,
  ledgerRunDue,
  eraseEntryFilesJob,
]

export const financialSchedules: Schedule[] = [
  every(15, ledgerSweepPostings),
  daily('00:40', ledgerEnsureYears),
  every(3600, ledgerTickBooks),
  daily('03:40', ledgerSweepIntegrity),
  daily('03:54', eraseEntryFilesJob),
]
