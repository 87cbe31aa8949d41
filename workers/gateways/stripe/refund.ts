import type Stripe from 'stripe'
import type { RefundSnapshot } from '../../../db/payment/index.ts'
import type { Gateway, GatewayRefund } from '../gateway.ts'
import { isWhole, notWhole, toStripe } from './amounts.ts'
import { call, findIn, keyed, lower, on } from './client.ts'

const statuses: Readonly<Record<string, RefundSnapshot['status']>> = {
  pending: 'processing',
  requires_action: 'processing',
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'failed',
}

const refundOf =
  (asked: GatewayRefund) =>
  (refund: Stripe.Refund): { snapshot: RefundSnapshot; reference: string } | null => {
    const status = statuses[refund.status ?? '']
    if (refund.object !== 'refund' || typeof refund.id !== 'string' || !/^(re|pyr)_/.test(refund.id) || !status)
      return null
    if (asked.externalId !== null && asked.externalId !== refund.id) return null
    if (asked.externalId === null && refund.metadata?.['refundId'] !== asked.id) return null
    if (refund.amount !== toStripe(asked.amount, asked.currency) || refund.currency !== lower(asked.currency))
      return null
    const message = refund.failure_reason ?? 'The bank returned the money'
    return {
      reference: refund.id,
      snapshot: {
        status,
        externalId: refund.id,
        failure: status === 'failed' ? { code: 'other', message: message.replaceAll('_', ' ') } : null,
      },
    }
  }

export const refunds: Pick<Gateway, 'refund' | 'readRefund'> = {
  refund: (refund, key, signal) =>
    !isWhole(refund.amount, refund.currency)
      ? notWhole(refund.currency)
      : call(
          signal,
          (stripe) =>
            stripe.refunds.create(
              {
                payment_intent: refund.paymentRef,
                amount: toStripe(refund.amount, refund.currency),
                reason: refund.reason === 'duplicate' ? 'duplicate' : 'requested_by_customer',
                metadata: { refundId: refund.id },
                ...(refund.returnsFee ? { refund_application_fee: true } : {}),
              },
              keyed(refund.accountRef, key),
            ),
          refundOf(refund),
        ),
  readRefund: (refund, signal) =>
    refund.externalId === null
      ? findIn(
          signal,
          (stripe, after) =>
            stripe.refunds.list(
              { payment_intent: refund.paymentRef, limit: 100, ...(after ? { starting_after: after } : {}) },
              on(refund.accountRef),
            ),
          (one) => one.metadata?.['refundId'] === refund.id,
          refundOf(refund),
        )
      : call(
          signal,
          (stripe) => stripe.refunds.retrieve(refund.externalId ?? '', {}, on(refund.accountRef)),
          refundOf(refund),
        ),
}
