import { forbidden } from '../../config/errors.ts'
import { sampleId } from '../../config/samples.ts'
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
import type { Member as Row } from '../../db/auth/index.ts'
import { maskEmail } from '../../db/guests/index.ts'
import { onCommit } from '../../db/lib/connection.ts'
import { can } from '../lib/access/kinds.ts'
import { requireRecent } from '../lib/access/admission.ts'
import type { Admission } from '../lib/caller.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { buryOf, forgetSession } from '../lib/session-cache.ts'
import { giver } from './giver.ts'
import { RoleKey } from './roles.ts'
import { RevokedSessions } from './sessions.ts'

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

/** A member, with the fields that the caller may see. */
const shown = (member: Row, admission: Admission) => {
  const seen = admission.visible('User', member)
  return admission.isMasked('User') ? { ...seen, email: maskEmail(member.email) } : seen
}

const users = resource({
  name: 'users',
  subject: 'User',
  table: 'membership',
  path: '/api/tenants/:tenantId/users',
  param: 'userId',
  column: 'user_id',
  record: Member,
  read: readMember,
  show: shown,
})

const list = users.list({
  summary: 'List users of the tenant',
  description: '`q` is a part of the name or the e-mail address. Roles that see names alone may search by name alone.',
  query: {
    status: Opt(OneOf([...memberStatuses])),
    role: Opt(RoleKey),
    propertyId: Opt(Uuid),
    q: Opt(Text(1, 120)),
  },
  example: { role: 'receptionist', status: 'active' },
  find: ({ trx, filter, admission }) => {
    const sees = (field: string) => admission.sees('User', field)
    for (const field of ['status', 'role'] as const) if (filter[field] !== undefined && !sees(field)) throw forbidden()
    if (filter.propertyId !== undefined && !sees('propertyIds')) throw forbidden()
    return listMembers(trx, { ...filter, byName: !sees('email') || admission.isMasked('User') })
  },
})

const read = users.read({
  summary: 'Read a user’s role, properties and last access',
})

const create = users.create({
  id: 'users.invite',
  summary: 'Invite a user by e-mail',
  description:
    'The answer is the same whether or not there is an account with this address. Without `propertyIds` the role holds for all properties.',
  errors: ['member_exists', 'reference_not_found', 'too_many'],
  body: Obj({ email: Email, name: Opt(Words(1, 120)), role: RoleKey, propertyIds: Opt(PropertyIds) }),
  example: {
    email: 'ana.souza@example.com',
    name: 'Ana Souza',
    role: 'receptionist',
    propertyIds: [sampleId('propertyId')],
  },
  command: ({ trx, caller, admission, body }) => invite(trx, giver(caller, admission), body),
})

const change = users.change({
  id: 'users.change',
  summary: 'Change a user’s role or properties',
  errors: ['not_oneself', 'last_owner', 'invalid_transition', 'reauthentication_required', 'reference_not_found'],
  body: Obj({ role: Opt(RoleKey), propertyIds: Opt(PropertyIds) }, { minProperties: 1 }),
  example: { role: 'manager', propertyIds: [sampleId('propertyId')] },
  command: ({ trx, id, caller, admission, body, request }) => {
    requireRecent(caller, request.receivedAt)
    return changeMember(trx, giver(caller, admission), id, body)
  },
})

const resend = users.act('resend-invitation', {
  summary: 'Send a pending invitation again',
  action: 'create',
  errors: ['invalid_transition', 'too_many'],
  command: ({ trx, id, caller, admission }) => resendInvitation(trx, giver(caller, admission), id),
})

const deactivate = users.act('deactivate', {
  summary: 'Take a user’s access to the tenant away',
  action: 'delete',
  errors: ['not_oneself', 'last_owner'],
  command: async ({ trx, id, caller, admission }) => {
    const { member, sessionIds } = await deactivateMember(trx, giver(caller, admission), id)
    onCommit(trx, () => void Promise.all(sessionIds.map(forgetSession)))
    return member
  },
})

const reactivate = users.act('reactivate', {
  summary: 'Give a deactivated user access again',
  action: 'update',
  errors: ['too_many'],
  command: ({ trx, id, caller, admission }) => reactivateMember(trx, giver(caller, admission), id),
})

const revokeSessions = route({
  id: 'users.revokeSessions',
  method: 'POST',
  path: `${users.one}/revoke-sessions`,
  summary: 'End a user’s sessions in the tenant',
  access: can('update', 'User'),
  record: users.lock,
  returns: RevokedSessions,
  handle: async ({ trx, params, caller, admission }) => {
    const sessionIds = await revokeMemberSessions(trx, giver(caller, admission), params.userId)
    onCommit(trx, () => void buryOf(sessionIds))
    return { revoked: sessionIds.length }
  },
})

const resetMfa = users.act('reset-mfa', {
  summary: 'Remove a user’s lost second factor',
  description: 'All sessions of the user end. It is for users of this tenant alone; others ask the provider.',
  action: 'update',
  errors: ['not_oneself', 'user_has_other_tenants', 'invalid_transition', 'reauthentication_required'],
  command: async ({ trx, id, caller, admission, request }) => {
    requireRecent(caller, request.receivedAt)
    const { member, sessionIds } = await resetMemberMfa(trx, giver(caller, admission), id)
    onCommit(trx, () => void buryOf(sessionIds))
    return member
  },
})

export const routes = [list, read, create, change, resend, deactivate, reactivate, revokeSessions, resetMfa]
