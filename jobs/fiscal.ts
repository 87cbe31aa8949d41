import { Obj, OneOf, Uuid } from '../config/schema.ts'
import { daily, every, job } from './job.ts'
import type { Job, Schedule } from './job.ts'

const ofDocument = Obj({ tenantId: Uuid, fiscalDocumentId: Uuid })
const ours = { queue: 'payments', retry: 'provider' } as const

/** Gives a fiscal document its number and sends it to the authority. */
export const sendFiscal = job({ name: 'payments.send-fiscal', ...ours, payload: ofDocument })
/** Asks the authority what became of a document. */
export const readFiscal = job({ name: 'payments.read-fiscal', ...ours, payload: ofDocument, tries: 3 })
/** Asks the authority to cancel a document. */
export const cancelFiscal = job({ name: 'payments.cancel-fiscal', ...ours, payload: ofDocument })
/** Makes the jobs of documents that are due to be read. */
export const sweepFiscal = job({ name: 'payments.sweep-fiscal', queue: 'payments', payload: Obj({}), retry: 'tick' })
/** Requests the document of what was issued, or of a folio that was closed, where the book does so by itself. */
export const requestFiscal = job({
  name: 'payments.request-fiscal',
  queue: 'payments',
  payload: Obj({ tenantId: Uuid, source: OneOf(['receivable', 'folio']), id: Uuid }),
  retry: 'internal',
  feature: 'financial',
})

/** Plans the reminders of a run, and asks for their messages. */
export const runDunning = job({
  name: 'messages.run-dunning',
  queue: 'messages',
  payload: Obj({ tenantId: Uuid, dunningRunId: Uuid }),
  retry: 'internal',
  feature: 'financial',
})
/** Asks for the messages that carry an invoice, once the Pix codes that it waits for are there. */
export const sendReceivable = job({
  name: 'messages.send-receivable',
  queue: 'messages',
  payload: Obj({ tenantId: Uuid, receivableId: Uuid, sendingId: Uuid }),
  retry: 'internal',
  feature: 'financial',
})
/** Starts the reminders of books whose hour has come. */
export const tickDunning = job({
  name: 'maintenance.tick-dunning',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

/** Takes what names a person out of fiscal documents that are eleven years old, and off erased customers without a later document. */
export const eraseFiscalJob = job({
  name: 'maintenance.erase-fiscal',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

export const fiscalJobs: Job[] = [
  sendFiscal,
  readFiscal,
  cancelFiscal,
  sweepFiscal,
  requestFiscal,
  runDunning,
  sendReceivable,
  tickDunning,
  eraseFiscalJob,
]
export const fiscalSchedules: Schedule[] = [
  every(15, sweepFiscal),
  every(3_600, tickDunning),
  daily('03:50', eraseFiscalJob),
]
