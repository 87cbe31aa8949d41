import type { ReceiptSource } from '../../../config/receipts.ts'
import type { BookedMovement } from '../../cash/index.ts'
import { sum } from '../../lib/amounts.ts'
import type { Trx } from '../../lib/connection.ts'
import { findRow } from '../../lib/records.ts'
import { Receipt } from './models.ts'
import type { AllocationRecord } from './models.ts'
import { reserveRefund } from './refund.ts'
import { refundEnded } from './refund-outcome.ts'
import { lockReceipt, standingAllocations } from './state.ts'
import { isOpen, lockAllocated, takeBack } from './undo.ts'

export type BankReturn = {
  /** Whose money the bank took back: a Pix, or the line of a statement. */
  sourceType: Extract<ReceiptSource, 'pix' | 'bank_line'>
  sourceId: string
  /** Minor units, more than 0. */
  amount: number
  /** For people to read. */
  reason: string
  /** Books the money, once all that comes before it is locked. */
  book: () => Promise<BookedMovement>
}

/** The newest allocations that must go so that the amount is free. */
const newestFor = (standing: readonly AllocationRecord[], short: number): AllocationRecord[] => {
  const taken: AllocationRecord[] = []
  for (const one of standing.toReversed()) {
    if (sum(taken.map(({ cash }) => cash)) >= short) break
    taken.push(one)
  }
  return taken
}

/**
 * A return that the bank has made by itself (R28 of cash.md): the receipt loses allocations, newest first, as far as the money needs it, and the amount is a
 * refund that has ended. What is left of an allocation that was undone is available again. What the bank took beyond what was left, since a part had gone
 * back already or stands on a folio that is closed, is booked all the same: the receipt is over-returned, for a person to settle. Null where no receipt
 * claims the money.
 */
export const bankReturned = async (trx: Trx, returned: BankReturn): Promise<{ refundId: string } | null> => {
  const { sourceType, sourceId, amount, reason } = returned
  const seen = await findRow(trx, Receipt, { sourceType, sourceId })
  if (!seen) return null
  const held = await lockAllocated(trx, await standingAllocations(trx, seen.id), seen.customerId)
  const receipt = await lockReceipt(trx, seen.id)
  const movement = await returned.book()
  const { bookedOn } = movement
  const free = (await standingAllocations(trx, receipt.id)).filter((one) => isOpen(held, one))
  const gone = newestFor(free, amount - receipt.available)
  const day = gone.reduce((latest, { datedOn }) => (datedOn > latest ? datedOn : latest), bookedOn)
  const back = gone.length > 0 ? await takeBack(trx, receipt, held, gone, day) : null
  const reserved = await reserveRefund(
    trx,
    back?.receipt ?? receipt,
    { amount, via: 'pix_return', reason, requestedOn: bookedOn, cashAccountId: movement.cashAccountId },
    { isFact: true },
  )
  await back?.post()
  await reserved.post()
  await refundEnded(trx, reserved.receipt, reserved.refund, { status: 'succeeded', movement })
  return { refundId: reserved.refund.id }
}
