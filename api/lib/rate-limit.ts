import { setImmediate as nextTurn } from 'node:timers/promises'
import { settings } from '../../config/env.ts'
import { ApiError } from '../../config/errors.ts'
import { rateLimits as limits } from '../../config/limits.ts'
import type { Caller } from './caller.ts'
import { clientOf } from './address.ts'
import { rateLimited } from './metrics.ts'
import { quickly } from './redis.ts'
import type { AnyRoute, RateClass, RequestFacts } from './route.ts'

export type Window = { name: string; limit: number }
export type Count = { used: number; limit: number }

export const windowOfSession = (sessionId: string): Window => ({ name: `session:${sessionId}`, limit: limits.session })
export const windowOfKey = (keyId: string): Window => ({ name: `key:${keyId}`, limit: limits.key })

/** Facts of a request that counting needs. */
type Counted = Pick<RequestFacts, 'address' | 'receivedAt'>

export const rateClassOf = (route: AnyRoute): RateClass => {
  if (route.rate) return route.rate
  if (['tenant', 'session', 'superuser'].includes(route.access.kind)) return 'credential'
  if (route.access.kind === 'callback') return 'callback'
  return route.method === 'GET' ? 'public_read' : 'public_write'
}

const windowOf = (caller: Caller, rateClass: RateClass, request: Counted): Window | null => {
  const client = clientOf(request.address)
  if (rateClass === 'none') return null
  if (rateClass === 'callback') return { name: `callback:${client}`, limit: limits.callback }
  if (rateClass === 'sign_in') return { name: `sign-in:${client}`, limit: limits.signIn }
  if (rateClass === 'refresh') return { name: `refresh:${client}`, limit: limits.refreshPerAddress }
  if (caller.kind === 'api_key') return windowOfKey(caller.keyId)
  if (rateClass === 'guest_access') return { name: `access:${client}`, limit: limits.guestAccess }
  if (caller.kind === 'guest' && caller.portalKeyId !== null) return windowOfKey(caller.portalKeyId)
  if (caller.kind === 'registration')
    return { name: `link:${caller.guestRegistrationId}`, limit: limits.registrationLink }
  if (caller.kind === 'user') return windowOfSession(caller.sessionId)
  return rateClass === 'public_write'
    ? { name: `write:${client}`, limit: limits.publicWrite }
    : { name: `read:${client}`, limit: limits.publicRead }
}

const script = `
local counts = {}
for i, key in ipairs(KEYS) do
  local n = redis.call('incr', key)
  if n == 1 then redis.call('pexpire', key, ARGV[1]) end
  counts[i] = n
end
return counts`

type Waiting = { key: string; lifeMs: number; tell: (used: number | null) => void }
let asked: Waiting[] = []
// So many go on at once; the requests of others that came meanwhile are between them.
const slice = 8

const flush = async () => {
  const batch = asked
  asked = []
  const keys = batch.map(({ key }) => key)
  const used = await quickly(
    (redis) => redis.eval(script, keys.length, ...keys, batch[0]?.lifeMs ?? 0) as Promise<number[]>,
  )
  for (const [at, { tell }] of batch.entries()) {
    if (at > 0 && at % slice === 0) await nextTurn()
    tell(used?.[at] ?? null)
  }
}

/** Whatever came in the same turn of the loop is one command: a flood is counted for the price of a few requests. */
const countInRedis = (key: string, lifeMs: number) =>
  new Promise<number | null>((tell) => {
    if (asked.push({ key, lifeMs, tell }) === 1) setImmediate(() => void flush())
  })

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
const minuteOf = (now: Date) => Math.floor(now.getTime() / minuteMs)

/** The window's key in Redis, for code that counts it together with something else. */
export const countedIn = ({ name }: Window, now: Date): { key: string; lifeMs: number } => ({
  key: `rl:${name}:${minuteOf(now)}`,
  lifeMs: minuteMs + 5_000,
})

