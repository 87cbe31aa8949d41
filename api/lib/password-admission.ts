import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ApiError } from '../../config/errors.ts'
import { log } from '../../config/log.ts'
import { hashingBusy, hashingPlaces, isHashingFull } from '../../db/auth/index.ts'
import { clientAddress } from './address.ts'
import { originHeaders } from './cors.ts'
import { errorReply, toApiError } from './failure.ts'
import { observeRefused } from './health.ts'
import type { Refusal } from './health.ts'
import { limit, rateClassOf } from './rate-limit.ts'
import { countedAtDoor, headersOfAll, requestIdOf, spanOf, timesSent } from './request.ts'
import type { AnyRoute, RateClass } from './route.ts'

/** An endpoint that hashes a password for a caller without a credential. */
export type Guarded = Pick<AnyRoute, 'id' | 'method' | 'path'> & {
  rate: RateClass
  /** The page of a refusal, for people, instead of JSON; `Content-Type` is among the headers. */
  page?: (failure: ApiError) => { headers: Record<string, string>; body: string }
}

/** The endpoints of the API that are guarded. */
export const guardedOf = (routes: readonly AnyRoute[]): Guarded[] =>
  routes
    .filter(({ hashes, access, method }) => hashes && access.kind === 'open' && method === 'POST')
    .map((route) => ({ id: route.id, method: route.method, path: route.path, rate: rateClassOf(route) }))

/** A request keeps no place for a body that takes longer than this to arrive. */
const patienceMs = 1_000
/** A body longer than this, or of unknown length, is not read to its end once its request is refused. */
const mostUnread = 64 * 1024

type Place = { since: number; message: IncomingMessage }
type Listener<Result> = (message: IncomingMessage, response: ServerResponse) => Result
type Arrival = { message: IncomingMessage; response: ServerResponse; route: Guarded; since: number }

/** Slow senders lose their place. Their requests go on, and are judged again when a password is about to be hashed. */
const dropSlow = (places: Set<Place>, now: number) => {
  for (const place of places) if (!place.message.complete && now - place.since > patienceMs) places.delete(place)
}

const isLong = ({ complete, headers }: IncomingMessage) =>
  !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > mostUnread)

/** Answers an error as `inside` would, without reading on. */
const refuse = ({ message, response, route, since }: Arrival, requestId: string, error: unknown): Refusal => {
  const span = spanOf(message)
  const failure = toApiError(error, { requestId, traceparent: span.traceparent })
  const reply = errorReply(failure, requestId)
  const { headers, body } = route.page?.(failure) ?? {
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify(reply.body),
  }
  response.writeHead(failure.status, {
    ...headersOfAll(requestId),
    ...originHeaders(message.headers.origin ?? '', route.path),
    ...reply.headers,
    ...headers,
    'Content-Length': Buffer.byteLength(body),
    ...(isLong(message) ? { Connection: 'close' } : {}),
  })
  response.end(body)
  return { requestId, status: failure.status, seconds: (performance.now() - since) / 1000, span }
}

/**
 * Admits requests that will hash a password before `inside` (Koa) sees them. Each is counted against its client address, and let in
 * while there is room to wait for a turn. All others get 429, `rate_limited` or `hashing_busy`, before their body is read: a flood of
 * sign-ins costs little more than its connections. `pathOf` reads a path as `inside` does.
 */
export const passwordAdmission = (
  endpoints: readonly Guarded[],
  inside: Listener<Promise<unknown>>,
  pathOf: Listener<string>,
): Listener<void> => {
  const guarded = new Map(endpoints.map((route) => [route.path, route]))
  const paths = [...guarded.keys()]
  const busy = hashingBusy()
  const places = new Set<Place>()
  const refusals = new Map<Guarded, Refusal[]>()

  const routeOf: Listener<Guarded | undefined> = (message, response) => {
    const { method, url = '' } = message
    return method === 'POST' && paths.some((path) => url.includes(path))
      ? guarded.get(pathOf(message, response))
      : undefined
  }

  const enter = ({ message, since }: Arrival): Place => {
    if (places.size >= hashingPlaces) dropSlow(places, performance.now())
    if (places.size >= hashingPlaces || isHashingFull()) throw busy
    const place = { since, message }
    places.add(place)
    return place
  }

  const writeDown = () => {
    for (const [route, some] of refusals) observeRefused(route.id, route.method, some)
    refusals.clear()
  }

  /** One line for all that were refused in one turn. */
  const note = (route: Guarded, refusal: Refusal) => {
    if (refusals.size === 0) setImmediate(writeDown)
    const some = refusals.get(route)
    if (some) some.push(refusal)
    else refusals.set(route, [refusal])
  }

  /** The limiter answers a few at a time, so that the requests of others are served between those of a flood. */
  const judge = async (arrival: Arrival): Promise<void> => {
    const { message, response, route } = arrival
    let place: Place
    try {
      const address = clientAddress(message)
      const set = (name: string, value: string) => void response.setHeader(name, value)
      await limit({ kind: 'anonymous', address }, route.rate, { address, receivedAt: new Date() }, set)
      if (response.destroyed) return
      place = enter(arrival)
    } catch (error) {
      note(route, refuse(arrival, requestIdOf(message), error))
      return
    }
    countedAtDoor.add(message)
    try {
      await inside(message, response)
    } finally {
      places.delete(place)
    }
  }

  return (message, response) => {
    const route = routeOf(message, response)
    // Two Host headers are refused inside, before anything else.
    if (!route || timesSent(message.rawHeaders, 'host') > 1) return void inside(message, response)
    judge({ message, response, route, since: performance.now() }).catch((error: unknown) => {
      log.error({ err: error }, 'a reply could not be sent')
      response.destroy()
    })
    return undefined
  }
}
