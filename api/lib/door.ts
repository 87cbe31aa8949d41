import type { IncomingMessage } from 'node:http'
import type { Context, Middleware } from 'koa'
import { hashingBusy, hashingPlaces, isHashingFull } from '../../db/auth/hashing.ts'
import { clientAddress } from './address.ts'
import { limit, rateClassOf } from './rate-limit.ts'
import type { AnyRoute } from './route.ts'

/** A body that is not here by then keeps no place for its request. */
const patienceMs = 1_000

type Place = { since: number; message: IncomingMessage }

/** Whoever sends slowly goes on, and is judged again when his turn should come. */
const dropSlow = (places: Set<Place>, now: number) => {
  for (const place of places) if (!place.message.complete && now - place.since > patienceMs) places.delete(place)
}

/**
 * Lets in as many of those who will hash a password, and show no credential, as may wait for it. All others are 429 `hashing_busy` before
 * anything is read of what they sent: a flood of sign-ins costs little more than its connections.
 */
export const door = (routes: readonly AnyRoute[]): Middleware => {
  const places = new Set<Place>()
  const guarded = new Map(
    routes
      .filter((route) => route.hashes && route.access.kind === 'open')
      .map((route) => [`${route.method} ${route.path}`, route]),
  )
  const busy = hashingBusy()

  const enter = (message: IncomingMessage): Place | null => {
    const since = performance.now()
    if (places.size >= hashingPlaces) dropSlow(places, since)
    if (places.size >= hashingPlaces || isHashingFull()) return null
    const place = { since, message }
    places.add(place)
    return place
  }

  const sendAway = async (ctx: Context, route: AnyRoute) => {
    ctx.state.routeId = route.id
    const address = clientAddress(ctx.req)
    const facts = { address, receivedAt: new Date() }
    await limit({ kind: 'anonymous', address }, rateClassOf(route), facts, (name, value) => ctx.set(name, value))
    throw busy
  }

  return async (ctx, next) => {
    const route = ctx.method === 'POST' ? guarded.get(`POST ${ctx.path}`) : undefined
    if (!route) return next()
    const place = enter(ctx.req)
    if (!place) return sendAway(ctx, route)
    try {
      return await next()
    } finally {
      places.delete(place)
    }
  }
}
