import { createHmac } from 'node:crypto'
import type { ChannelAccount } from '../../../db/channels/index.ts'
import { callOut } from '../../lib/outgoing.ts'
import type { OutgoingOutcome, OutgoingReply } from '../../lib/outgoing.ts'
import type { Answer, Driver, Failure } from '../driver.ts'

const mostBytes = 8 * 1024 * 1024
/** More than a page, and less than would keep a worker from everybody else. */
const mostRevisions = 1_000
const mostRejections = 1_000

/** `t=<unix seconds>,v1=<HMAC-SHA256 of t.body>`, in hex. A GET has an empty body. */
export const signatureOf = (secret: string, body: string, at = Math.floor(Date.now() / 1_000)): string =>
  `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`

type Sent = { method: 'GET' | 'POST'; path: string; body?: unknown; key?: string }

const send = (account: ChannelAccount, { method, path, body, key }: Sent, signal: AbortSignal) => {
  const text = body === undefined ? '' : JSON.stringify(body)
  return callOut({
    url: `${account.endpointUrl}${path}`,
    method,
    headers: {
      accept: 'application/json',
      'x-pousada-property': account.externalPropertyId,
      'x-pousada-signature': signatureOf(account.secret, text),
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

const call = async <T>(
  account: ChannelAccount,
  sent: Sent,
  signal: AbortSignal,
  read: (body: unknown) => T | null,
): Promise<Answer<T>> => {
  const outcome = await send(account, sent, signal)
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

const fieldsOf = (body: unknown) => (typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {})

const textOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')

/** Driver for the open contract of docs/integrators/channels.md. */
export const open: Driver = {
  test: (account, signal) => call(account, { method: 'GET', path: '/ping' }, signal, () => ({})),

  push: (account, { pushId, kind, ranges }, signal) =>
    call(
      account,
      {
        method: 'POST',
        path: '/ari',
        key: pushId,
        body: { propertyId: account.externalPropertyId, kind, ranges },
      },
      signal,
      (body) => {
        const { accepted, rejected } = fieldsOf(body)
        if (accepted === undefined && rejected === undefined) return null
        const list = Array.isArray(rejected) ? rejected.slice(0, mostRejections) : []
        return {
          rejected: list.map((one) => {
            const { index, message } = fieldsOf(one)
            return { index: Number(index), message: textOf(message).slice(0, 200) || 'rejected' }
          }),
        }
      },
    ),

  pull: (account, { after, limit }, signal) =>
    call(
      account,
      { method: 'GET', path: `/bookings?after=${encodeURIComponent(after ?? '')}&limit=${limit}` },
      signal,
      (body) => {
        const { revisions, cursor } = fieldsOf(body)
        if (!Array.isArray(revisions) || revisions.length > mostRevisions) return null
        const next = textOf(cursor).slice(0, 500) || after
        return {
          cursor: next,
          revisions: revisions.map((one) => {
            const { id, ...revision } = fieldsOf(one)
            return { id: textOf(id).slice(0, 200) || 'unnamed', revision }
          }),
        }
      },
    ),

  acknowledge: (account, ids, signal) =>
    call(account, { method: 'POST', path: '/bookings/acknowledge', body: { ids } }, signal, () => ({})),
}
