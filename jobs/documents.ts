import { Obj, OneOf, Uuid } from '../config/schema.ts'
import { job } from './job.ts'
import type { Job, Schedule } from './job.ts'

/** Records that are given numbers of a series without gaps. */
export const numberedEntities = ['receivable', 'credit_note', 'receipt', 'cash_session', 'fiscal_document'] as const
export type NumberedEntity = (typeof numberedEntities)[number]

/** Gives a record its number as the last step of a short transaction: a series is locked for one statement. */
export const ledgerAssignNumber = job({
  name: 'ledger.assign-number',
  queue: 'ledger',
  payload: Obj({ tenantId: Uuid, entity: OneOf([...numberedEntities]), id: Uuid }),
  retry: 'internal',
})

export const documentsJobs: Job[] = [ledgerAssignNumber]
export const documentsSchedules: Schedule[] = []
