import { createHash } from 'node:crypto'
import { cut } from '../../config/cut.ts'
import { LRUCache } from 'lru-cache'
import type { PixLine } from '../../db/cash/index.ts'
import type { Outcome } from '../lib/gateway-job.ts'
import { callOut } from '../lib/outgoing.ts'
import type { OutgoingOutcome, OutgoingRequest } from '../lib/outgoing.ts'
import type { Calling } from './bank.ts'

/** Calls of the standard of the Central Bank: tokens by OAuth 2.0, a certificate of the caller's, JSON, problems by RFC 7807. */

export type Json = Record<string, unknown>
export const record = (value: unknown): Json | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null
export const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

const scopes = 'cob.write cob.read cobv.write cobv.read pix.write pix.read webhook.write webhook.read'
const mostBytes = 4_000_000
const connectMs = 5_000

type Place = Pick<OutgoingRequest, 'url'> & Omit<OutgoingRequest, 'url' | 'mostBytes' | 'signal'>
type Reply = { kind: 'answered'; status: number; body: Json | null; afterMs?: number | undefined }

const bodyOf = (body: Buffer): Json | null => {
  if (body.length === 0) return {}
  try {
    return record(JSON.parse(body.toString('utf8').replaceAll('\0', '').toWellFormed()))
  } catch {
    return null
  }
}

/** Alerts by which a server refuses the certificate of a caller. */
const certificateAlert = /ALERT_(BAD_CERT|CERT|UNSUPPORTED_CERT|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE)/

const answerOf = (outcome: OutgoingOutcome): Reply | Exclude<Outcome<never>, { kind: 'known' }> => {
  if (outcome.kind === 'answered') {
    const seconds = Number(outcome.headers['retry-after'])
    return {
      kind: 'answered',
      status: outcome.status,
      body: bodyOf(outcome.body),
      afterMs: Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 3_600) * 1_000 : undefined,
    }
  }
  if (certificateAlert.test(outcome.code))
    return {
      kind: 'refused',
      code: 'certificate_refused',
      message: 'The bank refuses the certificate',
      httpStatus: 401,
    }
  // An address that is not called says nothing of the charge.
  return { kind: outcome.kind === 'unknown' ? 'unknown' : 'not_sent', code: outcome.code }
}

const reach = async ({ line, signal }: Calling, place: Place) => {
  const { certificatePem: cert, privateKeyPem: key } = line.credentials
  const identity = cert !== undefined && key !== undefined ? { cert, key } : undefined
  return answerOf(await callOut({ ...place, identity, mostBytes, connectMs, signal }))
}

/** Tokens by connection and credentials: new credentials begin with a token of their own. */
const tokens = new LRUCache<string, string>({ max: 5_000, ttl: 300_000, perf: Date })
const tokenKey = ({ connectionId, credentials, address }: PixLine): string =>
  `${connectionId} ${createHash('sha256')
    .update(JSON.stringify([credentials, address]))
    .digest('hex')}`

const askToken = async (calling: Calling, scope: string | null): Promise<Outcome<string>> => {
  const { line } = calling
  const { clientId, clientSecret } = line.credentials
  const reply = await reach(calling, {
    url: line.address?.tokenUrl ?? '',
    method: 'POST',
    headers: {
      accept: 'application/json',
      authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope === null ? {} : { scope }) }).toString(),
  })
  if (reply.kind !== 'answered') return reply
  const { status, body } = reply
  const token = textOf(body?.['access_token'])
  if (status === 200 && token !== null) {
    const lives = Number(body?.['expires_in'])
    const ttl = (Number.isFinite(lives) ? Math.max(1, Math.min(lives, 86_400) - 30) : 60) * 1_000
    tokens.set(tokenKey(line), token, { ttl })
    return { kind: 'known', snapshot: token, httpStatus: status }
  }
  const code = textOf(body?.['error']) ?? 'token_refused'
  // A house may have a part of the services alone: the bank then says which.
  if (status === 400 && code === 'invalid_scope' && scope !== null) return askToken(calling, null)
  if (status === 429) return { kind: 'not_sent', code, httpStatus: status, afterMs: reply.afterMs }
  if (status === 400 || status === 401 || status === 403)
    return { kind: 'refused', code, message: 'The bank refuses the credentials', httpStatus: 401 }
  // Without a token nothing was asked for.
  return { kind: 'not_sent', code: 'no_token', httpStatus: status }
}

const tokenFor = async (calling: Calling): Promise<Outcome<string>> => {
  const held = tokens.get(tokenKey(calling.line))
  if (held !== undefined) return { kind: 'known', snapshot: held }
  const asked = await askToken(calling, scopes)
  // The answer was lost, of a call that changes nothing.
  return asked.kind === 'unknown' ? { kind: 'not_sent', code: asked.code } : asked
}

/** True if the bank gives out a token. */
export const prove = tokenFor

const problemOf = (body: Json | null): { code: string; message: string } => {
  const code = textOf(body?.['type'])?.split('/').at(-1) ?? 'refused'
  const broken = Array.isArray(body?.['violacoes']) ? (body['violacoes'] as unknown[]).map(record) : []
  const reasons = broken.flatMap((one) => textOf(one?.['razao']) ?? [])
  const message = [textOf(body?.['detail']) ?? textOf(body?.['title']) ?? 'The bank refused', ...reasons].join(' · ')
  return { code: code.slice(0, 60), message: cut(message, 300) }
}

const isMissing = (status: number) => status === 404 || status === 410

/**
 * One call and what came of it. A token that is no longer taken is asked for anew, once. What the bank does not find is a refusal of code
 * `missing`; a service that the house has no contract for is a refusal of that call alone, unless it only reads.
 */
export const ask = async (
  calling: Calling,
  method: 'GET' | 'PUT' | 'PATCH',
  path: string,
  body?: Json,
  isAgain = false,
): Promise<Outcome<Json>> => {
  const token = await tokenFor(calling)
  if (token.kind !== 'known') return token
  const reply = await reach(calling, {
    url: `${calling.line.address?.baseUrl.replace(/\/$/, '') ?? ''}${path}`,
    method,
    headers: {
      accept: 'application/json',
      authorization: `Bearer ${token.snapshot}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (reply.kind !== 'answered') return reply
  const { status: httpStatus, body: said, afterMs } = reply
  if (httpStatus >= 200 && httpStatus < 300)
    return said === null
      ? { kind: 'unknown', code: 'unexpected_reply', httpStatus }
      : { kind: 'known', snapshot: said, httpStatus }
  if (httpStatus === 401) {
    tokens.delete(tokenKey(calling.line))
    return isAgain ? { kind: 'refused', ...problemOf(said), httpStatus } : ask(calling, method, path, body, true)
  }
  if (httpStatus === 429) return { kind: 'not_sent', code: 'busy', httpStatus, afterMs }
  if (isMissing(httpStatus)) return { kind: 'refused', ...problemOf(said), code: 'missing', httpStatus }
  if (httpStatus === 403 && method !== 'GET') return { kind: 'refused', ...problemOf(said) }
  if (httpStatus >= 400 && httpStatus < 500 && httpStatus !== 408 && httpStatus !== 409)
    return { kind: 'refused', ...problemOf(said), httpStatus }
  return { kind: 'unknown', code: `http_${httpStatus}`, httpStatus }
}
