import type { Context, Next } from 'koa'
import { plainLog } from '../../config/log.ts'
import { traceIdOf } from '../../config/tracing.ts'
import type { Span } from '../../config/tracing.ts'
import { database, sql } from '../../db/lib/connection.ts'
import { isMigrated } from '../../db/lib/migrations.ts'
import { durations, requests } from './metrics.ts'
import { redisAnswers } from './redis.ts'

/** Counts one finished request, and writes its line: by endpoint, since an address can hold what is secret. */
export const observe = (ctx: Context, seconds: number, span: Span) => {
  const { requestId, routeId: route = 'none' } = ctx.state as { requestId: string; routeId?: string }
  requests.inc({ route, status: ctx.status })
  durations.observe({ route }, seconds)
  if (route === 'none') return
  const { status } = ctx
  const traceId = traceIdOf(span.traceparent)
  plainLog.info({ requestId, traceId, route, status, ms: Math.round(seconds * 1000) }, 'answered')
  span.note({ 'http.request.method': ctx.method, 'http.route': route, 'http.response.status_code': status }, route)
  span.end(status >= 500 ? new Error('5xx') : undefined)
}

let stopping = false
let migrated = false

/** From now on `/readyz` says no, so that no new requests are sent here. */
export const stopServing = () => {
  stopping = true
}

export type State = { status: 'ok' | 'degraded' | 'stopping' | 'down'; postgres: string; redis: string }

const look = async (): Promise<State> => {
  const redis = redisAnswers() ? 'ok' : 'down'
  try {
    await sql(database(), 'select 1')
    migrated ||= await isMigrated(database())
    const postgres = migrated ? 'ok' : 'not migrated'
    return { status: stopping ? 'stopping' : !migrated ? 'down' : redis === 'ok' ? 'ok' : 'degraded', postgres, redis }
  } catch {
    return { status: 'down', postgres: 'down', redis }
  }
}

/** However many ask, PostgreSQL is asked once a second. */
const freshMs = 1_000
let latest: { at: number; state: Promise<State> } | null = null

/** Tells whether this process can serve; without Redis it can, degraded. */
export const readState = (): Promise<State> => {
  const now = performance.now()
  if (stopping || latest === null || now - latest.at > freshMs) latest = { at: now, state: look() }
  return latest.state
}

export const canServe = ({ status }: State): boolean => status === 'ok' || status === 'degraded'

export type Refusal = { requestId: string; status: number; seconds: number; span: Span }

/** Counts and logs requests to one endpoint that were refused together, in one line. */
export const observeRefused = (route: string, method: string, refusals: readonly Refusal[]) => {
  for (const { status, seconds, span } of refusals) {
    requests.inc({ route, status })
    durations.observe({ route }, seconds)
    span.note({ 'http.request.method': method, 'http.route': route, 'http.response.status_code': status }, route)
    span.end()
  }
  const refused = refusals.map(({ requestId, status, seconds, span }) => ({
    requestId,
    traceId: traceIdOf(span.traceparent),
    status,
    ms: Math.round(seconds * 1000),
  }))
  plainLog.info({ route, refused }, 'refused')
}

/**
 * `/healthz`: the process lives. `/readyz`: it can serve, degraded or whole. Both are for the balancer in front; reasons and metrics are on the
 * metrics port alone.
 */
export const health = async (ctx: Context, next: Next) => {
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next()
  if (ctx.path === '/healthz') {
    ctx.body = { status: 'ok' }
    return undefined
  }
  if (ctx.path === '/readyz') {
    const state = await readState()
    ctx.status = canServe(state) ? 200 : 503
    ctx.body = { status: state.status }
    return undefined
  }
  return next()
}
