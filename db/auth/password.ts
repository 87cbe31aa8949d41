import { passwordMails } from '../../config/limits.ts'
import { unprocessable } from '../../config/errors.ts'
import { messagesStartPasswordReset } from '../../jobs/ocp.ts'
import { audit } from '../lib/audit.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { AnyTrx, PlatformTrx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { mailUser, noticeUser } from '../ocp/index.ts'
import { endOtherSessions } from './carry-over.ts'
import type { CarriedOver } from './carry-over.ts'
import { tellEnded } from './ended.ts'
import { hashPassword } from './hashing.ts'
import type { PasswordHash } from './hashing.ts'
import { createToken, endTokens, readToken, takeToken, tokenInvalid } from './one-time-tokens.ts'
import { revokeAll } from './sessions.ts'
import { confirmPassword } from './sign-in.ts'
import type { Open } from './sign-in.ts'
import { assertStrong } from './strength.ts'
import { forgetFailures } from './throttle.ts'
import type { Origin } from './throttle.ts'

/** Users who may have a password: those who are active, and superusers who were invited and set their first one. */
const mayEnter = `(u.status = 'active' or (u.status = 'invited'
  and exists (select from superuser_account a where a.user_id = u.id and a.ended_at is null)))`

type Account = { email: string; mfaEnabled: boolean }

const account = (trx: AnyTrx, userId: string): Promise<Account | null> =>
  sqlOne<Account>(
    trx,
    `select u.email, u.totp_confirmed_at is not null as mfa_enabled from app_user u where u.id = ? and ${mayEnter}`,
    [userId],
  )

export const passwordWrong = () => unprocessable('password_wrong', 'The password is wrong')

/** Sets a password, and ends the links that were mailed under the old one. */
const setPassword = async (trx: AnyTrx, userId: string, hash: PasswordHash, before: PasswordHash | null) => {
  const rows = await sql(
    trx,
    `update app_user u set password_hash = ?, pepper_id = ?, password_changed_at = now(), status = 'active',
       email_verified_at = coalesce(u.email_verified_at, now())
     where u.id = ? and ${mayEnter} and (?::text is null or u.password_hash = ?) returning u.id`,
    [hash.passwordHash, hash.pepperId, userId, before?.passwordHash ?? null, before?.passwordHash ?? null],
  )
  await endTokens(trx, ['password_reset', 'email_change'], userId)
  return rows.length > 0
}

type Change = { userId: string; sessionId: string; currentPassword: string; newPassword: string; origin: Origin }

/**
 * Changes the password of a signed-in user who knows the present one: 422 `password_wrong`, `password_too_weak`. All sessions end but
 * this one, which goes on with a new token. No transaction is open while passwords are hashed.
 */
export const changePassword = async (
  open: Open,
  { userId, sessionId, currentPassword, newPassword, origin }: Change,
): Promise<CarriedOver> => {
  const proven = await confirmPassword(open, userId, currentPassword, origin)
  if (!proven) throw passwordWrong()
  const known = await open((trx) => account(trx, userId))
  await assertStrong(newPassword, known?.email ?? '', { mfaEnabled: known?.mfaEnabled ?? false })
  const hash = await hashPassword(newPassword)
  return open(async (trx) => {
    // Another change that came first has made the proof worthless.
    if (!(await setPassword(trx, userId, hash, proven))) throw passwordWrong()
    const carried = await endOtherSessions(trx, { userId, sessionId }, 'password')
    await audit(trx, { action: 'user.password_change', subjectType: 'User', subjectId: userId })
    await noticeUser(trx, userId, 'password_changed')
    await tellEnded(trx, carried.revoked, 'password')
    return carried
  })
}

/** Writes down that a new password is asked for; a job looks whether there is such an account, so that the work is the same for all. */
export const askPasswordReset = async (trx: AnyTrx, email: string): Promise<void> => {
  const row = await sqlOne<{ id: string }>(trx, `insert into password_request (email) values (?) returning id`, [email])
  if (!row) throw new Error('a request was not written')
  await enqueue(trx, messagesStartPasswordReset, { passwordRequestId: row.id }, { class: 'urgent' })
  await audit(trx, { action: 'user.password_forgot', subjectType: 'User', tenantId: null })
}

/** Mails a link to the account that was meant, if there is one and it was not mailed too often; the request is forgotten. */
export const startPasswordReset = async (trx: PlatformTrx, passwordRequestId: string): Promise<void> => {
  const request = await sqlOne<{ email: string }>(trx, `delete from password_request where id = ? returning email`, [
    passwordRequestId,
  ])
  if (!request) return
  // Of two requests at once the later one sees the mail of the first.
  await sql(trx, `select 1 from app_user where email_key = lower(?) for no key update`, [request.email])
  const user = await sqlOne<{ id: string; ofHour: number; justNow: boolean }>(
    trx,
    `select u.id, count(t.id) as of_hour, coalesce(max(t.created_at) > now() - make_interval(secs => ?), false) as just_now
     from app_user u left join one_time_token t on t.user_id = u.id and t.purpose = 'password_reset' and t.created_at > now() - interval '1 hour'
     where u.email_key = lower(?) and ${mayEnter} group by u.id`,
    [passwordMails.apartSeconds, request.email],
  )
  if (!user || user.justNow || user.ofHour >= passwordMails.perHour) return
  const { id } = await createToken(trx, 'password_reset', { userId: user.id })
  await mailUser(trx, user.id, 'password_reset', id)
}

/**
 * Sets a new password by a mailed token: 401 `token_invalid`, 422 `password_too_weak`. All sessions end and failures of sign-in are forgotten; a
 * second factor stays, and is asked for at the sign-in that follows. Answers the ids of the sessions that ended.
 */
export const resetPassword = async (open: Open, token: string, newPassword: string): Promise<string[]> => {
  const { userId, known } = await open(async (trx) => {
    const { userId: id } = await readToken(trx, 'password_reset', token)
    return { userId: id, known: await account(trx, id) }
  })
  if (!known) throw tokenInvalid()
  await assertStrong(newPassword, known.email, known)
  const hash = await hashPassword(newPassword)
  return open(async (trx) => {
    await takeToken(trx, 'password_reset', token)
    if (!(await setPassword(trx, userId, hash, null))) throw tokenInvalid()
    const revoked = await revokeAll(trx, userId, 'password')
    await forgetFailures(trx, known.email)
    await audit(trx, {
      action: 'user.password_reset',
      subjectType: 'User',
      subjectId: userId,
      tenantId: null,
      actor: { type: 'user', id: userId },
    })
    await noticeUser(trx, userId, 'password_reset')
    await tellEnded(trx, revoked, 'password')
    return revoked
  })
}
