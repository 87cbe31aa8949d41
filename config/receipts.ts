/** The words for receipts and credit notes. */
export const receiptSources = ['manual', 'pix', 'payment', 'bank_line', 'credit_note'] as const
export type ReceiptSource = (typeof receiptSources)[number]
export const receiptMethods = ['cash', 'bank', 'cheque', 'pix', 'card', 'credit', 'other'] as const
export type ReceiptMethod = (typeof receiptMethods)[number]
/** Methods of money that a person records. */
export const recordedReceiptMethods = ['cash', 'bank', 'cheque', 'pix', 'card', 'other'] as const
export const receiptStatuses = ['recorded', 'reversed'] as const
export type ReceiptStatus = (typeof receiptStatuses)[number]
export const receiptTargets = ['reservation', 'folio'] as const
export type ReceiptTarget = (typeof receiptTargets)[number]
export const receiptRefundWays = ['pix_return', 'transfer', 'manual'] as const
export type ReceiptRefundWay = (typeof receiptRefundWays)[number]
export const receiptRefundStatuses = ['requested', 'succeeded', 'failed'] as const
export const creditNoteStatuses = ['issuing', 'issued'] as const
/** Days within which a bank takes a received Pix back. */
export const pixReturnDays = 90
