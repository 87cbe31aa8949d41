import { Amount, Count, Currency, Day, Instant, Nullable, Obj, OneOf, SignedAmount, Uuid } from '../schema.ts'
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
export const paymentAuthorisationEndNeared = event({ type: 'payment.authorisation_end_neared', ...payment })
export const paymentReversed = event({ type: 'payment.reversed', ...payment })
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
export const refundSucceeded = event({ type: 'refund.succeeded', ...refund, listeners: ['ocp', 'issues ended'] })
export const refundFailed = event({ type: 'refund.failed', ...refund, listeners: ['issues'] })

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
export const paymentExceptionOpened = event({
  type: 'payment_exception.opened',
  ...paymentException,
  listeners: ['issues'],
})
export const paymentExceptionResolved = event({
  type: 'payment_exception.resolved',
  ...paymentException,
  listeners: ['issues ended'],
})

const gatewayAccount = {
  entity: 'gateway_account',
  subject: 'GatewayAccount',
  data: Obj({ gatewayAccountId: Uuid, provider: Code, status: Code, currency: Currency }),
} as const
export const gatewayAccountOpened = event({ type: 'gateway_account.opened', ...gatewayAccount })
export const gatewayAccountChanged = event({ type: 'gateway_account.changed', ...gatewayAccount })
export const gatewayAccountDisconnected = event({ type: 'gateway_account.disconnected', ...gatewayAccount })

const paymentMethod = {
  entity: 'payment_method',
  subject: 'PaymentMethod',
  data: Obj({
    paymentMethodId: Uuid,
    guestId: Nullable(Uuid),
    customerId: Nullable(Uuid),
    brand: Nullable(Code),
  }),
} as const
export const paymentMethodSaved = event({ type: 'payment_method.saved', ...paymentMethod })
export const paymentMethodFailed = event({ type: 'payment_method.failed', ...paymentMethod })
export const paymentMethodDetached = event({ type: 'payment_method.detached', ...paymentMethod })

const dispute = {
  entity: 'dispute',
  subject: 'Dispute',
  data: Obj({
    disputeId: Uuid,
    paymentId: Uuid,
    amount: Amount,
    currency: Currency,
    reason: Code,
    responseDueAt: Nullable(Instant),
  }),
} as const
export const disputeOpened = event({ type: 'dispute.opened', ...dispute, listeners: ['issues'] })
export const disputeDeadlineNeared = event({ type: 'dispute.deadline_neared', ...dispute })
export const disputeSubmitted = event({ type: 'dispute.submitted', ...dispute, listeners: ['issues ended'] })
export const disputeWon = event({ type: 'dispute.won', ...dispute })
export const disputeLost = event({ type: 'dispute.lost', ...dispute })

const payout = {
  entity: 'payout',
  subject: 'Payout',
  data: Obj({
    payoutId: Uuid,
    gatewayAccountId: Uuid,
    amount: SignedAmount,
    currency: Currency,
    arrivesOn: Nullable(Day),
  }),
} as const
export const payoutSent = event({ type: 'payout.sent', ...payout })
export const payoutPaid = event({ type: 'payout.paid', ...payout })
export const payoutFailed = event({ type: 'payout.failed', ...payout, listeners: ['issues'] })

const reconciliation = {
  entity: 'reconciliation',
  subject: 'Reconciliation',
  data: Obj({
    reconciliationId: Uuid,
    gatewayAccountId: Uuid,
    date: Day,
    counts: Obj({ theirs: Count, ours: Count, matched: Count, exceptions: Count }),
  }),
} as const
export const reconciliationBalanced = event({ type: 'reconciliation.balanced', ...reconciliation })
export const reconciliationExceptionsFound = event({ type: 'reconciliation.exceptions_found', ...reconciliation })

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
  paymentReversed,
  paymentAllocated,
  refundRequested,
  refundProcessingStarted,
  refundSucceeded,
  refundFailed,
  paymentExceptionOpened,
  paymentExceptionResolved,
  paymentAuthorisationEndNeared,
  gatewayAccountOpened,
  gatewayAccountChanged,
  gatewayAccountDisconnected,
  paymentMethodSaved,
  paymentMethodFailed,
  paymentMethodDetached,
  disputeOpened,
  disputeDeadlineNeared,
  disputeSubmitted,
  disputeWon,
  disputeLost,
  payoutSent,
  payoutPaid,
  payoutFailed,
  reconciliationBalanced,
  reconciliationExceptionsFound,
]
