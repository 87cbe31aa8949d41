import { Counter } from 'prom-client'
import { notFound, unauthenticated } from '../../config/errors.ts'
import { Bool, Matching, Obj } from '../../config/schema.ts'
import { storeCallback, verifyCallback } from '../../db/payment/index.ts'
import { callback } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'

const refused = new Counter({
  name: 'gateway_callbacks_refused_total',
  help: 'Callbacks whose signature was bad',
  labelNames: ['provider'],
})

export const routes = [
  route({
    id: 'payments.callback',
    method: 'POST',
    path: '/api/callbacks/payments/:provider',
    summary: 'Receive a signed callback from a payment gateway',
    access: callback(),
    params: Obj({ provider: Matching('^[a-z]{1,20}$', 20) }),
    bodyFormat: 'raw',
    transaction: 'none',
    idempotency: 'off',
    returns: Obj({ received: Bool }, { title: 'CallbackReceived' }),
    errors: ['signature_invalid'],
    handle: async ({ params, request }) => {
      const { provider } = params
      const verified = verifyCallback(provider, request.header, request.rawBody, request.receivedAt)
      if (verified === 'no_such_provider') throw notFound('There is no such provider')
      if (verified === null) {
        refused.inc({ provider })
        throw unauthenticated('signature_invalid', 'The signature is not valid')
      }
      await storeCallback(
        provider,
        verified.callback,
        { rawBody: request.rawBody, headers: verified.headers },
        request.id,
      )
      return { received: true }
    },
  }),
]
