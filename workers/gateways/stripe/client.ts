import { createRequire } from 'node:module'
import { cut } from '../../../config/cut.ts'
import type StripeSdk from 'stripe'
import { required, settings } from '../../../config/env.ts'
import { credentialsRefused } from '../../../db/jobs/index.ts'
import type { Failure } from '../../../db/payment/index.ts'
import type { Outcome } from '../../lib/gateway-job.ts'

/** The only file that loads the SDK. Others know its types alone. */
const load = createRequire(import.meta.url)

/** The version of Stripe's API that every request asks for, whatever the account is set to. */
const apiVersion = '2026-10-28.endive'
const patienceMs = 20_000

let made: { name: string; client: StripeSdk } | null = null

/** The platform's account. Nothing is repeated by the SDK on purpose; what it resends after a reset carries its key all the same. */
const clientOf = (): StripeSdk => {
  const { secretKey, apiBase } = settings.stripe
  const name = `${secretKey} ${apiBase}`
  if (made?.name === name) return made.client
  const loaded = load('stripe') as typeof StripeSdk & { default?: typeof StripeSdk }
  const Sdk = loaded.default ?? loaded
  const base = apiBase === null ? null : new URL(apiBase)
  const client = new Sdk(required(secretKey, 'STRIPE_SECRET_KEY'), {
    apiVersion,
    maxNetworkRetries: 0,
    telemetry: false,
    timeout: patienceMs,
    ...(base === null
      ? {}
      : {
          host: base.hostname,
          port: base.port || (base.protocol === 'http:' ? 80 : 443),
          protocol: base.protocol === 'http:' ? ('http' as const) : ('https' as const),
        }),
  })
  made = { name, client }
  return client
}

export type Sent = { stripeAccount?: string }
/** Options of a call that changes something: it never goes out without its key. */
export type Keyed = Sent & { idempotencyKey: string }

/** The platform's own account is named by no header. */
const isOther = (accountRef: string | null): accountRef is string => accountRef !== null && accountRef !== 'platform'
export const on = (accountRef: string): Sent => (isOther(accountRef) ? { stripeAccount: accountRef } : {})
export const keyed = (accountRef: string | null, idempotencyKey: string): Keyed => ({
  ...(isOther(accountRef) ? { stripeAccount: accountRef } : {}),
  idempotencyKey,
})

// Errors of calls that cannot have reached the other side: no connection was made.
const neverConnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

const declines: Readonly<Record<string, Failure['code']>> = {
  insufficient_funds: 'insufficient_funds',
  expired_card: 'expired_card',
  authentication_required: 'authentication_failed',
  payment_intent_authentication_failure: 'authentication_failed',
  card_declined: 'declined',
  generic_decline: 'declined',
  do_not_honor: 'declined',
}

/** A code of Stripe as one of ours; any decline that is not known is a decline. */
export const failureCode = (code: string | null | undefined, isCard = true): Failure['code'] =>
  (code ? declines[code] : undefined) ?? (isCard ? 'declined' : 'other')

type Thrown = {
  type?: string
  statusCode?: number
  code?: string
  decline_code?: string
  message?: string
  detail?: unknown
  headers?: Record<string, string>
}

const connectionCode = ({ detail, code }: Thrown): string => {
  const inner = detail as { code?: unknown; name?: unknown } | undefined
  return typeof inner?.code === 'string'
    ? inner.code
    : typeof inner?.name === 'string'
      ? inner.name
      : (code ?? 'no_answer')
}

/** The outcome of a call that ended with an error of the SDK (R6). Only a plain refusal of this request counts as a refusal. */
const outcomeOf = (error: Thrown): Outcome<never> => {
  const { type, statusCode: httpStatus, message = '' } = error
  if (httpStatus === undefined) {
    const code = type === 'StripeConnectionError' ? connectionCode(error) : (type ?? 'unexpected_reply')
    return neverConnected.has(code) ? { kind: 'not_sent', code } : { kind: 'unknown', code }
  }
  const code = error.decline_code ?? error.code ?? type ?? 'refused'
  const seconds = Number(error.headers?.['retry-after'])
  const afterMs = Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 3_600) * 1_000 : undefined
  if (httpStatus === 401 || httpStatus === 403) return { kind: 'not_sent', code: credentialsRefused, httpStatus }
  if (httpStatus === 429) return { kind: 'not_sent', code: 'http_429', httpStatus, afterMs }
  const isPlain = [400, 402, 404].includes(httpStatus) && type !== 'StripeIdempotencyError' && type !== 'StripeAPIError'
  if (!isPlain) return { kind: 'unknown', code, httpStatus }
  const isCard = httpStatus === 402
  return { kind: 'refused', code: isCard ? failureCode(code) : code, message: cut(message, 200), httpStatus }
}

