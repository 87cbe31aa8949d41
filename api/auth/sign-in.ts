import { Bool, Email, Instant, Obj, Opt, Text } from '../../config/schema.ts'
import { mailedToken } from '../../config/derived-secrets.ts'
import { beginSecondHalf, openSession, proveIdentity } from '../../db/auth/index.ts'
import { open } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { buryOf } from '../lib/session-cache.ts'
import { bounded, Password } from './given-password.ts'
import { originOf } from './origin.ts'
import { SignedInUser, signedInReply } from './signed-in.ts'

const signIn = route({
  id: 'auth.signIn',
  method: 'POST',
  path: '/api/auth/sign-in/email',
  summary: 'Sign in with e-mail and password',
  description: 'With a second factor the reply is mfaRequired and an mfaToken instead of a token.',
  access: open(),
  rate: 'sign_in',
  hashes: true,
  transaction: 'none',
  errors: ['invalid_credentials', 'sign_in_throttled'],
  body: Obj({ email: Email, password: Password }),
  example: { email: 'reception@sol.example', password: 'pousada-demo-2026' },
  returns: Obj({
    token: Opt(Text(1, 2_048)),
    user: Opt(SignedInUser),
    mfaRequired: Opt(Bool),
    mfaToken: Opt(Text(1, 200)),
    expiresAt: Opt(Instant),
  }),
  handle: async ({ open: transaction, body, request }) => {
    bounded('password', body.password)
    const attempt = { ...body, origin: originOf(request), userAgent: request.header('user-agent') }
    const user = await proveIdentity(transaction, attempt)
    if (user.mfaEnabled) {
      const { id, expiresAt } = await transaction((trx) => beginSecondHalf(trx, user))
      return { mfaRequired: true, mfaToken: mailedToken('mfa', id), expiresAt }
    }
    const signedIn = await openSession(transaction, user, attempt, false)
    await buryOf(signedIn.session.revoked)
    return signedInReply(signedIn)
  },
})

export const routes = [signIn]
