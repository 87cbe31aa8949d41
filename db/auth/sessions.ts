import { createHash, createHmac, randomInt } from 'node:crypto'
import type { Knex } from 'knex'
import { required, settings } from '../../config/env.ts'
import { preparedOne, sql, sqlOne } from '../lib/connection.ts'
import type { AnyTrx } from '../lib/connection.ts'
import { readPage, where } from '../lib/paging.ts'
import type { Page, Paging } from '../lib/paging.ts'
import { endTokens } from './one-time-tokens.ts'
import { changesOf, keptSeconds, overlapSeconds } from './rules/changes.ts'
import type { Changes } from './rules/changes.ts'

export const accessSeconds = 24 * 3_600
const absoluteSeconds = { api: 30 * 86_400, superuser: 12 * 3_600, dashboard: 12 * 3_600 }
const mostLive = 20
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

export type SessionKind = 'api' | 'dashboard' | 'support'
export type RevokeReason =
  | 'sign_out'
  | 'user'
  | 'all'
  | 'reuse'
  | 'password'
  | 'mfa'
  | 'email'
  | 'admin'
  | 'locked'
  | 'too_many'
  | 'support_ended'
  | 'level_ended'

/** All that a request must know of its session; what Redis keeps for an hour at most. */
export type SessionState = {
  id: string
  userId: string
  kind: SessionKind
  tokenPrefix: string
  currentJtiHash: string
  previousJtiHash: string | null
  rotatedAt: string | null
  epoch: number
  userEpoch: number
  userStatus: string
  activeTenantId: string | null
  absoluteExpiresAt: string
  reauthenticatedAt: string | null
  mfaAt: string | null
  mfaEnabled: boolean
  /** Of a support session alone. */
  supportSessionId: string | null
  supportMode: 'read' | 'write' | null
  supportAsUserId: string | null
  revoked: boolean
  version: number
}

/** The token's id: it follows from session and generation, so that nothing that could be replayed is stored. */
export const jtiOf = (sessionId: string, generation: number): string =>
  createHmac('sha256', required(settings.tokenKey, 'TOKEN_KEY'))
    .update(`jti:${sessionId}:${generation}`)
    .digest()
    .subarray(0, 16)
    .toString('base64url')

export const jtiHash = (jti: string): Buffer => createHash('sha256').update(jti).digest()

const makePrefix = () => Array.from({ length: 12 }, () => alphabet[randomInt(alphabet.length)]).join('')

export type NewSession = {
  id: string
  tokenPrefix: string
  jti: string
  epoch: number
  issuedAt: Date
  expiresAt: Date
  revoked: string[]
}
type Facts = {
  userId: string
  epoch: number
  address: string
  userAgent: string
  activeTenantId: string | null
  kind?: SessionKind
  isSuperuser: boolean
  withMfa: boolean
  support?: { id: string; mode: 'read' | 'write'; asUserId: string | null; seconds: number }
}

/**
 * A session of a user whose row is locked, so that two sign-ins do not both count to twenty; the oldest beyond 20 live ones are revoked, and their
 * ids answered. Sign-in counts as proof of identity.
 */
export const createSession = async (
  trx: AnyTrx,
  { userId, epoch, address, userAgent, activeTenantId, kind = 'api', isSuperuser, withMfa, support }: Facts,
): Promise<NewSession> => {
  const id = crypto.randomUUID()
  const tokenPrefix = makePrefix()
  const jti = jtiOf(id, 0)
  const usual =
    kind === 'dashboard' ? absoluteSeconds.dashboard : isSuperuser ? absoluteSeconds.superuser : absoluteSeconds.api
  const absolute = support?.seconds ?? usual
  const life = Math.min(accessSeconds, absolute)
  const row = await preparedOne<{ createdAt: Date; expiresAt: Date; revoked: string[] }>(
    trx,
    `with old as (
       update session set revoked_at = now(), revoke_reason = 'too_many' where id in (
         select id from session where user_id = :userId and revoked_at is null and absolute_expires_at > now()
           order by created_at desc, id offset ${mostLive - 1}) returning id)
     insert into session (id, user_id, kind, token_prefix, current_jti_hash, epoch, active_tenant_id, expires_at, absolute_expires_at, reauthenticated_at, mfa_at, first_ip, last_ip, user_agent,
       support_session_id, support_mode, support_as_user_id)
     values (:id, :userId, :kind, :tokenPrefix, :hash, :epoch, :activeTenantId, now() + make_interval(secs => :life), now() + make_interval(secs => :absolute), now(),
       case when :withMfa then now() end, :address::inet, :address::inet, :userAgent,
       :supportSessionId, :supportMode, :supportAsUserId)
     returning created_at, expires_at, array(select id from old) as revoked`,
    {
      id,
      userId,
      kind,
      tokenPrefix,
      hash: jtiHash(jti),
      epoch,
      activeTenantId,
      life,
      absolute,
      withMfa,
      address,
      userAgent: userAgent.slice(0, 256),
      supportSessionId: support?.id ?? null,
      supportMode: support?.mode ?? null,
      supportAsUserId: support?.asUserId ?? null,
    },
  )
  if (!row) throw new Error('a session was not made')
  return {
    id,
    tokenPrefix,
    jti,
    epoch,
    issuedAt: row.createdAt,
    expiresAt: row.expiresAt,
    revoked: row.revoked,
  }
}

