import { invalid, unauthenticated } from '../../config/errors.ts'
import { Matching, Obj, Opt, Text } from '../../config/schema.ts'
import {
  beginCodeTry,
  checkRecoveryCode,
  checkTotp,
  takeToken,
  openSession,
  userOfMfaToken,
} from '../../db/auth/index.ts'
import { open } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { buryOf } from '../lib/session-cache.ts'
import { originOf } from './origin.ts'
import { SignedInUser, signedInReply } from './signed-in.ts'

const verify = route({
  id: 'auth.verifyMfa',
  method: 'POST',
  path: '/api/auth/mfa/verify',
  summary: 'Finish a sign-in with a second factor',
  access: open(),
  rate: 'sign_in',
  transaction: 'none',
  errors: ['token_invalid', 'invalid_credentials', 'sign_in_throttled'],
  body: Obj({ mfaToken: Text(1, 200), code: Opt(Matching('^[0-9]{6}$', 6)), recoveryCode: Opt(Text(1, 64)) }),
  example: { mfaToken: 'a-token-of-the-sign-in', code: '492039' },
  returns: Obj({ token: Text(1, 2_048), user: SignedInUser }),
  handle: async ({ open: transaction, body: { mfaToken, code, recoveryCode }, request }) => {
    if ((code === undefined) === (recoveryCode === undefined))
      throw invalid([{ field: 'code', message: 'give either code or recoveryCode' }])
    const origin = originOf(request)
    const user = await transaction(async (trx) => {
      const found = await userOfMfaToken(trx, mfaToken)
      await beginCodeTry(trx, found.id, origin)
      return found
    })
    const right = await transaction((trx) =>
      code === undefined
        ? checkRecoveryCode(trx, user.id, recoveryCode ?? '')
        : checkTotp(trx, user.id, code, request.receivedAt),
    )
    if (!right) throw unauthenticated('invalid_credentials', 'The code is wrong, or was used')
    await transaction((trx) => takeToken(trx, 'mfa', mfaToken))
    const signedIn = await openSession(
      transaction,
      user,
      { email: user.email, password: '', origin, userAgent: request.header('user-agent') },
      true,
    )
    await buryOf(signedIn.session.revoked)
    return signedInReply(signedIn)
  },
})

export const routes = [verify]
