import { createMongoAbility } from '@casl/ability'
import type { MongoAbility, RawRuleOf } from '@casl/ability'
import { rulesToAST } from '@casl/ability/extra'
import { meaningOf, ofPropertyAlone } from '../../config/conditions.ts'
import type { RecordQuery } from '../../config/conditions.ts'
import { memo } from '../../config/memo.ts'
import { ownPermissions, rolePermissions } from '../../config/roles.ts'
import type { Permission } from '../../config/roles.ts'
import { permissionsOfScopes, scopesAllow } from '../../config/scopes.ts'
import { actionsOf, isSubject, subjects } from '../../config/subjects.ts'
import type { SubjectName } from '../../config/subjects.ts'
import { never } from './conditions.ts'
import type { Condition } from './conditions.ts'

type StoredPermission = { subject: string; actions: string[] }
type Rule = RawRuleOf<MongoAbility>
type Query = Record<string, unknown>

/** Permissions of a role or a key's scopes: CASL's ability, and the subjects whose personal data are masked. */
export type Ability = {
  readonly can: (action: string, subject: string, field?: string) => boolean
  /** Records that the action is for; `$caller` stands for the caller. */
  readonly condition: (action: string, subject: string) => Condition
  /** Tells whether the role's own condition, beside that of properties, holds for an action. */
  readonly isConditional: (action: string, subject: string) => boolean
  readonly isMasked: (subject: string) => boolean
}

const abilitiesByName = memo<Ability>(500)

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

type Group = { condition: string | null; actions: string[] }
/** Permissions by subject, those of one condition together. */
type Granted = ReadonlyMap<string, readonly Group[]>

/** Groups permissions by subject. Permissions that the catalogue no longer has are ignored. */
const grouped = (permissions: readonly Permission[]): Granted => {
  const granted = new Map<string, Group[]>()
  for (const { subject, action, condition } of permissions) {
    if (!isSubject(subject) || !actionsOf(subject).includes(action)) continue
    const groups = granted.get(subject) ?? []
    granted.set(subject, groups)
    const group = groups.find((one) => one.condition === condition)
    if (group) group.actions.push(action)
    else groups.push({ condition, actions: [action] })
  }
  return granted
}

const rulesOf = (subject: SubjectName, groups: readonly Group[], propertyIds: readonly string[] | null): Rule[] =>
  groups.flatMap(({ condition, actions }) => {
    const meaning = condition === null ? null : meaningOf(subject, condition)
    const queries = meaning?.kind === 'records' ? meaning.any.map(queryOf) : [{}]
    const seen = meaning?.kind === 'fields' ? meaning.fields : undefined
    return within(subject, propertyIds).flatMap((property) =>
      queries.map((query) => rule(subject, actions, { ...property, ...query }, seen)),
    )
  })

const nothing = createMongoAbility([])

/** Builds CASL's rules per subject on first use: a request asks for one or two of a hundred. */
const build = (granted: Granted, propertyIds: readonly string[] | null): Ability => {
  const abilities = new Map<string, MongoAbility>()
  const trees = new Map<string, Condition>()
  const caslOf = (subject: string): MongoAbility => {
    const ready = abilities.get(subject)
    if (ready) return ready
    const groups = granted.get(subject)
    if (!groups || !isSubject(subject)) return nothing
    const casl = createMongoAbility(rulesOf(subject, groups, propertyIds))
    abilities.set(subject, casl)
    return casl
  }
  return {
    can: (action, subject, field) => caslOf(subject).can(action, subject, field),
    condition: (action, subject) => {
      const name = `${action} ${subject}`
      const ready = trees.get(name)
      if (ready) return ready
      const casl = caslOf(subject)
      if (casl === nothing) return never
      const tree = (rulesToAST(casl, action, subject) as Condition | null) ?? never
      trees.set(name, tree)
      return tree
    },
    isConditional: (action, subject) =>
      isSubject(subject) &&
      (granted.get(subject) ?? []).some(
        ({ condition, actions }) =>
          condition !== null && actions.includes(action) && meaningOf(subject, condition).kind === 'records',
      ),
    isMasked: (subject) => (granted.get(subject) ?? []).some(({ condition }) => condition === 'masked'),
  }
}

const remembered = (name: string, granted: () => Granted, propertyIds: readonly string[] | null) =>
  abilitiesByName(name, () => build(granted(), propertyIds))

const named = (propertyIds: readonly string[] | null) => (propertyIds === null ? '*' : propertyIds.toSorted().join())

const unconditional = (stored: readonly StoredPermission[]): Permission[] =>
  stored.flatMap(({ subject, actions }) => actions.map((action) => ({ subject, action, condition: null })))

// Actions of users on their own account are asked of the session alone, and carry no condition here.
const own = ownPermissions.map((permission) => ({ ...permission, condition: null }))
const builtIn = new Map(
  Object.entries(rolePermissions).map(([role, permissions]) => [role, grouped([...permissions, ...own])]),
)
const nobody = grouped(own)

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
    () => (custom ? grouped([...unconditional(custom.permissions), ...own]) : (builtIn.get(role) ?? nobody)),
    propertyIds,
  )

/** The ability of an API key: what its scopes name, within its properties. */
export const abilityOfKey = (scopes: readonly string[], propertyIds: readonly string[] | null): Ability =>
  remembered(
    `key:${scopes.toSorted().join()}:${named(propertyIds)}`,
    () => grouped(unconditional(permissionsOfScopes(scopes))),
    propertyIds,
  )

/** Tells whether a caller holds everything that a scope would give, without a condition: a key never exceeds its maker. */
export const holdsScope = (ability: Ability, scope: string): boolean =>
  Object.keys(subjects).every((subject) =>
    actionsOf(subject).every(
      (action) =>
        !scopesAllow([scope], action, subject) ||
        (ability.can(action, subject) && !ability.isConditional(action, subject) && !ability.isMasked(subject)),
    ),
  )
