import { Counter } from 'prom-client'
import { invalid, unauthenticated } from '../../config/errors.ts'
import { Bool, List, Matching, Obj, Opt, Text } from '../../config/schema.ts'
import { compile } from '../../config/validator.ts'
import { storePixNotice } from '../../db/cash/index.ts'
import { callback } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'

const refused = new Counter({
  name: 'pix_callbacks_refused_total',
  help: 'Callbacks of banks to an address that no connection has',
})

const Notice = Obj({
  pix: List(
    Obj({
      endToEndId: Matching('^[A-Za-z0-9]{1,35}$', 35, { cardNumber: 'exempt' }),
      txid: Opt(Text(1, 35, { cardNumber: 'exempt' })),
    }),
    { max: 100 },
  ),
})

/** Banks say more than is asked of them here: only ids are read, and asked about. */
const noticesIn = (raw: Buffer): { endToEndId: string }[] => {
  let body: unknown = null
  try {
    body = JSON.parse(raw.toString('utf8'))
  } catch {
    throw invalid([{ field: '', message: 'is no JSON' }])
  }
  const pix = typeof body === 'object' && body !== null && 'pix' in body && Array.isArray(body.pix) ? body.pix : null
  const told = {
    pix: (pix ?? [null]).map((one: unknown) =>
      typeof one === 'object' && one !== null && 'endToEndId' in one ? { endToEndId: one.endToEndId } : {},
    ),
  }
  const problems = compile(Notice)(told)
  if (problems) throw invalid(problems)
  return told.pix as { endToEndId: string }[]
}

export const routes = [
  route({
    id: 'pixCharges.callback',
    method: 'POST',
    path: '/api/callbacks/pix/:hookKey/pix',
    summary: 'Receive notice of Pix payments from the bank',
    description:
      'A hint: only the ids are kept, and the bank is asked about each. The address is known to the bank alone; the same notice again adds nothing.',
    access: callback(),
    params: Obj({ hookKey: Matching('^[A-Za-z0-9_-]{1,100}$', 100) }),
    bodyFormat: 'raw',
    transaction: 'none',
    idempotency: 'off',
    returns: Obj({ received: Bool }, { title: 'CallbackReceived' }),
    errors: ['signature_invalid'],
    handle: async ({ params, request }) => {
      const notices = noticesIn(request.rawBody)
      if (!(await storePixNotice(params.hookKey, notices, request.id))) {
        refused.inc()
        throw unauthenticated('signature_invalid', 'The signature is not valid')
      }
      return { received: true }
    },
  }),
]
