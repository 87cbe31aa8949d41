/** Pure rules of payments: ranks, schedules of reading, expiry, what guests see. */

export const methods = ['card', 'pix', 'boleto'] as const
export type Method = (typeof methods)[number]

export type PaymentStatus =
  | 'created'
  | 'unknown'
  | 'requires_action'
  | 'processing'
  | 'authorised'
  | 'captured'
  | 'failed'
  | 'cancelled'
  | 'expired'
  | 'reversed'
export type RefundStatus = 'requested' | 'unknown' | 'processing' | 'succeeded' | 'failed'

const paymentRanks: Record<PaymentStatus, number> = {
  created: 0,
  unknown: 0,
  requires_action: 1,
  processing: 2,
  authorised: 3,
  failed: 4,
  cancelled: 4,
  expired: 4,
  captured: 5,
  reversed: 6,
}
const refundRanks: Record<RefundStatus, number> = { requested: 0, unknown: 0, processing: 1, succeeded: 2, failed: 3 }

/** Tells whether a fact may replace the status (R3); the order and number of its arrivals then do not matter. */
export const mayFollow = (from: PaymentStatus, to: PaymentStatus): boolean =>
  paymentRanks[to] > paymentRanks[from] || (from === 'created' && to === 'unknown')
export const refundMayFollow = (from: RefundStatus, to: RefundStatus): boolean =>
  refundRanks[to] > refundRanks[from] || (from === 'requested' && to === 'unknown')

/** Nothing more is expected of it, though late money may still come. */
export const hasEnded = (status: PaymentStatus) => paymentRanks[status] === 4
/** It may still become money. */
export const isLive = (status: PaymentStatus) => paymentRanks[status] <= 3
/** The gateway may still close it; what it is working on it will not. */
export const isCancellable = (status: PaymentStatus) => status === 'created' || status === 'requires_action'
export const liveStatuses: readonly PaymentStatus[] = [
  'created',
  'unknown',
  'requires_action',
  'processing',
  'authorised',
]

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

const at = (waits: readonly number[], count: number) => waits[Math.min(count, waits.length - 1)] ?? hour

/** The time until the gateway is asked again, after `count` reads in this status (R7). Null: not at all. */
export const readAfterMs = (status: PaymentStatus, method: string, count: number): number | null => {
  switch (status) {
    case 'created':
    case 'unknown':
      return at([10 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute, hour], count)
    case 'requires_action':
    case 'processing':
      return at([30 * second, 2 * minute, 5 * minute, 15 * minute], count)
    case 'authorised':
      return hour
    case 'failed':
    case 'cancelled':
    case 'expired':
      // Bank money may arrive after its time.
      return method !== 'card' && count < 2 ? at([hour, 23 * hour], count) : null
    default:
      return null
  }
}

export const readRefundAfterMs = (status: RefundStatus, count: number): number | null => {
  if (status === 'succeeded' || status === 'failed') return null
  if (count < 2) return at([minute, 10 * minute], count)
  if (count < 2 + 72) return hour
  return count < 2 + 72 + 30 ? day : null
}

/** A guest may try a declined card again; the sixth decline ends the payment (R11). */
export const mostDeclines = 6

/** The gateway does not know the payment so long after the last attempt: it never will. */
export const notFoundAfterMs = 10 * minute
/** A call is repeated under its key for so long: gateways forget keys after a day, and would act again. */
export const repeatForMs = 20 * hour
/** An outcome unknown for so long needs a person. */
export const unknownExceptionAfterMs = day

/** The end of an unpaid payment of a guest (R11). Boleto: days until it is due, and two more for the bank. */
export const expiryOf = (method: Method, now: Date, dueDays = 3): Date =>
  new Date(now.getTime() + (method === 'boleto' ? (Math.min(10, Math.max(1, dueDays)) + 2) * day : 30 * minute))

export type Shown =
  | 'pending'
  | 'action_required'
  | 'processing'
  | 'paid'
  | 'failed'
  | 'cancelled'
  | 'expired'
  | 'refunding'
  | 'refunded'

/** Status as a guest sees it (States of public.md). */
export const shownStatus = (payment: {
  status: PaymentStatus
  refundReserved: number
  refundedAmount: number
}): Shown => {
  switch (payment.status) {
    case 'created':
      return 'pending'
    case 'requires_action':
      return 'action_required'
    case 'unknown':
    case 'processing':
      return 'processing'
    case 'authorised':
      return 'paid'
    case 'captured':
      if (payment.refundReserved === 0) return 'paid'
      return payment.refundedAmount < payment.refundReserved ? 'refunding' : 'refunded'
    case 'reversed':
      return 'refunded'
    default:
      return payment.status
  }
}

/** Takes from the newest first; answers what each gives. */
export const takeNewestFirst = <T extends { amount: number }>(
  items: readonly T[],
  wanted: number,
): { item: T; taken: number }[] => {
  let left = wanted
  const result: { item: T; taken: number }[] = []
  for (const item of items) {
    if (left <= 0) break
    const taken = Math.min(left, item.amount)
    if (taken > 0) result.push({ item, taken })
    left -= taken
  }
  return result
}
