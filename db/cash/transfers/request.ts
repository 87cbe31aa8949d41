import { randomUUID } from 'node:crypto'
import { notFound, unprocessable } from '../../../config/errors.ts'
import { cashTransferApproved, cashTransferRequested } from '../../../config/events/cash.ts'
import { todayIn } from '../../../config/time.ts'
import { authorOf } from '../../lib/authors.ts'
import type { Trx } from '../../lib/connection.ts'
import { expression, findRow, insertRow } from '../../lib/records.ts'
import { seal } from '../../lib/sealing/index.ts'
import { accountFacts } from '../facts.ts'
import type { AccountFacts } from '../facts.ts'
import { CashTransfer } from '../models.ts'
import { pixSender } from '../sending.ts'
import { tellTransfer } from './tell.ts'

/** The destination of an outgoing Pix. `name` and `document` are shown to the approver. Personal data, sealed. */
export type Payee = (
  | { keyType: 'cpf' | 'cnpj' | 'email' | 'phone' | 'random'; key: string }
  | { brCode: string }
  | { ispb: string; branch: string; number: string; accountType: 'checking' | 'savings' | 'payment' }
) & { name?: string; document?: string }

/** The documents of other modules that ask for a transfer, and hear of its end. */
export type TransferSource = 'payable_payment_item' | 'receipt_refund'

export type TransferRequest = {
  fromAccountId: string
  payee: Payee
  /** Minor units, more than 0. */
  amount: number
  currency: string
  /** For people to read, 1 to 140 characters. */
  purpose: string
  /** The day on which it leaves, today to 365 days ahead; today unless said. */
  scheduledOn?: string
  source: { type: TransferSource; id: string }
  /** Of a document that is approved in its own module: who wrote and who approved it. */
  approval?: { requestedBy: string; approvedBy: string; selfApproved: boolean }
}

/** The id under which the bank knows a transfer. */
export const keyAtBank = (transferId: string): string => transferId.replaceAll('-', '')

export const payeePlace = (rowId: string) => ({ table: 'cash_transfer', rowId, purpose: 'payee' })

/** A bank account in reais whose connection sends Pix. 422 `pix_not_ready`, `pix_send_unsupported`, `currency_mismatch`. */
export const expectSender = async (trx: Trx, account: AccountFacts): Promise<void> => {
  if (account.currency !== 'BRL') throw unprocessable('currency_mismatch', 'A Pix is sent in BRL')
  const state = account.kind === 'bank' ? await pixSender().stateOf(trx, account.id) : 'unsupported'
  if (state === 'unsupported') throw unprocessable('pix_send_unsupported', 'The account cannot send a Pix')
  if (state === 'not_ready') throw unprocessable('pix_not_ready', 'The Pix connection of the account is not ready')
}

/** The day on which a transfer leaves. 422 `date_out_of_range`. */
export const scheduledDay = (account: AccountFacts, wanted: string | undefined): string => {
  const today = todayIn(account.timeZone)
  const day = wanted ?? today
  const last = new Date(Date.parse(today) + 365 * 86_400_000).toISOString().slice(0, 10)
  if (day < today || day > last)
    throw unprocessable('date_out_of_range', 'A transfer leaves within a year', [
      { field: 'scheduledOn', message: `must lie between ${today} and ${last}` },
    ])
  return day
}

/**
 * Asks for money to be sent by Pix for a document of another module; nothing moves yet. With `approval` it leaves on its day, without it waits for an
 * approver here. The same source answers the transfer that stands. The outcome reaches the module by `registerTransferAnswers`.
 *
 * Throws 404; 422 `account_archived`, `currency_mismatch`, `pix_not_ready`, `pix_send_unsupported`, `date_out_of_range`.
 */
export const requestTransfer = async (trx: Trx, request: TransferRequest): Promise<{ transferId: string }> => {
  const { source, payee, approval } = request
  const known = await findRow(trx, CashTransfer, { sourceType: source.type, sourceId: source.id })
  if (known) return { transferId: known.id }
  const account = await accountFacts(trx, request.fromAccountId)
  if (request.currency !== account.currency)
    throw unprocessable('currency_mismatch', `The cash account holds ${account.currency}`)
  await expectSender(trx, account)
  const id = randomUUID()
  const row = await insertRow(trx, CashTransfer, {
    id,
    bookId: account.bookId,
    propertyId: account.propertyId,
    fromAccountId: account.id,
    payee: await seal(trx, 'tenant', payeePlace(id), payee),
    method: 'pix',
    amount: request.amount,
    currency: account.currency,
    purpose: request.purpose,
    scheduledOn: scheduledDay(account, request.scheduledOn),
    status: approval ? 'approved' : 'pending_approval',
    sourceType: source.type,
    sourceId: source.id,
    requestedBy: approval?.requestedBy ?? (await authorOf(trx)),
    ...(approval
      ? { approvedBy: approval.approvedBy, selfApproved: approval.selfApproved, approvedAt: expression('now()') }
      : {}),
  })
  await tellTransfer(trx, cashTransferRequested, row)
  if (approval) {
    await tellTransfer(trx, cashTransferApproved, row)
    await pixSender().send(trx, { transferId: id, on: row.scheduledOn ?? todayIn(account.timeZone) })
  }
  return { transferId: id }
}

/** A transfer as a record; 404. */
export const transferById = async (trx: Trx, id: string) => {
  const row = await findRow(trx, CashTransfer, id)
  if (!row) throw notFound('No such transfer')
  return row
}
