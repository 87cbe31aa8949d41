import { conflict, notFound, unprocessable } from '../../config/errors.ts'
import { audit } from '../lib/audit.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'
import { readPage, where } from '../lib/paging.ts'
import type { Page, Paging } from '../lib/paging.ts'
import { partly } from '../lib/words.ts'
import { mailUser } from '../ocp/index.ts'
import { tellEnded } from './ended.ts'
import { createToken } from './one-time-tokens.ts'
import { revokeAll, revokeSessions } from './sessions.ts'

export type Level = 'N1' | 'N2'
export type OperatedUser = {
  userId: string
  email: string
  name: string
  level: Level | null
  locked: boolean
  lockReason: string | null
  lastSeenAt: Date | null
  mfa: boolean
  tenants: { tenantId: string; name: string; role: string; status: string }[]
}

const columns = `u.id as user_id, u.email, u.name, a.level, u.status = 'locked' as locked, u.lock_reason,
  (select max(s.last_seen_at) from session s where s.user_id = u.id) as last_seen_at, u.totp_confirmed_at is not null as mfa,
  coalesce((select jsonb_agg(jsonb_build_object('tenantId', m.tenant_id, 'name', m.tenant_name, 'role', m.role, 'status', m.status) order by m.tenant_name, m.tenant_id)
    from memberships_of(u.id) m), '[]') as tenants`
const source = `app_user u left join superuser_account a on a.user_id = u.id and a.ended_at is null`

type Filter = Paging & {
  q?: string | undefined
  tenantId?: string | undefined
  level?: Level | undefined
  locked?: boolean | undefined
}

/** Users of all tenants, and superusers. `q` finds an address that begins with it, or a name that contains it. */
export const listUsers = (
  trx: PlatformTrx,
  { q, tenantId, level, locked, ...paging }: Filter,
): Promise<Page<OperatedUser>> => {
  const asked = q?.trim()
  return readPage<OperatedUser>(
    trx,
    {
      columns,
      from: source,
      counted: { list: 'app_user', as: 'u' },
      conditions: [
        ...(asked
          ? [
              {
                text: `(u.email_key >= lower(?) and u.email_key < lower(?) || chr(1114111) or lower(u.name) like lower(?))`,
                values: [asked, asked, partly(asked)],
              },
            ]
          : []),
        ...where('u.id in (select m.user_id from users_of_tenant(?) m)', tenantId),
        ...where('a.level = ?', level),
        ...where(`(u.status = 'locked') = ?`, locked),
      ],
      order: 'u.email_key, u.id',
    },
    paging,
  )
}

export const readOperatedUser = async (trx: PlatformTrx, userId: string): Promise<OperatedUser> => {
  const row = await sqlOne<OperatedUser>(trx, `select ${columns} from ${source} where u.id = ?`, [userId])
  if (!row) throw notFound()
  return row
}

/** All changes of levels come one after another: the last N1 cannot end twice at once. */
const lockLevels = (trx: PlatformTrx) => sql(trx, `select pg_advisory_xact_lock(hashtext('superuser_account'))`)

const liveLevel = (trx: PlatformTrx, userId: string) =>
  sqlOne<{ level: Level }>(trx, `select level from superuser_account where user_id = ? and ended_at is null`, [userId])

export type LevelChange = { email: string; name?: string | undefined; level: Level | null; reason: string }

/**
 * Gives, changes or ends a superuser's level. Who is not known yet is invited. Sessions from before a first level, and those of a level that sinks
 * or ends, are over: ids of those are answered, for the caches. 422 `own_level` and `last_superuser`; 404 to end what is not there.
 */
