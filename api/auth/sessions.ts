import { forbidden, notFound } from '../../config/errors.ts'
import { sampleId } from '../../config/samples.ts'
import { Bool, Int, Instant, List, Matching, Nullable, Obj, Text, Uuid } from '../../config/schema.ts'
import { audit } from '../../db/lib/audit.ts'
import {
  endSupportSession,
  tellEnded,
  liveSessions,
  revokeAll,
  revokeSessions,
  setActiveTenant,
} from '../../db/auth/index.ts'
import type { RevokeReason } from '../../db/auth/index.ts'
import { enterTenant, onCommit, sqlOne } from '../../db/lib/connection.ts'
import type { AnyTrx, PlatformTrx } from '../../db/lib/connection.ts'
import { signedIn } from '../lib/access/kinds.ts'
import { neighbourhoodOf } from '../lib/address.ts'
import { requireSession } from '../lib/access/admission.ts'
import type { Caller, UserCaller } from '../lib/caller.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import { buryOf, forgetSession } from '../lib/session-cache.ts'

export const RevokedSessions = Obj({ revoked: Int(0, 1_000) }, { title: 'RevokedSessions' })

const user = (caller: Caller): UserCaller => {
  requireSession(caller)
  return caller
}

const end = async (
  trx: AnyTrx,
  sessionIds: string[],
  { action, reason, tenantId }: { action: string; reason: RevokeReason; tenantId: string | null },
) => {
  for (const subjectId of sessionIds) await audit(trx, { action, subjectType: 'Session', subjectId, tenantId })
  await tellEnded(trx, sessionIds, reason)
  onCommit(trx, () => void buryOf(sessionIds))
  return { revoked: sessionIds.length }
}

const list = paged({
  id: 'auth.sessions',
  path: '/api/auth/sessions',
  summary: 'List own active sessions',
  access: signedIn('read', 'Session'),
  of: Obj(
    {
      tokenPrefix: Text(12, 12),
      createdAt: Instant,
      lastSeenAt: Instant,
      expiresAt: Instant,
      ip: Nullable(Text(1, 60)),
      userAgent: Text(0, 256),
      current: Bool,
      activeTenantId: Nullable(Uuid),
    },
    { title: 'Session' },
  ),
  find: async ({ trx, caller, query }) => {
    const me = user(caller)
    const { total, rows } = await liveSessions(trx, me.userId, query)
    return {
      total,
      rows: rows.map((session) => ({
        ...session,
        ip: session.ip === null ? null : neighbourhoodOf(session.ip),
        current: session.id === me.sessionId,
      })),
    }
  },
})

const revoke = route({
  id: 'auth.revokeSession',
  method: 'DELETE',
  path: '/api/auth/sessions/:tokenPrefix',
  summary: 'Revoke one own session',
  access: signedIn('delete', 'Session'),
  params: Obj({ tokenPrefix: Matching('^[0-9A-HJKMNP-TV-Z]{12}$', 12) }),
  returns: RevokedSessions,
  handle: async ({ trx, caller, params }) => {
    const me = user(caller)
    const ended = await revokeSessions(trx, { userId: me.userId, tokenPrefix: params.tokenPrefix }, 'user')
    if (ended.length === 0) throw notFound()
    return end(trx, ended, { action: 'session.revoke', reason: 'user', tenantId: me.activeTenantId })
  },
})

const revokeEverything = route({
  id: 'auth.revokeAll',
  method: 'POST',
  path: '/api/auth/revoke-all',
  summary: 'Revoke all own sessions',
  access: signedIn('delete', 'Session'),
  idempotency: 'off',
  returns: RevokedSessions,
  handle: async ({ trx, caller }) => {
    const me = user(caller)
    return end(trx, await revokeAll(trx, me.userId, 'all'), {
      action: 'session.revoke_all',
      reason: 'all',
      tenantId: me.activeTenantId,
    })
  },
})

const signOut = route({
  id: 'auth.signOut',
  method: 'POST',
  path: '/api/auth/sign-out',
  summary: 'End the present session',
  access: signedIn('delete', 'Session'),
  idempotency: 'off',
  returns: RevokedSessions,
  handle: async ({ trx, caller }) => {
    const me = user(caller)
    if (me.support && me.activeTenantId !== null) {
      const inside = await enterTenant(trx as PlatformTrx, me.activeTenantId)
      const { sessionIds } = await endSupportSession(inside, me.support.id, 'signed_out')
      onCommit(trx, () => void buryOf(sessionIds))
      return { revoked: sessionIds.length }
    }
    return end(trx, await revokeSessions(trx, { sessionId: me.sessionId }, 'sign_out'), {
      action: 'session.sign_out',
      reason: 'sign_out',
      tenantId: me.activeTenantId,
    })
  },
})

type Entered = { name: string; features: string[]; role: string; propertyIds: string[] | null }

/** Makes a tenant the active one of a session; null where the user is no member of it. */
const enter = async (trx: AnyTrx, me: UserCaller, tenantId: string): Promise<Entered | null> => {
  const tenant = await enterTenant(trx as PlatformTrx, tenantId)
  const row = await sqlOne<Entered>(
    tenant,
    `select t.name, case when t.features_valid_until <= now() then active_features(t.id) else t.features end as features, coalesce(m.role, r.key) as role,
       case when m.all_properties then null else coalesce((select array_agg(p.property_id) from membership_property p where p.membership_id = m.id), '{}') end as property_ids
     from tenant t join membership m on m.user_id = ? and m.status = 'active' left join role r on r.id = m.role_id where t.id = ? and t.status <> 'deleted'`,
    [me.userId, tenantId],
  )
  if (!row) return null
  await setActiveTenant(trx, me.sessionId, me.userId, tenantId)
  await audit(tenant, { action: 'session.tenant_context', subjectType: 'Session', subjectId: me.sessionId })
  return row
}

const context = route({
  id: 'auth.tenantContext',
  method: 'PUT',
  path: '/api/auth/tenant-context',
  summary: 'Set the active tenant',
  access: signedIn('update', 'Session'),
  transaction: 'none',
  body: Obj({ tenantId: Uuid }),
  example: { tenantId: sampleId('tenantId') },
  returns: Obj({
    tenantId: Uuid,
    name: Text(1, 120),
    role: Text(1, 40),
    propertyIds: Nullable(List(Uuid, { max: 200 })),
    features: List(Text(1, 40), { max: 50 }),
  }),
  errors: ['tenant_not_active'],
  handle: async ({ open: transaction, caller, body: { tenantId } }) => {
    const me = user(caller)
    const row = await transaction((trx) => enter(trx, me, tenantId))
    // One answer for tenants that do not exist and tenants of others; the trail of where the caller is has it.
    if (!row) {
      const { activeTenantId } = me
      await transaction((trx) =>
        audit(trx, { action: 'tenant.refused', subjectType: 'Tenant', subjectId: tenantId, tenantId: activeTenantId }),
      )
      throw forbidden('tenant_not_active', 'You are not a member of this tenant')
    }
    await forgetSession(me.sessionId)
    return { tenantId, ...row }
  },
})

export const routes = [list, revoke, revokeEverything, signOut, context]
