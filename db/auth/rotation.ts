import { sqlOne } from '../lib/connection.ts'
import type { AnyTrx } from '../lib/connection.ts'
import { accessSeconds, jtiHash, jtiOf, revokeSessions } from './sessions.ts'

export type Rotation =
  | { outcome: 'rotated' | 'repeated'; jti: string; epoch: number; userId: string; issuedAt: Date; expiresAt: Date }
  | { outcome: 'reused'; userId: string; revoked: string[] }
  | { outcome: 'refused' }

/** Claims of the token to be exchanged. */
type Shown = { sessionId: string; userId: string; jti: string; epoch: number }

/**
 * Exchanges a token's id for the next one, once. The id before it gets the same new one again within 30 s, so that a lost reply does no
 * harm; any other was used twice, and the session is revoked.
 */
export const rotateSession = async (trx: AnyTrx, { sessionId, userId, jti, epoch }: Shown): Promise<Rotation> => {
  const row = await sqlOne<{
    userId: string
    generation: number
    current: Buffer
    previous: Buffer | null
    recent: boolean
    live: boolean
    epoch: number
    rotatedAt: Date | null
    createdAt: Date
    expiresAt: Date
  }>(
    trx,
    `select s.user_id, s.generation, s.current_jti_hash as current, s.previous_jti_hash as previous, coalesce(s.rotated_at > now() - interval '30 seconds', false) as recent,
       s.revoked_at is null and s.absolute_expires_at > now() and s.kind = 'api' and u.status = 'active' and u.session_epoch = s.epoch as live, s.epoch,
       s.rotated_at, s.created_at, s.expires_at
     from session s join app_user u on u.id = s.user_id where s.id = ? for no key update of s`,
    [sessionId],
  )
  if (!row?.live || row.epoch !== epoch || row.userId !== userId) return { outcome: 'refused' }
  const hash = jtiHash(jti)
  if (hash.equals(row.current)) {
    const next = jtiOf(sessionId, row.generation + 1)
    const rotated = await sqlOne<{ rotatedAt: Date; expiresAt: Date }>(
      trx,
      `update session set generation = generation + 1, previous_jti_hash = current_jti_hash, current_jti_hash = ?, rotated_at = now(), last_seen_at = now(),
         expires_at = least(now() + make_interval(secs => ?), absolute_expires_at) where id = ? returning rotated_at, expires_at`,
      [jtiHash(next), accessSeconds, sessionId],
    )
    if (!rotated) throw new Error('a locked session is gone')
    return {
      outcome: 'rotated',
      jti: next,
      epoch: row.epoch,
      userId: row.userId,
      issuedAt: rotated.rotatedAt,
      expiresAt: rotated.expiresAt,
    }
  }
  if (row.previous && hash.equals(row.previous) && row.recent)
    return {
      outcome: 'repeated',
      jti: jtiOf(sessionId, row.generation),
      epoch: row.epoch,
      userId: row.userId,
      issuedAt: row.rotatedAt ?? row.createdAt,
      expiresAt: row.expiresAt,
    }
  // The signature is good, so this is a token of an earlier generation that was kept.
  return { outcome: 'reused', userId: row.userId, revoked: await revokeSessions(trx, { sessionId }, 'reuse') }
}
