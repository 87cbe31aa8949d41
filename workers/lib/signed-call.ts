import { createHmac } from 'node:crypto'
import { callOut } from './outgoing.ts'
import type { OutgoingOutcome, OutgoingReply } from './outgoing.ts'

/** A call that brought no answer to work with: refused for good, never sent, or perhaps heard. */
export type Failure = {
  kind: 'refused' | 'not_sent' | 'unknown'
  code: string
  httpStatus?: number | undefined
  /** The time for which the other side asked to be left alone. */
  afterMs?: number | undefined
}
export type Answer<T> = ({ kind: 'known'; code?: undefined; httpStatus?: number | undefined } & T) | Failure

/** `t=<unix seconds>,v1=<HMAC-SHA256 of t.body>`, in hex. A GET has an empty body. */
export const signatureOf = (secret: string, body: string, at = Math.floor(Date.now() / 1_000)): string =>
  `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`

/** A request of JSON, signed with the secret of the account. A `key` tells a repetition from another request. */
export type SignedRequest = {
  url: string
  secret: string
  method: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: unknown
  key?: string
  mostBytes: number
}

const send = ({ url, secret, method, headers = {}, body, key, mostBytes }: SignedRequest, signal: AbortSignal) => {
  const text = body === undefined ? '' : JSON.stringify(body)
  return callOut({
    url,
    method,
    headers: {
      accept: 'application/json',
      ...headers,
      'x-pousada-signature': signatureOf(secret, text),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(body === undefined ? {} : { body: text }),
    mostBytes,
    signal,
  })
}

const waitOf = ({ headers }: OutgoingReply): number | undefined => {
  const asked = headers['retry-after']
  if (asked === undefined) return undefined
  const ms = /^\d{1,6}$/.test(asked) ? Number(asked) * 1_000 : Date.parse(asked) - Date.now()
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, 3_600_000) : undefined
}

const failureOf = (outcome: OutgoingOutcome): Failure | null => {
  if (outcome.kind !== 'answered') return outcome
  const { status } = outcome
  if (status >= 200 && status < 300) return null
  const named = { code: `http_${status}`, httpStatus: status, afterMs: waitOf(outcome) }
  // Asked to come again, it has done nothing; at fault, it may have done something.
  if (status === 429 || status === 503) return { kind: 'not_sent', ...named }
  return { kind: status >= 500 || status === 408 ? 'unknown' : 'refused', ...named }
}

const cleanText = (text: string) => text.replaceAll('\0', '').toWellFormed()

/** Removes characters that no database stores from a parsed value. Throws if it nests too deeply or is not JSON. */
const storable = (value: unknown): unknown => {
  if (typeof value === 'string') return cleanText(value)
  if (Array.isArray(value)) return value.map(storable)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [cleanText(key), storable(held)]))
}

/** Makes a signed call. `read` makes a value of the parsed body, or null where it makes no sense. Nothing throws for what the other side did. */
export const signedCall = async <T>(
  request: SignedRequest,
  signal: AbortSignal,
  read: (body: unknown) => T | null,
): Promise<Answer<T>> => {
  const outcome = await send(request, signal)
  const failure = failureOf(outcome)
  if (failure || outcome.kind !== 'answered') return failure ?? { kind: 'unknown', code: 'unanswered' }
  let body: unknown
  try {
    body = storable(JSON.parse(outcome.body.toString('utf8') || '{}'))
  } catch {
    return { kind: 'unknown', code: 'not_json', httpStatus: outcome.status }
  }
  const value = read(body)
  return value === null
    ? { kind: 'unknown', code: 'not_understood', httpStatus: outcome.status }
    : { kind: 'known', httpStatus: outcome.status, ...value }
}
