import { receiptRefunded, receiptRefundFailed } from '../../../config/events/receipts.ts'
import type { BookedMovement, PixReturnAnswer, TransferOutcome } from '../../cash/index.ts'
import { bookOf, todayOf } from '../../documents/index.ts'
import { firstOpenDay, postingEventOf, raisePosting } from '../../financial/index.ts'
import { contextOf, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { changeRow, findRow } from '../../lib/records.ts'
import { tellOverReturned } from '../../payment/index.ts'
import { ReceiptRefund } from './models.ts'
import type { ReceiptRecord, RefundFailure, RefundRecord } from './models.ts'
import { lockReceipt, partyOf, tellReceipt } from './state.ts'

/** The end of a refund. An unknown outcome keeps the reservation: nothing is said here. */
export type RefundEnd =
  | { status: 'succeeded'; movement: Pick<BookedMovement, 'movementId' | 'bookedOn' | 'ledgerAccountId'> }
  | { status: 'failed'; failure: RefundFailure }

const changed = async (trx: Trx, id: string, column: 'refunded' | 'refund_reserved', by: number) => {
  const row = await sqlOne<ReceiptRecord>(
    trx,
    `update receipt set ?? = ?? + ?, version = version + 1 where tenant_id = ? and id = ? returning *`,
    [column, column, by, contextOf(trx).tenantId, id],
  )
  if (!row) throw new Error('the receipt is gone')
  return row
}

/** Ends a refund: its money has gone, or the amount is available again. The caller holds the receipt. */
export const refundEnded = async (
  trx: Trx,
  receipt: ReceiptRecord,
  refund: RefundRecord,
  end: RefundEnd,
): Promise<void> => {
  const { id, amount } = refund
  if (end.status === 'succeeded') {
    const { movementId, bookedOn, ledgerAccountId } = end.movement
    await changeRow(trx, ReceiptRefund, id, { status: 'succeeded', endedOn: bookedOn, cashMovementId: movementId })
    await tellReceipt(trx, receiptRefunded, await changed(trx, receipt.id, 'refunded', amount), { amount })
    await raisePosting(trx, {
      event: 'accounts-receivable.receipt_refunded',
      source: { id },
      bookId: receipt.bookId,
      postingDate: bookedOn,
      payload: {
        amounts: { amount },
        accounts: { money: ledgerAccountId },
        documents: { refund: id },
        ...partyOf(receipt.customerId),
      },
    })
    return
  }
  const today = todayOf(await bookOf(trx, { bookId: receipt.bookId }))
  const day = await firstOpenDay(trx, { bookId: receipt.bookId }, today)
  await changeRow(trx, ReceiptRefund, id, { status: 'failed', endedOn: day, failure: end.failure })
  const after = await changed(trx, receipt.id, 'refund_reserved', -amount)
  await tellReceipt(trx, receiptRefundFailed, after, { amount })
  if (receipt.overReturned > 0) await tellOverReturned(trx, 'receipt', after)
  const reversesEventId = await postingEventOf(trx, 'accounts-receivable.receipt_refund_requested', { id })
  if (reversesEventId === null) throw new Error('the refund was never posted')
  await raisePosting(trx, {
    event: 'accounts-receivable.receipt_refund_failed',
    source: { id },
    bookId: receipt.bookId,
    postingDate: day,
    reversesEventId,
  })
}

/**
 * The outcome of a refund, in the transaction in which the bank's is known: for Cash, of a Pix that was to be returned. An answer that comes twice changes
 * nothing.
 */
const refundAnswered = async (trx: Trx, refundId: string, end: RefundEnd): Promise<void> => {
  const seen = await findRow(trx, ReceiptRefund, refundId)
  if (!seen) throw new Error(`there is no refund ${refundId}`)
  const receipt = await lockReceipt(trx, seen.receiptId)
  const refund = await findRow(trx, ReceiptRefund, refundId)
  if (refund?.status === 'requested') await refundEnded(trx, receipt, refund, end)
}

/** The end of a refund that the bank sends back as a Pix. */
export const receiptRefundByPix: PixReturnAnswer = {
  hold: async (trx, refundId) => {
    const refund = await findRow(trx, ReceiptRefund, refundId)
    if (!refund) throw new Error(`there is no refund ${refundId}`)
    await lockReceipt(trx, refund.receiptId)
  },
  end: refundAnswered,
}

/** The end of the transfer of a refund, in its own transaction. */
export const refundTransferEnded = (trx: Trx, outcome: TransferOutcome): Promise<void> =>
  refundAnswered(
    trx,
    outcome.sourceId,
    outcome.status === 'completed'
      ? { status: 'succeeded', movement: outcome }
      : {
          status: 'failed',
          failure:
            outcome.status === 'failed'
              ? outcome.failure
              : { code: 'cancelled', message: 'the transfer was cancelled' },
        },
  )
