import { settings } from '../../config/env.ts'
import { ApiError } from '../../config/errors.ts'
import { rateLimits as limits } from '../../config/limits.ts'
import type { Caller } from './caller.ts'
import { clientOf } from './address.ts'
import { rateLimited } from './metrics.ts'
import { quickly } from './redis.ts'
import type { RateClass, RequestFacts } from './route.ts'

type Window = { name: string; limit: number }
export type Count = { used: number; limit: number }

const windowOfSession = (sessionId: string): Window => ({ name: `session:${sessionId}`, limit: limits.session })

const windowOf = (caller: Caller, rateClass: RateClass, request: RequestFacts): Window | null => {
  const client = clientOf(request.address)
  if (rateClass === 'none') return null
  if (rateClass === 'sign_in') return { name: `sign-in:${client}`, limit: limits.signIn }
  if (rateClass === 'refresh') return { name: `refresh:${client}`, limit: limits.refreshPerAddress }
  if (rateClass === 'guest_access') return { name: `access:${client}`, limit: limits.guestAccess }
  if (caller.kind === 'api_key') return { name: `key:${caller.apiKeyId}`, limit: limits.key }
  if (caller.kind === 'guest' && caller.portalKeyId !== null)
    return { name: `key:${caller.portalKeyId}`, limit: limits.key }
  if (caller.kind === 'user') return windowOfSession(caller.sessionId)
  return rateClass === 'public_write'
    ? { name: `write:${client}`, limit: limits.publicWrite }
    : { name: `read:${client}`, limit: limits.publicRead }
}

const script = `
local n = redis.call('incr', KEYS[1])
if n == 1 then redis.call('pexpire', KEYS[1], ARGV[1]) end
return n`

// Counts of this process alone, for while Redis is away.
let localMinute = 0
const local = new Map<string, number>()

const countHere = (name: string, minute: number): number => {
  if (minute !== localMinute) {
    local.clear()
    localMinute = minute
  }
  const count = (local.get(name) ?? 0) + 1
  local.set(name, count)
  return count
}

const minuteMs = 60_000

/** Counts one more of `name` in this clock minute. Without Redis each process counts alone, with its share of the limit; never open. */
const count = async ({ name, limit }: Window, now: number): Promise<Count> => {
  const minute = Math.floor(now / minuteMs)
  const used = await quickly(
    (redis) => redis.eval(script, 1, `rl:${name}:${minute}`, minuteMs + 5_000) as Promise<number>,
  )
  if (used !== null) return { used: Number(used), limit }
  return { used: countHere(name, minute), limit: Math.max(1, Math.floor(limit / settings.apiProcesses)) }
}

/** Counts the request for its credential or address, sets the three headers, and throws 429 `rate_limited` beyond the limit. */
export const limit = async (
  caller: Caller,
  rateClass: RateClass,
  request: RequestFacts,
  setHeader: SetHeader,
): Promise<void> => {
  const window = windowOf(caller, rateClass, request)
  if (!window) return
  await take(
    window,
    request,
    setHeader,
    caller.kind === 'user' && rateClass === 'credential' ? begun.get(caller) : undefined,
  )
}

type SetHeader = (name: string, value: string) => void

// Counts that were begun while the session was being read: both go to Redis in one round trip.
const begun = new WeakMap<Caller, Promise<Count>>()

/** Begins to count a request for its session, whatever becomes of it. */
export const beginCount = (sessionId: string, request: RequestFacts): Promise<Count> =>
  count(windowOfSession(sessionId), request.receivedAt.getTime())

/** Says whose count it was, once that is known. */
export const countsFor = (caller: Caller, counting: Promise<Count>): void => {
  begun.set(caller, counting)
}

const take = async (
  window: Window,
  request: RequestFacts,
  setHeader: SetHeader,
  counting = count(window, request.receivedAt.getTime()),
): Promise<void> => {
  const now = request.receivedAt.getTime()
  const { used, limit: most } = await counting
  const reset = (Math.floor(now / minuteMs) + 1) * 60
  const headers = {
    'X-RateLimit-Limit': String(most),
    'X-RateLimit-Remaining': String(Math.max(0, most - used)),
    'X-RateLimit-Reset': String(reset),
  }
  for (const [name, value] of Object.entries(headers)) setHeader(name, value)
  if (used > most) {
    rateLimited.inc({ window: window.name.slice(0, window.name.indexOf(':')) })
    throw new ApiError(429, 'rate_limited', `More than ${most} requests in this minute`, {
      retryAfterSeconds: Math.max(1, reset - now / 1000),
      headers,
    })
  }
}

/** A refresh counts for its session as well as for its address. */
export const limitRefresh = (sessionId: string, request: RequestFacts): Promise<void> =>
  take({ name: `refresh-session:${sessionId}`, limit: limits.refreshPerSession }, request, () => {})

const counted = async (window: Window, request: RequestFacts): Promise<Record<string, string>> => {
  const headers: Record<string, string> = {}
  await take(window, request, (name, value) => {
    headers[name] = value
  })
  return headers
}

/** Counts a failed authentication of an address, and answers the headers; beyond the limit such failures are 429, while good credentials still pass. */
export const countFailure = (request: RequestFacts): Promise<Record<string, string>> =>
  counted({ name: `failed:${clientOf(request.address)}`, limit: limits.failedAuthentication }, request)

/** The same for who sends no credential at all where one is needed. */
export const countNobody = (request: RequestFacts): Promise<Record<string, string>> =>
  counted({ name: `nobody:${clientOf(request.address)}`, limit: limits.publicRead }, request)
