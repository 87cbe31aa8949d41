import { randomUUID } from 'node:crypto'
import { invalid, unprocessable } from '../../../config/errors.ts'
import { receiptRefundRequested } from '../../../config/events/receipts.ts'
import { pixReturnDays } from '../../../config/receipts.ts'
import type { ReceiptRefundWay } from '../../../config/receipts.ts'
import { addDays } from '../../../config/time.ts'
import { accountFacts, recordMovement, requestPixReturn, requestTransfer } from '../../cash/index.ts'
import type { AccountFacts, Payee } from '../../cash/index.ts'
import { bookOf, todayAfter } from '../../documents/index.ts'
import { assertOpen, businessDay, raisePosting } from '../../financial/index.ts'
import { tellOverReturned } from '../../payment/index.ts'
import { authorOf } from '../../lib/authors.ts'
import { contextOf, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { changeRow, insertRow, readRow } from '../../lib/records.ts'
import { Receipt, ReceiptRefund } from './models.ts'
import type { ReceiptRecord, RefundRecord } from './models.ts'
import type { Judge } from './plan.ts'
import { refundEnded } from './refund-outcome.ts'
import { lockReceipt, partyOf, receiptMoves, refuseManaged, tellReceipt } from './state.ts'

export type GivenRefund = {
  /** All that is available unless said. Minor units. */
  amount?: number | undefined
  via: ReceiptRefundWay
  /** The account that the money leaves; the one that took it unless said. */
  cashAccountId?: string | undefined
  payee?: Payee | undefined
  reason: string
}

/** The account that the money leaves, and its business day where it is a register. */
const accountOf = async (
  trx: Trx,
  receipt: ReceiptRecord,
  given: GivenRefund,
): Promise<{ account: AccountFacts | null; day: string | null }> => {
  const { via, cashAccountId, payee } = given
  if ((via === 'transfer') !== (payee !== undefined))
    throw invalid([
      { field: 'payee', message: via === 'transfer' ? 'is required for a transfer' : 'is for a transfer alone' },
    ])
  if (via === 'pix_return') {
    if (cashAccountId !== undefined)
      throw invalid([{ field: 'cashAccountId', message: 'is not sent: a Pix goes back by the account that took it' }])
    return { account: null, day: null }
  }
  const id = cashAccountId ?? receipt.cashAccountId
  if (id === null) throw invalid([{ field: 'cashAccountId', message: 'is required: the receipt has no account' }])
  const account = await accountFacts(trx, id)
  if (account.bookId !== receipt.bookId)
    throw unprocessable('reference_not_found', 'The cash account is of another book', [
      { field: 'cashAccountId', message: 'is of another book' },
    ])
  const isRegister = account.kind === 'register' && account.propertyId !== null
  return { account, day: isRegister ? await businessDay(trx, account.propertyId ?? '') : null }
}

/** A Pix goes back within 90 days of its coming. 422 `not_refundable`, `return_window_passed`. */
const expectReturnable = ({ sourceType, receivedOn }: ReceiptRecord, today: string): void => {
  if (sourceType !== 'pix')
    throw unprocessable('not_refundable', 'Only money that came by a Pix of the bank is returned so', [
      { field: 'via', message: 'must be transfer or manual' },
    ])
  if (today > addDays(receivedOn, pixReturnDays))
    throw unprocessable('return_window_passed', `A Pix is returned within ${pixReturnDays} days`, [
      { field: 'via', message: 'must be transfer or manual' },
    ])
}

/**
 * Reserves the amount: from here on it is out of unallocated receipts, and in refunds payable. The caller holds the receipt. `isFact`: the money has left
 * whatever was available; what that is too much is over-returned.
 */
export const reserveRefund = async (
  trx: Trx,
  before: ReceiptRecord,
  refund: Pick<RefundRecord, 'amount' | 'via' | 'reason' | 'requestedOn' | 'cashAccountId'>,
  { isFact = false }: { isFact?: boolean } = {},
): Promise<{ receipt: ReceiptRecord; refund: RefundRecord; post: () => Promise<unknown> }> => {
  const row = await insertRow(trx, ReceiptRefund, {
    ...refund,
    id: randomUUID(),
    receiptId: before.id,
    requestedBy: contextOf(trx).actor.id === null ? null : await authorOf(trx),
  })
  const receipt = await sqlOne<ReceiptRecord>(
    trx,
    `update receipt set refund_reserved = refund_reserved + ?, over_returned = ?, version = version + 1 where tenant_id = ? and id = ? returning *`,
    [
      refund.amount,
      isFact ? Math.max(0, refund.amount - before.available) : before.overReturned,
      contextOf(trx).tenantId,
      before.id,
    ],
  )
  if (!receipt) throw new Error('the receipt is gone')
  if (receipt.overReturned !== before.overReturned) await tellOverReturned(trx, 'receipt', receipt)
  await tellReceipt(trx, receiptRefundRequested, receipt, { amount: refund.amount })
  const post = () =>
    raisePosting(trx, {
      event: 'accounts-receivable.receipt_refund_requested',
      source: { id: row.id },
      bookId: receipt.bookId,
      postingDate: refund.requestedOn,
      payload: {
        amounts: { amount: refund.amount },
        documents: { receipt: receipt.id, refund: row.id },
        ...partyOf(receipt.customerId),
      },
    })
  return { receipt, refund: row, post }
}

/**
 * Gives back what of a receipt pays nothing (R12): by hand at once, by a Pix that another person approves, or by the return of the Pix that came. 404; 409
 * `managed_by_payments`, `invalid_transition`, `version_conflict`; 422 `amount_exceeds_available`, `not_refundable`, `return_window_passed`, and the errors of
 * cash.
 */
export const refundReceipt = async (
  trx: Trx,
  id: string,
  given: GivenRefund,
  { expected, judge }: { expected: number | null; judge: Judge },
): Promise<void> => {
  const seen = await readRow(trx, Receipt, id)
  refuseManaged(seen)
  const { account, day } = await accountOf(trx, seen, given)
  if (account) judge(account)
  const held = await lockReceipt(trx, id, expected)
  receiptMoves.allow('refunded', held.status)
  const today = day ?? todayAfter(await bookOf(trx, { bookId: held.bookId }), held.receivedOn)
  if (given.via === 'pix_return') expectReturnable(held, today)
  const amount = given.amount ?? held.available
  if (amount > held.available || amount < 1)
    throw unprocessable('amount_exceeds_available', `${held.available} of the receipt is available`, [
      { field: 'amount', message: `must be at most ${held.available}` },
    ])
  await assertOpen(trx, held.bookId, today)
  const { via, reason } = given
  const { receipt, refund, post } = await reserveRefund(trx, held, {
    amount,
    via,
    reason,
    requestedOn: today,
    cashAccountId: account?.id ?? null,
  })
  const source = { type: 'receipt_refund', id: refund.id } as const
  if (via === 'pix_return') {
    const { pixReturnId } = await requestPixReturn(trx, { pixReceiptId: receipt.sourceId, amount, source, reason })
    await changeRow(trx, ReceiptRefund, refund.id, { pixReturnId })
    await post()
    return
  }
  if (!account) throw new Error('a refund leaves an account')
  if (via === 'transfer') {
    const { transferId } = await requestTransfer(trx, {
      fromAccountId: account.id,
      payee: given.payee!,
      amount,
      currency: receipt.currency,
      purpose: reason.slice(0, 140),
      source,
    })
    await changeRow(trx, ReceiptRefund, refund.id, { cashTransferId: transferId })
    await post()
    return
  }
  const movement = await recordMovement(trx, {
    cashAccountId: account.id,
    amount: -amount,
    kind: 'receipt_refund',
    source,
    description: 'Given back to a customer',
    currency: receipt.currency,
    propertyId: receipt.propertyId,
  })
  await post()
  await refundEnded(trx, receipt, refund, { status: 'succeeded', movement })
}
