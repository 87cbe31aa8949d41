import type { IncomingMessage, ServerResponse } from 'node:http'
import { log } from '../../config/log.ts'
import { hashingBusy, hashingPlaces, isHashingFull } from '../../db/auth/hashing.ts'
import { clientAddress } from './address.ts'
import { originHeaders } from './cors.ts'
import { errorReply, toApiError } from './failure.ts'
import { observeRefused } from './health.ts'
import type { Refusal } from './health.ts'
import { limit, rateClassOf } from './rate-limit.ts'
import { headersOfAll, requestIdOf, spanOf, timesSent } from './request.ts'
import type { AnyRoute } from './route.ts'

/** A body that is not here by then keeps no place for its request. */
const patienceMs = 1_000
// So many go in at once; the requests of others that came meanwhile are between them.
const slice = 4
/** What is longer than this, or of unknown length, is not read to its end for a reply that did not wait for it. */
const mostUnread = 64 * 1024

type Place = { since: number; message: IncomingMessage }
type Listener<Result> = (message: IncomingMessage, response: ServerResponse) => Result

/** Whoever sends slowly goes on, and is judged again when his turn should come. */
const dropSlow = (places: Set<Place>, now: number) => {
  for (const place of places) if (!place.message.complete && now - place.since > patienceMs) places.delete(place)
}

const isLong = ({ complete, headers }: IncomingMessage) =>
  !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > mostUnread)

/**
 * Stands in front of `inside`, and lets in as many of those who will hash a password, and show no credential, as may wait for it. All others are
 * 429 `hashing_busy` before anything is read of what they sent, or made for it: a flood of sign-ins costs little more than its connections.
 * `pathOf`: as `inside` itself reads it.
 */
export const door = (
  routes: readonly AnyRoute[],
  inside: Listener<Promise<unknown>>,
  pathOf: Listener<string>,
): Listener<void> => {
  const guarded = new Map(
    routes
      .filter((route) => route.hashes && route.access.kind === 'open' && route.method === 'POST')
      .map((route) => [route.path, route]),
  )
  const paths = [...guarded.keys()]
  const busy = hashingBusy()
  const places = new Set<Place>()
  const line: (() => void)[] = []
  const refusals = new Map<AnyRoute, Refusal[]>()

  const routeOf: Listener<AnyRoute | undefined> = (message, response) => {
    const { method, url = '' } = message
    return method === 'POST' && paths.some((path) => url.includes(path))
      ? guarded.get(pathOf(message, response))
      : undefined
  }

  const enter = (message: IncomingMessage): Place | null => {
    const since = performance.now()
    if (places.size >= hashingPlaces) dropSlow(places, since)
    if (places.size >= hashingPlaces || isHashingFull()) return null
    const place = { since, message }
    places.add(place)
    return place
  }

  const goIn = () => {
    for (const go of line.splice(0, slice)) go()
    if (line.length > 0) setImmediate(goIn)
  }

  const writeDown = () => {
    for (const [route, some] of refusals) observeRefused(route.id, route.method, some)
    refusals.clear()
  }

  /** One line for all that were refused in one turn. */
  const note = (route: AnyRoute, refusal: Refusal) => {
    if (refusals.size === 0) setImmediate(writeDown)
    const some = refusals.get(route)
    if (some) some.push(refusal)
    else refusals.set(route, [refusal])
  }

  const sendAway = async (message: IncomingMessage, response: ServerResponse, route: AnyRoute) => {
    const since = performance.now()
    const requestId = requestIdOf(message)
    const span = spanOf(message)
    const address = clientAddress(message)
    const headers = { ...headersOfAll(requestId), ...originHeaders(message.headers.origin ?? '', route.path) }
    const facts = { address, receivedAt: new Date() }
    const set = (name: string, value: string) => {
      headers[name] = value
    }
    const failure = await limit({ kind: 'anonymous', address }, rateClassOf(route), facts, set).then(
      () => busy,
      (error: unknown) => toApiError(error, { requestId, traceparent: span.traceparent }),
    )
    const reply = errorReply(failure, requestId)
    const body = JSON.stringify(reply.body)
    response.writeHead(failure.status, {
      ...headers,
      ...reply.headers,
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
      ...(isLong(message) ? { Connection: 'close' } : {}),
    })
    response.end(body)
    note(route, { requestId, status: failure.status, seconds: (performance.now() - since) / 1000, span })
  }

  return (message, response) => {
    const route = routeOf(message, response)
    // Two Host headers are refused inside, before anything else.
    if (!route || timesSent(message.rawHeaders, 'host') > 1) return void inside(message, response)
    const place = enter(message)
    if (!place) {
      sendAway(message, response, route).catch((error: unknown) => {
        log.warn({ err: error }, 'a refusal could not be sent')
        response.destroy()
      })
      return undefined
    }
    const go = () => void inside(message, response).finally(() => places.delete(place))
    if (line.push(go) === 1) setImmediate(goIn)
    return undefined
  }
}
