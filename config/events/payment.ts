import { Amount, Currency, Nullable, Obj, OneOf, SignedAmount, Uuid } from '../schema.ts'
import { Code, event } from './event.ts'
import type { Event } from './event.ts'

const paymentData = {
  paymentId: Uuid,
  status: Code,
  method: Code,
  channel: Code,
  amount: Amount,
  capturedAmount: Amount,
  refundedAmount: Amount,
  currency: Currency,
  targetType: Nullable(Code),
  targetId: Nullable(Uuid),
}
const payment = { entity: 'payment', subject: 'Payment', data: Obj(paymentData) } as const
export const paymentActionRequired = event({ type: 'payment.action_required', ...payment })
export const paymentProcessingStarted = event({ type: 'payment.processing_started', ...payment })
export const paymentOutcomeUnknown = event({ type: 'payment.outcome_unknown', ...payment })
export const paymentAuthorised = event({ type: 'payment.authorised', ...payment })
export const paymentCaptured = event({ type: 'payment.captured', ...payment, listeners: ['ocp'] })
export const paymentLateCaptured = event({ type: 'payment.late_captured', ...payment })
export const paymentFailed = event({
  type: 'payment.failed',
  ...payment,
  data: Obj({ ...paymentData, failureCode: Nullable(Code) }),
  listeners: ['ocp'],
})
export const paymentCancelled = event({ type: 'payment.cancelled', ...payment })
export const paymentExpired = event({ type: 'payment.expired', ...payment })
export const paymentAllocated = event({ type: 'payment.allocated', ...payment })

const refund = {
  entity: 'refund',
  subject: 'Refund',
  data: Obj({
    refundId: Uuid,
    paymentId: Uuid,
    amount: Amount,
    currency: Currency,
    reason: Code,
    via: OneOf(['gateway', 'manual', 'pix_return']),
  }),
} as const
export const refundRequested = event({ type: 'refund.requested', ...refund })
export const refundProcessingStarted = event({ type: 'refund.processing_started', ...refund })
export const refundSucceeded = event({ type: 'refund.succeeded', ...refund, listeners: ['ocp'] })
export const refundFailed = event({ type: 'refund.failed', ...refund })

const paymentException = {
  entity: 'payment_exception',
  subject: 'PaymentException',
  data: Obj({
    paymentExceptionId: Uuid,
    kind: Code,
    subjectType: Code,
    subjectId: Uuid,
    amount: SignedAmount,
    currency: Currency,
    resolution: Nullable(Code),
  }),
} as const
export const paymentExceptionOpened = event({ type: 'payment_exception.opened', ...paymentException })
export const paymentExceptionResolved = event({ type: 'payment_exception.resolved', ...paymentException })

export const paymentEvents: Event[] = [
  paymentActionRequired,
  paymentProcessingStarted,
  paymentOutcomeUnknown,
  paymentAuthorised,
  paymentCaptured,
  paymentLateCaptured,
  paymentFailed,
  paymentCancelled,
  paymentExpired,
  paymentAllocated,
  refundRequested,
  refundProcessingStarted,
  refundSucceeded,
  refundFailed,
  paymentExceptionOpened,
  paymentExceptionResolved,
]
