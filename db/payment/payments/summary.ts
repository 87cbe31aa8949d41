import type { PaymentRow } from '../../rows.ts'
import type { Failure } from './snapshot.ts'

export type PaymentSummary = Omit<PaymentRow, 'action' | 'payer' | 'failure'> & {
  failure: Failure | null
  payable: { unallocated: number; refundable: number }
}

export const summary = (payment: PaymentRow): PaymentSummary => {
  const free = payment.capturedAmount - payment.refundReserved
  return {
    ...payment,
    failure: payment.failure as Failure | null,
    payable: {
      // A bank may have taken more back than was left.
      unallocated: Math.max(0, free - payment.allocatedAmount),
      refundable: Math.max(0, free - payment.disputedAmount),
    },
  }
}
