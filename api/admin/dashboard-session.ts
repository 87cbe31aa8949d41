import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { settings } from '../../config/env.ts'
import { ApiError, forbidden } from '../../config/errors.ts'
import { isUuid } from '../../config/validator.ts'
import { audit } from '../../db/lib/audit.ts'
import {
  beginCodeTry,
  checkTotp,
  jtiHash,
  revokeSessions,
  seenDashboard,
  openSession,
  proveIdentity,
} from '../../db/auth/index.ts'
import { withoutTenant } from '../../db/lib/connection.ts'
import type { AnyTrx, Context } from '../../db/lib/connection.ts'
import { originOf } from '../auth/origin.ts'
import { limit } from '../lib/rate-limit.ts'
import { factsOf } from '../lib/request.ts'
import { buryOf } from '../lib/session-cache.ts'

type SignIn = { email: string; password: string; code: string | null; requestId: string }

const mostBytes = 1_024

/** Checks an operator's sign-in and opens a session of kind dashboard. Answers what the cookie holds. */
export const signInToDashboard = async (
  message: IncomingMessage,
  { email, password, code, requestId }: SignIn,
): Promise<{ cookie: string }> => {
  const request = factsOf(message, requestId, null, 'POST', '/superuser/dashboard/sign-in', Buffer.alloc(0))
  if (!request.isCounted) await limit({ kind: 'anonymous', address: request.address }, 'sign_in', request, () => {})
  if (email === '' || password === '' || Buffer.byteLength(password) > mostBytes)
    throw new ApiError('validation_failed', 'Give your e-mail address and password')
  const context: Partial<Context> = { requestId, address: request.address }
  const open = <T>(work: (trx: AnyTrx) => Promise<T>) => withoutTenant(work, context)
  const origin = originOf(request)
  const user = await proveIdentity(open, { email, password, origin, userAgent: '' })
  if (user.superuserLevel !== 'N1') throw forbidden('level_required', 'The dashboard is for superusers of level N1')
  if (!user.mfaEnabled && settings.superuserMfa === 'required')
    throw forbidden('mfa_required', 'Superusers sign in with a second factor')
  if (user.mfaEnabled) {
    if (code === null) throw new ApiError('mfa_code_missing', 'Give the code of your authenticator')
    await open((trx) => beginCodeTry(trx, user.id, origin))
    if (!(await open((trx) => checkTotp(trx, user.id, code, request.receivedAt))))
      throw new ApiError('mfa_code_wrong', 'The code is wrong, or was used')
  }
  const attempt = { email, password: '', origin, userAgent: request.header('user-agent'), kind: 'dashboard' as const }
  const { session } = await openSession(open, user, attempt, user.mfaEnabled)
  await buryOf(session.revoked)
  return { cookie: `${session.id}.${session.jti}` }
}

const read = (cookie: string): { id: string; hash: Buffer } | null => {
  const [id = '', jti = '', ...rest] = cookie.split('.')
  return rest.length === 0 && isUuid(id) && jti.length === 22 ? { id, hash: jtiHash(jti) } : null
}

export type Operator = { userId: string; email: string }

/** The operator whose live session a cookie names, or null. From PostgreSQL, each time: half an hour unused ends it. */
export const dashboardSession = async (cookie: string): Promise<Operator | null> => {
  const given = read(cookie)
  if (!given) return null
  const session = await withoutTenant((trx) => seenDashboard(trx, given.id))
  return session && timingSafeEqual(given.hash, session.jtiHash)
    ? { userId: session.userId, email: session.email }
    : null
}

export const endDashboardSession = async (cookie: string, requestId: string): Promise<void> => {
  const given = read(cookie)
  if (!given || !(await dashboardSession(cookie))) return
  await withoutTenant(
    async (trx) => {
      await revokeSessions(trx, { sessionId: given.id }, 'sign_out')
      await audit(trx, { action: 'session.sign_out', subjectType: 'Session', subjectId: given.id })
    },
    { requestId },
  )
}
