import type { ApprovalBand } from '../../config/payables.ts'
import type { Actor } from '../lib/connection.ts'
import { model } from '../lib/models.ts'

export const Supplier = model('supplier')
export const SupplierBankDetails = model('supplier_bank_details')
export const ApprovalPolicy = model<'approval_policy', { bands: ApprovalBand[] }>('approval_policy')

export type MatchException = { lineNo: number; code: 'price_above_order'; expected: number; actual: number }
export const Payable = model<'payable', { matchExceptions: MatchException[] }>('payable')
export type PayableRecord = NonNullable<(typeof Payable)['row']>
/** The quantities and values taken from receipts of an order, kept so that they can be given back. */
export type TakenOfReceipt = { receiptId: string; quantity: string; value: number }
export const PayableLine = model<'payable_line', { taken: TakenOfReceipt[] }>('payable_line')
export const PayableWithholding = model('payable_withholding')
export const PayableApproval = model('payable_approval')
export const PayableHistory = model<'payable_history', { changes: object; actor: Actor }>('payable_history')

export type CreditLine = { accountId: string; amount: number; costCenterId: string | null; propertyId: string | null }
export const SupplierCredit = model<'supplier_credit', { lines: CreditLine[] }>('supplier_credit')
export type CreditRecord = NonNullable<(typeof SupplierCredit)['row']>

export const PayablePayment = model('payable_payment')
export type PaymentRecord = NonNullable<(typeof PayablePayment)['row']>
export type ItemFailure = { code: string; message: string }
export const PayablePaymentItem = model<'payable_payment_item', { failure: ItemFailure | null }>('payable_payment_item')
export type ItemRecord = NonNullable<(typeof PayablePaymentItem)['row']>

export const PurchaseOrder = model('purchase_order')
export type OrderRecord = NonNullable<(typeof PurchaseOrder)['row']>
export const PurchaseOrderLine = model('purchase_order_line')
