import { Bool, Email, Instant, Int, List, Nullable, Obj, OneOf, Opt, Text, Uuid, Words } from '../../config/schema.ts'
import { sampleId } from '../../config/samples.ts'
import {
  endSupportSession,
  listSupportSessions,
  listUsers,
  lockUser,
  readOperatedUser,
  setLevel,
  startSupportSession,
  unlockUser,
} from '../../db/auth/index.ts'
import { forbidden, invalid } from '../../config/errors.ts'
import { onCommit } from '../../db/lib/connection.ts'
import { accessToken } from '../auth/session-token.ts'
import { requireRecent, requireSession } from '../lib/access/admission.ts'
import { superuser } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { Reason, trimmed } from '../lib/reason.ts'
import { route } from '../lib/route.ts'
import { buryOf } from '../lib/session-cache.ts'

const Level = OneOf(['N1', 'N2'])
const User = Obj(
  {
    userId: Uuid,
    email: Text(3, 254),
    name: Text(1, 120),
    level: Nullable(Level),
    locked: Bool,
    lockReason: Nullable(Text(0, 500)),
    lastSeenAt: Nullable(Instant),
    mfa: Bool,
    tenants: List(
      Obj({
        tenantId: Uuid,
        name: Text(1, 120),
        role: Text(1, 60),
        status: OneOf(['invited', 'active', 'deactivated']),
      }),
      { max: 1_000 },
    ),
  },
  { title: 'OperatedUser' },
)
type Shown = Awaited<ReturnType<typeof readOperatedUser>>
const shown = (user: Shown) => user as Shown & { tenants: (Shown['tenants'][number] & { status: 'active' })[] }

const list = paged({
  id: 'superuser.users.list',
  path: '/superuser/users',
  summary: 'Search users across tenants, and superusers',
  description: '`q` finds the beginning of an address, or a part of a name.',
  access: superuser('N2', 'read', 'SuperuserAccount'),
  query: { q: Opt(Text(1, 120)), tenantId: Opt(Uuid), level: Opt(Level), locked: Opt(Bool) },
  of: User,
  find: async ({ trx, query }) => {
    const { total, rows } = await listUsers(trx, query)
    return { total, rows: rows.map(shown) }
  },
})

const level = route({
  id: 'superuser.users.setLevel',
  method: 'POST',
  path: '/superuser/users',
  summary: 'Give somebody a superuser level, change or end it',
  description:
    'An address that is not known is invited by mail. Nobody changes their own level. Sessions from before a first level, and those of a level that sinks or ends, are over.',
  access: superuser('N1', 'grant', 'SuperuserAccount'),
  errors: ['own_level', 'last_superuser', 'not_found', 'invalid_transition', 'reauthentication_required'],
  body: Obj({ email: Email, name: Opt(Words(1, 120)), level: Nullable(Level), reason: Reason }),
  example: { email: 'novo@provider.example', name: 'Novo', level: 'N2', reason: 'Joined the support' },
  returns: User,
  handle: async ({ trx, body, caller, request }) => {
    requireRecent(caller, request.receivedAt)
    const { userId, sessionIds } = await setLevel(trx, { ...body, reason: trimmed(body.reason) })
    onCommit(trx, () => void buryOf(sessionIds))
    return shown(await readOperatedUser(trx, userId))
  },
})

const lock = route({
  id: 'superuser.users.lock',
  method: 'POST',
  path: '/superuser/users/:userId/lock',
  summary: 'Lock a user everywhere and end all sessions',
  access: superuser('N2', 'lock', 'SuperuserAccount'),
  errors: ['not_oneself', 'own_level', 'last_superuser'],
  body: Obj({ reason: Reason }),
  example: { reason: 'The laptop was stolen' },
  returns: User,
  handle: async ({ trx, params, body, level: own }) => {
    const sessionIds = await lockUser(trx, params.userId, { reason: trimmed(body.reason), level: own })
    onCommit(trx, () => void buryOf(sessionIds))
    return shown(await readOperatedUser(trx, params.userId))
  },
})

