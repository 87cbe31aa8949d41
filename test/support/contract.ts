import { mediaTypesOf } from '../../api/lib/bytes.ts'
import { codesOf } from '../../api/lib/codes.ts'
import type { AnyRoute } from '../../api/lib/route.ts'
import { routes } from '../../api/routes.ts'
import type { ErrorCode } from '../../config/error-codes.ts'
import { compile } from '../../config/validator.ts'
import { sql } from '../../db/lib/connection.ts'
import type { Reply } from './client.ts'
import type { Database } from './database.ts'

const shapes = routes.map((route) => ({
  route,
  pattern: new RegExp(`^(/api)?${route.path.replace(/^\/api/, '').replace(/:[A-Za-z]+/g, '[^/]+')}$`),
}))

/** Codes of requests that reach no endpoint. */
const edgeCodes: readonly ErrorCode[] = ['internal_error', 'method_not_allowed', 'not_found', 'request_invalid']

const errorKeys = new Set(['statusCode', 'code', 'message', 'errors', 'error', 'requestId'])

/** The route that a request meets. */
export const routeOf = (method: string, path: string) => {
  const plain = path.split('?')[0] ?? ''
  return shapes.find(({ route, pattern }) => route.method === method && pattern.test(plain))?.route
}

/** Throws when neither the endpoint nor its kind declares the code of an error reply. */
const checkCode = (method: string, path: string, code: string): void => {
  const route = routeOf(method, path)
  const declared: readonly string[] = route ? codesOf(route) : edgeCodes
  if (!declared.includes(code))
    throw new Error(`${method} ${path} answered ${code}, which ${route?.id ?? 'no endpoint'} does not declare`)
}

/** Throws where the reply of a success is not what its route returns: JSON by its schema, or bytes in a media type of it. */
export const checkReturned = ({ returns }: AnyRoute, where: string, { headers, body }: Reply): void => {
  const mediaTypes = mediaTypesOf(returns)
  const mediaType = (headers['content-type'] ?? '').split(';')[0] ?? ''
  if (mediaTypes) {
    if (!mediaTypes.has(mediaType)) throw new Error(`${where} as ${mediaType}, which it does not declare`)
    if (!headers.etag || !headers['content-length'] || headers['x-content-type-options'] !== 'nosniff')
      throw new Error(`${where} with bytes, and without ETag, length or nosniff`)
    if (mediaType === 'text/html' && !/^sandbox\b/.test(String(headers['content-security-policy'])))
      throw new Error(`${where} with a page outside a sandbox`)
    return
  }
  const problems = compile(returns)(body)
  if (problems) throw new Error(`${where} with a body that its schema refuses: ${JSON.stringify(problems.slice(0, 5))}`)
}

/** Throws when a reply is not what its endpoint declares: every test that calls the API checks its contract as well. */
export const checkContract = (method: string, path: string, { status, headers, body }: Reply): void => {
  const where = `${method} ${path.split('?')[0]} answered ${status}`
  if (!headers['x-request-id']) throw new Error(`${where} without X-Request-Id`)
  if (status >= 400 && typeof body === 'object' && (path.startsWith('/api/') || routeOf(method, path))) {
    const unknown = Object.keys(body as object).filter((key) => !errorKeys.has(key))
    if (
      body.statusCode !== status ||
      typeof body.code !== 'string' ||
      typeof body.message !== 'string' ||
      unknown.length > 0
    )
      throw new Error(`${where} with another body than that of errors: ${JSON.stringify(body)}`)
    checkCode(method, path.split('?')[0] ?? '', body.code)
    if (status === 403 && body.error !== 'ForbiddenException') throw new Error(`${where} without ForbiddenException`)
    return
  }
  const route = routeOf(method, path)
  if (!route || status >= 300) return
  checkReturned(route, where, { status, headers, body })
}

/** Writes without an entry: a new token of the same session, and what providers tell, which is kept as it came. */
const untrailed = new Set(['auth.refresh', 'payments.callback', 'messages.callback'])

const dayMs = 86_400_000
/** Of the months of the trail the one that a run writes in is read, and not those made ahead. */
const around = [-dayMs, 2 * dayMs].map((ms) => new Date(performance.timeOrigin + ms))

/** Throws when a write was answered that the trail knows nothing of: every test that writes through the API checks it. */
export const checkTrail = async (
  { admin }: Database,
  method: string,
  path: string,
  { status, headers, body }: Reply,
): Promise<void> => {
  const route = routeOf(method, path)
  if (!route || method === 'GET' || status >= 300 || headers['idempotent-replayed']) return
  // A right password alone is half of a sign-in: the entry comes with the second factor.
  if (route.readOnly || untrailed.has(route.id) || body.mfaRequired) return
  const entries = await sql(admin, `select 1 from audit_entry where request_id = ? and at between ? and ?`, [
    headers['x-request-id'],
    ...around,
  ])
  if (entries.length === 0) throw new Error(`${method} ${path} answered ${status} and is not in the trail`)
}