/** Judges a count. Without Redis (null) each process counts alone, with its share of the limit; never open. */
export const countOf = ({ name, limit }: Window, now: Date, used: number | null): Count =>
  used === null
    ? { used: countHere(name, minuteOf(now)), limit: Math.max(1, Math.floor(limit / settings.apiProcesses)) }
    : { used: Number(used), limit }

/** Counts one more of `name` in this clock minute. */
const count = async (window: Window, now: Date): Promise<Count> => {
  const { key, lifeMs } = countedIn(window, now)
  return countOf(window, now, await countInRedis(key, lifeMs))
}

/** Counts the request for its credential or address, sets the three headers, and throws 429 `rate_limited` beyond the limit. */
export const limit = async (
  caller: Caller,
  rateClass: RateClass,
  request: Counted,
  setHeader: SetHeader,
): Promise<void> => {
  const window = windowOf(caller, rateClass, request)
  if (!window) return
  const begun = counted.get(caller)
  await take(window, request, setHeader, begun?.name === window.name ? begun.count : undefined)
}

type SetHeader = (name: string, value: string) => void

// Counts that were made together with the reading of the credential.
const counted = new WeakMap<Caller, { name: string; count: Count }>()

/** Says whose count it was, once that is known. */
export const countsFor = (caller: Caller, { name }: Window, count: Count): void => {
  counted.set(caller, { name, count })
}

/** A request that comes with two credentials was counted for one of them. */
export const countsForBoth = (portal: Caller, guest: Caller): void => {
  const begun = counted.get(portal)
  if (begun) counted.set(guest, begun)
}

const take = async (window: Window, request: Counted, setHeader: SetHeader, known?: Count): Promise<void> => {
  const now = request.receivedAt.getTime()
  const { used, limit: most } = known ?? (await count(window, request.receivedAt))
  const reset = (Math.floor(now / minuteMs) + 1) * 60
  const headers = {
    'X-RateLimit-Limit': String(most),
    'X-RateLimit-Remaining': String(Math.max(0, most - used)),
    'X-RateLimit-Reset': String(reset),
  }
  for (const [name, value] of Object.entries(headers)) setHeader(name, value)
  if (used > most) {
    rateLimited.inc({ window: window.name.slice(0, window.name.indexOf(':')) })
    throw new ApiError('rate_limited', `More than ${most} requests in this minute`, {
      retryAfterSeconds: Math.max(1, reset - now / 1000),
      headers,
    })
  }
}

/** A refresh counts for its session as well as for its address. */
export const limitRefresh = (sessionId: string, request: RequestFacts): Promise<void> =>
  take({ name: `refresh-session:${sessionId}`, limit: limits.refreshPerSession }, request, () => {})

/** Counts in a window, where it is not counted yet, and answers the headers; throws 429 `rate_limited` beyond the limit. */
export const headersOf = async (window: Window, request: Counted, known?: Count): Promise<Record<string, string>> => {
  const headers: Record<string, string> = {}
  const note = (name: string, value: string) => {
    headers[name] = value
  }
  await take(window, request, note, known)
  return headers
}

/** Counts a failed authentication of an address, and answers the headers; beyond the limit such failures are 429, while good credentials still pass. */
export const countFailure = (request: RequestFacts): Promise<Record<string, string>> =>
  headersOf({ name: `failed:${clientOf(request.address)}`, limit: limits.failedAuthentication }, request)

/** Counts a request for a page or a document against its client address. */
export const countPage = (request: Counted): Promise<Record<string, string>> =>
  headersOf({ name: `pages:${clientOf(request.address)}`, limit: limits.pages }, request)

/** Counts a request that needs a credential and has none, against its client address. */
export const countNobody = (request: RequestFacts): Promise<Record<string, string>> =>
  headersOf({ name: `nobody:${clientOf(request.address)}`, limit: limits.publicRead }, request)
