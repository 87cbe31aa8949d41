import { cut } from '../../../config/cut.ts'
import type Stripe from 'stripe'
import { settings } from '../../../config/env.ts'
import type { MethodSnapshot } from '../../../db/payment/index.ts'
import type { Gateway, GatewayMethod } from '../gateway.ts'
import { call, failureCode, findIn, idOf, keyed, on, orNothing, since } from './client.ts'

const expand = ['payment_method']

const cardOf = (method: Stripe.PaymentMethod | null): MethodSnapshot['card'] => {
  const card = method?.card
  if (!card) return null
  const { brand, last4, exp_month: expMonth, exp_year: expYear, fingerprint } = card
  return { brand: brand.slice(0, 40), last4, expMonth, expYear, fingerprint: fingerprint?.slice(0, 100) ?? null }
}

const methodOf =
  (asked: GatewayMethod) =>
  (method: Stripe.PaymentMethod): { snapshot: MethodSnapshot; reference: string } | null =>
    method.object === 'payment_method' && method.id === asked.externalId
      ? {
          reference: method.id,
          snapshot: {
            status: 'active',
            externalId: method.id,
            setupId: asked.setupId,
            externalCustomerId: idOf(method.customer),
            card: cardOf(method),
            action: null,
            failure: null,
          },
        }
      : null

const setupOf =
  (asked: GatewayMethod) =>
  (setup: Stripe.SetupIntent): { snapshot: MethodSnapshot; reference: string } | null => {
    if (setup.object !== 'setup_intent' || typeof setup.id !== 'string' || !setup.id.startsWith('seti_')) return null
    if (asked.setupId !== null && asked.setupId !== setup.id) return null
    if (setup.metadata?.['paymentMethodId'] !== asked.id) return null
    const method = typeof setup.payment_method === 'object' ? setup.payment_method : null
    const error = setup.last_setup_error
    const isDone = setup.status === 'succeeded'
    const secret = setup.client_secret
    return {
      reference: setup.id,
      snapshot: {
        status: isDone ? 'active' : setup.status === 'canceled' ? 'failed' : 'pending',
        externalId: isDone ? idOf(setup.payment_method) : null,
        setupId: setup.id,
        externalCustomerId: idOf(setup.customer),
        card: isDone ? cardOf(method) : null,
        action:
          isDone || secret === null
            ? null
            : {
                type: 'client_secret',
                provider: 'stripe',
                publishableKey: settings.stripe.publishableKey ?? '',
                account: asked.accountRef,
                clientSecret: secret,
              },
        failure: error
          ? { code: failureCode(error.decline_code ?? error.code), message: cut(error.message ?? '', 200) }
          : null,
      },
    }
  }

export const methods: Pick<Gateway, 'startMethod' | 'readMethod' | 'detachMethod'> = {
  startMethod: async (method, keys, signal) => {
    const { accountRef, customerRef } = method
    const customer =
      customerRef === null
        ? await call(
            signal,
            (stripe) =>
              stripe.customers.create({ metadata: { owner: method.customerKey } }, keyed(accountRef, keys.customer)),
            (made) => (made.object === 'customer' ? { snapshot: made.id, reference: made.id } : null),
          )
        : ({ kind: 'known', snapshot: customerRef } as const)
    if (customer.kind !== 'known') return customer
    return call(
      signal,
      (stripe) =>
        stripe.setupIntents.create(
          {
            customer: customer.snapshot,
            usage: 'off_session',
            allowed_payment_method_types: ['card'],
            metadata: { paymentMethodId: method.id },
            expand,
            ...(method.cardToken === null ? {} : { confirm: true, payment_method: method.cardToken }),
            ...(method.cardToken !== null && method.returnUrl !== null ? { return_url: method.returnUrl } : {}),
          },
          keyed(accountRef, keys.method),
        ),
      setupOf(method),
    )
  },
  readMethod: async (method, signal) => {
    const { externalId, setupId, accountRef } = method
    if (externalId !== null)
      return orNothing(
        await call(
          signal,
          (stripe) => stripe.paymentMethods.retrieve(externalId, {}, on(accountRef)),
          methodOf(method),
        ),
      )
    if (setupId !== null)
      return orNothing(
        await call(
          signal,
          (stripe) => stripe.setupIntents.retrieve(setupId, { expand }, on(accountRef)),
          setupOf(method),
        ),
      )
    return findIn(
      signal,
      (stripe, after) =>
        stripe.setupIntents.list(
          {
            created: since(method.createdAt),
            limit: 100,
            expand: ['data.payment_method'],
            ...(after ? { starting_after: after } : {}),
          },
          on(accountRef),
        ),
      (one) => one.metadata?.['paymentMethodId'] === method.id,
      setupOf(method),
    )
  },
  detachMethod: (method, key, signal) =>
    call(
      signal,
      (stripe) => stripe.paymentMethods.detach(method.externalId ?? '', {}, keyed(method.accountRef, key)),
      (gone) => (gone.object === 'payment_method' ? { snapshot: true } : null),
    ),
}
