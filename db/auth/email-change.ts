import { conflict, tooMany } from '../../config/errors.ts'
import { emailChangesPerHour } from '../../config/limits.ts'
import { audit } from '../lib/audit.ts'
import { sqlOne } from '../lib/connection.ts'
import type { AnyTrx } from '../lib/connection.ts'
import { mailUser, noticeUser } from '../ocp/index.ts'
import { tellEnded } from './ended.ts'
import { createToken, endInvitations, endTokens, takeToken, tokenInvalid } from './one-time-tokens.ts'
import { revokeAll } from './sessions.ts'

/** Mails a link to the new address and a notice to the present one. It does not tell whether the new address is taken before it is proven. */
export const askEmailChange = async (trx: AnyTrx, userId: string, email: string): Promise<void> => {
  const user = await sqlOne<{ email: string }>(trx, `select email from app_user where id = ? for no key update`, [
    userId,
  ])
  if (!user) throw new Error('the user who is signed in is gone')
  // Counted once the user is held: a subquery of the statement that waits for the lock would not see what came meanwhile.
  const asked = await sqlOne<{ n: number }>(
    trx,
    `select count(*) as n from one_time_token where user_id = ? and purpose = 'email_change' and created_at > now() - interval '1 hour'`,
    [userId],
  )
  if ((asked?.n ?? 0) >= emailChangesPerHour)
    throw tooMany('rate_limited', 'Too many changes of address were asked for; wait an hour', 3_600)
  const { id } = await createToken(trx, 'email_change', { userId, data: { email, before: user.email } })
  await mailUser(trx, userId, 'email_change', id)
  await mailUser(trx, userId, 'email_notice', id)
  await audit(trx, {
    action: 'user.email_change_ask',
    subjectType: 'User',
    subjectId: userId,
    changes: [{ field: 'email' }],
  })
}

/**
 * Makes a proven address the one of its user; all sessions end, and links that were mailed to the old address are dead. 401 `token_invalid`, 409
 * `email_taken`.
 */
export const confirmEmail = async (trx: AnyTrx, token: string): Promise<{ email: string; revoked: string[] }> => {
  const { id, userId, data } = await takeToken(trx, 'email_change', token)
  const email = String(data.email)
  const taken = await sqlOne(trx, `select 1 as one from app_user where email_key = lower(?) and id <> ?`, [
    email,
    userId,
  ])
  if (taken) throw conflict('email_taken', 'Somebody else has this address meanwhile')
  const changed = await sqlOne(
    trx,
    `update app_user set email = ?, email_key = lower(?), email_verified_at = now() where id = ? and status = 'active' returning id`,
    [email, email, userId],
  )
  if (!changed) throw tokenInvalid()
  await endTokens(trx, ['password_reset'], userId)
  await endInvitations(trx, userId)
  const revoked = await revokeAll(trx, userId, 'email')
  // To the address that was: the reference is the token, which knows it.
  await noticeUser(trx, userId, 'email_changed', id)
  await audit(trx, {
    action: 'user.email_change',
    subjectType: 'User',
    subjectId: userId,
    tenantId: null,
    actor: { type: 'user', id: userId },
    changes: [{ field: 'email' }],
  })
  await tellEnded(trx, revoked, 'email')
  return { email, revoked }
}
