import type { Context, Middleware } from 'koa'
import { bodyRefused } from './input.ts'
import type { Access } from './access/kinds.ts'
import type { AnyRoute } from './route.ts'

const mebibyte = 1024 * 1024
const json = /^application\/json(\s*;\s*charset="?utf-8"?)?$/i

const hasBody = (ctx: Context) =>
  Boolean(ctx.req.headers['transfer-encoding']) || Number(ctx.req.headers['content-length'] ?? 0) > 0

/** Largest bodies in bytes. Those that need no permission are small, whatever stands in them. */
const limits: Record<Access['kind'], number> = {
  open: 32 * 1024,
  property: 32 * 1024,
  guest: 32 * 1024,
  registration: 256 * 1024,
  session: 32 * 1024,
  callback: 256 * 1024,
  tenant: mebibyte,
  superuser: mebibyte,
}

/** Largest body that an endpoint reads, in bytes. */
export const bodyLimitOf = ({ bodyLimit, access }: Pick<AnyRoute, 'bodyLimit' | 'access'>): number =>
  bodyLimit ?? limits[access.kind]

const readers = new Map<number, Promise<Middleware>>()

/** Endpoints with one limit share a reader. The library loads with the first body: a start does not wait for it. The binary encoding keeps every byte as it came, for signatures and for a strict look at the UTF-8. */
const makeReader = async (limit: number): Promise<Middleware> => {
  const { HttpMethodEnum, koaBody } = await import('koa-body')
  return koaBody({
    json: false,
    urlencoded: false,
    multipart: false,
    text: true,
    textTypes: ['application/json', 'application/x-www-form-urlencoded', 'text/*'],
    textLimit: limit,
    encoding: 'binary',
    parsedMethods: [HttpMethodEnum.POST, HttpMethodEnum.PUT, HttpMethodEnum.PATCH, HttpMethodEnum.DELETE],
    onError: (error) => {
      throw bodyRefused(
        'status' in error && error.status === 413
          ? `The body is larger than ${limit} bytes`
          : 'The body could not be read',
      )
    },
  })
}

const readerOf = (limit: number): Promise<Middleware> => {
  const known = readers.get(limit)
  if (known) return known
  const reader = makeReader(limit)
  readers.set(limit, reader)
  return reader
}

/**
 * Reads the body as bytes, up to the endpoint's limit; nothing is parsed before the caller is known. Whatever breaks a rule of the edge is
 * 400 `body_invalid`.
 */
export const readBody = (route: AnyRoute): Middleware => {
  const limit = bodyLimitOf(route)
  return async (ctx, next) => {
    if (ctx.method === 'GET' || ctx.method === 'HEAD' || !hasBody(ctx)) return next()
    if (ctx.req.headers['content-encoding']) throw bodyRefused('Send the body without Content-Encoding')
    if (route.bodyFormat !== 'raw' && !json.test(ctx.req.headers['content-type'] ?? ''))
      throw bodyRefused('Send the body as Content-Type: application/json')
    if (Number(ctx.req.headers['content-length'] ?? 0) > limit)
      throw bodyRefused(`The body is larger than ${limit} bytes`)
    const reader = await readerOf(limit)
    return reader(ctx, () => {
      const { body } = ctx.request as { body?: unknown }
      ctx.state.rawBody = typeof body === 'string' ? Buffer.from(body, 'latin1') : Buffer.alloc(0)
      return next()
    })
  }
}
