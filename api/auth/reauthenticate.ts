import { invalid, unprocessable } from '../../config/errors.ts'
import { Instant, Matching, Obj, Opt } from '../../config/schema.ts'
import { audit } from '../../db/lib/audit.ts'
import { beginCodeTry, checkTotp, confirmPassword } from '../../db/auth/index.ts'
import { sqlOne } from '../../db/lib/connection.ts'
import { signedIn } from '../lib/access/kinds.ts'
import { requireSession } from '../lib/access/admission.ts'
import { route } from '../lib/route.ts'
import { forgetSession } from '../lib/session-cache.ts'
import { bounded, Password } from './given-password.ts'
import { originOf } from './origin.ts'

const reauthenticate = route({
  id: 'auth.reauthenticate',
  method: 'POST',
  path: '/api/auth/reauthenticate',
  summary: 'Prove identity again for a sensitive step',
  description: 'By a code of the authenticator where one is set up, else by the password.',
  access: signedIn('update', 'Session'),
  transaction: 'none',
  errors: ['password_wrong', 'code_wrong', 'sign_in_throttled', 'hashing_busy'],
  body: Obj({ password: Opt(Password), code: Opt(Matching('^[0-9]{6}$', 6)) }),
  example: { password: 'pousada-demo-2026' },
  returns: Obj({ reauthenticatedUntil: Instant }),
  handle: async ({ open: transaction, caller, body: { password, code }, request }) => {
    requireSession(caller)
    const origin = originOf(request)
    if (caller.mfaEnabled) {
      if (code === undefined || password !== undefined)
        throw invalid([{ field: 'code', message: 'is required, alone' }])
      await transaction((trx) => beginCodeTry(trx, caller.userId, origin))
      if (!(await transaction((trx) => checkTotp(trx, caller.userId, code, request.receivedAt))))
        throw unprocessable('code_wrong', 'The code is wrong, or was used')
    } else {
      if (password === undefined || code !== undefined)
        throw invalid([{ field: 'password', message: 'is required, alone' }])
      bounded('password', password)
      if (!(await confirmPassword(transaction, caller.userId, password, origin)))
        throw unprocessable('password_wrong', 'The password is wrong')
    }
    const row = await transaction(async (trx) => {
      await audit(trx, {
        action: 'session.reauthenticate',
        subjectType: 'Session',
        subjectId: caller.sessionId,
        tenantId: caller.activeTenantId,
      })
      return sqlOne<{ until: Date }>(
        trx,
        `update session set reauthenticated_at = now(), mfa_at = case when ? then now() else mfa_at end where id = ? and revoked_at is null
         returning reauthenticated_at + interval '10 minutes' as until`,
        [caller.mfaEnabled, caller.sessionId],
      )
    })
    await forgetSession(caller.sessionId)
    return { reauthenticatedUntil: row?.until ?? request.receivedAt }
  },
})

export const routes = [reauthenticate]
