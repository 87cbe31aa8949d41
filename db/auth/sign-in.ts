import { unauthenticated } from '../../config/errors.ts'
import { oneTimeTokenSeconds } from '../../config/limits.ts'
import { audit, auditStatement } from '../lib/audit.ts'
import type { AuditInput } from '../lib/audit.ts'
import { lastly, prepared, sqlOne } from '../lib/connection.ts'
import type { Actor, AnyTrx, Statement } from '../lib/connection.ts'
import { noticeUser } from '../ocp/index.ts'
import { tellEnded } from './ended.ts'
import { compareNow, hashPassword, inTurn, isOutdated } from './hashing.ts'
import type { PasswordHash } from './hashing.ts'
import { readToken, tokenInvalid } from './one-time-tokens.ts'
import { createSession } from './sessions.ts'
import type { NewSession, SessionKind } from './sessions.ts'
import { beginTry, forgetTry, successOf } from './throttle.ts'
import type { Origin } from './throttle.ts'
import { membershipsInLine, renewHash, userByEmail } from './users.ts'
import type { MembershipOf, SignInUser } from './users.ts'

export type Open = <T>(work: (trx: AnyTrx) => Promise<T>) => Promise<T>
export type Attempt = { email: string; password: string; userAgent: string; origin: Origin; kind?: SessionKind }
export type SignedIn = { user: SignInUser; memberships: MembershipOf[]; role: string; session: NewSession }

const refused = () => unauthenticated('invalid_credentials', 'The e-mail address or the password is wrong')

const stored = (user: SignInUser | null): PasswordHash | null =>
  user?.passwordHash && user.pepperId && user.status === 'active'
    ? { passwordHash: user.passwordHash, pepperId: user.pepperId }
    : null

/** The role that the reply shows: in the tenant that becomes active, else in the last or the oldest one. */
const shownRole = (user: SignInUser, memberships: MembershipOf[]): string =>
  (memberships.find((membership) => membership.tenantId === user.lastTenantId) ?? memberships[0])?.role ??
  (user.superuserLevel ? 'superuser' : 'none')

/**
 * Counts the try, then compares, with no transaction open meanwhile; a comparison that could not be made is no try. All of it in its turn:
 * a flood of sign-ins waits, or is refused, before it takes connections from signed-in users.
 */
const tryPassword = (open: Open, email: string, password: string, origin: Origin) =>
  inTurn(async () => {
    const { user, attempt } = await open((trx) => beginTry(trx, email, origin))
    const hash = stored(user)
    const right = await compareNow(password, hash).catch(async (error: unknown) => {
      await open((trx) => forgetTry(trx, attempt))
      throw error
    })
    return { user, hash, attempt, right }
  })

/**
 * Checks e-mail and password and answers the user. Unknown, wrong, locked and invited are one 401 `invalid_credentials` after the same work; too many failures are 429.
 * No transaction is open while the password is hashed.
 */
export const proveIdentity = async (open: Open, { email, password, origin }: Attempt): Promise<SignInUser> => {
  const { user, hash, attempt, right } = await tryPassword(open, email, password, origin)
  if (!right || !user || !hash) {
    if (attempt.alarming) await open((trx) => alarm(trx, user))
    throw refused()
  }
  if (isOutdated(hash)) {
    const fresh = await hashPassword(password)
    await open((trx) => renewHash(trx, user.id, hash, fresh))
  }
  return user
}

/** Hash that the password of a signed-in user matches; null for a wrong one, which counts as a failed sign-in. */
export const confirmPassword = async (
  open: Open,
  userId: string,
  password: string,
  origin: Origin,
): Promise<PasswordHash | null> => {
  const row = await open((trx) => sqlOne<{ email: string }>(trx, `select email from app_user where id = ?`, [userId]))
  const { user, hash, attempt, right } = await tryPassword(open, row?.email ?? '', password, origin)
  if (!right) {
    if (attempt.alarming) await open((trx) => alarm(trx, user))
    return null
  }
  await open((trx) => forgetTry(trx, attempt))
  return hash
}

