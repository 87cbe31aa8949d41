import { unauthenticated } from '../../config/errors.ts'
import { longestCredential } from '../../config/limits.ts'
import { Instant, Obj, Text } from '../../config/schema.ts'
import { audit } from '../../db/lib/audit.ts'
import { tellEnded, rotateSession } from '../../db/auth/index.ts'
import { sqlOne } from '../../db/lib/connection.ts'
import { noticeUser } from '../../db/ocp/index.ts'
import { open } from '../lib/access/kinds.ts'
import { bearerOf, refuseCredential, unambiguous } from '../lib/authenticate.ts'
import { limitRefresh } from '../lib/rate-limit.ts'
import { route } from '../lib/route.ts'
import type { RequestFacts } from '../lib/route.ts'
import { buryOf, forgetSession } from '../lib/session-cache.ts'
import { verifyToken } from '../../config/tokens.ts'
import { accessToken } from './session-token.ts'

const days = 86_400_000
const leeway = { user: 7 * days, superuser: 3_600_000 }

const refuse = (request: RequestFacts) =>
  refuseCredential(request, 'unauthenticated', 'The token cannot be refreshed; sign in again')

const refresh = route({
  id: 'auth.refresh',
  method: 'POST',
  path: '/api/auth/refresh',
  summary: 'Exchange a token, even an expired one, for a new one',
  access: open(),
  security: 'bearer',
  rate: 'refresh',
  transaction: 'none',
  returns: Obj({ token: Text(1, 2_048), expiresAt: Instant }),
  handle: async ({ open: transaction, request }) => {
    unambiguous(request)
    const token = bearerOf(request)
    if (token === '') throw unauthenticated()
    if (token.length > longestCredential) return refuse(request)
    const now = request.receivedAt
    const result = await verifyToken('access', token, { allowExpired: true, now })
    if (!result.ok) return refuse(request)
    const { sid, jti, ep, sub } = result.claims
    if (typeof sid !== 'string' || typeof jti !== 'string' || typeof ep !== 'number' || typeof sub !== 'string')
      return refuse(request)
    await limitRefresh(sid, request)
    const rotation = await transaction(async (trx) => {
      const superuser = await sqlOne(trx, `select 1 from superuser_account where user_id = ? and ended_at is null`, [
        sub,
      ])
      if (now.getTime() - result.expiresAt.getTime() > (superuser ? leeway.superuser : leeway.user))
        return { outcome: 'refused' as const }
      const answer = await rotateSession(trx, { sessionId: sid, userId: sub, jti, epoch: ep })
      if (answer.outcome === 'reused') {
        await audit(trx, { action: 'session.reuse', subjectType: 'Session', subjectId: sid })
        await noticeUser(trx, answer.userId, 'session_reused', sid)
        await tellEnded(trx, answer.revoked, 'reuse')
      }
      return answer
    })
    if (rotation.outcome === 'reused') await buryOf(rotation.revoked)
    if (rotation.outcome === 'refused' || rotation.outcome === 'reused') return refuse(request)
    await forgetSession(sid)
    return { token: await accessToken({ sessionId: sid, ...rotation }), expiresAt: rotation.expiresAt }
  },
})

export const routes = [refresh]
