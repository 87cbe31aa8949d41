export const payableKinds = ['bill', 'tax', 'reimbursement', 'commission', 'opening', 'other'] as const
export type PayableKind = (typeof payableKinds)[number]
export const payableStatuses = ['draft', 'awaiting_approval', 'approved', 'partly_paid', 'paid', 'void'] as const
export type PayableStatus = (typeof payableStatuses)[number]
export const payableSources = ['manual', 'recurring', 'withholding', 'tax_assessment'] as const
export type PayableSource = (typeof payableSources)[number]
export const paymentMethods = ['manual', 'pix', 'credit'] as const
export const payablePaymentStatuses = [
  'awaiting_approval',
  'approved',
  'sending',
  'paid',
  'partly_paid',
  'failed',
  'void',
] as const
export type PayablePaymentStatus = (typeof payablePaymentStatuses)[number]
export const itemStatuses = ['queued', 'sending', 'paid', 'failed', 'void'] as const
export const orderStatuses = ['draft', 'approved', 'partly_received', 'received', 'closed', 'cancelled'] as const
export type OrderStatus = (typeof orderStatuses)[number]
export const rhythmUnits = ['week', 'month', 'year'] as const

/** From an amount on, so many approvals by users with one of the roles. */
export type ApprovalBand = { from: number; approvals: number; roles: string[] }
/** Holds in a book until it is set. */
export const usualPolicy = {
  bands: [{ from: 0, approvals: 1, roles: ['owner', 'admin', 'manager', 'finance'] }] as ApprovalBand[],
  coolOffHours: 24,
  priceTolerance: 200,
}
