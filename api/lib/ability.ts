import { createMongoAbility } from '@casl/ability'
import type { MongoAbility, RawRuleOf } from '@casl/ability'
import { isBuiltInRole, ownPermissions, rolePermissions } from '../../config/roles.ts'
import { isSubject } from '../../config/subjects.ts'

type StoredPermission = { subject: string; actions: string[] }

const most = 500
const known = new Map<string, MongoAbility>()

const build = (permissions: readonly { subject: string; action: string }[]): MongoAbility =>
  createMongoAbility([...permissions, ...ownPermissions].map(({ subject, action }): RawRuleOf<MongoAbility> => ({ subject, action })))

const stored = (permissions: readonly StoredPermission[]) =>
  permissions.flatMap(({ subject, actions }) => (isSubject(subject) ? actions.map((action) => ({ subject, action })) : []))

/** The ability of a role, built once per version of it. There is no `manage` and no `all`: what is not named is not allowed. */
export const abilityOf = (tenantId: string, key: string, custom: { version: number; permissions: StoredPermission[] } | null): MongoAbility => {
  const cacheKey = custom ? `${tenantId}:${key}:${custom.version}` : key
  const found = known.get(cacheKey)
  if (found) return found
  const ability = build(custom ? stored(custom.permissions) : isBuiltInRole(key) ? rolePermissions[key] : [])
  if (known.size >= most) known.delete(known.keys().next().value ?? '')
  known.set(cacheKey, ability)
  return ability
}
