import type Stripe from 'stripe'
import type { PaymentSnapshot } from '../../../db/payment/index.ts'
import type { Outcome } from '../../lib/gateway-job.ts'
import type { Gateway, GatewayPayment } from '../gateway.ts'
import { charges } from './charge.ts'
import { isWhole, notWhole, toStripe } from './amounts.ts'
import { call, findIn, idOf, isList, keyed, lower, on } from './client.ts'

const linkOf =
  (payment: GatewayPayment) =>
  (link: Stripe.PaymentLink): { snapshot: PaymentSnapshot; reference: string } | null => {
    if (link.object !== 'payment_link' || typeof link.id !== 'string' || !link.id.startsWith('plink_')) return null
    if (payment.linkId !== null && payment.linkId !== link.id) return null
    if (link.metadata?.['paymentId'] !== payment.id || typeof link.url !== 'string') return null
    return {
      reference: link.id,
      snapshot: {
        status: link.active ? 'requires_action' : 'cancelled',
        externalId: null,
        currency: payment.currency,
        authorisedAmount: 0,
        capturedAmount: 0,
        action: link.active ? { type: 'redirect', url: link.url } : null,
        failure: null,
        authorisationExpiresAt: null,
        linkId: link.id,
      },
    }
  }

/** The charge of a page that was paid, by the sessions of the page; null where none has begun to pay. */
const paidBy = async (payment: GatewayPayment, signal: AbortSignal): Promise<Outcome<string | null>> =>
  call(
    signal,
    (stripe) =>
      stripe.checkout.sessions.list({ payment_link: payment.linkId ?? '', limit: 100 }, on(payment.accountRef)),
    (list) => {
      if (!isList(list)) return null
      const done = list.data.find((session) => session.status === 'complete' && session.payment_intent !== null)
      return { snapshot: done ? idOf(done.payment_intent) : null }
    },
  )

const readLink = async (payment: GatewayPayment, signal: AbortSignal): Promise<Outcome<PaymentSnapshot>> => {
  const paid = await paidBy(payment, signal)
  if (paid.kind !== 'known') return paid
  if (paid.snapshot !== null) return charges.readIntent({ ...payment, externalId: paid.snapshot }, signal)
  return call(
    signal,
    (stripe) => stripe.paymentLinks.retrieve(payment.linkId ?? '', {}, on(payment.accountRef)),
    linkOf(payment),
  )
}

export const links: Pick<Gateway, 'openLink' | 'closeLink'> & { readLink: Gateway['read']; findLink: Gateway['find'] } =
  {
    openLink: (payment, key, signal) =>
      !isWhole(payment.amount, payment.currency)
        ? notWhole(payment.currency)
        : call(
            signal,
            (stripe) =>
              stripe.paymentLinks.create(
                {
                  line_items: [
                    {
                      price_data: {
                        currency: lower(payment.currency),
                        unit_amount: toStripe(payment.amount, payment.currency),
                        product_data: { name: payment.description ?? 'Payment' },
                      },
                      quantity: 1,
                    },
                  ],
                  restrictions: { completed_sessions: { limit: 1 } },
                  payment_method_types: [...(payment.linkMethods ?? ['card'])] as 'card'[],
                  metadata: { paymentId: payment.id },
                  payment_intent_data: { metadata: { paymentId: payment.id } },
                  ...(payment.platformFee > 0
                    ? { application_fee_amount: toStripe(payment.platformFee, payment.currency) }
                    : {}),
                },
                keyed(payment.accountRef, key),
              ),
            linkOf(payment),
          ),
    closeLink: async (payment, key, signal) => {
      const closed = await call(
        signal,
        (stripe) => stripe.paymentLinks.update(payment.linkId ?? '', { active: false }, keyed(payment.accountRef, key)),
        linkOf(payment),
      )
      // One that was paid before it was closed is paid.
      return closed.kind === 'known' ? readLink(payment, signal) : closed
    },
    readLink,
    findLink: (payment, signal) =>
      findIn(
        signal,
        (stripe, after) =>
          stripe.paymentLinks.list({ limit: 100, ...(after ? { starting_after: after } : {}) }, on(payment.accountRef)),
        (link) => link.metadata?.['paymentId'] === payment.id,
        linkOf(payment),
      ),
  }
