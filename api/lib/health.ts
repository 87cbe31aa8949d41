import type { Context, Next } from 'koa'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { plainLog } from '../../config/log.ts'
import { database, sql } from '../../db/connection.ts'
import { isMigrated } from '../../db/migrate.ts'
import { redisAnswers } from './redis.ts'

const registry = new Registry()
collectDefaultMetrics({ register: registry })

const durations = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Requests by endpoint and status class',
  labelNames: ['route', 'method', 'status'],
  buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
  registers: [registry],
})
const failures = new Counter({
  name: 'http_failures_total',
  help: 'Replies of 500 and above',
  labelNames: ['route'],
  registers: [registry],
})
const redisGauge = new Gauge({
  name: 'redis_available',
  help: '1 while Redis answers, 0 while the process runs degraded',
  registers: [registry],
  collect() {
    this.set(redisAnswers() ? 1 : 0)
  },
})
redisGauge.set(0)

/** Counts one finished request, and writes its line: by endpoint, since an address can hold what is secret. */
export const observe = (ctx: Context, seconds: number) => {
  const { requestId, routeId: route = 'none' } = ctx.state as { requestId: string; routeId?: string }
  durations.observe({ route, method: ctx.method, status: `${Math.floor(ctx.status / 100)}xx` }, seconds)
  if (ctx.status >= 500) failures.inc({ route })
  if (route !== 'none')
    plainLog.info({ requestId, route, status: ctx.status, ms: Math.round(seconds * 1000) }, 'answered')
}

let stopping = false
let migrated = false

/** From now on `/readyz` says no, so that no new requests are sent here. */
export const stopServing = () => {
  stopping = true
}

const readiness = async (): Promise<{ status: string; postgres: string; redis: string }> => {
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

/** `/healthz`: the process lives. `/readyz`: it can serve; without Redis it can, degraded. `/metrics`: Prometheus' format. */
export const health = async (ctx: Context, next: Next) => {
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next()
  if (ctx.path === '/healthz') {
    ctx.body = { status: 'ok' }
    return undefined
  }
  if (ctx.path === '/readyz') {
    const state = await readiness()
    ctx.status = state.status === 'ok' || state.status === 'degraded' ? 200 : 503
    ctx.body = state
    return undefined
  }
  if (ctx.path === '/metrics') {
    ctx.type = registry.contentType
    ctx.body = await registry.metrics()
    return undefined
  }
  return next()
}
