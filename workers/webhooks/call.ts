import { webhookLimits as limits } from '../../config/limits.ts'
import { signatureOf } from '../../db/webhooks/index.ts'
import type { Answer, Call } from '../../db/webhooks/index.ts'
import { readCall } from '../lib/external-call.ts'
import type { CallOutcome } from '../lib/external-call.ts'
import { callOut } from '../lib/outgoing.ts'
import type { Connections, OutgoingOutcome } from '../lib/outgoing.ts'
import type { JobContext } from '../lib/processor.ts'

const ofTls = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|EPROTO)/
const timeouts = new Set(['timed_out', 'ECONNECTTIMEOUT'])

const errorOf = ({ kind, code }: Exclude<OutgoingOutcome, { kind: 'answered' }>): NonNullable<Answer['error']> => {
  if (kind === 'refused') return 'address_refused'
  if (code === 'too_large') return 'too_large'
  if (timeouts.has(code)) return 'timeout'
  return ofTls.test(code) ? 'tls_failed' : 'connect_failed'
}

/** Seconds, or a date; the gate of the endpoint, too, stays closed for no longer than a day. */
const retryAfterMs = (header: string | undefined): number | null => {
  if (header === undefined) return null
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, limits.longestRetryAfterMs) : null
}

/** The first characters of an answer, on one line. */
const excerptOf = (body: Buffer): string | null => {
  const text = body
    .toString('utf8')
    .replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]+/gu, ' ')
    .trim()
  return text === '' ? null : Array.from(text).slice(0, limits.keptCharacters).join('')
}

const readAnswer = (outcome: OutgoingOutcome): Omit<Answer, 'at' | 'durationMs'> => {
  const nothing = { httpStatus: null, excerpt: null, retryAfterMs: null }
  if (outcome.kind !== 'answered') return { ...nothing, error: errorOf(outcome) }
  const { status, headers, body } = outcome
  return {
    httpStatus: status,
    error: status >= 300 && status < 400 ? 'redirect' : null,
    excerpt: excerptOf(body),
    retryAfterMs: status === 429 || status === 503 ? retryAfterMs(headers['retry-after']) : null,
  }
}

/** The outcome of a call for the gate of its endpoint, by the answer. */
const outcomeOf = (answer: Answer): CallOutcome & { answer: Answer } => {
  const { httpStatus, error, retryAfterMs: afterMs } = answer
  const code = error ?? String(httpStatus)
  if (httpStatus === 429) return { kind: 'unknown', code, httpStatus, answer, ...(afterMs === null ? {} : { afterMs }) }
  if (httpStatus !== null && httpStatus >= 500) return { kind: 'unknown', code, httpStatus, answer }
  if (httpStatus !== null && httpStatus < 300) return { kind: 'known', httpStatus, answer }
  if (httpStatus !== null || error === 'address_refused') return { kind: 'refused', code, answer }
  return { kind: error === 'timeout' ? 'unknown' : 'not_sent', code, answer }
}

/** Signs a request and sends it, over `connections` where they are kept. Answers what came of it, and whether the receiver seems to be down. */
export const send = async <P>(
  context: Pick<JobContext<P>, 'jobId' | 'tenantId' | 'traceparent' | 'gate' | 'signal'>,
  operation: 'deliver' | 'ping',
  { id, url, body, secrets }: Call,
  connections?: Connections,
): Promise<{ answer: Answer; isDown: boolean }> => {
  const { answer, kind } = await readCall(context, { provider: 'webhook', operation }, async () => {
    const at = new Date()
    const began = performance.now()
    const timestamp = Math.floor(at.getTime() / 1_000)
    const outcome = await callOut({
      url,
      method: 'POST',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Pousada-Webhooks/1',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatureOf(secrets, { id, timestamp, body }),
      },
      onlyThese: true,
      ...(connections ? { connections } : {}),
      body,
      mostBytes: limits.mostAnswerBytes,
      keptBytes: 4 * limits.keptCharacters,
      connectMs: limits.connectMs,
      timeoutMs: limits.timeoutMs,
      signal: context.signal,
    })
    return outcomeOf({ at, durationMs: performance.now() - began, ...readAnswer(outcome) })
  })
  return { answer, isDown: kind === 'unknown' || kind === 'not_sent' }
}
