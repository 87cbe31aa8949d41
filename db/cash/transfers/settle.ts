import {
  cashTransferAttentionNeeded,
  cashTransferCompleted,
  cashTransferFailed,
  cashTransferOutcomeUnknown,
} from '../../../config/events/cash.ts'
import type { MovementKind } from '../../../config/cash.ts'
import { moneyWithCode } from '../../../config/minor-units.ts'
import { accountFor, raisePosting } from '../../financial/index.ts'
import { lifecycle } from '../../lib/lifecycle.ts'
import type { Trx } from '../../lib/connection.ts'
import { changeRow, readRow } from '../../lib/records.ts'
import { noticeRoles } from '../../ocp/index.ts'
import type { TransferStatus } from '../../../config/cash.ts'
import { answerTransfer } from '../answers.ts'
import { accountFacts } from '../facts.ts'
import type { AccountFacts } from '../facts.ts'
import { CashAccount, CashTransfer } from '../models.ts'
import type { TransferFailure, TransferRecord } from '../models.ts'
import { bookMovement, dayOfBooking } from '../movements.ts'
import { placeOf } from '../postings.ts'
import { bookLegs } from './legs.ts'
import { lockTransfer } from './locks.ts'
import { transferById } from './request.ts'
import type { TransferSource } from './request.ts'
import { tellTransfer } from './tell.ts'

const moves = lifecycle<TransferStatus>('A transfer')({
  sent: { from: ['approved'], to: 'sending' },
  answered: { from: ['sending', 'unknown'] },
})

/** The bank's word on an outgoing Pix, or its silence. */
export type SendingOutcome =
  | { status: 'completed'; endToEndId: string | null; fee: number; on: string }
  | { status: 'failed'; failure: TransferFailure }
  | { status: 'unknown'; nextReadAt: Date | null }

/** Marks an approved transfer as being sent, before the call. False where it is sent already, or withdrawn. */
export const beginSending = async (trx: Trx, id: string): Promise<boolean> => {
  const transfer = await lockTransfer(trx, id, null)
  if (transfer.status !== 'approved' || !moves.isDue('sent', transfer.status)) return false
  await changeRow(trx, CashTransfer, id, { status: 'sending' })
  return true
}

const kinds: Record<TransferSource, Exclude<MovementKind, 'reversal'>> = {
  payable_payment_item: 'payable_payment',
  receipt_refund: 'receipt_refund',
}

const postPaid = (
  trx: Trx,
  transfer: TransferRecord,
  account: AccountFacts,
  day: string,
  { amount, accountId }: { amount: number; accountId: string },
) =>
  raisePosting(trx, {
    event: 'cash.transfer_paid',
    source: { id: transfer.id },
    ...placeOf(account),
    postingDate: day,
    payload: {
      amounts: { amount, fee: transfer.fee },
      accounts: { from: account.ledgerAccountId, account: accountId },
      documents: { transfer: transfer.id },
      ...(transfer.costCenterId === null ? {} : { costCenterId: transfer.costCenterId }),
      memo: transfer.purpose,
    },
  })

const ofTransfer = ({ id, endToEndId }: TransferRecord, account: AccountFacts) => ({
  cashAccountId: account.id,
  kind: 'transfer' as const,
  source: { type: 'transfer', id },
  transferId: id,
  endToEndId,
})

/** Fee that the bank keeps for a transfer that another module has asked for: a movement of its own, which no document of that module explains. */
const bookFee = async (trx: Trx, transfer: TransferRecord, account: AccountFacts, day: string): Promise<void> => {
  if (transfer.fee === 0) return
  const description = `Fee: ${transfer.purpose}`.slice(0, 300)
  await bookMovement(
    trx,
    account,
    { ...ofTransfer(transfer, account), endToEndId: null, amount: -transfer.fee, description },
    day,
  )
  const accountId = await accountFor(trx, account.bookId, 'bank_fees')
  await postPaid(trx, transfer, account, day, { amount: 0, accountId })
}

