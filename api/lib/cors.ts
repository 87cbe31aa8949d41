import type { Context, Next } from 'koa'
import { settings } from '../../config/env.ts'

const allowed =
  'Authorization, Content-Type, If-Match, Idempotency-Key, X-Guest-Token, X-Registration-Token, X-Request-Id'
const exposed =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, ETag, Retry-After, X-Request-Id, Idempotent-Replayed'

/** Public endpoints answer any origin, all others those of CORS_ORIGINS; credentials never. */
export const cors = async (ctx: Context, next: Next) => {
  const origin = ctx.get('origin')
  if (origin === '') return next()
  const anyone = ctx.path.startsWith('/api/public/')
  const granted = anyone ? '*' : settings.corsOrigins.includes(origin) ? origin : null
  if (!anyone) ctx.vary('Origin')
  if (granted !== null) {
    ctx.set('Access-Control-Allow-Origin', granted)
    ctx.set('Access-Control-Expose-Headers', exposed)
  }
  if (ctx.method !== 'OPTIONS' || ctx.get('access-control-request-method') === '') return next()
  if (granted !== null) {
    ctx.set('Access-Control-Allow-Methods', 'GET, POST, PUT, PATCH, DELETE')
    ctx.set('Access-Control-Allow-Headers', allowed)
    ctx.set('Access-Control-Max-Age', '600')
  }
  ctx.status = 200
  ctx.body = {}
}
