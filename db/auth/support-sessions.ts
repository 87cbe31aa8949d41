import { conflict, forbidden, notFound, unprocessable } from '../../config/errors.ts'
import { supportSessionEnded, supportSessionStarted } from '../../config/events/admin.ts'
import { hasMoved, supportAccessOf, tellOwners } from '../admin/index.ts'
import { audit } from '../lib/audit.ts'
import { contextOf, enterTenant, sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { fact, readPage, where } from '../lib/paging.ts'
import type { Page, Paging } from '../lib/paging.ts'
import type { RevokeReason } from './sessions.ts'
import { createSession } from './sessions.ts'
import type { NewSession } from './sessions.ts'

export type SupportMode = 'read' | 'write'
export type EndCause = 'ended' | 'signed_out' | 'expired' | 'level_ended' | 'consent_withdrawn' | 'tenant_deleted'
export type SupportSession = {
  id: string
  superuserId: string
  tenantId: string
  asUserId: string | null
  mode: SupportMode
  reason: string
  startedAt: Date
  expiresAt: Date
  endedAt: Date | null
  endedBy: string | null
  endCause: EndCause | null
  running: boolean
}

const columns = `x.id, x.superuser_id, x.tenant_id, x.as_user_id, x.mode, x.reason, x.started_at, x.expires_at, x.ended_at, x.ended_by, x.end_cause,
  x.ended_at is null and x.expires_at > now() as running`

type Filter = Paging & {
  superuserId?: string | undefined
  tenantId?: string | undefined
  running?: boolean | undefined
}

/** Support sessions, newest first. */
export const listSupportSessions = (
  trx: PlatformTrx,
  { superuserId, tenantId, running, ...paging }: Filter,
): Promise<Page<SupportSession>> =>
  readPage<SupportSession>(
    trx,
    {
      columns,
      from: 'support_session x',
      conditions: [...where('x.superuser_id = ?', superuserId), ...where('x.tenant_id = ?', tenantId)],
      facts: fact(running, 'x.ended_at is null and x.expires_at > now()'),
      order: 'x.started_at desc, x.id',
    },
    paging,
  )

export type NewSupportSession = {
  tenantId: string
  asUserId?: string | null | undefined
  mode?: SupportMode | undefined
  minutes?: number | undefined
  reason: string
  address: string
  userAgent: string
}

const longest = { read: 1, write: 2, none: 0 } as const

/**
 * Opens a tenant to a superuser for a short time: a session of its own, bound to the record. The owners and admins of the tenant are told. One at a
 * time for each superuser: 409 `session_running`. 422 `support_not_allowed` where the tenant forbids it.
 */
export const startSupportSession = async (
  trx: PlatformTrx,
  level: 'N1' | 'N2',
  { tenantId, asUserId = null, mode = 'read', minutes = 30, reason, address, userAgent }: NewSupportSession,
): Promise<{ record: SupportSession; session: NewSession }> => {
  const superuserId = contextOf(trx).actor.id ?? ''
  if (mode === 'write' && level !== 'N1')
    throw forbidden('level_required', 'A support session that writes needs level N1')
  const user = await sqlOne<{ epoch: number }>(
    trx,
    `select session_epoch as epoch from app_user where id = ? and status = 'active' for no key update`,
    [superuserId],
  )
  if (!user) throw forbidden()
  await endOverdue(trx, superuserId)
  const tenant = await sqlOne<{ status: string }>(trx, `select status from tenant where id = ? for share`, [tenantId])
  if (!tenant || tenant.status === 'deleted') throw notFound('There is no such tenant')
  const running = await sqlOne(trx, `select 1 from support_session where superuser_id = ? and ended_at is null`, [
    superuserId,
  ])
  if (running) throw conflict('session_running', 'You have a support session already; end it first')
  const inside = await enterTenant(trx, tenantId)
  const allowed = await supportAccessOf(inside)
  if (longest[allowed] < longest[mode])
    throw unprocessable(
      'support_not_allowed',
      `The tenant allows ${allowed === 'none' ? 'no' : 'reading'} support sessions`,
    )
  if (asUserId !== null) {
    const member = await sqlOne(inside, `select 1 from membership where user_id = ? and status = 'active'`, [asUserId])
    if (!member)
      throw unprocessable('reference_not_found', 'The user is no active member of the tenant', [
        { field: 'asUserId', message: 'is not known' },
      ])
  }
  const made = await sqlOne<SupportSession>(
    inside,
    `insert into support_session as x (tenant_id, superuser_id, as_user_id, mode, reason, expires_at)
     values (?, ?, ?, ?, ?, now() + make_interval(mins => ?)) returning ${columns}`,
    [tenantId, superuserId, asUserId, mode, reason, minutes],
  )
  if (!made) throw new Error('a support session was not made')
  const session = await createSession(inside, {
    userId: superuserId,
    epoch: user.epoch,
    address,
    userAgent,
    activeTenantId: tenantId,
    kind: 'support',
    isSuperuser: true,
    withMfa: true,
    support: { id: made.id, mode, asUserId, seconds: minutes * 60 },
  })
  await audit(inside, {
    action: 'support_session.start',
    subjectType: 'SupportSession',
    subjectId: made.id,
    reason,
    changes: [
      { field: 'mode', after: mode },
      { field: 'asUserId', after: asUserId },
      { field: 'expiresAt', after: made.expiresAt.toISOString() },
    ],
  })
  await emit(inside, supportSessionStarted, factOf(made))
  await tellOwners(inside, 'support_session', made.id, {})
  return { record: made, session }
}

const factOf = ({ id, mode, expiresAt }: SupportSession) => ({
  propertyId: null,
  id,
  version: null,
  data: { supportSessionId: id, mode, expiresAt: expiresAt.toISOString() },
})

const revokeReasons: Partial<Record<EndCause, RevokeReason>> = { level_ended: 'level_ended', signed_out: 'sign_out' }

/**
 * Ends a support session with its token; ids of sessions are answered, for the caches. One that has ended stays so. Leaves the transaction inside its tenant,
 * unless that has moved to another installation, which is not told.
 */
export const endSupportSession = async (
  trx: PlatformTrx | Trx,
  id: string,
  cause: EndCause,
): Promise<{ record: SupportSession; sessionIds: string[] }> => {
  const record = await sqlOne<SupportSession>(
    trx,
    `select ${columns} from support_session x where x.id = ? for no key update`,
    [id],
  )
  if (!record) throw notFound()
  if (record.endedAt !== null) return { record, sessionIds: [] }
  const isGone = await hasMoved(trx, record.tenantId)
  const inside = isGone ? trx : await enterTenant(trx as PlatformTrx, record.tenantId)
  const by = contextOf(trx).actor.type === 'system' ? null : contextOf(trx).actor.id
  const over = !record.running && cause === 'ended' ? 'expired' : cause
  const ended = await sqlOne<SupportSession>(
    inside,
    `update support_session x set ended_at = least(now(), greatest(expires_at, started_at)), ended_by = ?, end_cause = ? where id = ? returning ${columns}`,
    [by, over, id],
  )
  const revoked = await sql<{ id: string }>(
    inside,
    `update session set revoked_at = now(), revoke_reason = ? where support_session_id = ? and revoked_at is null returning id`,
    [revokeReasons[over] ?? 'support_ended', id],
  )
  await audit(inside, {
    tenantId: record.tenantId,
    action: 'support_session.end',
    subjectType: 'SupportSession',
    subjectId: id,
    changes: [{ field: 'endCause', after: over }],
  })
  if (!isGone) await emit(inside as Trx, supportSessionEnded, factOf(record))
  return { record: ended ?? record, sessionIds: revoked.map((row) => row.id) }
}

/** Ends what of a superuser's sessions is past its time, so that the next one may begin. */
const endOverdue = async (trx: PlatformTrx, superuserId: string): Promise<void> => {
  const over = await sql<{ id: string }>(
    trx,
    `select id from support_session where superuser_id = ? and ended_at is null and expires_at <= now()`,
    [superuserId],
  )
  for (const { id } of over) await endSupportSession(trx, id, 'expired')
}

export type OverSession = { id: string; cause: EndCause }

/** Support sessions whose time, token or superuser is gone, or whose tenant is. */
export const overSupportSessions = (trx: PlatformTrx): Promise<OverSession[]> =>
  sql<OverSession>(
    trx,
    `select x.id, case when x.expires_at <= now() then 'expired' when t.status = 'deleted' then 'tenant_deleted'
        when not exists (select from superuser_account a where a.user_id = x.superuser_id and a.ended_at is null
          and (a.level = 'N1' or x.mode = 'read')) then 'level_ended' else 'signed_out' end as cause
     from support_session x join tenant t on t.id = x.tenant_id
     where x.ended_at is null and (x.expires_at <= now() or t.status = 'deleted'
       or not exists (select from session s where s.support_session_id = x.id and s.revoked_at is null)
       or not exists (select from superuser_account a where a.user_id = x.superuser_id and a.ended_at is null and (a.level = 'N1' or x.mode = 'read')))
     order by x.expires_at limit 200`,
  )

/** Ends the running sessions of the transaction's tenant that it does not allow any more; ids of sessions are answered. */
export const endForbiddenSupport = async (trx: Trx): Promise<string[]> => {
  const allowed = await supportAccessOf(trx)
  const { tenantId } = contextOf(trx)
  const running = await sql<{ id: string; mode: SupportMode }>(
    trx,
    `select id, mode from support_session where tenant_id = ? and ended_at is null order by id`,
    [tenantId],
  )
  const ended: string[] = []
  for (const { id, mode } of running)
    if (longest[allowed] < longest[mode])
      ended.push(...(await endSupportSession(trx, id, 'consent_withdrawn')).sessionIds)
  return ended
}
