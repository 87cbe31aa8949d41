import { cut } from '../../../config/cut.ts'
import type Stripe from 'stripe'
import { settings } from '../../../config/env.ts'
import type { Action, Failure, PaymentSnapshot } from '../../../db/payment/index.ts'
import type { Outcome } from '../../lib/gateway-job.ts'
import type { Gateway, GatewayPayment } from '../gateway.ts'
import { fromStripe, isWhole, notWhole, toStripe } from './amounts.ts'
import { call, failureCode, findIn, idOf, instant, keyed, lower, on, since } from './client.ts'

const expand = ['latest_charge']

const actionOf = (intent: Stripe.PaymentIntent, payment: GatewayPayment): Action | null => {
  const next = intent.next_action
  const pix = next?.pix_display_qr_code
  if (pix?.data)
    return {
      type: 'pix',
      copyPaste: pix.data,
      expiresAt: (instant(pix.expires_at) ?? payment.expiresAt ?? new Date()).toISOString(),
    }
  const boleto = next?.boleto_display_details
  if (boleto?.number)
    return {
      type: 'boleto',
      digitableLine: boleto.number,
      url: boleto.hosted_voucher_url ?? '',
      dueDate: (instant(boleto.expires_at) ?? new Date()).toISOString().slice(0, 10),
    }
  if (next?.redirect_to_url?.url) return { type: 'redirect', url: next.redirect_to_url.url }
  if (intent.client_secret === null) return null
  return {
    type: 'client_secret',
    provider: 'stripe',
    publishableKey: settings.stripe.publishableKey ?? '',
    account: payment.accountRef,
    clientSecret: intent.client_secret,
  }
}

const failureOf = ({ last_payment_error: error }: Stripe.PaymentIntent): Failure | null =>
  error
    ? {
        code: failureCode(error.decline_code ?? error.code, error.type === 'card_error'),
        message: cut(error.message ?? '', 200),
      }
    : null

/** Statuses of Stripe as ours. One that was charged without its owner, and was declined, ends there. */
const statusOf = (intent: Stripe.PaymentIntent, payment: GatewayPayment): PaymentSnapshot['status'] | null => {
  switch (intent.status) {
    case 'succeeded':
      return 'captured'
    case 'requires_capture':
      return 'authorised'
    case 'processing':
      return 'processing'
    case 'canceled':
      return 'cancelled'
    case 'requires_payment_method':
      // A slip or Pix is confirmed as it is made: without a method left it was not paid.
      return intent.last_payment_error && (payment.methodRef !== null || payment.method !== 'card')
        ? 'failed'
        : 'requires_action'
    case 'requires_action':
    case 'requires_confirmation':
      return 'requires_action'
    default:
      return null
  }
}

/** An intent counts only when it is the one asked for: object, id, our id, amount and currency. */
export const intentOf =
  (payment: GatewayPayment) =>
  (intent: Stripe.PaymentIntent): { snapshot: PaymentSnapshot; reference: string } | null => {
    if (intent.object !== 'payment_intent' || typeof intent.id !== 'string' || !intent.id.startsWith('pi_')) return null
    if (payment.externalId !== null && payment.externalId !== intent.id) return null
    if (intent.metadata?.['paymentId'] !== payment.id) return null
    const { currency } = payment
    if (intent.amount !== toStripe(payment.amount, currency) || intent.currency !== lower(currency)) return null
    const status = statusOf(intent, payment)
    if (status === null) return null
    const captured = status === 'captured' ? fromStripe(intent.amount_received, currency) : 0
    if (!Number.isSafeInteger(captured) || (status === 'captured' && captured <= 0)) return null
    const charge = typeof intent.latest_charge === 'object' ? intent.latest_charge : null
    const isSaved = payment.save && (captured > 0 || status === 'authorised')
    const { brand, last4 } = charge?.payment_method_details?.card ?? {}
    const isManual = intent.capture_method === 'manual'
    return {
      reference: intent.id,
      snapshot: {
        status,
        externalId: intent.id,
        currency,
        authorisedAmount:
          status === 'authorised'
            ? fromStripe(intent.amount_capturable, currency)
            : isManual && captured > 0
              ? payment.amount
              : 0,
        capturedAmount: captured,
        action: status === 'requires_action' ? actionOf(intent, payment) : null,
        failure: failureOf(intent),
        declineRef: intent.last_payment_error?.charge ?? null,
        authorisationExpiresAt:
          status === 'authorised' ? instant(charge?.payment_method_details?.card?.capture_before) : null,
        savedMethodRef: isSaved ? idOf(intent.payment_method) : null,
        savedCustomerRef: isSaved ? idOf(intent.customer) : null,
        card: brand && last4 ? { brand, last4 } : null,
      },
    }
  }

const day = 24 * 60 * 60

const billing = ({ payer }: GatewayPayment) => {
  const address = payer?.address
  return {
    ...(payer?.name ? { name: payer.name } : {}),
    ...(payer?.email ? { email: payer.email } : {}),
    ...(address
      ? {
          address: {
            line1: [address['street'], address['number']].filter(Boolean).join(', '),
            ...(address['complement'] ? { line2: address['complement'] } : {}),
            city: address['city'] ?? '',
            state: address['region'] ?? '',
            postal_code: address['postalCode'] ?? '',
            country: address['country'] ?? '',
          },
        }
      : {}),
  }
}

