import { paymentCancelled } from '../../../config/events/payment.ts'
import { cancelPayment } from '../../../jobs/payment.ts'
import { conflict, notFound, versionConflict } from '../../../config/errors.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import type { PaymentRow } from '../../rows.ts'
import { changeRow } from '../../lib/records.ts'
import { Payment } from '../models.ts'
import { isLive } from '../rules/states.ts'
import { gateOfAccount } from '../accounts.ts'
import { emitPayment } from '../payment-events.ts'
import type { TargetType } from '../targets.ts'
import { noteStatus } from './history.ts'
import { lockLivePayments, holdPayment, readPayment } from './read.ts'
import { lockRecorded, reverseRecorded } from './reverse.ts'

/**
 * Ends a payment that is not wanted any more: at once where the gateway was never asked, else by a worker, when the gateway
 * agrees. The payment is locked.
 */
export const cancel = async (trx: Trx, payment: PaymentRow, supersededById: string | null = null): Promise<void> => {
  const atOnce = payment.status === 'created' && payment.sentAt === null
  const [changed] = await sql<PaymentRow>(
    trx,
    `update payment set cancel_requested_at = coalesce(cancel_requested_at, now()), superseded_by_id = coalesce(?::uuid, superseded_by_id),
       status = case when ?::boolean then 'cancelled' else status end, ended_at = case when ?::boolean then now() end,
       next_read_at = case when ?::boolean then null else next_read_at end, version = version + 1
     where id = ? returning *`,
    [supersededById, atOnce, atOnce, atOnce, payment.id],
  )
  if (!changed) return
  if (atOnce) {
    noteStatus(trx, payment.id, 'cancelled', 'command')
    await emitPayment(trx, changed, paymentCancelled)
  }
  if (!atOnce && payment.cancelRequestedAt === null)
    await enqueue(
      trx,
      cancelPayment,
      { tenantId: payment.tenantId, paymentId: payment.id },
      { class: 'urgent', gate: await gateOfAccount(trx, payment.gatewayAccountId) },
    )
}

/** Ends what is still on its way for a target; money that comes all the same is offered to the target as late. The target is locked. */
export const cancelPaymentsOf = async (trx: Trx, targetType: TargetType, targetId: string): Promise<void> => {
  for (const payment of await lockLivePayments(trx, targetType, targetId)) await cancel(trx, payment)
}

/** Cancels a payment at a person's word. One that was recorded wrongly is turned on its business day (R13). What is over already stays; captured money goes back as a refund: 409 invalid_transition. */
export const cancelPaymentById = async (
  trx: Trx,
  paymentId: string,
  reason: string,
  expected: number | null = null,
): Promise<void> => {
  const seen = await readPayment(trx, paymentId)
  if (seen?.origin === 'recorded') return cancelRecorded(trx, seen, reason, expected)
  const payment = await holdPayment(trx, paymentId)
  if (!payment) throw notFound()
  if (expected !== null && payment.version !== expected) throw versionConflict(payment.version)
  if (payment.status === 'cancelled') return
  if (!isLive(payment.status))
    throw conflict('invalid_transition', `A payment that is ${payment.status} cannot be cancelled`)
  if (payment.note === null) await changeRow(trx, Payment, paymentId, { note: reason })
  await cancel(trx, payment)
}

const cancelRecorded = async (trx: Trx, seen: PaymentRow, reason: string, expected: number | null): Promise<void> => {
  const { payment, day } = await lockRecorded(trx, seen)
  if (expected !== null && payment.version !== expected) throw versionConflict(payment.version)
  if (payment.status === 'reversed') return
  await reverseRecorded(trx, payment, day, reason)
}
