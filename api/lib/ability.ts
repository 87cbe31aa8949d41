import { createMongoAbility } from '@casl/ability'
import type { MongoAbility, RawRuleOf } from '@casl/ability'
import { isBuiltInRole, ownSubjects, roles } from '../../config/roles.ts'
import { isSubject, subjectFacts } from '../../config/subjects.ts'

type StoredPermission = { subject: string; actions: string[] }

const most = 500
const known = new Map<string, MongoAbility>()

const rule = (subject: string, actions: readonly string[]): RawRuleOf<MongoAbility> => ({
  subject,
  action: actions.includes('*') ? [...new Set([...subjectFacts(subject).actions, ...actions.filter((action) => action !== '*')])] : [...actions],
})

const build = (permissions: readonly { subject: string; actions: readonly string[] }[]): MongoAbility =>
  createMongoAbility([
    ...permissions.filter(({ subject }) => isSubject(subject)).map(({ subject, actions }) => rule(subject, actions)),
    ...ownSubjects.map((subject) => rule(subject, ['*'])),
  ])

/** The ability of a role, built once per version of it. There is no `manage` and no `all`: what is not named is not allowed. */
export const abilityOf = (tenantId: string, key: string, custom: { version: number; permissions: StoredPermission[] } | null): MongoAbility => {
  const cacheKey = custom ? `${tenantId}:${key}:${custom.version}` : key
  const found = known.get(cacheKey)
  if (found) return found
  const ability = custom ? build(custom.permissions) : isBuiltInRole(key) ? build(roles[key].permissions) : build([])
  if (known.size >= most) known.delete(known.keys().next().value ?? '')
  known.set(cacheKey, ability)
  return ability
}
