import { reservedSubjects } from '../../config/roles.ts'
import { Bool, Int, List, Matching, Nullable, Obj, Opt, Text, Uuid, Words } from '../../config/schema.ts'
import { scopes } from '../../config/scopes.ts'
import { actionsOf, subjectFacts, subjects } from '../../config/subjects.ts'
import { changeRole, createRole, deleteRole, listRoles, readRole } from '../../db/auth/index.ts'
import { holdsScope } from '../../db/lib/ability.ts'
import { can } from '../lib/access/kinds.ts'
import { requireRecent } from '../lib/access/admission.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { assertHolds, giver } from './giver.ts'

const Word = Matching('^[A-Za-z][A-Za-z_]*$', 40)
const Permissions = List(Obj({ subject: Word, actions: List(Word, { min: 1, max: 40 }) }), { min: 1, max: 300 })
export const RoleKey = Matching('^[a-z][a-z0-9-]{2,39}$', 40)

const Role = Obj(
  {
    id: Nullable(Uuid),
    key: RoleKey,
    name: Text(1, 60),
    description: Text(0, 300),
    builtIn: Bool,
    permissions: List(Obj({ subject: Word, actions: List(Word, { max: 40 }) }), { max: 300 }),
    members: Int(0, 1_000_000),
    version: Nullable(Int(1, 2_147_483_647)),
  },
  { title: 'Role' },
)

const permissions = route({
  id: 'permissions.list',
  method: 'GET',
  path: '/api/tenants/:tenantId/permissions',
  summary: 'List permissions and API scopes, marking one’s own',
  description: 'A custom role may hold of a reserved subject the action read alone.',
  access: can('read', 'Role'),
  returns: Obj({
    subjects: List(
      Obj({
        subject: Word,
        feature: Nullable(Text(1, 40)),
        actions: List(Word, { max: 40 }),
        held: List(Word, { max: 40 }),
        reserved: Bool,
      }),
      { max: 300 },
    ),
    scopes: List(Obj({ scope: Text(1, 60), held: Bool }), { max: 100 }),
  }),
  handle: ({ admission }) =>
    Promise.resolve({
      subjects: Object.keys(subjects)
        .filter((subject) => subjectFacts(subject).reach === 'tenant')
        .map((subject) => ({
          subject,
          feature: subjectFacts(subject).feature,
          actions: [...actionsOf(subject)],
          held: actionsOf(subject).filter((action) => admission.can(action, subject)),
          reserved: reservedSubjects.has(subject),
        })),
      scopes: scopes.map((scope) => ({ scope, held: holdsScope(admission.ability, scope) })),
    }),
})

const customRoles = resource({
  name: 'roles',
  subject: 'Role',
  table: 'role',
  path: '/api/tenants/:tenantId/roles',
  param: 'roleId',
  record: Role,
  read: readRole,
})

const list = customRoles.list({
  summary: 'List built-in and custom roles with permissions',
  find: ({ trx, filter }) => listRoles(trx, filter),
})

const errors = ['permission_unknown', 'reauthentication_required'] as const

const create = customRoles.create({
  summary: 'Create a custom role',
  errors: [...errors, 'duplicate_key', 'too_many'],
  body: Obj({ key: RoleKey, name: Words(1, 60), description: Opt(Text(0, 300)), permissions: Permissions }),
  example: {
    key: 'night-porter',
    name: 'Night porter',
    permissions: [{ subject: 'Guest', actions: ['read'] }],
  },
  command: ({ trx, caller, admission, request, body }) => {
    requireRecent(caller, request.receivedAt)
    assertHolds(admission, body.permissions)
    return createRole(trx, body)
  },
})

const change = customRoles.change({
  id: 'roles.change',
  summary: 'Change name or permissions of a custom role',
  description:
    'It holds at once for everybody who has the role. Users with chosen properties change a role that is held in those alone.',
  errors,
  body: Obj(
    { name: Opt(Words(1, 60)), description: Opt(Text(0, 300)), permissions: Opt(Permissions) },
    { minProperties: 1 },
  ),
  example: { name: 'Night desk', description: 'From ten to six' },
  command: ({ trx, id, caller, admission, request, body }) => {
    requireRecent(caller, request.receivedAt)
    assertHolds(admission, body.permissions)
    return changeRole(trx, giver(caller, admission), id, body)
  },
})

const remove = customRoles.remove({
  summary: 'Delete a custom role that nobody has',
  errors: ['role_in_use', 'reauthentication_required'],
  command: ({ trx, id, caller, request }) => {
    requireRecent(caller, request.receivedAt)
    return deleteRole(trx, id)
  },
})

export const routes = [permissions, list, create, change, remove]
