import type { PixModules } from '../../cash/index.ts'
import { lateChargesOf } from '../rules/late-charges.ts'
import { bankReturned } from './bank-returned.ts'
import { recordReceipt } from './heard.ts'

/** Fine and interest that a charge asked for on the day on which it was paid. */
const lateOf: (due: Parameters<PixModules['receipt']>[1]['due']) => number = (due) => {
  if (due === null) return 0
  const { amount: open, dueOn, paidOn, ...rates } = due
  const { fine, interest } = lateChargesOf({ open, dueOn }, rates, paidOn)
  return fine + interest
}

/** Money by Pix that no guest was asked for: a receipt, allocated to what it was asked for, else to be identified. */
export const receiptOfPix: PixModules['receipt'] = (
  trx,
  { pixReceiptId, bookId, currency, amount, reference, payer, target, due, book },
) =>
  recordReceipt(trx, {
    sourceType: 'pix',
    sourceId: pixReceiptId,
    method: 'pix',
    bookId,
    currency,
    amount,
    receivableId: target?.targetType === 'receivable' ? target.targetId : null,
    installmentId: target?.installmentId ?? null,
    late: lateOf(due),
    reference,
    payer,
    book,
  })

/** Applies a return that the bank made by itself. */
export const receiptTakenBack: PixModules['takenBack']['receipt'] = async (
  trx,
  { pixReceiptId, amount, reason, book },
) => {
  const back = await bankReturned(trx, { sourceType: 'pix', sourceId: pixReceiptId, amount, reason, book })
  return back ? { id: back.refundId } : null
}
