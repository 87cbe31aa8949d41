import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import Koa from 'koa'
import { settings } from '../config/env.ts'
import { ApiError, notFound } from '../config/errors.ts'
import { log } from '../config/log.ts'
import { clientAddress } from './lib/address.ts'
import { boundConnections } from './lib/connections.ts'
import { encode } from './lib/compress.ts'
import { cors } from './lib/cors.ts'
import { documentation } from './docs/index.ts'
import { documentOf } from './lib/document.ts'
import type { ReadDocument } from './lib/document.ts'
import { countPage } from './lib/rate-limit.ts'
import { guardedOf, passwordAdmission } from './lib/password-admission.ts'
import { toApiError, writeError } from './lib/failure.ts'
import { health, observe } from './lib/health.ts'
import { headersOfAll, requestIdOf, spanOf, timesSent } from './lib/request.ts'
import type { AnyRoute } from './lib/route.ts'
import { makeRouter } from './lib/router.ts'
import { routes } from './routes.ts'
import { dashboardSignIn, mountDashboard } from './admin/dashboard.ts'
import { mountOperations, operationsSignIn } from './admin/ops/index.ts'

/** Paths that no endpoint answers: documents, guides, and the pages of operators. */
const pages = /^\/(?:api\/)?(?:docs|guides|openapi\.json|superuser\/(?:ops|dashboard))(?:$|[/.])/

// Once in a process for each list of routes: none changes.
const documents = new WeakMap<readonly AnyRoute[], ReadDocument>()

/** The Koa application, without the password admission in front of it; no port is opened yet. */
const makeApp = async (endpoints: readonly AnyRoute[]): Promise<Koa> => {
  const app = new Koa()
  app.proxy = false
  app.on('error', (error: unknown) => log.warn({ err: error }, 'a reply could not be sent'))

  app.use(async (ctx, next) => {
    const requestId = requestIdOf(ctx.req)
    const started = process.hrtime.bigint()
    const span = spanOf(ctx.req)
    ctx.state.requestId = requestId
    ctx.state.traceparent = span.traceparent
    ctx.set(headersOfAll(requestId))
    try {
      if (timesSent(ctx.req.rawHeaders, 'host') > 1)
        throw new ApiError('request_invalid', 'The Host header stands twice', { errors: [] })
      await next()
      if (ctx.status === 404 && ctx.body === undefined) throw notFound('There is no such endpoint')
    } catch (error) {
      writeError(ctx, toApiError(error, { requestId, traceparent: span.traceparent }), requestId)
    }
    try {
      await encode(ctx)
    } finally {
      observe(ctx, Number(process.hrtime.bigint() - started) / 1e9, span)
    }
  })
  app.use(health)
  app.use(cors)
  app.use(async (ctx, next) => {
    // A form of sign-in is counted already, in the window of all sign-ins.
    const isCounted = ctx.res.hasHeader('X-RateLimit-Limit')
    if (!isCounted && pages.test(ctx.path))
      ctx.set(await countPage({ address: clientAddress(ctx.req), receivedAt: new Date() }))
    await next()
  })
  const document = documents.get(endpoints) ?? documentOf(endpoints)
  documents.set(endpoints, document)
  app.use(documentation(document))
  await mountDashboard(app)
  mountOperations(app)
  app.use(makeRouter(endpoints))
  return app
}

/**
 * A request that is broken off midway has its reply or is about to have it. Another reply would be taken for that of a request that
 * was never sent, or for the first's.
 */
const isBetweenReplies = (response: ServerResponse | undefined): boolean =>
  response !== undefined && (response.req.complete ? !response.writableEnded : response.headersSent)

const badRequest = () => {
  const body = JSON.stringify({
    statusCode: 400,
    code: 'request_invalid',
    message: 'The request could not be read',
    errors: [],
  })
  return `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
}

/** The time that a sender may take for the headers and for a whole request, and the interval of the check. */
export type Patience = { headersMs: number; requestMs: number; lookMs: number }
const usualPatience: Patience = { headersMs: 5_000, requestMs: 15_000, lookMs: 1_000 }

/** Time in which the reply to a broken request arrives; the socket is destroyed after it. */
const lingerMs = 500

/** The server with its limits: slow or malformed senders are cut off early. */
export const makeServer = async (
  endpoints: readonly AnyRoute[] = routes,
  { headersMs, requestMs, lookMs }: Patience = usualPatience,
): Promise<Server> => {
  const app = await makeApp(endpoints)
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: lookMs,
    keepAliveTimeout: 65_000,
    maxHeaderSize: 8 * 1024,
    noDelay: true,
  })
  const inside = app.callback()
  const guarded = [...guardedOf(endpoints), dashboardSignIn, operationsSignIn]
  const enter = passwordAdmission(guarded, inside, (message, response) => app.createContext(message, response).path)
  const latest = new WeakMap<Duplex, ServerResponse>()
  server.on('request', (message, response) => {
    latest.set(message.socket, response)
    enter(message, response)
  })
  server.maxRequestsPerSocket = 1_000
  // Longer than any reply is waited for: a reader that takes nothing does not keep its socket.
  server.timeout = 75_000
  boundConnections(server)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || isBetweenReplies(latest.get(socket))) return socket.destroy()
    // To end is to close our half alone: a sender that never closes its own would keep the socket for good.
    setTimeout(() => socket.destroy(), lingerMs).unref()
    return socket.end(badRequest())
  })
  return server
}

/** Listens; answers the base address. Port 0 takes a free one. */
export const listen = (server: Server, port = settings.port, host = settings.host): Promise<string> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      const address = server.address()
      const actual = typeof address === 'object' && address ? address.port : port
      resolve(`http://${isIP(host) === 6 ? `[${host}]` : host}:${actual}`)
    })
  })