export const setLevel = async (
  trx: PlatformTrx,
  { email, name, level, reason }: LevelChange,
): Promise<{ userId: string; sessionIds: string[] }> => {
  const by = contextOf(trx).actor.id
  await lockLevels(trx)
  const known = await sqlOne<{ id: string; status: string }>(
    trx,
    `select id, status from app_user where email_key = lower(?) for no key update`,
    [email],
  )
  if (known && known.id === by) throw unprocessable('own_level', 'Another superuser must change your level')
  const before = known ? ((await liveLevel(trx, known.id))?.level ?? null) : null
  if (level === null && before === null) throw notFound('There is no such superuser')
  if (known?.status === 'locked' && level !== null)
    throw conflict('invalid_transition', 'The user is locked; unlock the user first')
  if (before === 'N1' && level !== 'N1') {
    const others = await sqlOne<{ n: number }>(
      trx,
      `select count(*) as n from superuser_account a join app_user u on u.id = a.user_id
       where a.ended_at is null and a.level = 'N1' and a.user_id <> ? and u.status = 'active'`,
      [known?.id],
    )
    if ((others?.n ?? 0) === 0) throw unprocessable('last_superuser', 'The service needs another N1 first')
  }
  const userId = known?.id ?? (await inviteSuperuser(trx, email, name))
  if (before === level) return { userId, sessionIds: [] }
  await sql(trx, `update superuser_account set ended_at = now() where user_id = ? and ended_at is null`, [userId])
  if (level !== null)
    await sql(trx, `insert into superuser_account (user_id, level, granted_by, reason) values (?, ?, ?, ?)`, [
      userId,
      level,
      by,
      reason,
    ])
  await audit(trx, {
    tenantId: null,
    action: level === null ? 'superuser.end' : 'superuser.grant',
    subjectType: 'SuperuserAccount',
    subjectId: userId,
    reason,
    changes: [{ field: 'level', before, after: level }],
  })
  // A first level ends them as well: a superuser's session lasts half a day, and a member's a month.
  const cause = before === null ? 'admin' : 'level_ended'
  const sessionIds = before !== 'N2' || level === null ? await revokeSessions(trx, { userId }, cause) : []
  await tellEnded(trx, sessionIds, cause)
  return { userId, sessionIds }
}

/** An account without a password: its mail leads to the page that sets the first one. */
const inviteSuperuser = async (trx: PlatformTrx, email: string, name: string | undefined): Promise<string> => {
  const row = await sqlOne<{ id: string }>(
    trx,
    `insert into app_user (email, email_key, name, locale) values (?, lower(?), ?, 'en') returning id`,
    [email, email, name ?? (email.split('@')[0] ?? email).slice(0, 120)],
  )
  const userId = row?.id ?? ''
  const token = await createToken(trx, 'password_reset', { userId })
  await mailUser(trx, userId, 'password_reset', token.id)
  return userId
}

const refuseSuperuser = async (trx: PlatformTrx, userId: string, byLevel: Level): Promise<void> => {
  const other = await liveLevel(trx, userId)
  if (other && byLevel !== 'N1')
    throw unprocessable('own_level', 'A superuser is locked and unlocked by level N1 alone')
}

/** Locks a user everywhere and ends all sessions; ids of those are answered. One that is locked stays so. */
export const lockUser = async (
  trx: PlatformTrx,
  userId: string,
  { reason, level }: { reason: string; level: Level },
): Promise<string[]> => {
  if (contextOf(trx).actor.id === userId) throw unprocessable('not_oneself', 'Another superuser must lock your account')
  await lockLevels(trx)
  const user = await sqlOne<{ status: string }>(trx, `select status from app_user where id = ? for no key update`, [
    userId,
  ])
  if (!user) throw notFound()
  await refuseSuperuser(trx, userId, level)
  if (user.status === 'locked') return []
  if ((await liveLevel(trx, userId))?.level === 'N1') {
    const others = await sqlOne<{ n: number }>(
      trx,
      `select count(*) as n from superuser_account a join app_user u on u.id = a.user_id
       where a.ended_at is null and a.level = 'N1' and a.user_id <> ? and u.status = 'active'`,
      [userId],
    )
    if ((others?.n ?? 0) === 0) throw unprocessable('last_superuser', 'The service needs another N1 first')
  }
  await sql(
    trx,
    `update app_user set status = 'locked', locked_at = now(), lock_reason = ?, version = version + 1 where id = ?`,
    [reason, userId],
  )
  const sessionIds = await revokeAll(trx, userId, 'locked')
  await audit(trx, {
    tenantId: null,
    action: 'user.lock',
    subjectType: 'User',
    subjectId: userId,
    reason,
    changes: [{ field: 'status', before: user.status, after: 'locked' }],
  })
  await tellEnded(trx, sessionIds, 'locked')
  return sessionIds
}

/** Lets a user in again, with what stood before: who never had a password is invited still. */
export const unlockUser = async (
  trx: PlatformTrx,
  userId: string,
  { reason, level }: { reason: string; level: Level },
): Promise<void> => {
  if (contextOf(trx).actor.id === userId)
    throw unprocessable('not_oneself', 'Another superuser must unlock your account')
  const user = await sqlOne<{ status: string }>(trx, `select status from app_user where id = ? for no key update`, [
    userId,
  ])
  if (!user) throw notFound()
  await refuseSuperuser(trx, userId, level)
  if (user.status !== 'locked') return
  await sql(
    trx,
    `update app_user set status = case when password_hash is null then 'invited' else 'active' end, locked_at = null, lock_reason = null, version = version + 1
     where id = ?`,
    [userId],
  )
  await audit(trx, {
    tenantId: null,
    action: 'user.unlock',
    subjectType: 'User',
    subjectId: userId,
    reason,
    changes: [{ field: 'status', before: 'locked', after: 'active' }],
  })
}
