import { conflict, forbidden, notFound, unprocessable } from '../../config/errors.ts'
import { roleChanged, roleCreated, roleDeleted } from '../../config/events/auth.ts'
import { builtInRoles, isBuiltInRole, isGrantable, rolePermissions } from '../../config/roles.ts'
import type { Permission } from '../../config/roles.ts'
import { audit } from '../lib/audit.ts'
import { holds } from '../lib/conditions.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import type { Page, Paging } from '../lib/paging.ts'
import type { Giver } from './members/checks.ts'

export type RolePermission = { subject: string; actions: string[] }
export type Role = {
  id: string | null
  key: string
  name: string
  description: string
  builtIn: boolean
  permissions: RolePermission[]
  /** Number of members that hold it, without deactivated ones. */
  members: number
  version: number | null
}

const mostRoles = 50

/** By subject; the actions of a subject that is named twice are joined. */
const bySubject = (
  permissions: readonly (RolePermission | Pick<Permission, 'subject' | 'action'>)[],
): RolePermission[] => {
  const actions = new Map<string, Set<string>>()
  for (const permission of permissions) {
    const known = actions.get(permission.subject) ?? new Set<string>()
    for (const action of 'actions' in permission ? permission.actions : [permission.action]) known.add(action)
    actions.set(permission.subject, known)
  }
  return [...actions].map(([subject, held]) => ({ subject, actions: [...held] }))
}

const title = (key: string) => key.charAt(0).toUpperCase() + key.slice(1)

const builtIn: Omit<Role, 'members'>[] = builtInRoles.map((key) => ({
  id: null,
  key,
  name: title(key),
  description: '',
  builtIn: true,
  permissions: bySubject(rolePermissions[key]),
  version: null,
}))

const columns = `r.id, r.key, r.name, r.description, false as built_in, r.permissions, r.version,
  (select coalesce(sum(m.n), 0)::bigint from list_count m where m.tenant_id = r.tenant_id and m.list = 'membership' and m.role_id = r.id
    and m.status <> 'deactivated') as members`

/** A page of the tenant's roles: built-in ones by rank, then its own by key. */
export const listRoles = async (
  trx: Trx,
  { page, limit, scope }: Paging & { scope: Condition },
): Promise<Page<Role>> => {
  const held = await sql<{ role: string; members: number }>(
    trx,
    `select role, sum(n)::bigint as members from list_count
     where list = 'membership' and role is not null and status <> 'deactivated' group by role`,
  )
  const members = new Map(held.map((row) => [row.role, row.members]))
  const custom = await sql<Role>(trx, `select ${columns} from role r order by r.key`)
  const roles = [...builtIn.map((role) => ({ ...role, members: members.get(role.key) ?? 0 })), ...custom].filter(
    (role) => holds(scope, { propertyId: null, ...role }),
  )
  return { total: roles.length, rows: roles.slice((page - 1) * limit, page * limit) }
}

/** A role of the tenant's own. 404 where there is none. */
export const readRole = async (trx: Trx, roleId: string): Promise<Role> => {
  const role = await sqlOne<Role>(trx, `select ${columns} from role r where r.id = ?`, [roleId])
  if (!role) throw notFound()
  return role
}

/** Permissions that a custom role may hold, by subject; 422 `permission_unknown` names others. */
const grantable = (permissions: readonly RolePermission[]): RolePermission[] => {
  const refused = permissions.flatMap(({ subject, actions }, at) =>
    actions
      .filter((action) => !isGrantable(subject, action))
      .map((action) => ({ field: `permissions.${at}`, message: `${action} of ${subject} cannot be given to a role` })),
  )
  if (refused.length > 0)
    throw unprocessable(
      'permission_unknown',
      'A permission is not known, or is kept to owner and admin',
      refused.slice(0, 50),
    )
  return bySubject(permissions)
}

const noted = async (
  trx: Trx,
  role: Role,
  { action, event }: { action: string; event: typeof roleCreated },
  changes: Parameters<typeof audit>[1]['changes'],
) => {
  await audit(trx, {
    action,
    subjectType: 'Role',
    subjectId: role.id,
    ...(changes === undefined ? {} : { changes }),
  })
  const id = role.id ?? ''
  await emit(trx, event, { propertyId: null, id, version: role.version, data: { roleId: id, key: role.key } })
  return role
}

