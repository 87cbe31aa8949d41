import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { holdsCardNumber } from '../../config/card-numbers.ts'
import { beginSpan, parseTraceparent } from '../../config/tracing.ts'
import type { Span } from '../../config/tracing.ts'
import type { RequestFacts } from './route.ts'
import { clientAddress } from './address.ts'

const ownId = /^[A-Za-z0-9-]{8,64}$/

/** The id of a request: the client's own where it is well-formed, a fresh one else. It is logged and stored, so it may hold no card either. */
export const requestIdOf = (message: IncomingMessage): string => {
  const given = message.headers['x-request-id']
  return typeof given === 'string' && ownId.test(given) && !holdsCardNumber(given) ? given : randomUUID()
}

/** Requests that the limiter has counted before they were let in: they are not counted again. */
export const countedAtDoor = new WeakSet<IncomingMessage>()

/** On every reply, in front of what its endpoint sets. */
export const headersOfAll = (requestId: string): Record<string, string> => ({
  'X-Request-Id': requestId,
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
})

/** Counts how often a header was sent, by its lower-case name. */
export const timesSent = (rawHeaders: readonly string[], name: string): number => {
  let times = 0
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === name) times += 1
  return times
}

/** The span of a request, a child of what the client says it comes from. A malformed header begins a trace of its own. */
export const spanOf = (message: IncomingMessage): Span => {
  const { traceparent } = message.headers
  const parent = typeof traceparent === 'string' ? parseTraceparent(traceparent) : null
  return beginSpan('server', message.method ?? '', parent)
}

const queryOf = (url: string) => (url.includes('?') ? url.slice(url.indexOf('?') + 1) : '')

/** `response`: of what is answered over time; its end before it was written says that the client is gone. */
export const factsOf = (
  message: IncomingMessage,
  id: string,
  traceparent: string | null,
  method: string,
  path: string,
  rawBody: Buffer,
  response?: ServerResponse,
): RequestFacts => {
  const gone = new AbortController()
  // The reply's own event: the request is closed once its body is read, and listeners on the socket would pile up over its requests.
  response?.once('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  const header = (name: string): string => {
    const value = message.headers[name]
    return typeof value === 'string' ? value.trim() : ''
  }
  return {
    id,
    method,
    path,
    query: queryOf(message.url ?? ''),
    address: clientAddress(message),
    header,
    rawHeaders: message.rawHeaders,
    rawBody,
    traceparent,
    receivedAt: new Date(),
    isCounted: countedAtDoor.has(message),
    gone: gone.signal,
  }
}