/** Seconds that a Pix, and whole days that a slip, may still be paid for, within the limits of Stripe. */
const pixSeconds = ({ expiresAt, createdAt }: GatewayPayment) =>
  Math.min(14 * day, Math.max(60, Math.round(((expiresAt ?? createdAt).getTime() - createdAt.getTime()) / 1_000)))
const boletoDays = ({ expiresAt, createdAt }: GatewayPayment) =>
  Math.min(60, Math.max(0, Math.round(((expiresAt ?? createdAt).getTime() - createdAt.getTime()) / 1_000 / day) - 2))

const byMethod = (payment: GatewayPayment): Partial<Stripe.PaymentIntentCreateParams> => {
  if (payment.method === 'pix')
    return {
      confirm: true,
      payment_method_data: { type: 'pix', billing_details: billing(payment) },
      payment_method_options: { pix: { expires_after_seconds: pixSeconds(payment) } },
    }
  if (payment.method === 'boleto')
    return {
      confirm: true,
      payment_method_data: {
        type: 'boleto',
        billing_details: billing(payment),
        boleto: { tax_id: payment.payer?.document?.number.replace(/\D/g, '') ?? '' },
      },
      payment_method_options: { boleto: { expires_after_days: boletoDays(payment) } },
    }
  if (payment.methodRef !== null)
    return {
      confirm: true,
      off_session: true,
      payment_method: payment.methodRef,
      ...(payment.customerRef === null ? {} : { customer: payment.customerRef }),
    }
  if (payment.cardToken !== null)
    return {
      confirm: true,
      payment_method: payment.cardToken,
      ...(payment.returnUrl === null ? {} : { return_url: payment.returnUrl }),
    }
  return {}
}

const body = (payment: GatewayPayment, customer: string | null): Stripe.PaymentIntentCreateParams => ({
  amount: toStripe(payment.amount, payment.currency),
  currency: lower(payment.currency),
  allowed_payment_method_types: [payment.method],
  metadata: { paymentId: payment.id },
  expand,
  ...(payment.platformFee > 0 ? { application_fee_amount: toStripe(payment.platformFee, payment.currency) } : {}),
  ...(payment.mode === 'authorise' ? { capture_method: 'manual' as const } : {}),
  ...(payment.description === null ? {} : { description: payment.description }),
  ...(payment.save && customer !== null ? { setup_future_usage: 'off_session' as const, customer } : {}),
  ...byMethod(payment),
})

/** A card is kept by a customer of the gateway; it is made under a key of its own, so that a repeated call finds it. */
const customerFor = async (
  payment: GatewayPayment,
  key: string,
  signal: AbortSignal,
): Promise<Outcome<string | null>> =>
  payment.save && payment.customerRef === null
    ? call(
        signal,
        (stripe) =>
          stripe.customers.create(
            { metadata: { paymentId: payment.id } },
            keyed(payment.accountRef, `${key}-customer`),
          ),
        (customer) => (customer.object === 'customer' ? { snapshot: customer.id, reference: customer.id } : null),
      )
    : { kind: 'known', snapshot: payment.customerRef }

const one = (payment: GatewayPayment) => payment.externalId ?? ''

export const charges: Pick<Gateway, 'submit' | 'capture' | 'cancel' | 'find'> & {
  readIntent: Gateway['read']
} = {
  submit: async (payment, key, signal) => {
    if (!isWhole(payment.amount, payment.currency)) return notWhole(payment.currency)
    const customer = await customerFor(payment, key, signal)
    if (customer.kind !== 'known') return customer
    return call(
      signal,
      (stripe) => stripe.paymentIntents.create(body(payment, customer.snapshot), keyed(payment.accountRef, key)),
      intentOf(payment),
    )
  },
  capture: (payment, amount, platformFee, key, signal) => {
    const { currency, accountRef } = payment
    if (!isWhole(amount, currency)) return notWhole(currency)
    const fee = platformFee > 0 ? { application_fee_amount: toStripe(platformFee, currency) } : {}
    return call(
      signal,
      (stripe) =>
        stripe.paymentIntents.capture(
          one(payment),
          { amount_to_capture: toStripe(amount, currency), expand, ...fee },
          keyed(accountRef, key),
        ),
      intentOf(payment),
    )
  },
  cancel: (payment, key, signal) =>
    call(
      signal,
      (stripe) => stripe.paymentIntents.cancel(one(payment), { expand }, keyed(payment.accountRef, key)),
      intentOf(payment),
    ),
  readIntent: (payment, signal) =>
    call(
      signal,
      (stripe) => stripe.paymentIntents.retrieve(one(payment), { expand }, on(payment.accountRef)),
      intentOf(payment),
    ),
  find: (payment, signal) =>
    findIn(
      signal,
      (stripe, after) =>
        stripe.paymentIntents.list(
          { created: since(payment.createdAt), limit: 100, ...(after ? { starting_after: after } : {}) },
          on(payment.accountRef),
        ),
      (intent) => intent.metadata?.['paymentId'] === payment.id,
      intentOf(payment),
    ),
}
