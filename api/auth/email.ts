import { Bool, Email, Obj, Text } from '../../config/schema.ts'
import { askEmailChange, confirmEmail } from '../../db/auth/index.ts'
import { onCommit } from '../../db/lib/connection.ts'
import { open, signedIn } from '../lib/access/kinds.ts'
import { requireOwn, requireRecent } from '../lib/access/admission.ts'
import { route } from '../lib/route.ts'
import { buryOf } from '../lib/session-cache.ts'

const change = route({
  id: 'auth.changeEmail',
  method: 'POST',
  path: '/api/auth/email/change',
  summary: 'Ask to change own e-mail address',
  description:
    'A link goes to the new address and a notice to the present one; nothing changes before the link is used.',
  access: signedIn('update', 'Profile'),
  errors: ['reauthentication_required'],
  body: Obj({ email: Email }),
  example: { email: 'renata.alves@sol.example' },
  returns: Obj({ accepted: Bool }, { title: 'Accepted' }),
  handle: async ({ trx, caller, body: { email }, request }) => {
    requireOwn(caller)
    requireRecent(caller, request.receivedAt)
    await askEmailChange(trx, caller.userId, email)
    return { accepted: true }
  },
})

const confirm = route({
  id: 'auth.confirmEmail',
  method: 'POST',
  path: '/api/auth/email/confirm',
  summary: 'Confirm a new e-mail address with a mailed token',
  description: 'All sessions end; sign in with the new address afterwards.',
  access: open(),
  idempotency: 'off',
  errors: ['token_invalid', 'email_taken'],
  body: Obj({ token: Text(1, 200) }),
  example: { token: 'a-token-from-the-mail' },
  returns: Obj({ email: Email }),
  handle: async ({ trx, body: { token } }) => {
    const { email, revoked } = await confirmEmail(trx, token)
    onCommit(trx, () => void buryOf(revoked))
    return { email }
  },
})

export const routes = [change, confirm]
