import { presenter } from './present.ts'
import { Reply } from './route.ts'
import type { AnyRoute, Answer } from './route.ts'

const versionOf = (body: unknown): number | null =>
  typeof body === 'object' && body !== null && 'version' in body && typeof body.version === 'number'
    ? body.version
    : null

/** Makes answers from what a route's handler returns: status, headers, and the body as its schema names it. */
export const answerer = (route: AnyRoute) => {
  const present = presenter(route.returns)
  const usual = route.status ?? 200
  return (result: unknown): Answer => {
    const wrapped = result instanceof Reply ? (result as Reply<unknown>) : new Reply(result)
    const status = wrapped.status ?? usual
    if (status !== usual && route.ok === undefined) throw new Error(`${route.id} does not say what a ${status} means`)
    const body = present(wrapped.body)
    const version = versionOf(body)
    return {
      status,
      headers: {
        ...(route.cache ? { 'Cache-Control': route.cache } : {}),
        ...(version === null ? {} : { ETag: `"${version}"` }),
        ...wrapped.headers,
      },
      body,
    }
  }
}