const unlock = route({
  id: 'superuser.users.unlock',
  method: 'POST',
  path: '/superuser/users/:userId/unlock',
  summary: 'Unlock a user',
  access: superuser('N2', 'lock', 'SuperuserAccount'),
  errors: ['not_oneself', 'own_level'],
  body: Obj({ reason: Reason }),
  example: { reason: 'The laptop was found' },
  returns: User,
  handle: async ({ trx, params, body, level: own }) => {
    await unlockUser(trx, params.userId, { reason: trimmed(body.reason), level: own })
    return shown(await readOperatedUser(trx, params.userId))
  },
})

const fields = {
  id: Uuid,
  superuserId: Uuid,
  tenantId: Uuid,
  asUserId: Nullable(Uuid),
  mode: OneOf(['read', 'write']),
  reason: Text(1, 500),
  startedAt: Instant,
  expiresAt: Instant,
  endedAt: Nullable(Instant),
  endedBy: Nullable(Uuid),
  endCause: Nullable(OneOf(['ended', 'signed_out', 'expired', 'level_ended', 'consent_withdrawn', 'tenant_deleted'])),
  running: Bool,
}
const SupportSession = Obj(fields, { title: 'SupportSession' })

const sessions = paged({
  id: 'superuser.supportSessions.list',
  path: '/superuser/support-sessions',
  summary: 'List support sessions',
  access: superuser('N2', 'read', 'SupportSession'),
  query: { superuserId: Opt(Uuid), tenantId: Opt(Uuid), running: Opt(Bool) },
  of: SupportSession,
  find: ({ trx, query }) => listSupportSessions(trx, query),
})

const start = route({
  id: 'superuser.supportSessions.start',
  method: 'POST',
  path: '/superuser/support-sessions',
  summary: 'Enter a tenant as support, with reason',
  description:
    'The token is shown once, and ends with the session. Owners and admins of the tenant are told; in the settings of the tenant they may forbid such sessions. Personal data are masked; people, keys, bills, accounts of money, refunds, approvals and exports stay closed.',
  status: 201,
  idempotency: 'off',
  access: superuser('N2', 'create', 'SupportSession'),
  errors: [
    'level_required',
    'not_found',
    'reference_not_found',
    'session_running',
    'support_not_allowed',
    'reauthentication_required',
  ],
  body: Obj({
    tenantId: Uuid,
    asUserId: Opt(Nullable(Uuid)),
    mode: Opt(OneOf(['read', 'write'])),
    minutes: Opt(Int(5, 60)),
    reason: Words(10, 500),
  }),
  example: { tenantId: sampleId('tenantId'), minutes: 15, reason: 'Ticket 4711: prices do not load' },
  returns: Obj({ ...fields, token: Text(1, 4_000) }, { title: 'StartedSupportSession' }),
  handle: async ({ trx, body, caller, request, level: own }) => {
    requireSession(caller)
    requireRecent(caller, request.receivedAt)
    if (body.reason.trim().length < 10) throw invalid([{ field: 'reason', message: 'must be 10 to 500 characters' }])
    const { record, session } = await startSupportSession(trx, own, {
      ...body,
      reason: body.reason.trim(),
      address: request.address,
      userAgent: request.header('user-agent'),
    })
    onCommit(trx, () => void buryOf(session.revoked))
    const { id: sessionId, jti, epoch, issuedAt, expiresAt } = session
    return {
      ...record,
      token: await accessToken({ sessionId, userId: caller.userId, jti, epoch, issuedAt, expiresAt }),
    }
  },
})

const end = route({
  id: 'superuser.supportSessions.end',
  method: 'POST',
  path: '/superuser/support-sessions/:supportSessionId/end',
  summary: 'End a support session',
  description: 'N1 ends any, N2 their own.',
  access: superuser('N2', 'create', 'SupportSession'),
  returns: SupportSession,
  handle: async ({ trx, params, caller, level: own }) => {
    requireSession(caller)
    const { record, sessionIds } = await endSupportSession(trx, params.supportSessionId, 'ended')
    if (own !== 'N1' && record.superuserId !== caller.userId) throw forbidden()
    onCommit(trx, () => void buryOf(sessionIds))
    return record
  },
})

export const routes = [list, level, lock, unlock, sessions, start, end]
