import { customerKinds } from '../receivables.ts'
import { Amount, Count, Currency, Day, Nullable, Obj, OneOf, Uuid } from '../schema.ts'
import { event } from './event.ts'
import type { Event } from './event.ts'

const customer = {
  entity: 'customer',
  subject: 'Customer',
  data: Obj({
    customerId: Uuid,
    kind: OneOf([...customerKinds]),
    creditLimit: Nullable(Amount),
    exposure: Amount,
    currency: Currency,
  }),
} as const
export const customerCreated = event({ type: 'customer.created', ...customer })
export const customerChanged = event({ type: 'customer.changed', ...customer })
export const customerArchived = event({ type: 'customer.archived', ...customer })
export const customerRestored = event({ type: 'customer.restored', ...customer })
export const customerCreditHeld = event({ type: 'customer.credit_held', ...customer })
export const customerCreditLimitReached = event({ type: 'customer.credit_limit_reached', ...customer })

const receivable = {
  entity: 'receivable',
  subject: 'Receivable',
  data: Obj({
    receivableId: Uuid,
    number: Nullable(Count),
    customerId: Uuid,
    total: Amount,
    openAmount: Amount,
    currency: Currency,
    dueOn: Nullable(Day),
  }),
} as const
export const receivableCreated = event({ type: 'receivable.created', ...receivable })
export const receivableIssued = event({ type: 'receivable.issued', ...receivable })
export const receivablePartlyPaid = event({ type: 'receivable.partly_paid', ...receivable })
export const receivablePaid = event({ type: 'receivable.paid', ...receivable })
export const receivableCredited = event({ type: 'receivable.credited', ...receivable })
export const receivableReopened = event({ type: 'receivable.reopened', ...receivable })
export const receivableSent = event({ type: 'receivable.sent', ...receivable })
export const receivableRescheduled = event({ type: 'receivable.rescheduled', ...receivable })
export const receivableWrittenOff = event({ type: 'receivable.written_off', ...receivable })
export const receivableReinstated = event({ type: 'receivable.reinstated', ...receivable })
export const receivableVoided = event({ type: 'receivable.voided', ...receivable })
export const receivableDueDatePassed = event({ type: 'receivable.due_date_passed', ...receivable })

export const accountsReceivableEvents: Event[] = [
  customerCreated,
  customerChanged,
  customerArchived,
  customerRestored,
  customerCreditHeld,
  customerCreditLimitReached,
  receivableCreated,
  receivableIssued,
  receivablePartlyPaid,
  receivablePaid,
  receivableCredited,
  receivableReopened,
  receivableSent,
  receivableRescheduled,
  receivableWrittenOff,
  receivableReinstated,
  receivableVoided,
  receivableDueDatePassed,
]