const state = `
  select s.id, s.user_id, s.kind, s.token_prefix, encode(s.current_jti_hash, 'base64') as current_jti_hash, encode(s.previous_jti_hash, 'base64') as previous_jti_hash,
    s.rotated_at::text as rotated_at, s.epoch, u.session_epoch as user_epoch, u.status as user_status, s.active_tenant_id,
    s.absolute_expires_at::text as absolute_expires_at, s.reauthenticated_at::text as reauthenticated_at, s.mfa_at::text as mfa_at, u.totp_confirmed_at is not null as mfa_enabled,
    s.support_session_id, s.support_mode, s.support_as_user_id, s.revoked_at is not null as revoked, s.version
  from session s join app_user u on u.id = s.user_id where s.id = ?`

/** The truth about a session, from PostgreSQL. */
export const sessionState = (knex: Knex, sessionId: string): Promise<SessionState | null> =>
  sqlOne<SessionState>(knex, state, [sessionId])

/**
 * An operator's session on the dashboard, where it is live and its user still N1: used now. Half an hour without use, and it is over. The caller
 * compares the hash.
 */
export const seenDashboard = (
  trx: AnyTrx,
  sessionId: string,
): Promise<{ userId: string; email: string; jtiHash: Buffer } | null> =>
  sqlOne<{ userId: string; email: string; jtiHash: Buffer }>(
    trx,
    `with live as (
       select s.id, u.id as user_id, u.email, s.current_jti_hash, s.last_seen_at from session s join app_user u on u.id = s.user_id
         join superuser_account a on a.user_id = u.id and a.ended_at is null and a.level = 'N1'
       where s.id = ? and s.kind = 'dashboard' and s.revoked_at is null and s.absolute_expires_at > now() and u.status = 'active'
         and u.session_epoch = s.epoch and s.last_seen_at > now() - interval '30 minutes'),
       seen as (update session set last_seen_at = now() from live where session.id = live.id and live.last_seen_at < now() - interval '1 minute')
     select user_id, email, current_jti_hash as jti_hash from live`,
    [sessionId],
  )

/** The sessions that changed since `since`; null: within what caches remember. */
export const changedSessions = async (knex: Knex, since: Date | null): Promise<Changes> =>
  changesOf(
    await sql(
      knex,
      `select s.id, s.version, clock.at from (select clock_timestamp() as at) clock left join session s
         on s.version > 1 and s.changed_at > coalesce(?::timestamptz - make_interval(secs => ?), clock.at - make_interval(secs => ?))`,
      [since, overlapSeconds, keptSeconds + overlapSeconds],
    ),
  )

type Which = { sessionId: string } | { userId: string } | { userId: string; tokenPrefix: string }

/** Ends live sessions and answers their ids; the caller tells the caches after the commit. */
export const revokeSessions = async (trx: AnyTrx, which: Which, reason: RevokeReason): Promise<string[]> => {
  const [condition, bindings] =
    'sessionId' in which
      ? ['id = ?', [which.sessionId]]
      : 'tokenPrefix' in which
        ? ['user_id = ? and token_prefix = ?', [which.userId, which.tokenPrefix]]
        : ['user_id = ?', [which.userId]]
  const rows = await sql<{ id: string }>(
    trx,
    `update session set revoked_at = now(), revoke_reason = ? where ${condition} and revoked_at is null and absolute_expires_at > now() returning id`,
    [reason, ...bindings],
  )
  return rows.map((row) => row.id)
}

/**
 * Ends every session of a user for good, and every sign-in that waits for its second factor: tokens of an older epoch are dead even where a
 * session row should survive.
 */
export const revokeAll = async (trx: AnyTrx, userId: string, reason: RevokeReason): Promise<string[]> => {
  await sql(trx, `update app_user set session_epoch = session_epoch + 1 where id = ?`, [userId])
  await endTokens(trx, ['mfa'], userId)
  return revokeSessions(trx, { userId }, reason)
}

export type ListedSession = {
  tokenPrefix: string
  createdAt: Date
  lastSeenAt: Date
  expiresAt: Date
  ip: string | null
  userAgent: string
  id: string
  activeTenantId: string | null
}

export const liveSessions = (trx: AnyTrx, userId: string, paging: Paging): Promise<Page<ListedSession>> =>
  readPage<ListedSession>(
    trx,
    {
      columns: `id, token_prefix, created_at, last_seen_at, expires_at, host(last_ip) as ip, user_agent, active_tenant_id`,
      from: 'session',
      conditions: where(`user_id = ? and kind = 'api' and revoked_at is null and absolute_expires_at > now()`, userId),
      order: 'last_seen_at desc, id',
    },
    paging,
  )

/** Sets the session's active tenant; the token does not change. */
export const setActiveTenant = async (
  trx: AnyTrx,
  sessionId: string,
  userId: string,
  tenantId: string,
): Promise<void> => {
  // The user before the session, as where all sessions of a user end.
  await sql(trx, `update app_user set last_tenant_id = ? where id = ?`, [tenantId, userId])
  await sql(trx, `update session set active_tenant_id = ? where id = ? and user_id = ?`, [tenantId, sessionId, userId])
}