type Reply = { lastResponse?: { statusCode?: number } }

/**
 * One call, and what came of it. A reply counts only with HTTP 200 and where `understand` finds in it what was asked for: the SDK also resolves for
 * replies of other statuses whose body it can read. Everything else is unknown.
 */
export const call = async <T, S>(
  signal: AbortSignal,
  make: (stripe: StripeSdk) => Promise<T & Reply>,
  understand: (reply: T) => { snapshot: S; reference?: string } | null,
): Promise<Outcome<S>> => {
  let stop: (() => void) | undefined
  try {
    const aborted = new Promise<'aborted'>((resolve) => {
      stop = () => resolve('aborted')
      signal.addEventListener('abort', stop, { once: true })
    })
    const reply = await Promise.race([make(clientOf()), aborted])
    if (reply === 'aborted') return { kind: 'unknown', code: 'aborted' }
    const httpStatus = reply.lastResponse?.statusCode
    if (httpStatus !== 200) return { kind: 'unknown', code: 'unexpected_status', httpStatus }
    const understood = understand(reply)
    return understood
      ? { kind: 'known', httpStatus, ...understood }
      : { kind: 'unknown', code: 'unexpected_reply', httpStatus }
  } catch (error) {
    return outcomeOf(error as Thrown)
  } finally {
    if (stop) signal.removeEventListener('abort', stop)
  }
}

/** Turns a refusal with 404 into the knowledge that the object is not there. */
export const orNothing = <S>(outcome: Outcome<S>): Outcome<S | null> =>
  outcome.kind === 'refused' && outcome.httpStatus === 404
    ? { kind: 'known', snapshot: null, httpStatus: 404 }
    : outcome

const mostPages = 20
type Page<T> = { data: T[]; has_more: boolean }

/**
 * Looks through a list of Stripe for one object, page by page; lists are consistent, its search is up to an hour behind. Known and null: it is not there.
 */
export const findIn = async <T extends { id: string }, S>(
  signal: AbortSignal,
  page: (stripe: StripeSdk, after: string | undefined) => Promise<Page<T> & Reply>,
  isWanted: (object: T) => boolean,
  understand: (object: T) => { snapshot: S; reference?: string } | null,
): Promise<Outcome<S | null>> => {
  let after: string | undefined
  for (let count = 0; count < mostPages; count += 1) {
    const outcome = await call(
      signal,
      (stripe) => page(stripe, after),
      (reply) => (isList(reply) ? { snapshot: reply } : null),
    )
    if (outcome.kind !== 'known') return outcome
    const { data, has_more: hasMore } = outcome.snapshot
    const wanted = data.find(isWanted)
    if (wanted) {
      const understood = understand(wanted)
      return understood
        ? { kind: 'known', httpStatus: 200, ...understood }
        : { kind: 'unknown', code: 'unexpected_reply' }
    }
    after = data.at(-1)?.id
    if (!hasMore || after === undefined) return { kind: 'known', snapshot: null, httpStatus: 200 }
  }
  return { kind: 'unknown', code: 'list_too_long' }
}

export const isList = (reply: { data?: unknown; has_more?: unknown }): boolean =>
  Array.isArray(reply.data) && typeof reply.has_more === 'boolean'

/** Seconds since 1970, a minute earlier: clocks differ. */
export const since = (at: Date): { gte: number } => ({ gte: Math.floor(at.getTime() / 1_000) - 60 })
export const instant = (seconds: number | null | undefined): Date | null =>
  typeof seconds === 'number' ? new Date(seconds * 1_000) : null
export const lower = (currency: string) => currency.toLowerCase()
/** The id of what may have been expanded. */
export const idOf = (value: string | { id: string } | null | undefined): string | null =>
  typeof value === 'string' ? value : (value?.id ?? null)
