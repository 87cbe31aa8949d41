/** The words for money in accounts, sessions, movements and transfers. */
export const cashAccountKinds = ['bank', 'acquirer', 'safe', 'petty_cash', 'register'] as const
export type CashAccountKind = (typeof cashAccountKinds)[number]

export const movementKinds = [
  'opening',
  'manual',
  'bank_line',
  'transfer',
  'difference',
  'pix_in',
  'pix_return',
  'guest_payment',
  'guest_refund',
  'payout',
  'receipt',
  'receipt_refund',
  'payable_payment',
  'supplier_refund',
  'reversal',
] as const
export type MovementKind = (typeof movementKinds)[number]

export const sessionStatuses = ['open', 'in_review', 'closed'] as const
export const transferStatuses = [
  'pending_approval',
  'approved',
  'sending',
  'unknown',
  'completed',
  'failed',
  'in_transit',
  'cancelled',
] as const
export type TransferStatus = (typeof transferStatuses)[number]

/** Minor units of one booking, at most. */
export const largestBooking = 10_000_000_000_000
