import { Int, Literal, Obj, Opt, Text } from '../../config/schema.ts'
import { answerSatisfaction } from '../../db/issues/index.ts'
import { open } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'

const answer = route({
  id: 'public.issues.satisfaction',
  method: 'POST',
  path: '/api/public/issues/satisfaction',
  summary: "Record a guest's answer on how an issue was handled",
  description:
    'The token stands in the link that the guest was mailed; it is good for 30 days after the resolution. An answer may be changed for a day.',
  access: open(),
  rate: 'public_write',
  idempotency: 'off',
  body: Obj({ token: Text(1, 500), score: Int(1, 5), comment: Opt(Text(0, 1_000)) }),
  example: { token: 'sat_AAAAAAAAAAAAAAAAAAAAAAAA', score: 5 },
  returns: Obj({ recorded: Literal(true) }),
  errors: ['not_found', 'already_answered'],
  handle: async ({ trx, body: { token, ...given } }) => {
    await answerSatisfaction(trx, token, given)
    return { recorded: true as const }
  },
})

export const routes = [answer]
