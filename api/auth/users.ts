import { forbidden } from '../../config/errors.ts'
import { Bool, Email, Instant, Int, List, Nullable, Obj, OneOf, Opt, Text, Uuid, Words } from '../../config/schema.ts'
import {
  invite,
  resendInvitation,
  resetMemberMfa,
  listMembers,
  memberStatuses,
  readMember,
  changeMember,
  deactivateMember,
  reactivateMember,
  revokeMemberSessions,
} from '../../db/auth/index.ts'
import type { Giver, Member as Row } from '../../db/auth/index.ts'
import { maskEmail } from '../../db/guests/index.ts'
import { onCommit } from '../../db/lib/connection.ts'
import { can } from '../lib/access/kinds.ts'
import { requireRecent, requireSession } from '../lib/access/admission.ts'
import type { Admission, Caller } from '../lib/caller.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import { buryOf, forgetSession } from '../lib/session-cache.ts'
import { RoleKey } from './roles.ts'

const PropertyIds = Nullable(List(Uuid, { min: 1, max: 200 }))

/** A member. Callers that may see names only get `userId` and `name`. */
export const Member = Obj(
  {
    userId: Uuid,
    name: Text(1, 120),
    /** Masked for auditors. */
    email: Opt(Text(1, 254)),
    role: Opt(RoleKey),
    status: Opt(OneOf([...memberStatuses])),
    propertyIds: Opt(Nullable(List(Uuid, { max: 200 }))),
    mfaEnabled: Opt(Bool),
    lastSeenAt: Opt(Nullable(Instant)),
    invitedAt: Opt(Instant),
    acceptedAt: Opt(Nullable(Instant)),
    version: Opt(Int(1, 2_147_483_647)),
  },
  { title: 'Member' },
)

const record = { table: 'membership', param: 'userId', column: 'user_id' }
const path = '/api/tenants/:tenantId/users/:userId'

const giver = (caller: Caller, { role, propertyIds }: Admission): Giver => {
  requireSession(caller)
  return { userId: caller.userId, role: role ?? '', propertyIds }
}

/** A member, with the fields that the caller may see. */
const shown = (admission: Admission, member: Row) => {
  const seen = admission.visible('User', member)
  return admission.isMasked('User') ? { ...seen, email: maskEmail(member.email) } : seen
}

const list = paged({
  id: 'users.list',
  path: '/api/tenants/:tenantId/users',
  summary: 'List users of the tenant',
  description: '`q` is a part of the name or the e-mail address. Roles that see names alone may search by name alone.',
  access: can('read', 'User'),
  query: {
    status: Opt(OneOf([...memberStatuses])),
    role: Opt(RoleKey),
    propertyId: Opt(Uuid),
    q: Opt(Text(1, 120)),
  },
  of: Member,
  find: async ({ trx, query, admission }) => {
    const sees = (field: string) => admission.sees('User', field)
    for (const field of ['status', 'role'] as const) if (query[field] !== undefined && !sees(field)) throw forbidden()
    if (query.propertyId !== undefined && !sees('propertyIds')) throw forbidden()
    const byName = !sees('email') || admission.isMasked('User')
    const { total, rows } = await listMembers(trx, { ...query, byName })
    return { total, rows: rows.map((member) => shown(admission, member)) }
  },
})

const read = route({
  id: 'users.read',
  method: 'GET',
  path,
  summary: 'Read a user’s role, properties and last access',
  access: can('read', 'User'),
  returns: Member,
  handle: async ({ trx, params, admission }) => shown(admission, await readMember(trx, params.userId)),
})

const create = route({
  id: 'users.invite',
  method: 'POST',
  path: '/api/tenants/:tenantId/users',
  summary: 'Invite a user by e-mail',
  description:
    'The answer is the same whether or not there is an account with this address. Without `propertyIds` the role holds for all properties.',
  status: 201,
  access: can('create', 'User'),
  errors: ['member_exists', 'reference_not_found', 'too_many'],
  body: Obj({ email: Email, name: Opt(Words(1, 120)), role: RoleKey, propertyIds: Opt(PropertyIds) }),
  returns: Member,
  handle: ({ trx, caller, admission, body }) => invite(trx, giver(caller, admission), body),
})

const change = route({
  id: 'users.change',
  method: 'PATCH',
  path,
  summary: 'Change a user’s role or properties',
  access: can('update', 'User'),
  record,
  errors: ['not_oneself', 'last_owner', 'invalid_transition', 'reauthentication_required', 'reference_not_found'],
  body: Obj({ role: Opt(RoleKey), propertyIds: Opt(PropertyIds) }, { minProperties: 1 }),
  returns: Member,
  handle: ({ trx, params, caller, admission, body, request }) => {
    requireRecent(caller, request.receivedAt)
    return changeMember(trx, giver(caller, admission), params.userId, body)
  },
})

const resend = route({
  id: 'users.resendInvitation',
  method: 'POST',
  path: `${path}/resend-invitation`,
  summary: 'Send a pending invitation again',
  access: can('create', 'User'),
  record,
  errors: ['invalid_transition', 'too_many'],
  returns: Member,
  handle: ({ trx, params, caller, admission }) => resendInvitation(trx, giver(caller, admission), params.userId),
})

const deactivate = route({
  id: 'users.deactivate',
  method: 'POST',
  path: `${path}/deactivate`,
  summary: 'Take a user’s access to the tenant away',
  access: can('delete', 'User'),
  record,
  errors: ['not_oneself', 'last_owner'],
  returns: Member,
  handle: async ({ trx, params, caller, admission }) => {
    const { member, sessionIds } = await deactivateMember(trx, giver(caller, admission), params.userId)
    onCommit(trx, () => void Promise.all(sessionIds.map(forgetSession)))
    return member
  },
})

const reactivate = route({
  id: 'users.reactivate',
  method: 'POST',
  path: `${path}/reactivate`,
  summary: 'Give a deactivated user access again',
  access: can('update', 'User'),
  record,
  errors: ['too_many'],
  returns: Member,
  handle: ({ trx, params, caller, admission }) => reactivateMember(trx, giver(caller, admission), params.userId),
})

const revokeSessions = route({
  id: 'users.revokeSessions',
  method: 'POST',
  path: `${path}/revoke-sessions`,
  summary: 'End a user’s sessions in the tenant',
  access: can('update', 'User'),
  record,
  returns: Obj({ revoked: Int(0, 1_000) }),
  handle: async ({ trx, params, caller, admission }) => {
    const sessionIds = await revokeMemberSessions(trx, giver(caller, admission), params.userId)
    onCommit(trx, () => void buryOf(sessionIds))
    return { revoked: sessionIds.length }
  },
})

const resetMfa = route({
  id: 'users.resetMfa',
  method: 'POST',
  path: `${path}/reset-mfa`,
  summary: 'Remove a user’s lost second factor',
  description: 'All sessions of the user end. It is for users of this tenant alone; others ask the provider.',
  access: can('update', 'User'),
  record,
  errors: ['not_oneself', 'user_has_other_tenants', 'invalid_transition', 'reauthentication_required'],
  returns: Member,
  handle: async ({ trx, params, caller, admission, request }) => {
    requireRecent(caller, request.receivedAt)
    const { member, sessionIds } = await resetMemberMfa(trx, giver(caller, admission), params.userId)
    onCommit(trx, () => void buryOf(sessionIds))
    return member
  },
})

export const routes = [list, read, create, change, resend, deactivate, reactivate, revokeSessions, resetMfa]
