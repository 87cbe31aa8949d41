import { model } from '../../lib/models.ts'
import type { Withheld } from '../rules/allocations.ts'

export const Receipt = model('receipt')
export type ReceiptRecord = NonNullable<(typeof Receipt)['row']>
/** A tax that the customer kept back, by its code: what the posting finds its account by. */
export type WithheldTax = Withheld & { code: string }
export const ReceiptAllocation = model<'receipt_allocation', { withheld: WithheldTax[] }>('receipt_allocation')
export type AllocationRecord = NonNullable<(typeof ReceiptAllocation)['row']>
export type RefundFailure = { code: string; message: string }
export const ReceiptRefund = model<'receipt_refund', { failure: RefundFailure | null }>('receipt_refund')
export type RefundRecord = NonNullable<(typeof ReceiptRefund)['row']>
/** The payer, as the desk or the bank names them. Personal data, sealed. */
export type Payer = { name: string | null; document: string | null }
