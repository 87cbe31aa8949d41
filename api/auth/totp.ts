import { unprocessable } from '../../config/errors.ts'
import { List, Matching, Nullable, Obj, Text } from '../../config/schema.ts'
import { audit } from '../../db/lib/audit.ts'
import {
  presentToken,
  beginCodeTry,
  assertPending,
  beginTotp,
  confirmTotp,
  removeTotp,
  renewRecoveryCodes,
} from '../../db/auth/index.ts'
import { signedIn } from '../lib/access/kinds.ts'
import { requireOwn, requireRecent } from '../lib/access/admission.ts'
import { route } from '../lib/route.ts'
import { carriedOver } from './carried-over.ts'
import { originOf } from './origin.ts'
import { accessToken } from './session-token.ts'

const Token = Text(1, 2_048)
const NewToken = Obj({ token: Token }, { title: 'NewToken' })
const Codes = List(Text(1, 64), { max: 10 })

const begin = route({
  id: 'auth.beginTotp',
  method: 'POST',
  path: '/api/auth/mfa/totp',
  summary: 'Begin to enrol an authenticator app',
  description: 'The secret counts for ten minutes; a code of it confirms it.',
  access: signedIn('update', 'Profile'),
  errors: ['reauthentication_required', 'invalid_transition'],
  returns: Obj({ secret: Nullable(Text(1, 64)), otpauthUri: Nullable(Text(1, 600)) }),
  keep: () => ({ secret: null, otpauthUri: null }),
  handle: ({ trx, caller, request }) => {
    requireOwn(caller)
    requireRecent(caller, request.receivedAt)
    return beginTotp(trx, caller.userId)
  },
})

const confirm = route({
  id: 'auth.confirmTotp',
  method: 'POST',
  path: '/api/auth/mfa/totp/confirm',
  summary: 'Confirm the app and receive recovery codes',
  description: 'All other sessions end; this one goes on with the token of the reply. The codes are shown this once.',
  access: signedIn('update', 'Profile'),
  transaction: 'none',
  errors: ['code_wrong', 'invalid_transition', 'sign_in_throttled'],
  body: Obj({ code: Matching('^[0-9]{6}$', 6) }),
  example: { code: '492039' },
  returns: Obj({ recoveryCodes: Codes, token: Token }),
  handle: async ({ open: transaction, caller, body: { code }, request }) => {
    requireOwn(caller)
    await transaction(async (trx) => {
      await assertPending(trx, caller.userId)
      await beginCodeTry(trx, caller.userId, originOf(request))
    })
    const confirmed = await transaction((trx) => confirmTotp(trx, caller, code, request.receivedAt))
    if (!confirmed) throw unprocessable('code_wrong', 'The code is wrong; is the clock of the device right?')
    return { recoveryCodes: confirmed.recoveryCodes, token: await carriedOver(confirmed.carried) }
  },
})

const remove = route({
  id: 'auth.removeTotp',
  method: 'DELETE',
  path: '/api/auth/mfa/totp',
  summary: 'Remove the authenticator app',
  description: 'Its recovery codes go with it. All other sessions end; this one goes on with the token of the reply.',
  access: signedIn('update', 'Profile'),
  transaction: 'none',
  errors: ['reauthentication_required'],
  returns: NewToken,
  handle: async ({ open: transaction, caller, request }) => {
    requireOwn(caller)
    requireRecent(caller, request.receivedAt)
    const carried = await transaction((trx) => removeTotp(trx, caller))
    if (carried) return { token: await carriedOver(carried) }
    const facts = await transaction(async (trx) => {
      await audit(trx, { action: 'user.mfa_disable', subjectType: 'User', subjectId: caller.userId })
      return presentToken(trx, caller)
    })
    return { token: await accessToken(facts) }
  },
})

const recoveryCodes = route({
  id: 'auth.renewRecoveryCodes',
  method: 'POST',
  path: '/api/auth/mfa/recovery-codes',
  summary: 'Replace the recovery codes',
  description: 'They are shown this once; those there were are worth nothing any more.',
  access: signedIn('update', 'Profile'),
  errors: ['reauthentication_required', 'invalid_transition'],
  returns: Obj({ recoveryCodes: Nullable(Codes) }),
  keep: () => ({ recoveryCodes: null }),
  handle: async ({ trx, caller, request }) => {
    requireOwn(caller)
    requireRecent(caller, request.receivedAt)
    return { recoveryCodes: await renewRecoveryCodes(trx, caller.userId) }
  },
})

export const routes = [begin, confirm, remove, recoveryCodes]
