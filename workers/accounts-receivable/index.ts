import { billMonth, requestMonthly, tellOverdue } from '../../db/accounts-receivable/index.ts'
import * as jobs from '../../jobs/accounts-receivable.ts'
import { onDatabase } from '../lib/processor.ts'
import type { Processor } from '../lib/processor.ts'

export const processors: readonly Processor[] = [
  onDatabase(jobs.ledgerTickReceivables, async (trx, { bookId, date }) => {
    await requestMonthly(trx, bookId, date)
    await tellOverdue(trx, bookId, date)
  }),
  onDatabase(jobs.ledgerBillStays, billMonth),
]
