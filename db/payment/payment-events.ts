import {
  paymentActionRequired,
  paymentAuthorised,
  paymentCancelled,
  paymentExpired,
  paymentFailed,
  paymentOutcomeUnknown,
  paymentProcessingStarted,
} from '../../config/events/payment.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import type { PaymentRow } from '../rows.ts'
import type { PaymentStatus } from './rules/states.ts'
import type { Failure } from './payments/snapshot.ts'

const eventOf: Partial<Record<PaymentStatus, typeof paymentAuthorised>> = {
  unknown: paymentOutcomeUnknown,
  requires_action: paymentActionRequired,
  processing: paymentProcessingStarted,
  authorised: paymentAuthorised,
  cancelled: paymentCancelled,
  expired: paymentExpired,
}

const dataOf = (payment: PaymentRow) => ({
  paymentId: payment.id,
  status: payment.status,
  method: payment.method,
  channel: payment.channel,
  amount: payment.amount,
  capturedAmount: payment.capturedAmount,
  refundedAmount: payment.refundedAmount,
  currency: payment.currency,
  targetType: payment.targetType,
  targetId: payment.targetId,
})

export const emitPayment = (trx: Trx, payment: PaymentRow, event: typeof paymentAuthorised) =>
  emit(trx, event, {
    propertyId: payment.propertyId,
    id: payment.id,
    version: payment.version,
    data: dataOf(payment),
  })

/** Tells of the status that a payment has moved to, where there is an event of it. */
export const emitMove = async (trx: Trx, payment: PaymentRow, failure: Failure | null) => {
  const event = eventOf[payment.status]
  if (event) await emitPayment(trx, payment, event)
  if (payment.status !== 'failed') return
  const { propertyId, id, version } = payment
  const data = { ...dataOf(payment), failureCode: failure?.code ?? null }
  await emit(trx, paymentFailed, { propertyId, id, version, data })
}
