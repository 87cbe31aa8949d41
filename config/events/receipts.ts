import { Amount, Currency, List, Nullable, Obj, Uuid } from '../schema.ts'
import { Code, event } from './event.ts'
import type { Event } from './event.ts'

const receipt = {
  entity: 'receipt',
  subject: 'Receipt',
  data: Obj({
    receiptId: Uuid,
    customerId: Nullable(Uuid),
    /** The whole of a receipt that is recorded, identified or reversed; else the part that it is about. */
    amount: Amount,
    currency: Currency,
    /** The first ones that it pays, or paid. */
    receivableIds: List(Uuid, { max: 100 }),
  }),
} as const
export const receiptRecorded = event({ type: 'receipt.recorded', ...receipt })
export const receiptIdentified = event({ type: 'receipt.identified', ...receipt })
export const receiptAllocated = event({ type: 'receipt.allocated', ...receipt })
export const receiptAllocationReversed = event({ type: 'receipt.allocation_reversed', ...receipt })
export const receiptRefundRequested = event({ type: 'receipt.refund_requested', ...receipt })
export const receiptRefunded = event({ type: 'receipt.refunded', ...receipt, listeners: ['issues ended'] })
export const receiptRefundFailed = event({ type: 'receipt.refund_failed', ...receipt, listeners: ['issues'] })
export const receiptReversed = event({ type: 'receipt.reversed', ...receipt })

export const creditNoteIssued = event({
  type: 'credit_note.issued',
  entity: 'credit_note',
  subject: 'CreditNote',
  data: Obj({ creditNoteId: Uuid, number: Code, receivableId: Uuid, amount: Amount, currency: Currency }),
})

export const receiptsEvents: Event[] = [
  receiptRecorded,
  receiptIdentified,
  receiptAllocated,
  receiptAllocationReversed,
  receiptRefundRequested,
  receiptRefunded,
  receiptRefundFailed,
  receiptReversed,
  creditNoteIssued,
]
