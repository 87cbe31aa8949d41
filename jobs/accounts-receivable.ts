import { Day, Obj, Uuid } from '../config/schema.ts'
import { job } from './job.ts'
import type { Job, Schedule } from './job.ts'

/** The daily work of a book with its customers: asks for monthly invoices, and tells of what has become overdue. */
export const ledgerTickReceivables = job({
  name: 'ledger.tick-receivables',
  queue: 'ledger',
  payload: Obj({ tenantId: Uuid, bookId: Uuid, date: Day }),
  retry: 'internal',
  feature: 'financial',
})

/** Bills the stays of a customer that departed before a day as one invoice. */
export const ledgerBillStays = job({
  name: 'ledger.bill-stays',
  queue: 'ledger',
  payload: Obj({ tenantId: Uuid, customerId: Uuid, bookId: Uuid, date: Day }),
  retry: 'internal',
  feature: 'financial',
})

export const accountsReceivableJobs: Job[] = [ledgerTickReceivables, ledgerBillStays]
export const accountsReceivableSchedules: Schedule[] = []
