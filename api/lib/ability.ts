import { createMongoAbility } from '@casl/ability'
import type { MongoAbility, RawRuleOf } from '@casl/ability'
import { rulesToAST } from '@casl/ability/extra'
import { isBuiltInRole, ownPermissions, rolePermissions } from '../../config/roles.ts'
import { permissionsOfScopes } from '../../config/scopes.ts'
import { actionsOf, isSubject } from '../../config/subjects.ts'

type StoredPermission = { subject: string; actions: string[] }
type Rule = RawRuleOf<MongoAbility>

const most = 500
const known = new Map<string, MongoAbility>()

/** A record is within reach when its property is, or when it belongs to none: each of these opens it. */
const within = (propertyIds: readonly string[] | null): Pick<Rule, 'conditions'>[] =>
  propertyIds === null
    ? [{}]
    : [
        { conditions: { propertyId: { $in: [...propertyIds] } } },
        { conditions: { propertyId: null } },
        { conditions: { propertyId: { $exists: false } } },
      ]

/** What is not of the catalogue any more gives nothing. */
const rulesOf = (permissions: readonly StoredPermission[], propertyIds: readonly string[] | null): Rule[] =>
  permissions.flatMap(({ subject, actions }) => {
    const action = isSubject(subject) ? actions.filter((name) => actionsOf(subject).includes(name)) : []
    return action.length > 0 ? within(propertyIds).map((condition) => ({ subject, action, ...condition })) : []
  })

const grouped = (permissions: readonly { subject: string; action: string }[]): StoredPermission[] => {
  const bySubject = new Map<string, string[]>()
  for (const { subject, action } of permissions) bySubject.set(subject, [...(bySubject.get(subject) ?? []), action])
  return [...bySubject].map(([subject, actions]) => ({ subject, actions }))
}

const permissionsOf = (role: string, custom: readonly StoredPermission[] | null): readonly StoredPermission[] =>
  custom ?? (isBuiltInRole(role) ? grouped(rolePermissions[role]) : [])

const own = rulesOf(grouped(ownPermissions), null)

const remembered = (name: string, rules: () => Rule[]): MongoAbility => {
  const found = known.get(name)
  if (found) return found
  const ability = createMongoAbility(rules())
  if (known.size >= most) known.delete(known.keys().next().value ?? '')
  known.set(name, ability)
  return ability
}

const named = (propertyIds: readonly string[] | null) => (propertyIds === null ? '*' : propertyIds.toSorted().join())

/**
 * The ability of a role within the properties that it is given for; null = all of them. Built once per version of the role and set of
 * properties. There is no `manage` and no `all`: what is not named is not allowed.
 */
export const abilityOf = (
  tenantId: string,
  role: string,
  custom: { version: number; permissions: readonly StoredPermission[] } | null,
  propertyIds: readonly string[] | null,
): MongoAbility =>
  remembered(
    custom ? `${tenantId}:${role}:${custom.version}:${named(propertyIds)}` : `${role}:${named(propertyIds)}`,
    () => [...rulesOf(permissionsOf(role, custom?.permissions ?? null), propertyIds), ...own],
  )

/** The ability of an API key: what its scopes name, within its properties. */
export const abilityOfKey = (scopes: readonly string[], propertyIds: readonly string[] | null): MongoAbility =>
  remembered(`key:${scopes.toSorted().join()}:${named(propertyIds)}`, () =>
    rulesOf(permissionsOfScopes(scopes), propertyIds),
  )

type Node = { operator: string; value: unknown; field?: string }
type Fragment = { sql: string; bindings: unknown[] }

const columns: Record<string, string> = { propertyId: 'property_id' }

const columnOf = (field: string | undefined): string => {
  const column = field === undefined ? undefined : columns[field]
  if (!column) throw new Error(`no column stands for the condition on ${field ?? 'nothing'}`)
  return column
}

const write = (node: Node, alias: string): Fragment => {
  const list = (joint: ' and ' | ' or '): Fragment => {
    const parts = (node.value as Node[]).map((part) => write(part, alias))
    // A column that is null stands for a field that is null as well as for one that is not there.
    const unlike = parts.filter(
      (part, index) => part.bindings.length > 0 || parts.findIndex((other) => other.sql === part.sql) === index,
    )
    return { sql: `(${unlike.map((part) => part.sql).join(joint)})`, bindings: unlike.flatMap((part) => part.bindings) }
  }
  if (node.operator === 'and') return list(' and ')
  if (node.operator === 'or') return list(' or ')
  const column = `${alias}.${columnOf(node.field)}`
  if (node.operator === 'in') return { sql: `${column} = any(?)`, bindings: [node.value] }
  if (node.operator === 'eq' && node.value === null) return { sql: `${column} is null`, bindings: [] }
  if (node.operator === 'exists') return { sql: `${column} is ${node.value ? 'not ' : ''}null`, bindings: [] }
  throw new Error(`${node.operator} is no operator of list conditions`)
}

/**
 * The condition that a list of `subject` carries for this ability, over the table named `alias`: `true` where there is none, `false`
 * where nothing may be seen. An operator that has no translation throws, so that no list shows too much.
 */
export const listCondition = (ability: MongoAbility, action: string, subject: string, alias: string): Fragment => {
  const tree = rulesToAST(ability, action, subject) as Node | null
  if (tree === null) return { sql: 'false', bindings: [] }
  if (tree.operator === 'and' && (tree.value as Node[]).length === 0) return { sql: 'true', bindings: [] }
  return write(tree, alias)
}