/** The money that left for a payee: posted here, or by the module that asked. */
const bookSent = async (trx: Trx, transfer: TransferRecord, account: AccountFacts, day: string): Promise<void> => {
  const { sourceType, sourceId, purpose: description } = transfer
  if (sourceType === null || sourceId === null) {
    const amount = -(transfer.amount + transfer.fee)
    await bookMovement(trx, account, { ...ofTransfer(transfer, account), amount, description }, day)
    await postPaid(trx, transfer, account, day, { amount: transfer.amount, accountId: transfer.accountId ?? '' })
    return
  }
  const source = sourceType as TransferSource
  const booked = await bookMovement(
    trx,
    account,
    {
      ...ofTransfer(transfer, account),
      amount: -transfer.amount,
      kind: kinds[source],
      source: { type: source, id: sourceId },
      description,
    },
    day,
  )
  await bookFee(trx, transfer, account, day)
  await answerTransfer(trx, source, {
    transferId: transfer.id,
    sourceId,
    status: 'completed',
    amount: transfer.amount,
    fee: transfer.fee,
    currency: transfer.currency,
    movementId: booked.movementId,
    ledgerAccountId: account.ledgerAccountId,
    bookId: account.bookId,
    bookedOn: day,
    endToEndId: transfer.endToEndId,
  })
}

const complete = async (
  trx: Trx,
  transfer: TransferRecord,
  { endToEndId, fee, on }: Extract<SendingOutcome, { status: 'completed' }>,
): Promise<void> => {
  const from = await accountFacts(trx, transfer.fromAccountId)
  const day = await dayOfBooking(trx, from, { bookedOn: on, fromOutside: true })
  const sent = { status: 'completed' as const, endToEndId, fee, sentOn: day, receivedOn: day, nextReadAt: null }
  await changeRow(trx, CashTransfer, transfer.id, sent)
  const done = await transferById(trx, transfer.id)
  await tellTransfer(trx, cashTransferCompleted, done)
  if (done.toAccountId === null) return bookSent(trx, done, from, day)
  const to = await accountFacts(trx, done.toAccountId)
  await bookLegs(trx, done, { out: { account: from, day }, in: { account: to, day } })
}

/** The bank has not said for days what became of a transfer: a person asks it. */
const askForHelp = async (trx: Trx, transfer: TransferRecord): Promise<void> => {
  await tellTransfer(trx, cashTransferAttentionNeeded, transfer)
  const { code } = await readRow(trx, CashAccount, transfer.fromAccountId, ['code'])
  await noticeRoles(trx, ['owner', 'finance'], {
    kind: 'transfer_attention',
    reference: `cash_transfer ${transfer.id}`,
    key: code,
    money: moneyWithCode(transfer.amount, transfer.currency),
  })
}

/**
 * Writes what the bank has said of a transfer that was sent (R14): only its clear no is a failure, no usable answer is unknown and read again. An answer that
 * comes twice changes nothing. The document that asked hears of the end in this transaction.
 */
export const settleTransfer = async (trx: Trx, id: string, outcome: SendingOutcome): Promise<void> => {
  const transfer = await lockTransfer(trx, id, null)
  if (transfer.status === 'completed' || transfer.status === 'failed') return
  moves.allow('answered', transfer.status)
  if (outcome.status === 'completed') return complete(trx, transfer, outcome)
  if (outcome.status === 'unknown') {
    const { nextReadAt } = outcome
    await changeRow(trx, CashTransfer, id, { status: 'unknown', nextReadAt, readCount: transfer.readCount + 1 })
    const now = await transferById(trx, id)
    if (transfer.status === 'sending') await tellTransfer(trx, cashTransferOutcomeUnknown, now)
    if (nextReadAt === null) await askForHelp(trx, now)
    return undefined
  }
  await changeRow(trx, CashTransfer, id, { status: 'failed', failure: outcome.failure, nextReadAt: null })
  await tellTransfer(trx, cashTransferFailed, await transferById(trx, id))
  if (transfer.sourceType !== null && transfer.sourceId !== null)
    await answerTransfer(trx, transfer.sourceType as TransferSource, {
      transferId: id,
      sourceId: transfer.sourceId,
      status: 'failed',
      failure: outcome.failure,
    })
}
