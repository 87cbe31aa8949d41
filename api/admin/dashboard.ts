import type { Queue } from 'bullmq'
import type Koa from 'koa'
import type { Context, Middleware, Next } from 'koa'
import { setTimeout as sleep } from 'node:timers/promises'
import { log } from '../../config/log.ts'
import { queueNames } from '../../config/queues.ts'
import { connectTo, queuePrefix } from '../../config/redis.ts'
import type { RedisConnection } from '../../config/redis.ts'
import { dashboardGate, guardedSignIn } from './dashboard-gate.ts'
import { messagePage, pagePolicy } from './dashboard-page.ts'
import { sendHtml } from './forms.ts'

const base = '/superuser/dashboard'
const patienceMs = 100
const boardPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"

/** Its sign-in form, guarded by the password admission. */
export const dashboardSignIn = guardedSignIn('dashboard.signIn', base)

type Board = { serve: Middleware; redis: RedisConnection; queues: Queue[] }
let board: Promise<Board> | null = null

/** Fields of a job in Redis that may be shown. Redis holds ids only (see workers/lib/queues.ts). */
const shown = (data: unknown) => {
  const { tenantId = null, requestId = null } = (data ?? {}) as { tenantId?: unknown; requestId?: unknown }
  return { tenantId, requestId }
}
const word = (value: unknown) => (typeof value === 'string' && /^[\w.-]{1,60}$/.test(value) ? value : null)

/** The libraries are read when someone looks for the first time: a start of the api does not wait for them, nor hold them. */
const openBoard = async (): Promise<Board> => {
  const [{ createBullBoard }, { BullMQAdapter }, { KoaAdapter }, { Queue: BullQueue }] = await Promise.all([
    import('@bull-board/api'),
    import('@bull-board/api/bullMQAdapter'),
    import('@bull-board/koa'),
    import('bullmq'),
  ])
  const redis = connectTo({
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 5_000,
    socketTimeout: 6_000,
    connectTimeout: 2_000,
  })
  redis.on('error', (error: Error) => log.debug({ err: error }, 'redis of the dashboard'))
  const queues = queueNames.map((name) => {
    const queue = new BullQueue(name, { connection: redis, prefix: queuePrefix(name), skipMetasUpdate: true })
    queue.on('error', (error) => log.debug({ err: error, queue: name }, 'bullmq of the dashboard'))
    return queue
  })
  const adapter = new KoaAdapter()
  adapter.setBasePath(base)
  createBullBoard({
    queues: queues.map((queue) => {
      const adapted = new BullMQAdapter(queue, { readOnlyMode: true })
      adapted.setFormatter('data', shown)
      adapted.setFormatter('returnValue', word)
      return adapted
    }),
    serverAdapter: adapter,
    options: {
      uiConfig: {
        boardTitle: 'Pousada: jobs',
        miscLinks: [{ text: 'Operations', url: '/superuser/ops' }],
        pollingInterval: { showSetting: false, forceInterval: 10 },
      },
    },
  })
  return { serve: adapter.registerPlugin(), redis, queues }
}

/** Opens the board once; after a failure the next request tries again. */
const opened = (): Promise<Board> =>
  (board ??= openBoard().catch((error: unknown) => {
    board = null
    throw error
  }))

/** Closes what the board has opened; the first look after it opens anew. */
export const closeDashboard = async () => {
  const closing = await board
  board = null
  await Promise.allSettled(closing?.queues.map((queue) => queue.close()) ?? [])
  closing?.redis.disconnect()
}

const reachable = async (redis: RedisConnection) => {
  for (let waited = 0; waited < patienceMs * 5 && redis.status !== 'ready'; waited += 20) await sleep(20)
  return redis.status === 'ready'
}

const lost =
  /Command timed out|max retries per request|Connection is closed|Stream isn't writeable|Socket timeout|ECONNRE|LOADING/

const isOfRedis = (body: unknown): boolean =>
  typeof body === 'object' &&
  body !== null &&
  'message' in body &&
  typeof body.message === 'string' &&
  lost.test(body.message)

const sayAway = (ctx: Context) => {
  ctx.set('Retry-After', '2')
  sendHtml(
    ctx,
    503,
    pagePolicy,
    messagePage('Redis is away', 'Jobs stay recorded in PostgreSQL and go on when Redis returns.', {
      href: base,
      label: 'Try again',
    }),
  )
}

const show = async (ctx: Context, next: Next) => {
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
    ctx.status = 405
    ctx.set('Allow', 'GET, HEAD')
    ctx.body = 'The dashboard only shows\n'
    return
  }
  const { redis, serve } = await opened()
  if (!(await reachable(redis))) {
    sayAway(ctx)
    return
  }
  ctx.set('Content-Security-Policy', boardPolicy)
  if (ctx.path.startsWith(`${base}/static/`)) ctx.set('Cache-Control', 'private, max-age=3600')
  await serve(ctx, next)
  // The board answers 500 for whatever fails it, also where Redis went away in the middle of a page.
  if (ctx.status === 500 && isOfRedis(ctx.body)) sayAway(ctx)
}

/**
 * Bull Board at /superuser/dashboard, for signed-in N1 operators alone and read-only. It shows what Redis holds; the truth is in
 * PostgreSQL (`/superuser/jobs`).
 */
export const mountDashboard = async (app: Koa): Promise<void> => {
  const gate = dashboardGate(base, dashboardSignIn)
  app.use(async (ctx, next) => {
    if (ctx.path === `/api${base}` || ctx.path.startsWith(`/api${base}/`)) {
      ctx.status = 308
      ctx.redirect(ctx.url.slice('/api'.length))
      return undefined
    }
    if (ctx.path !== base && !ctx.path.startsWith(`${base}/`)) return next()
    return gate(ctx, () => show(ctx, next))
  })
}
