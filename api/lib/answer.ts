import { bytesAnswer, mediaTypesOf } from './bytes.ts'
import type { BytesReply } from './bytes.ts'
import { presenter } from './present.ts'
import { Reply } from './route.ts'
import type { AnyRoute, Answer } from './route.ts'

type Written = Pick<Answer, 'body' | 'headers' | 'fileName'>

const versionOf = (body: unknown): number | null =>
  typeof body === 'object' && body !== null && 'version' in body && typeof body.version === 'number'
    ? body.version
    : null

const jsonWriter = ({ returns, access }: AnyRoute) => {
  const present = presenter(returns, { forOperators: access.kind === 'superuser' })
  return (value: unknown): Written => {
    const body = present(value)
    const version = versionOf(body)
    return { body, headers: version === null ? {} : { ETag: `"${version}"` } }
  }
}

/** Makes answers from what a route's handler returns: status, headers, and the body as its schema names it, or as bytes. */
export const answerer = (route: AnyRoute) => {
  const mediaTypes = mediaTypesOf(route.returns)
  const write = mediaTypes
    ? (value: unknown): Written => bytesAnswer(mediaTypes, value as BytesReply)
    : jsonWriter(route)
  const usual = route.status ?? 200
  return (result: unknown): Answer => {
    const wrapped = result instanceof Reply ? (result as Reply<unknown>) : new Reply(result)
    const status = wrapped.status ?? usual
    if (status !== usual && route.ok === undefined) throw new Error(`${route.id} does not say what a ${status} means`)
    const written = write(wrapped.body)
    return {
      ...written,
      status,
      headers: {
        ...(route.cache ? { 'Cache-Control': route.cache } : {}),
        ...written.headers,
        ...wrapped.headers,
      },
    }
  }
}
