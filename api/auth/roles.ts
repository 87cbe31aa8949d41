import { reservedSubjects } from '../../config/roles.ts'
import { Bool, Int, List, Matching, Nullable, Obj, Opt, Text, Uuid, Words } from '../../config/schema.ts'
import { scopes } from '../../config/scopes.ts'
import { actionsOf, subjectFacts, subjects } from '../../config/subjects.ts'
import { changeRole, createRole, deleteRole, listRoles } from '../../db/auth/index.ts'
import { holdsScope } from '../lib/access/ability.ts'
import { can } from '../lib/access/kinds.ts'
import { requireRecent } from '../lib/access/admission.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'

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

const list = paged({
  id: 'roles.list',
  path: '/api/tenants/:tenantId/roles',
  summary: 'List built-in and custom roles with permissions',
  access: can('read', 'Role'),
  of: Role,
  find: async ({ trx, query: { page, limit } }) => {
    const roles = await listRoles(trx)
    return { total: roles.length, rows: roles.slice((page - 1) * limit, page * limit) }
  },
})

const errors = ['permission_unknown', 'reauthentication_required'] as const

const create = route({
  id: 'roles.create',
  method: 'POST',
  path: '/api/tenants/:tenantId/roles',
  summary: 'Create a custom role',
  status: 201,
  access: can('create', 'Role'),
  errors: [...errors, 'duplicate_key', 'too_many'],
  body: Obj({ key: RoleKey, name: Words(1, 60), description: Opt(Text(0, 300)), permissions: Permissions }),
  returns: Role,
  handle: ({ trx, caller, request, body }) => {
    requireRecent(caller, request.receivedAt)
    return createRole(trx, body)
  },
})

const record = { table: 'role', param: 'roleId' }

const change = route({
  id: 'roles.change',
  method: 'PATCH',
  path: '/api/tenants/:tenantId/roles/:roleId',
  summary: 'Change name or permissions of a custom role',
  description: 'It holds at once for everybody who has the role.',
  access: can('update', 'Role'),
  record,
  errors,
  body: Obj(
    { name: Opt(Words(1, 60)), description: Opt(Text(0, 300)), permissions: Opt(Permissions) },
    { minProperties: 1 },
  ),
  returns: Role,
  handle: ({ trx, params, caller, request, body }) => {
    requireRecent(caller, request.receivedAt)
    return changeRole(trx, params.roleId, body)
  },
})

const remove = route({
  id: 'roles.delete',
  method: 'DELETE',
  path: '/api/tenants/:tenantId/roles/:roleId',
  summary: 'Delete a custom role that nobody has',
  access: can('delete', 'Role'),
  record,
  errors: ['role_in_use', 'reauthentication_required'],
  returns: Role,
  handle: ({ trx, params, caller, request }) => {
    requireRecent(caller, request.receivedAt)
    return deleteRole(trx, params.roleId)
  },
})

export const routes = [permissions, list, create, change, remove]
