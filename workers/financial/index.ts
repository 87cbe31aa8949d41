import {
  carryOutIntegrityRun,
  postWaiting,
  requestIntegrityRuns,
  sweepPostings,
  sweepYears,
} from '../../db/financial/index.ts'
import {
  ledgerCheckIntegrity,
  ledgerEnsureYears,
  ledgerPost,
  ledgerSweepIntegrity,
  ledgerSweepPostings,
} from '../../jobs/financial.ts'
import { onDatabase, processor } from '../lib/processor.ts'

export const processors = [
  // Not one transaction: a batch that PostgreSQL refuses is repeated event by event.
  processor(ledgerPost, ({ payload, effect, finish }) => postWaiting(payload.bookId, effect, finish)),
  // The sweeps go through tenants; each ends its job in a transaction of its own.
  processor(ledgerSweepPostings, ({ effect }) => effect(sweepPostings)),
  processor(ledgerEnsureYears, ({ effect }) => effect(sweepYears)),
  processor(ledgerSweepIntegrity, ({ effect }) => effect(requestIntegrityRuns)),
  onDatabase(ledgerCheckIntegrity, (trx, { integrityRunId }) => carryOutIntegrityRun(trx, integrityRunId)),
]
