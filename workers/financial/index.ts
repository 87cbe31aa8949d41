import {
  carryOutAssessment,
  carryOutIntegrityRun,
  carryOutYearClose,
  entryFilesToErase,
  eraseEntryFiles,
  postWaiting,
  requestIntegrityRuns,
  runDue,
  sealNext,
  sweepPostings,
  sweepYears,
  tickBooks,
} from '../../db/financial/index.ts'
import { inTenant } from '../../db/lib/connection.ts'
import {
  eraseEntryFilesJob,
  ledgerAssessTaxes,
  ledgerCheckIntegrity,
  ledgerCloseYear,
  ledgerEnsureYears,
  ledgerPost,
  ledgerRunDue,
  ledgerSeal,
  ledgerSweepIntegrity,
  ledgerSweepPostings,
  ledgerTickBooks,
} from '../../jobs/financial.ts'
import { erasing } from '../lib/erasing.ts'
import { onDatabase, processor } from '../lib/processor.ts'

export const processors = [
  // Not one transaction: a batch that PostgreSQL refuses is repeated event by event.
  processor(ledgerPost, ({ payload, effect, finish }) => postWaiting(payload.bookId, effect, finish)),
  // The sweeps go through tenants; each ends its job in a transaction of its own.
  processor(ledgerSweepPostings, ({ effect }) => effect(sweepPostings)),
  processor(ledgerEnsureYears, ({ effect }) => effect(sweepYears)),
  processor(ledgerSweepIntegrity, ({ effect }) => effect(requestIntegrityRuns)),
  processor(ledgerCheckIntegrity, ({ payload: { tenantId, integrityRunId }, effect, finish }) =>
    carryOutIntegrityRun(integrityRunId, {
      begin: effect,
      look: (work) => inTenant(tenantId, work, {}, { isolation: 'repeatable read', readOnly: true }),
      end: finish,
    }),
  ),
  onDatabase(ledgerAssessTaxes, (trx, { periodId }) => carryOutAssessment(trx, periodId)),
  processor(ledgerSeal, async ({ payload: { bookId }, effect, finish, signal }) => {
    while (!signal.aborted && (await effect((trx) => sealNext(trx, bookId)))) {
      // The next thousand.
    }
    if (!signal.aborted) await finish()
  }),
  onDatabase(ledgerCloseYear, (trx, { fiscalYearId, closeRun }) => carryOutYearClose(trx, fiscalYearId, closeRun)),
  processor(ledgerTickBooks, ({ effect }) => effect(tickBooks)),
  erasing(eraseEntryFilesJob, entryFilesToErase, eraseEntryFiles),
  processor(ledgerRunDue, ({ payload: { bookId, date }, effect, signal }) => runDue(bookId, date, effect, signal)),
]
