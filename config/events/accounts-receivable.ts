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
export const receivablePartlyPaid = event({ type: 'receivable.partly_paid', ...receivable })
export const receivablePaid = event({ type: 'receivable.paid', ...receivable })
export const receivableCredited = event({ type: 'receivable.credited', ...receivable })
export const receivableReopened = event({ type: 'receivable.reopened', ...receivable })
export const receivableSent = event({ type: 'receivable.sent', ...receivable })

export const accountsReceivableEvents: Event[] = [
  customerCreditHeld,
  customerCreditLimitReached,
  receivablePartlyPaid,
  receivablePaid,
  receivableCredited,
  receivableReopened,
  receivableSent,
]
