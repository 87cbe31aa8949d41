import Router from '@koa/router'
import type { Context, Middleware } from 'koa'
import { crashPoint } from '../../config/crash.ts'
import { ApiError } from '../../config/errors.ts'
import { readBody } from './body.ts'
import { factsOf } from './request.ts'
import { endpoint } from './pipeline.ts'
import type { AnyRoute } from './route.ts'

/** `/superuser/...` is also answered under `/api/superuser/...`, since base addresses end in `/api`. */
const addresses = (path: string) => (path.startsWith('/superuser/') ? [path, `/api${path}`] : [path])

/** Paths are looked up by their first fixed segments, since the router itself goes through its routes one by one. */
const bucketOf = (path: string): string => {
  const [, first = '', second = '', third = '', fourth = ''] = path
    .replace(/^\/api\/superuser\//, '/superuser/')
    .split('/')
  if (first === 'superuser') return `superuser/${second}`
  if (second === 'tenants') return `tenants/${fourth}`
  return `${second}/${third}`
}

/**
 * Refuses a method that no endpoint of the path takes. A path of none falls through, to be a 404, and so does OPTIONS, which is answered
 * to origins that may ask.
 */
const refuseMethod = (router: Router, { path, method }: Context): void => {
  const allowed = [...new Set(router.match(path, method).path.flatMap(({ methods }) => methods))]
  if (allowed.length === 0 || method === 'OPTIONS') return
  const allow = allowed.toSorted().join(', ')
  throw new ApiError('method_not_allowed', `This address takes ${allow} alone`, { headers: { Allow: allow } })
}

/** The router of all endpoints. */
export const makeRouter = (routes: readonly AnyRoute[]): Middleware => {
  const buckets = new Map<string, Router>()
  for (const route of routes) {
    const answer = endpoint(route)
    const body = readBody(route)
    const middleware = async (ctx: Context & { params?: Record<string, string> }) => {
      ctx.state.routeId = route.id
      const rawBody = (ctx.state.rawBody as Buffer | undefined) ?? Buffer.alloc(0)
      const { requestId, traceparent } = ctx.state as { requestId: string; traceparent: string }
      const request = factsOf(ctx.req, requestId, traceparent, ctx.method, ctx.path, rawBody, ctx.res)
      const { status, headers, body, fileName } = await answer(request, {
        params: { ...ctx.params },
        search: new URLSearchParams(ctx.querystring),
        setHeader: (name, value) => ctx.set(name, value),
      })
      if (ctx.method !== 'GET') crashPoint('api.committed', route.id)
      ctx.status = status
      if (fileName !== undefined) ctx.attachment(fileName)
      ctx.set(headers)
      ctx.body = body ?? {}
      if (Buffer.isBuffer(body) && ctx.fresh) ctx.status = 304
    }
    for (const path of addresses(route.path)) {
      const bucket = bucketOf(path)
      const router = buckets.get(bucket) ?? new Router({ sensitive: true, strict: true })
      buckets.set(bucket, router)
      router.register(path, [route.method], [body, middleware] as never)
    }
  }
  const dispatch = new Map(
    [...buckets].map(([bucket, router]) => [bucket, { router, serve: router.routes() as unknown as Middleware }]),
  )
  return (ctx, next) => {
    const found = dispatch.get(bucketOf(ctx.path))
    if (!found) return next()
    return found.serve(ctx, () => {
      refuseMethod(found.router, ctx)
      return next()
    })
  }
}
