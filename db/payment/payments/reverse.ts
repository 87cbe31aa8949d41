import { conflict, unprocessable } from '../../../config/errors.ts'
import { paymentReversed } from '../../../config/events/payment.ts'
import { reverseMovement } from '../../cash/index.ts'
import { businessDay, postingEventOf, raisePosting } from '../../financial/index.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { PaymentRow } from '../../rows.ts'
import { giveBack, lockTargets, postGivenBack } from '../allocations.ts'
import { closeExceptions } from '../exceptions.ts'
import { emitPayment } from '../payment-events.ts'
import { noteStatus } from './history.ts'
import { lockPayment, standingAllocations } from './read.ts'

const refuse = (message: string) => conflict('invalid_transition', message)

/** A recorded payment and its targets, locked after the day. */
export const lockRecorded = async (trx: Trx, seen: PaymentRow): Promise<{ payment: PaymentRow; day: string }> => {
  const day = await businessDay(trx, seen.propertyId)
  await lockTargets(trx, await standingAllocations(trx, seen.id))
  const payment = await lockPayment(trx, seen.id)
  if (!payment) throw new Error(`payment ${seen.id} is gone`)
  return { payment, day }
}

/**
 * Takes back money that was recorded wrongly (R13): allocations, movement and posting are turned. Day, targets and payment are locked.
 * 409 `invalid_transition` once a part of it went back; 422 `not_same_business_date`, `session_closed`, `in_use`, `cash_short`.
 */
export const reverseRecorded = async (trx: Trx, payment: PaymentRow, day: string, reason: string): Promise<void> => {
  if (payment.businessDate !== day)
    throw unprocessable('not_same_business_date', `The payment is of ${payment.businessDate}; it is ${day} now`, [
      { field: 'paymentId', message: 'is refunded instead' },
    ])
  if (payment.refundReserved > 0) throw refuse('A part of the payment was refunded')
  const given = await giveBack(trx, payment, payment.allocatedAmount, day)
  const [changed] = await sql<PaymentRow>(
    trx,
    `update payment set status = 'reversed', allocated_amount = 0, note = coalesce(note, ?), ended_at = now(), version = version + 1
     where id = ? returning *`,
    [reason, payment.id],
  )
  if (!changed) throw new Error(`payment ${payment.id} is gone`)
  noteStatus(trx, payment.id, 'reversed', 'command')
  await closeExceptions(trx, { type: 'payment', id: payment.id }, ['unallocated', 'late_payment', 'duplicate_payment'])
  await emitPayment(trx, changed, paymentReversed)
  await reverseMovement(trx, { source: { type: 'payment', id: payment.id }, description: reason })
  await postGivenBack(trx, payment, given)
  const reversesEventId = await postingEventOf(trx, 'payment.payment_recorded', { id: payment.id })
  if (reversesEventId === null) throw new Error(`payment ${payment.id} was never posted`)
  await raisePosting(trx, {
    event: 'payment.payment_reversed',
    source: { id: payment.id },
    propertyId: payment.propertyId,
    reversesEventId,
  })
}
