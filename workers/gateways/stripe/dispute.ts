import type Stripe from 'stripe'
import type { DisputeSnapshot } from '../../../db/payment/index.ts'
import type { Gateway } from '../gateway.ts'
import { fromStripe } from './amounts.ts'
import { call, idOf, instant, keyed, on, orNothing } from './client.ts'

type State = Pick<DisputeSnapshot, 'phase' | 'status'>

/** A warning is an inquiry, of which no money is taken; an appeal follows a loss. */
const stateOf = (status: string): State | null => {
  const [, prefix = '', rest = ''] = /^(warning_|appeal_)?(.+)$/.exec(status) ?? []
  const phase = prefix === 'warning_' ? 'inquiry' : prefix === 'appeal_' ? 'appeal' : 'dispute'
  if (rest === 'closed' || rest === 'prevented') return { phase: 'inquiry', status: 'won' }
  const known = (['needs_response', 'under_review', 'won', 'lost'] as const).find((one) => one === rest)
  return known ? { phase, status: known } : null
}

const disputeOf =
  (ref: string) =>
  (dispute: Stripe.Dispute): { snapshot: DisputeSnapshot; reference: string } | null => {
    const state = stateOf(String(dispute.status))
    const paymentRef = idOf(dispute.payment_intent)
    if (dispute.object !== 'dispute' || dispute.id !== ref || !state || paymentRef === null) return null
    return {
      reference: dispute.id,
      snapshot: {
        ...state,
        externalId: dispute.id,
        paymentRef,
        amount: fromStripe(dispute.amount, dispute.currency),
        currency: dispute.currency.toUpperCase(),
        reason: dispute.reason.slice(0, 100) || 'general',
        responseDueAt: instant(dispute.evidence_details?.due_by),
        openedAt: new Date(dispute.created * 1_000),
      },
    }
  }

const evidenceOf = (given: Readonly<Record<string, string>>): Stripe.DisputeUpdateParams.Evidence => {
  const text = [given['explanation'], given['guestCommunication']].filter(Boolean).join('\n\n')
  const fields: [keyof Stripe.DisputeUpdateParams.Evidence, string | undefined][] = [
    ['uncategorized_text', text],
    ['product_description', given['productDescription']],
    ['cancellation_policy_disclosure', given['policyDisclosure']],
    ['refund_policy_disclosure', given['refundPolicy']],
    ['service_date', given['serviceDate']],
    ['customer_name', given['guestName']],
    ['customer_email_address', given['guestEmail']],
  ]
  return Object.fromEntries(fields.filter(([, value]) => value))
}

export const disputes: Pick<Gateway, 'respondDispute' | 'readDispute'> = {
  respondDispute: ({ accountRef, externalId, action, evidence }, key, signal) =>
    call(
      signal,
      (stripe) =>
        action === 'accept'
          ? stripe.disputes.close(externalId, {}, keyed(accountRef, key))
          : stripe.disputes.update(
              externalId,
              { evidence: evidenceOf(evidence), submit: true },
              keyed(accountRef, key),
            ),
      disputeOf(externalId),
    ),
  readDispute: async (accountRef, ref, signal) =>
    orNothing(await call(signal, (stripe) => stripe.disputes.retrieve(ref, {}, on(accountRef)), disputeOf(ref))),
}
