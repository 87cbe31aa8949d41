import { Counter } from 'prom-client'
import { unauthenticated } from '../../config/errors.ts'
import { Matching, Obj, Opt, Uuid } from '../../config/schema.ts'
import { storeMessageCallback } from '../../db/ocp/index.ts'
import { callback } from '../lib/access/kinds.ts'
import { Bytes } from '../lib/bytes.ts'
import { route } from '../lib/route.ts'

const refused = new Counter({
  name: 'message_callbacks_refused_total',
  help: 'Callbacks of message providers whose token or signature was bad',
})

export const routes = [
  route({
    id: 'messages.callback',
    method: 'POST',
    path: '/api/callbacks/messages/:callbackToken',
    summary: 'Receive delivery reports and inbound messages',
    description:
      'Twilio sends a form with `X-Twilio-Signature`; `attempt` names the text that it reports. Reports on mail are JSON with a Standard Webhooks signature under the channel’s inbound secret; those of a sandbox need none.',
    access: callback(),
    params: Obj({ callbackToken: Matching('^[A-Za-z0-9_-]{1,100}$', 100) }),
    query: Obj({ attempt: Opt(Uuid) }),
    bodyFormat: 'raw',
    bodyLimit: 1024 * 1024,
    transaction: 'none',
    idempotency: 'off',
    returns: Bytes(['text/plain']),
    errors: ['signature_invalid'],
    handle: async ({ params, query, request }) => {
      const isKept = await storeMessageCallback({
        token: params.callbackToken,
        path: request.path,
        attemptId: query.attempt,
        header: request.header,
        body: request.rawBody,
        requestId: request.id,
      })
      if (!isKept) {
        refused.inc()
        throw unauthenticated('signature_invalid', 'The signature is not valid')
      }
      return { mediaType: 'text/plain', bytes: '' }
    },
  }),
]
