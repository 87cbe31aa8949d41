import { List, Matching, Obj, Uuid } from '../config/schema.ts'
import { daily, every, job } from './job.ts'
import type { Job, Schedule } from './job.ts'

/** Reads the file of a bank and keeps its lines. */
export const importStatementJob = job({
  name: 'reports.import-statement',
  queue: 'reports',
  payload: Obj({ tenantId: Uuid, bankStatementId: Uuid }),
  retry: 'internal',
  feature: 'financial',
})

/** Erases the files of statements that are 90 days old. */
export const eraseStatementFilesJob = job({
  name: 'maintenance.erase-statement-files',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

const ofAccount = Obj({ tenantId: Uuid, cashAccountId: Uuid })
const ofCharge = Obj({ tenantId: Uuid, pixChargeId: Uuid })
const ofTransfer = Obj({ tenantId: Uuid, cashTransferId: Uuid })
const ours = { queue: 'payments', retry: 'provider' } as const

/** Tells the bank where to call, and learns whether it takes the credentials. */
export const connectPixJob = job({ name: 'payments.connect-pix', ...ours, payload: ofAccount, feature: 'financial' })
/** The bank makes a charge. */
export const createPixChargeJob = job({
  name: 'payments.create-pix-charge',
  ...ours,
  payload: ofCharge,
  class: 'urgent',
  feature: 'financial',
})
/** The bank closes a charge that was withdrawn. */
export const cancelPixChargeJob = job({ name: 'payments.cancel-pix-charge', ...ours, payload: ofCharge })
/** The bank is asked about a charge whose time is over. */
export const expirePixChargeJob = job({ name: 'payments.expire-pix-charge', ...ours, payload: ofCharge, tries: 3 })
/** The bank is asked about money that it has called for. */
export const pullPixJob = job({
  name: 'payments.pull-pix',
  ...ours,
  payload: Obj({
    tenantId: Uuid,
    cashAccountId: Uuid,
    endToEndIds: List(Matching('^[A-Za-z0-9]{1,35}$', 35), { min: 1, max: 100 }),
  }),
  class: 'urgent',
})
/** All money since the last reading: what a callback did not tell. */
export const syncPixJob = job({ name: 'payments.sync-pix', ...ours, payload: ofAccount, tries: 3 })
/** An approved transfer leaves. */
export const sendTransferJob = job({ name: 'payments.send-transfer', ...ours, payload: ofTransfer })
/** The bank is asked what became of a transfer. */
export const readTransferJob = job({ name: 'payments.read-transfer', ...ours, payload: ofTransfer, tries: 3 })
/** A received Pix goes back. */
export const returnPixJob = job({
  name: 'payments.return-pix',
  ...ours,
  payload: Obj({ tenantId: Uuid, pixReturnId: Uuid }),
})
/** Makes the jobs of what is due of Pix. */
export const sweepPixJob = job({ name: 'payments.sweep-pix', queue: 'payments', payload: Obj({}), retry: 'tick' })

export const cashJobs: Job[] = [
  importStatementJob,
  eraseStatementFilesJob,
  connectPixJob,
  createPixChargeJob,
  cancelPixChargeJob,
  expirePixChargeJob,
  pullPixJob,
  syncPixJob,
  sendTransferJob,
  readTransferJob,
  returnPixJob,
  sweepPixJob,
]
export const cashSchedules: Schedule[] = [daily('03:35', eraseStatementFilesJob), every(15, sweepPixJob)]
