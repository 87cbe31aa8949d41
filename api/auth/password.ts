import { Bool, Email, Obj, Text } from '../../config/schema.ts'
import { askPasswordReset, changePassword, resetPassword } from '../../db/auth/index.ts'
import { open, signedIn } from '../lib/access/kinds.ts'
import { requireOwn } from '../lib/access/admission.ts'
import { route } from '../lib/route.ts'
import { buryOf } from '../lib/session-cache.ts'
import { carriedOver } from './carried-over.ts'
import { bounded, Password } from './given-password.ts'
import { originOf } from './origin.ts'

const change = route({
  id: 'auth.changePassword',
  method: 'POST',
  path: '/api/auth/password/change',
  summary: 'Change own password',
  description: 'All other sessions end; this one goes on with the token of the reply.',
  access: signedIn('update', 'Profile'),
  hashes: true,
  transaction: 'none',
  errors: ['password_wrong', 'password_too_weak', 'sign_in_throttled'],
  body: Obj({ currentPassword: Password, newPassword: Password }),
  example: { currentPassword: 'pousada-demo-2026', newPassword: 'mar azul e vento norte' },
  returns: Obj({ token: Text(1, 2_048) }, { title: 'NewToken' }),
  handle: async ({ open: transaction, caller, body, request }) => {
    requireOwn(caller)
    bounded('currentPassword', body.currentPassword)
    bounded('newPassword', body.newPassword)
    const { userId, sessionId } = caller
    const carried = await changePassword(transaction, { userId, sessionId, ...body, origin: originOf(request) })
    return { token: await carriedOver(carried) }
  },
})

const forgot = route({
  id: 'auth.forgotPassword',
  method: 'POST',
  path: '/api/auth/password/forgot',
  summary: 'Send a link to reset a password',
  description: 'The reply is the same whether or not somebody has this address.',
  access: open(),
  rate: 'sign_in',
  idempotency: 'off',
  body: Obj({ email: Email }),
  example: { email: 'reception@sol.example' },
  returns: Obj({ accepted: Bool }, { title: 'Accepted' }),
  handle: async ({ trx, body: { email } }) => {
    await askPasswordReset(trx, email)
    return { accepted: true }
  },
})

const reset = route({
  id: 'auth.resetPassword',
  method: 'POST',
  path: '/api/auth/password/reset',
  summary: 'Set a new password with a mailed token',
  description: 'All sessions end; sign in afterwards, with the second factor where there is one.',
  access: open(),
  rate: 'sign_in',
  hashes: true,
  transaction: 'none',
  errors: ['token_invalid', 'password_too_weak'],
  body: Obj({ token: Text(1, 200), newPassword: Password }),
  example: { token: 'a-token-from-the-mail', newPassword: 'mar azul e vento norte' },
  returns: Obj({}),
  handle: async ({ open: transaction, body: { token, newPassword } }) => {
    bounded('newPassword', newPassword)
    await buryOf(await resetPassword(transaction, token, newPassword))
    return {}
  },
})

export const routes = [change, forgot, reset]