/** Audits a day of failed sign-ins, and tells the account's owner. */
const alarm = async (trx: AnyTrx, user: SignInUser | null): Promise<void> => {
  await audit(trx, {
    action: 'session.failures_over_limit',
    subjectType: 'User',
    subjectId: user?.id ?? null,
    tenantId: null,
  })
  if (user) await noticeUser(trx, user.id, 'failures_over_limit')
}

/** The last tenant, what a success means for later tries, and the entry of the trail. */
const signedInStatement = (trx: AnyTrx, user: SignInUser, { email, origin }: Attempt, entry: AuditInput): Statement => {
  const success = successOf(user.id, email, origin)
  const written = auditStatement(trx, entry)
  return {
    text: `with entered as (
        update app_user set last_tenant_id = t.id from (select :enteredTenantId::uuid as id) t
          where app_user.id = :userId and t.id is not null and t.id is distinct from last_tenant_id),
      ${success.text} ${written.text}`,
    bindings: { enteredTenantId: entry.tenantId, userId: user.id, ...success.bindings, ...written.bindings },
  }
}

/** Opens a session for a user whose identity is proven. Exactly one membership becomes the active tenant; of several none does. */
export const openSession = (open: Open, user: SignInUser, attempt: Attempt, withMfa: boolean): Promise<SignedIn> =>
  open(async (trx) => {
    const { userAgent, origin, kind = 'api' } = attempt
    const actor: Actor = { type: kind === 'dashboard' ? 'superuser' : 'user', id: user.id }
    const memberships = await membershipsInLine(trx, user.id)
    const only = memberships.length === 1 ? (memberships[0]?.tenantId ?? null) : null
    const session = await createSession(trx, {
      userId: user.id,
      epoch: user.sessionEpoch,
      address: origin.address,
      userAgent,
      activeTenantId: only,
      kind,
      isSuperuser: user.superuserLevel !== null,
      withMfa,
    })
    const entry = { action: 'session.sign_in', subjectType: 'Session', subjectId: session.id, tenantId: only, actor }
    const last = signedInStatement(trx, user, attempt, entry)
    if (session.revoked.length === 0) lastly(trx, last)
    else {
      // Telling of those that had to give way ends in one of their tenants.
      await prepared(trx, last.text, last.bindings)
      for (const subjectId of session.revoked)
        await audit(trx, { action: 'session.revoke', subjectType: 'Session', subjectId, tenantId: null, actor })
      await tellEnded(trx, session.revoked, 'too_many')
    }
    return { user, memberships, role: shownRole(user, memberships), session }
  })

/** State that the second half of a sign-in continues from; 401 if a change that ends all sessions came between. */
export const beginSecondHalf = async (
  trx: AnyTrx,
  { id, sessionEpoch }: SignInUser,
): Promise<{ id: string; expiresAt: Date }> => {
  const row = await sqlOne<{ id: string; expiresAt: Date }>(
    trx,
    `insert into one_time_token (purpose, user_id, expires_at) select 'mfa', id, now() + make_interval(secs => ?) from app_user
     where id = ? and session_epoch = ? for no key update returning id, expires_at`,
    [oneTimeTokenSeconds.mfa, id, sessionEpoch],
  )
  if (!row) throw refused()
  return row
}

/** The user of a sign-in that waits for its second factor. 401 `token_invalid`. */
export const userOfMfaToken = async (trx: AnyTrx, token: string): Promise<SignInUser> => {
  const { userId } = await readToken(trx, 'mfa', token)
  const row = await sqlOne<{ email: string }>(trx, `select email from app_user where id = ? and status = 'active'`, [
    userId,
  ])
  const user = row ? await userByEmail(trx, row.email) : null
  if (!user) throw tokenInvalid()
  return user
}
