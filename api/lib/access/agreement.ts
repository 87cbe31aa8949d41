import { createHash } from 'node:crypto'
import { rolePermissions } from '../../../config/roles.ts'
import { neverByKey } from '../../../config/scopes.ts'
import { actionsOf, isSubject, subjectFacts, subjects } from '../../../config/subjects.ts'
import { mediaTypesOf } from '../bytes.ts'
import { operationName } from '../operation-name.ts'
import type { AnyRoute } from '../route.ts'

type Operation = { operationId?: unknown; 'x-permission'?: unknown; security?: unknown }
type Document = { paths?: Record<string, Record<string, Operation>> }

const reachOf = { tenant: ['tenant'], session: ['own'], superuser: ['platform', 'tenant', 'own'] } as const

/** A route that keeps its replies for an Idempotency-Key, though replies of bytes are never kept. */
const unkept = ({ id, idempotency = 'off', returns }: AnyRoute): string[] =>
  idempotency !== 'off' && mediaTypesOf(returns) ? [`${id}: replies of bytes are kept for no Idempotency-Key`] : []

/** Problems of the permission that a route asks for. The owner has every permission of a tenant. */
const judge = ({ id, access }: AnyRoute): string[] => {
  if (!('subject' in access)) return []
  const { kind, action, subject } = access
  if (!isSubject(subject) || !actionsOf(subject).includes(action)) return [`${id}: nobody can ${action} ${subject}`]
  const { reach } = subjectFacts(subject)
  const reaches: readonly string[] = reachOf[kind]
  if (!reaches.includes(reach)) return [`${id}: ${subject} is not reached as ${kind}`]
  const held = rolePermissions.owner.some((one) => one.subject === subject && one.action === action)
  return kind === 'tenant' && !held ? [`${id}: not even an owner may ${action} ${subject}`] : []
}

const signature = (route: AnyRoute): string => `${route.method} ${route.path.replace(/:([A-Za-z]+)/g, '{$1}')}`
const permissionOf = ({ access }: AnyRoute) =>
  'subject' in access ? { action: access.action, subject: access.subject } : undefined

const repeated = (names: readonly string[]) => [...new Set(names.filter((name, at) => names.indexOf(name) !== at))]

/**
 * Every difference between routes, table of permissions and OpenAPI document, in words. A build with one is refused, and so is the start of
 * an unbuilt process: readers of the document, or of the table, can rely on it.
 */
export const disagreements = (routes: readonly AnyRoute[], document: Document): string[] => {
  const operations = new Map<string, Operation>(
    Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
    ),
  )
  const routed = new Set<string>(routes.map(signature))
  return [
    ...repeated(routes.map(({ id }) => id)).map((id) => `${id} is the id of two routes`),
    ...repeated(routes.map(signature)).map((path) => `${path} is routed twice`),
    ...routes.flatMap(unkept),
    ...routes.flatMap(judge),
    ...routes.flatMap((route) => {
      const operation = operations.get(signature(route))
      if (!operation) return [`${route.id} is not in the document`]
      const offersKey = JSON.stringify(operation.security ?? []).includes('apiKey')
      const refusesKey = 'subject' in route.access && neverByKey.has(route.access.subject)
      return [
        ...(operation.operationId === operationName(route)
          ? []
          : [`${signature(route)} is another operation in the document`]),
        ...(JSON.stringify(operation['x-permission']) === JSON.stringify(permissionOf(route))
          ? []
          : [`${route.id} asks for another permission in the document`]),
        ...(offersKey && refusesKey ? [`${route.id} takes no key, and the document offers one`] : []),
      ]
    }),
    ...[...operations.keys()].filter((name) => !routed.has(name)).map((name) => `${name} is in the document alone`),
  ]
}

/** Throws all differences at once. */
export const assertAgreement = (routes: readonly AnyRoute[], document: Document): void => {
  const found = disagreements(routes, document)
  if (found.length > 0) throw new Error(`Routes, permissions and document differ:\n${found.join('\n')}`)
}

/**
 * A digest of the routes as they are declared, with their access, schemas, errors and examples, and of the tables of permissions: of all that
 * the document is made of.
 */
export const digestOf = (routes: readonly AnyRoute[]): string =>
  createHash('sha256')
    .update(JSON.stringify(routes))
    .update(JSON.stringify([subjects, rolePermissions, [...neverByKey]]))
    .digest('hex')
