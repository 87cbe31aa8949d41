import { cashAccountKinds, movementKinds } from '../cash.ts'
import { Amount, Currency, Nullable, Obj, OneOf, SignedAmount, Uuid } from '../schema.ts'
import { Code, event } from './event.ts'
import type { Event } from './event.ts'

const account = {
  entity: 'cash_account',
  subject: 'CashAccount',
  data: Obj({ cashAccountId: Uuid, code: Code, kind: OneOf([...cashAccountKinds]), currency: Currency }),
} as const
export const cashAccountCreated = event({ type: 'cash_account.created', ...account })
export const cashAccountChanged = event({ type: 'cash_account.changed', ...account })
export const cashAccountArchived = event({ type: 'cash_account.archived', ...account })

const movement = {
  entity: 'cash_movement',
  subject: 'CashMovement',
  data: Obj({
    cashMovementId: Uuid,
    cashAccountId: Uuid,
    kind: OneOf([...movementKinds]),
    amount: SignedAmount,
    currency: Currency,
  }),
} as const
export const cashMovementRecorded = event({ type: 'cash_movement.recorded', ...movement })
export const cashMovementReversed = event({ type: 'cash_movement.reversed', ...movement })

const transfer = {
  entity: 'cash_transfer',
  subject: 'CashTransfer',
  data: Obj({
    cashTransferId: Uuid,
    method: OneOf(['manual', 'pix']),
    fromAccountId: Uuid,
    toAccountId: Nullable(Uuid),
    amount: Amount,
    fee: Amount,
    currency: Currency,
  }),
} as const
export const cashTransferRequested = event({ type: 'cash_transfer.requested', ...transfer })
export const cashTransferApproved = event({ type: 'cash_transfer.approved', ...transfer })
export const cashTransferSent = event({ type: 'cash_transfer.sent', ...transfer })
export const cashTransferCompleted = event({
  type: 'cash_transfer.completed',
  ...transfer,
  listeners: ['issues ended'],
})
export const cashTransferFailed = event({ type: 'cash_transfer.failed', ...transfer, listeners: ['issues'] })
export const cashTransferOutcomeUnknown = event({ type: 'cash_transfer.outcome_unknown', ...transfer })
export const cashTransferAttentionNeeded = event({
  type: 'cash_transfer.attention_needed',
  ...transfer,
  listeners: ['issues'],
})
export const cashTransferCancelled = event({
  type: 'cash_transfer.cancelled',
  ...transfer,
  listeners: ['issues ended'],
})

const session = {
  entity: 'cash_session',
  subject: 'CashSession',
  data: Obj({
    cashSessionId: Uuid,
    registerId: Uuid,
    cashierId: Uuid,
    /** Null until the drawer is counted. */
    difference: Nullable(SignedAmount),
    currency: Currency,
  }),
} as const
export const cashSessionOpened = event({ type: 'cash_session.opened', ...session })
export const cashSessionClosed = event({ type: 'cash_session.closed', ...session })
export const cashSessionReviewNeeded = event({ type: 'cash_session.review_needed', ...session })
export const cashSessionApproved = event({ type: 'cash_session.approved', ...session })

export const cashEvents: Event[] = [
  cashAccountCreated,
  cashAccountChanged,
  cashAccountArchived,
  cashMovementRecorded,
  cashMovementReversed,
  cashTransferRequested,
  cashTransferApproved,
  cashTransferSent,
  cashTransferCompleted,
  cashTransferFailed,
  cashTransferOutcomeUnknown,
  cashTransferAttentionNeeded,
  cashTransferCancelled,
  cashSessionOpened,
  cashSessionClosed,
  cashSessionReviewNeeded,
  cashSessionApproved,
]
