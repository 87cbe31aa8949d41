import { Day, Obj, Uuid } from '../config/schema.ts'
import { daily, every, job } from './job.ts'
import type { Job, Schedule } from './job.ts'

const ofBook = Obj({ tenantId: Uuid, bookId: Uuid, date: Day })

/** Hands the items of an approved Pix payment to the bank on their day, each as one transfer. */
export const startPayment = job({
  name: 'payments.start-payment',
  queue: 'payments',
  payload: Obj({ tenantId: Uuid, payablePaymentId: Uuid }),
  retry: 'internal',
  feature: 'financial',
})

/** Starts payments whose day has come and whose job was lost. */
export const sweepPayments = job({
  name: 'payments.sweep-payable-payments',
  queue: 'payments',
  payload: Obj({}),
  retry: 'tick',
})

/** Makes the bills that recur in a book and are due soon. */
export const ledgerGenerateRecurring = job({
  name: 'ledger.generate-recurring',
  queue: 'ledger',
  payload: ofBook,
  retry: 'internal',
  feature: 'financial',
})

/** Makes one draft per tax of what was withheld in months that are over. */
export const ledgerCollectWithholdings = job({
  name: 'ledger.collect-withholdings',
  queue: 'ledger',
  payload: ofBook,
  retry: 'internal',
  feature: 'financial',
})

/** Tells of installments of bills that are due in three days, or have become overdue. */
export const ledgerNoticePayables = job({
  name: 'ledger.notice-payables-due',
  queue: 'ledger',
  payload: ofBook,
  retry: 'internal',
  feature: 'financial',
})

/** Erases the files of bills that were settled or voided five years ago. */
export const eraseBillFilesJob = job({
  name: 'maintenance.erase-bill-files',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

export const accountsPayableJobs: Job[] = [
  startPayment,
  sweepPayments,
  ledgerGenerateRecurring,
  ledgerCollectWithholdings,
  ledgerNoticePayables,
  eraseBillFilesJob,
]
export const accountsPayableSchedules: Schedule[] = [every(3600, sweepPayments), daily('03:52', eraseBillFilesJob)]
