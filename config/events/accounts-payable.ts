import { payableKinds } from '../payables.ts'
import { Amount, Count, Currency, Day, List, Nullable, Obj, OneOf, Uuid } from '../schema.ts'
import { event } from './event.ts'
import type { Event } from './event.ts'

const supplier = { entity: 'supplier', subject: 'Supplier', data: Obj({ supplierId: Uuid }) } as const
export const supplierCreated = event({ type: 'supplier.created', ...supplier })
export const supplierChanged = event({ type: 'supplier.changed', ...supplier })
export const supplierArchived = event({ type: 'supplier.archived', ...supplier })
export const supplierRestored = event({ type: 'supplier.restored', ...supplier })
export const supplierBankDetailsProposed = event({ type: 'supplier.bank_details_proposed', ...supplier })
export const supplierBankDetailsApproved = event({ type: 'supplier.bank_details_approved', ...supplier })
export const supplierBankDetailsRejected = event({ type: 'supplier.bank_details_rejected', ...supplier })

const payable = {
  entity: 'payable',
  subject: 'Payable',
  data: Obj({
    payableId: Uuid,
    kind: OneOf([...payableKinds]),
    supplierId: Nullable(Uuid),
    total: Amount,
    openAmount: Amount,
    currency: Currency,
    dueOn: Nullable(Day),
    propertyId: Nullable(Uuid),
  }),
} as const
export const payableCreated = event({ type: 'payable.created', ...payable })
export const payableSubmitted = event({ type: 'payable.submitted', ...payable })
export const payableApproved = event({ type: 'payable.approved', ...payable })
export const payableRejected = event({ type: 'payable.rejected', ...payable })
export const payableVoided = event({ type: 'payable.voided', ...payable })
export const payablePaid = event({ type: 'payable.paid', ...payable })
export const payableReopened = event({ type: 'payable.reopened', ...payable })
export const payableRescheduled = event({ type: 'payable.rescheduled', ...payable })
export const payableDueDateNeared = event({ type: 'payable.due_date_neared', ...payable })
export const payableDueDatePassed = event({ type: 'payable.due_date_passed', ...payable })

const payment = {
  entity: 'payable_payment',
  subject: 'PayablePayment',
  data: Obj({ payablePaymentId: Uuid, amount: Amount, currency: Currency, payableIds: List(Uuid, { max: 100 }) }),
} as const
export const payablePaymentCreated = event({ type: 'payable_payment.created', ...payment })
export const payablePaymentApproved = event({ type: 'payable_payment.approved', ...payment })
export const payablePaymentPaid = event({ type: 'payable_payment.paid', ...payment, listeners: ['issues ended'] })
export const payablePaymentItemFailed = event({
  type: 'payable_payment.item_failed',
  ...payment,
  listeners: ['issues'],
})
export const payablePaymentVoided = event({ type: 'payable_payment.voided', ...payment })
export const payablePaymentReversed = event({ type: 'payable_payment.reversed', ...payment })

const credit = {
  entity: 'supplier_credit',
  subject: 'SupplierCredit',
  data: Obj({ supplierCreditId: Uuid, supplierId: Nullable(Uuid), amount: Amount, currency: Currency }),
} as const
export const supplierCreditCreated = event({ type: 'supplier_credit.created', ...credit })
export const supplierCreditApplied = event({ type: 'supplier_credit.applied', ...credit })
export const supplierCreditRefunded = event({ type: 'supplier_credit.refunded', ...credit })
export const supplierCreditVoided = event({ type: 'supplier_credit.voided', ...credit })

const recurring = {
  entity: 'recurring_payable',
  subject: 'RecurringPayable',
  data: Obj({ recurringPayableId: Uuid }),
} as const
export const recurringPayableCreated = event({ type: 'recurring_payable.created', ...recurring })
export const recurringPayableChanged = event({ type: 'recurring_payable.changed', ...recurring })
export const recurringPayableOccurred = event({
  type: 'recurring_payable.occurred',
  ...recurring,
  data: Obj({ recurringPayableId: Uuid, payableId: Uuid }),
})

const order = {
  entity: 'purchase_order',
  subject: 'PurchaseOrder',
  data: Obj({
    purchaseOrderId: Uuid,
    number: Nullable(Count),
    supplierId: Uuid,
    total: Amount,
    currency: Currency,
  }),
} as const
export const purchaseOrderApproved = event({ type: 'purchase_order.approved', ...order })
export const purchaseOrderReceived = event({ type: 'purchase_order.received', ...order })
export const purchaseOrderClosed = event({ type: 'purchase_order.closed', ...order })
export const purchaseOrderCancelled = event({ type: 'purchase_order.cancelled', ...order })

export const accountsPayableEvents: Event[] = [
  supplierCreated,
  supplierChanged,
  supplierArchived,
  supplierRestored,
  supplierBankDetailsProposed,
  supplierBankDetailsApproved,
  supplierBankDetailsRejected,
  payableCreated,
  payableSubmitted,
  payableApproved,
  payableRejected,
  payableVoided,
  payablePaid,
  payableReopened,
  payableRescheduled,
  payableDueDateNeared,
  payableDueDatePassed,
  payablePaymentCreated,
  payablePaymentApproved,
  payablePaymentPaid,
  payablePaymentItemFailed,
  payablePaymentVoided,
  payablePaymentReversed,
  supplierCreditCreated,
  supplierCreditApplied,
  supplierCreditRefunded,
  supplierCreditVoided,
  recurringPayableCreated,
  recurringPayableChanged,
  recurringPayableOccurred,
  purchaseOrderApproved,
  purchaseOrderReceived,
  purchaseOrderClosed,
  purchaseOrderCancelled,
]
