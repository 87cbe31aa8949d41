import { Int, Obj, Uuid } from '../../config/schema.ts'
import { resetUserMfa } from '../../db/auth/index.ts'
import { onCommit } from '../../db/lib/connection.ts'
import { superuser } from '../lib/access/kinds.ts'
import { requireRecent, requireSession } from '../lib/access/admission.ts'
import { Reason, trimmed } from '../lib/reason.ts'
import { route } from '../lib/route.ts'
import { buryOf } from '../lib/session-cache.ts'

const resetMfa = route({
  id: 'superuser.users.resetMfa',
  method: 'POST',
  path: '/superuser/users/:userId/reset-mfa',
  summary: 'Remove a lost second factor of any user, with reason',
  description: 'All sessions of the user end, and the user is told by mail.',
  access: superuser('N1', 'reset', 'SuperuserAccount'),
  errors: ['not_oneself', 'reauthentication_required'],
  body: Obj({ reason: Reason }),
  example: { reason: 'The phone was lost' },
  returns: Obj({ userId: Uuid, revoked: Int(0, 1_000) }),
  handle: async ({ trx, params, caller, body, request }) => {
    requireSession(caller)
    requireRecent(caller, request.receivedAt)
    const sessionIds = await resetUserMfa(trx, caller.userId, params.userId, trimmed(body.reason))
    onCommit(trx, () => void buryOf(sessionIds))
    return { userId: params.userId, revoked: sessionIds.length }
  },
})

export const routes = [resetMfa]
