import { unauthenticated } from '../../config/errors.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { AnyTrx } from '../lib/connection.ts'
import { endTokens } from './one-time-tokens.ts'
import { accessSeconds, jtiHash, jtiOf } from './sessions.ts'
import type { RevokeReason } from './sessions.ts'

/** Facts that a new token of a session is made of. */
export type TokenFacts = {
  sessionId: string
  userId: string
  jti: string
  epoch: number
  issuedAt: Date
  expiresAt: Date
}
export type CarriedOver = { token: TokenFacts; revoked: string[] }

type Whose = { userId: string; sessionId: string }

const gone = () => unauthenticated('unauthenticated', 'The session has ended; sign in again')

/**
 * Ends every session of a user but the present one, and every sign-in that waits for its second factor. The present one goes on under the new
 * epoch with a new token; the old one is dead with the commit. The user reauthenticated for it, with a code if `withCode` is set. 401
 * where the session ended meanwhile.
 */
export const endOtherSessions = async (
  trx: AnyTrx,
  { userId, sessionId }: Whose,
  reason: RevokeReason,
  { withCode = false } = {},
): Promise<CarriedOver> => {
  const user = await sqlOne<{ epoch: number }>(
    trx,
    `update app_user set session_epoch = session_epoch + 1 where id = ? and status = 'active' returning session_epoch as epoch`,
    [userId],
  )
  const present = await sqlOne<{ generation: number }>(
    trx,
    `select generation from session where id = ? and user_id = ? and revoked_at is null and absolute_expires_at > now() for no key update`,
    [sessionId, userId],
  )
  if (!user || !present) throw gone()
  await endTokens(trx, ['mfa'], userId)
  const others = await sql<{ id: string }>(
    trx,
    `update session set revoked_at = now(), revoke_reason = ? where user_id = ? and id <> ? and revoked_at is null and absolute_expires_at > now()
     returning id`,
    [reason, userId, sessionId],
  )
  const jti = jtiOf(sessionId, present.generation + 1)
  const row = await sqlOne<{ issuedAt: Date; expiresAt: Date }>(
    trx,
    `update session set epoch = ?, generation = generation + 1, previous_jti_hash = null, current_jti_hash = ?, rotated_at = now(), last_seen_at = now(),
       mfa_at = case when ? then now() else mfa_at end, expires_at = least(now() + make_interval(secs => ?), absolute_expires_at)
     where id = ? returning rotated_at as issued_at, expires_at`,
    [user.epoch, jtiHash(jti), withCode, accessSeconds, sessionId],
  )
  if (!row) throw gone()
  return { token: { sessionId, userId, jti, epoch: user.epoch, ...row }, revoked: others.map(({ id }) => id) }
}

/** Present token of a session, for a repeated request whose change is already made. */
export const presentToken = async (trx: AnyTrx, { userId, sessionId }: Whose): Promise<TokenFacts> => {
  const row = await sqlOne<{ generation: number; epoch: number; issuedAt: Date; expiresAt: Date }>(
    trx,
    `select generation, epoch, coalesce(rotated_at, created_at) as issued_at, expires_at from session where id = ? and user_id = ? and revoked_at is null`,
    [sessionId, userId],
  )
  if (!row) throw gone()
  const { generation, ...facts } = row
  return { sessionId, userId, jti: jtiOf(sessionId, generation), ...facts }
}
