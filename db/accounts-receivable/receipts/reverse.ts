import { ApiError, conflict, unprocessable, versionConflict } from '../../../config/errors.ts'
import { receiptReversed } from '../../../config/events/receipts.ts'
import type { ReceiptSource } from '../../../config/receipts.ts'
import { findAccountFacts, reverseMovement } from '../../cash/index.ts'
import { bookOf, refuseFuture, todayAfter } from '../../documents/index.ts'
import { assertOpen, businessDay, postingEventOf, raisePosting } from '../../financial/index.ts'
import type { Trx } from '../../lib/connection.ts'
import { changeRow, readRow } from '../../lib/records.ts'
import { tellOverReturned } from '../../payment/index.ts'
import { Receipt } from './models.ts'
import type { AllocationRecord, ReceiptRecord } from './models.ts'
import { lockReceipt, placeOf, receiptMoves, refuseManaged, standingAllocations, tellReceipt } from './state.ts'
import { lockAllocated, takeBack } from './undo.ts'

const invalidMove = (message: string) => conflict('invalid_transition', message)

const refuseKept = ({ sourceType, refundReserved, refunded }: ReceiptRecord, by: ReceiptSource): void => {
  if (sourceType !== by)
    throw invalidMove('Only a receipt that a person has recorded is reversed; the money of any other did come')
  if (refundReserved > refunded) throw invalidMove('A part of the receipt is on its way back')
  // A cheque bounces whatever was given back of it; a match that is undone was a mistake.
  if (refundReserved > 0 && by !== 'manual') throw invalidMove('A part of the receipt was given back')
}

/** The day of a register is its business day. */
const dayOf = async (
  trx: Trx,
  seen: ReceiptRecord,
  { on, first }: { on: string | undefined; first: string },
): Promise<string> => {
  const account = seen.cashAccountId === null ? null : await findAccountFacts(trx, seen.cashAccountId)
  const day =
    account?.kind === 'register' && account.propertyId !== null ? await businessDay(trx, account.propertyId) : null
  if (day !== null && on !== undefined && on !== day)
    throw unprocessable('date_out_of_range', 'A register is booked on the open business day', [
      { field: 'on', message: `must be ${day}` },
    ])
  const book = await bookOf(trx, { bookId: seen.bookId })
  const wanted = day ?? on ?? todayAfter(book, first)
  if (day === null) refuseFuture(book, wanted, 'on', first)
  return wanted
}

/** The day on which the receipt came, or last paid something. */
const latestOf = (receipt: ReceiptRecord, allocations: readonly AllocationRecord[]): string =>
  allocations.reduce((latest, { datedOn }) => (datedOn > latest ? datedOn : latest), receipt.receivedOn)

/** The movement turned round; 409 `movement_reconciled` for one that the bank statement has frozen. */
const turnMovement = async (trx: Trx, { cashMovementId }: ReceiptRecord, reason: string, on: string): Promise<void> => {
  if (cashMovementId === null) throw new Error('the receipt has no movement')
  try {
    await reverseMovement(trx, { movementId: cashMovementId, description: reason, bookedOn: on })
  } catch (error) {
    if (error instanceof ApiError && error.code === 'in_use')
      throw conflict('movement_reconciled', 'The movement is matched with the bank statement; undo the match first')
    throw error
  }
}

/**
 * Reverses a receipt that bounced or was mistaken, today unless said: its allocations are undone, its movement and posting turned. What was given back of it
 * before is over-returned, for a person to settle. `by` is the source of the
 * receipts that the caller may reverse. 404; 409
 * `invalid_transition`, `managed_by_payments`, `movement_reconciled`; 422 `date_out_of_range`, `target_closed`, `session_closed`, and the errors of periods.
 */
export const reverseReceipt = async (
  trx: Trx,
  id: string,
  { reason, on, by = 'manual' }: { reason: string; on?: string | undefined; by?: ReceiptSource },
  expected: number | null,
): Promise<void> => {
  const seen = await readRow(trx, Receipt, id)
  const known = await standingAllocations(trx, id)
  const day = await dayOf(trx, seen, { on, first: latestOf(seen, known) })
  const held = await lockAllocated(trx, known, seen.customerId)
  const receipt = await lockReceipt(trx, id, expected)
  refuseManaged(receipt)
  if (!receiptMoves.isDue('reversed', receipt.status)) return
  refuseKept(receipt, by)
  const standing = await standingAllocations(trx, id)
  if (standing.some((one) => !known.some((other) => other.id === one.id))) throw versionConflict(receipt.version)
  const first = latestOf(receipt, standing)
  if (day < first)
    throw unprocessable('date_out_of_range', 'A receipt is not reversed before it came, or before it paid', [
      { field: 'on', message: `must be ${first} or later` },
    ])
  await assertOpen(trx, receipt.bookId, day)
  const back = standing.length > 0 ? await takeBack(trx, receipt, held, standing, day) : null
  await changeRow(trx, Receipt, id, {
    status: 'reversed',
    reversedOn: day,
    reverseReason: reason,
    overReturned: receipt.refunded,
  })
  const after = await readRow(trx, Receipt, id)
  if (after.overReturned > 0) await tellOverReturned(trx, 'receipt', after)
  await tellReceipt(trx, receiptReversed, after, {
    amount: after.amount,
    receivableIds: standing.map(({ receivableId }) => receivableId),
  })
  await turnMovement(trx, receipt, reason, day)
  await back?.post()
  const reversesEventId = await postingEventOf(trx, 'accounts-receivable.receipt_recorded', { id })
  if (reversesEventId === null) throw new Error('the receipt was never posted')
  await raisePosting(trx, {
    event: 'accounts-receivable.receipt_reversed',
    source: { id },
    ...placeOf(receipt),
    postingDate: day,
    reversesEventId,
  })
}
