import { createMongoAbility } from '@casl/ability'
import type { MongoAbility, RawRuleOf } from '@casl/ability'
import { rulesToAST } from '@casl/ability/extra'
import { meaningOf, ofPropertyAlone } from '../../config/conditions.ts'
import type { RecordQuery } from '../../config/conditions.ts'
import { isBuiltInRole, ownPermissions, rolePermissions } from '../../config/roles.ts'
import type { Permission } from '../../config/roles.ts'
import { permissionsOfScopes, scopesAllow } from '../../config/scopes.ts'
import { actionsOf, isSubject, subjects } from '../../config/subjects.ts'
import type { SubjectName } from '../../config/subjects.ts'
import { never } from '../../db/conditions.ts'
import type { Condition } from '../../db/conditions.ts'

type StoredPermission = { subject: string; actions: string[] }
type Rule = RawRuleOf<MongoAbility>
type Query = Record<string, unknown>

/** What a role or a key's scopes allow: CASL's ability, and the subjects whose personal data are masked. */
export type Ability = {
  readonly can: (action: string, subject: string, field?: string) => boolean
  /** The records that the action is for, `$caller` standing for who asks. */
  readonly condition: (action: string, subject: string) => Condition
  /** Whether the role's own condition, beside that of properties, holds for an action. */
  readonly isConditional: (action: string, subject: string) => boolean
  readonly isMasked: (subject: string) => boolean
}

const most = 500
const known = new Map<string, Ability>()

const queryOf = (query: RecordQuery): Query =>
  Object.fromEntries(
    Object.entries(query).map(([field, value]) => [field, Array.isArray(value) ? { $in: value } : value]),
  )

/** A record is within reach when its property is, or when it belongs to none: each of these opens it. */
const within = (subject: string, propertyIds: readonly string[] | null): Query[] => {
  if (propertyIds === null) return [{}]
  const among = { propertyId: { $in: [...propertyIds] } }
  return ofPropertyAlone.has(subject) ? [among] : [among, { propertyId: null }]
}

const rule = (subject: string, actions: string[], query: Query, seen?: readonly string[]): Rule => ({
  subject,
  action: actions,
  ...(Object.keys(query).length > 0 ? { conditions: query } : {}),
  ...(seen ? { fields: [...seen] } : {}),
})

const rulesOf = (
  subject: SubjectName,
  actions: string[],
  condition: string | null,
  propertyIds: readonly string[] | null,
): Rule[] => {
  const meaning = condition === null ? null : meaningOf(subject, condition)
  const queries = meaning?.kind === 'records' ? meaning.any.map(queryOf) : [{}]
  const seen = meaning?.kind === 'fields' ? meaning.fields : undefined
  return within(subject, propertyIds).flatMap((property) =>
    queries.map((query) => rule(subject, actions, { ...property, ...query }, seen)),
  )
}

/** Rules of permissions, those of one subject and condition together. What is not of the catalogue any more gives nothing. */
const compiled = (permissions: readonly Permission[], propertyIds: readonly string[] | null): Rule[] => {
  const groups = new Map<string, { subject: SubjectName; condition: string | null; actions: string[] }>()
  for (const { subject, action, condition } of permissions) {
    if (!isSubject(subject) || !actionsOf(subject).includes(action)) continue
    const name = `${subject} ${condition ?? ''}`
    const group = groups.get(name) ?? { subject, condition, actions: [] }
    group.actions.push(action)
    groups.set(name, group)
  }
  return [...groups.values()].flatMap(({ subject, condition, actions }) =>
    rulesOf(subject, actions, condition, propertyIds),
  )
}

const build = (permissions: readonly Permission[], propertyIds: readonly string[] | null): Ability => {
  const casl = createMongoAbility(compiled(permissions, propertyIds))
  const masked = new Set(permissions.filter(({ condition }) => condition === 'masked').map(({ subject }) => subject))
  const trees = new Map<string, Condition>()
  return {
    can: (action, subject, field) => casl.can(action, subject, field),
    condition: (action, subject) => {
      const name = `${action} ${subject}`
      const tree = trees.get(name) ?? (rulesToAST(casl, action, subject) as Condition | null) ?? never
      trees.set(name, tree)
      return tree
    },
    isConditional: (action, subject) =>
      permissions.some(
        (permission) =>
          permission.subject === subject &&
          permission.action === action &&
          permission.condition !== null &&
          meaningOf(subject as SubjectName, permission.condition).kind === 'records',
      ),
    isMasked: (subject) => masked.has(subject),
  }
}

const remembered = (name: string, permissions: () => readonly Permission[], propertyIds: readonly string[] | null) => {
  const found = known.get(name)
  if (found) return found
  const ability = build(permissions(), propertyIds)
  if (known.size >= most) known.delete(known.keys().next().value ?? '')
  known.set(name, ability)
  return ability
}

const named = (propertyIds: readonly string[] | null) => (propertyIds === null ? '*' : propertyIds.toSorted().join())

const unconditional = (stored: readonly StoredPermission[]): Permission[] =>
  stored.flatMap(({ subject, actions }) => actions.map((action) => ({ subject, action, condition: null })))

// What everybody does with what is his own is asked of the session alone, and carries no condition here.
const own = ownPermissions.map((permission) => ({ ...permission, condition: null }))

/**
 * The ability of a role within the properties that it is given for; null = all of them. Built once per version of the role and set of
 * properties. There is no `manage` and no `all`: what is not named is not allowed.
 */
export const abilityOf = (
  role: string,
  custom: { id: string; version: number; permissions: readonly StoredPermission[] } | null,
  propertyIds: readonly string[] | null,
): Ability =>
  // A role that was deleted and made again under its key is another one: the key alone names built-in roles only.
  remembered(
    `${custom ? `${custom.id}:${custom.version}` : role}:${named(propertyIds)}`,
    () => [...(custom ? unconditional(custom.permissions) : isBuiltInRole(role) ? rolePermissions[role] : []), ...own],
    propertyIds,
  )

/** The ability of an API key: what its scopes name, within its properties. */
export const abilityOfKey = (scopes: readonly string[], propertyIds: readonly string[] | null): Ability =>
  remembered(
    `key:${scopes.toSorted().join()}:${named(propertyIds)}`,
    () => unconditional(permissionsOfScopes(scopes)),
    propertyIds,
  )

/** Whether somebody holds all that a scope would give, without a condition: nobody gives a key more than he has. */
export const holdsScope = (ability: Ability, scope: string): boolean =>
  Object.keys(subjects).every((subject) =>
    actionsOf(subject).every(
      (action) =>
        !scopesAllow([scope], action, subject) ||
        (ability.can(action, subject) && !ability.isConditional(action, subject) && !ability.isMasked(subject)),
    ),
  )
