import type { Context, Next } from 'koa'
import { settings } from '../../config/env.ts'

const allowed =
  'Authorization, Content-Type, If-Match, Idempotency-Key, X-Guest-Token, X-Registration-Token, X-Request-Id'
const exposed =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, ETag, Retry-After, X-Request-Id, Idempotent-Replayed'

/** CORS headers of a reply. Public endpoints allow any origin, all others those of CORS_ORIGINS; credentials never. */
export const originHeaders = (origin: string, path: string): Record<string, string> => {
  if (origin === '') return {}
  const anyone = path.startsWith('/api/public/')
  const granted = anyone ? '*' : settings.corsOrigins.includes(origin) ? origin : null
  return {
    ...(anyone ? {} : { Vary: 'Origin' }),
    ...(granted === null ? {} : { 'Access-Control-Allow-Origin': granted, 'Access-Control-Expose-Headers': exposed }),
  }
}

export const cors = async (ctx: Context, next: Next) => {
  const origin = ctx.get('origin')
  if (origin === '') return next()
  const headers = originHeaders(origin, ctx.path)
  ctx.set(headers)
  if (ctx.method !== 'OPTIONS' || ctx.get('access-control-request-method') === '') return next()
  if ('Access-Control-Allow-Origin' in headers) {
    ctx.set('Access-Control-Allow-Methods', 'GET, POST, PUT, PATCH, DELETE')
    ctx.set('Access-Control-Allow-Headers', allowed)
    ctx.set('Access-Control-Max-Age', '600')
  }
  ctx.status = 200
  ctx.body = {}
}
