import { Obj, Uuid } from '../config/schema.ts'
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

export const financialJobs: Job[] = [
  ledgerPost,
  ledgerSweepPostings,
  ledgerEnsureYears,
  ledgerCheckIntegrity,
  ledgerSweepIntegrity,
]

export const financialSchedules: Schedule[] = [
  every(15, ledgerSweepPostings),
  daily('00:40', ledgerEnsureYears),
  daily('03:40', ledgerSweepIntegrity),
]
