import { unprocessable } from '../../../config/errors.ts'
import { localInstant, todayIn } from '../../../config/time.ts'
import { sendTransferJob } from '../../../jobs/cash.ts'
import { contextOf, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { changeRow, findRow } from '../../lib/records.ts'
import { unseal } from '../../lib/sealing/index.ts'
import { accountFacts } from '../facts.ts'
import { CashTransfer } from '../models.ts'
import type { PixSender } from '../sending.ts'
import { lockTransfer } from '../transfers/locks.ts'
import { keyAtBank, payeePlace } from '../transfers/request.ts'
import type { Payee } from '../transfers/request.ts'
import { beginSending, settleTransfer } from '../transfers/settle.ts'
import { can, connectionOf, gateOfPix, pixLine } from './connection.ts'
import type { PixLine } from './connection.ts'
import { nextRead } from './returns.ts'

/** Sends Pix through the connections of accounts. */
export const connectedSender: PixSender = {
  stateOf: async (trx, cashAccountId) => {
    const connection = await connectionOf(trx, cashAccountId)
    if (!connection || !can(connection, 'send')) return 'unsupported'
    return connection.status === 'active' ? 'ready' : 'not_ready'
  },
  send: async (trx, { transferId, on }) => {
    const transfer = await findRow(trx, CashTransfer, transferId)
    const connection = transfer ? await connectionOf(trx, transfer.fromAccountId) : null
    if (!transfer || !connection) throw unprocessable('pix_send_unsupported', 'The account cannot send a Pix')
    const { timeZone } = await accountFacts(trx, transfer.fromAccountId)
    const tenantId = contextOf(trx).tenantId ?? ''
    const start = on > todayIn(timeZone) ? localInstant(on, '00:00', timeZone) : undefined
    await enqueue(
      trx,
      sendTransferJob,
      { tenantId, cashTransferId: transferId },
      { uniqueKey: transferId, gate: gateOfPix(connection), ...(start ? { at: start } : {}) },
    )
  },
}

/** The facts that a worker needs to send a transfer or to read its outcome; null where nothing is to be asked. */
export type SendCall = {
  line: PixLine
  key: string
  amount: number
  payee: Payee | null
  /** Of a transfer between accounts of the house: a key of the one that gets it. */
  toKey: string | null
  text: string
  mode: 'send' | 'read'
}

const callOf = async (trx: Trx, id: string, mode: SendCall['mode']): Promise<SendCall | null> => {
  const transfer = await findRow(trx, CashTransfer, id)
  const line = transfer ? await pixLine(trx, transfer.fromAccountId) : null
  if (!transfer || !line) return null
  const goal = transfer.toAccountId === null ? null : await pixLineKey(trx, transfer.toAccountId)
  return {
    line,
    key: keyAtBank(id),
    amount: transfer.amount,
    payee: transfer.payee ? await unseal<Payee>(trx, 'tenant', payeePlace(id), transfer.payee) : null,
    toKey: goal,
    text: transfer.purpose,
    mode,
  }
}

const pixLineKey = async (trx: Trx, cashAccountId: string): Promise<string | null> =>
  (
    await sqlOne<{ value: string }>(
      trx,
      `select value from pix_key where tenant_id = ? and cash_account_id = ? order by created_at, id limit 1`,
      [contextOf(trx).tenantId, cashAccountId],
    )
  )?.value ?? null

/** Two minutes: so long a call may be under way before another worker asks what became of it. */
const underWayMs = 120_000

/** Marks an approved transfer as being sent; one that is being sent already is read, never sent again (R14). */
export const beginTransfer = async (trx: Trx, id: string): Promise<SendCall | null> => {
  const begun = await beginSendingNow(trx, id)
  if (begun === null) return null
  return callOf(trx, id, begun ? 'send' : 'read')
}

const beginSendingNow = async (trx: Trx, id: string): Promise<boolean | null> => {
  const begun = await beginSending(trx, id)
  const transfer = await findRow(trx, CashTransfer, id, ['status'])
  if (transfer?.status !== 'sending' && transfer?.status !== 'unknown') return null
  if (begun) await changeRow(trx, CashTransfer, id, { nextReadAt: new Date(Date.now() + underWayMs) })
  return begun
}

/** The bank was certainly not reached: the transfer waits as approved, to be sent. */
export const unsent = async (trx: Trx, id: string): Promise<void> => {
  const transfer = await lockTransfer(trx, id, null)
  if (transfer.status === 'sending') await changeRow(trx, CashTransfer, id, { status: 'approved', nextReadAt: null })
}

/** Applies the bank's word on a transfer. Without a usable word the transfer is read again on the schedule of R14. */
export const settleSent = async (
  trx: Trx,
  id: string,
  outcome:
    | { status: 'done'; endToEndId: string | null; fee: number; on: string }
    | { status: 'failed'; failure: { code: string; message: string } }
    | { status: 'pending' },
): Promise<void> => {
  if (outcome.status === 'done') return settleTransfer(trx, id, { ...outcome, status: 'completed' })
  if (outcome.status === 'failed') return settleTransfer(trx, id, outcome)
  const transfer = await lockTransfer(trx, id, null)
  if (transfer.status !== 'sending' && transfer.status !== 'unknown') return
  await settleTransfer(trx, id, { status: 'unknown', nextReadAt: nextRead(transfer.readCount) })
}

/** A transfer whose reading is due, taken off its schedule for two minutes. */
export const transferToRead = (trx: Trx, id: string): Promise<{ cashAccountId: string } | null> =>
  sqlOne<{ cashAccountId: string }>(
    trx,
    `update cash_transfer set next_read_at = now() + interval '2 minutes' where tenant_id = ? and id = ? and next_read_at <= now()
       and status in ('sending', 'unknown') returning from_account_id as cash_account_id`,
    [contextOf(trx).tenantId, id],
  )