type NewRole = { key: string; name: string; description?: string | undefined; permissions: RolePermission[] }

/** A role of the tenant's own. 409 `duplicate_key` where a role has this key already, 422 `too_many` where there are fifty. */
export const createRole = async (trx: Trx, { key, name, description = '', permissions }: NewRole): Promise<Role> => {
  if (isBuiltInRole(key)) throw conflict('duplicate_key', 'A role with this key exists already')
  const wanted = grantable(permissions)
  await sql(trx, `select 1 from tenant where id = ? for no key update`, [contextOf(trx).tenantId])
  const known = await sqlOne<{ n: number }>(trx, `select count(*) as n from role`)
  if ((known?.n ?? 0) >= mostRoles)
    throw unprocessable('too_many', `A tenant has at most ${mostRoles} roles of its own`)
  const made = await sqlOne<{ id: string }>(
    trx,
    `insert into role (key, name, description, permissions) values (?, ?, ?, ?::jsonb) returning id`,
    [key, name, description, JSON.stringify(wanted)],
  )
  return noted(trx, await readRole(trx, made?.id ?? ''), { action: 'role.create', event: roleCreated }, [
    { field: 'key', before: null, after: key },
    { field: 'permissions', before: null, after: wanted },
  ])
}

type RoleChange = {
  name?: string | undefined
  description?: string | undefined
  permissions?: RolePermission[] | undefined
}

/** Refuses a role that is held in a house outside the caller's: the change would reach members there. */
const assertHeldWithin = async (trx: Trx, by: Giver, roleId: string): Promise<void> => {
  if (by.propertyIds === null) return
  const elsewhere = await sqlOne(
    trx,
    `select from membership m where m.role_id = :roleId and (m.all_properties or exists (
       select from membership_property p where p.tenant_id = m.tenant_id and p.membership_id = m.id and p.property_id <> all(:own::uuid[])))
     limit 1`,
    { roleId, own: [...by.propertyIds] },
  )
  if (elsewhere)
    throw forbidden('forbidden', 'Insufficient permissions: the role is held in properties that are not yours')
}

/** Changes a role for all its members from the commit on. */
export const changeRole = async (trx: Trx, by: Giver, roleId: string, change: RoleChange): Promise<Role> => {
  // A member who is just being given the role holds its row: the lock waits, and then sees in which houses it is held.
  await sql(trx, `select 1 from role where id = ? for update`, [roleId])
  await assertHeldWithin(trx, by, roleId)
  const before = await readRole(trx, roleId)
  const after = {
    name: change.name ?? before.name,
    description: change.description ?? before.description,
    permissions: change.permissions === undefined ? before.permissions : grantable(change.permissions),
  }
  const changes = (['name', 'description', 'permissions'] as const)
    .filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
    .map((field) => ({ field, before: before[field], after: after[field] }))
  if (changes.length === 0) return before
  await sql(
    trx,
    `update role set name = ?, description = ?, permissions = ?::jsonb, version = version + 1 where id = ?`,
    [after.name, after.description, JSON.stringify(after.permissions), roleId],
  )
  return noted(trx, await readRole(trx, roleId), { action: 'role.change', event: roleChanged }, changes)
}

/** Deletes a role without members; deactivated members count as well. 409 `role_in_use`. */
export const deleteRole = async (trx: Trx, roleId: string): Promise<Role> => {
  // A member who is just being given the role holds its row: the lock waits, and then sees the role in use.
  await sql(trx, `select 1 from role where id = ? for update`, [roleId])
  const role = await readRole(trx, roleId)
  if (await sqlOne(trx, `select 1 as one from membership where role_id = ? limit 1`, [roleId]))
    throw conflict('role_in_use', 'Members have this role; give them another one first')
  await sql(trx, `delete from role where id = ?`, [roleId])
  await audit(trx, {
    action: 'role.delete',
    subjectType: 'Role',
    subjectId: roleId,
    changes: [{ field: 'permissions', before: role.permissions, after: null }],
  })
  await emit(trx, roleDeleted, {
    propertyId: null,
    id: roleId,
    version: role.version,
    data: { roleId, key: role.key },
  })
  return role
}
