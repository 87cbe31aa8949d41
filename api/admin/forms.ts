import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Context } from 'koa'
import { settings } from '../../config/env.ts'
import { ApiError, forbidden } from '../../config/errors.ts'
import type { Html } from './html.ts'

const mostBytes = 8 * 1024

const isLoopback = (host: string) => /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host)

/** Browsers keep `__Host-` cookies over https alone; on loopback, outside production, the cookie goes without both. */
export const cookieOf = (ctx: Context) => {
  const plain = !settings.production && isLoopback(ctx.host) && !settings.publicBaseUrl.startsWith('https:')
  const attributes = `Path=/; HttpOnly; SameSite=Strict${plain ? '' : '; Secure'}`
  const prefix = plain ? 'pousada-dev' : '__Host-pousada'
  return { session: prefix, form: `${prefix}-form`, attributes }
}

export const readCookie = (ctx: Context, name: string): string | null => {
  const found = (ctx.req.headers.cookie ?? '').split(/;\s*/).filter((part) => part.startsWith(`${name}=`))
  return found.length === 1 ? (found[0]?.slice(name.length + 1) ?? null) : null
}

const equal = (one: string, other: string) =>
  timingSafeEqual(createHash('sha256').update(one).digest(), createHash('sha256').update(other).digest())

export const readForm = async (message: IncomingMessage): Promise<URLSearchParams> => {
  if (!/^application\/x-www-form-urlencoded(;|$)/i.test(message.headers['content-type'] ?? ''))
    throw new ApiError('body_invalid', 'Send the form of the page')
  const parts: Buffer[] = []
  let size = 0
  for await (const part of message as AsyncIterable<Buffer>) {
    size += part.length
    if (size > mostBytes) throw new ApiError('body_invalid', 'The form is too large')
    parts.push(part)
  }
  return new URLSearchParams(Buffer.concat(parts).toString('utf8'))
}

/** A form counts only from our own page: same origin, and with the token that the page's cookie has too. */
export const refuseForeign = (ctx: Context, form: URLSearchParams) => {
  const origin = ctx.req.headers.origin
  const own = new Set([new URL(settings.publicBaseUrl).origin])
  if (!settings.production && isLoopback(ctx.host)) own.add(`http://${ctx.host}`)
  const token = readCookie(ctx, cookieOf(ctx).form)
  if (typeof origin !== 'string' || !own.has(origin) || token === null || !equal(form.get('formToken') ?? '', token))
    throw forbidden('form_refused', 'Open the page again and repeat what you did')
}

const setFormToken = (ctx: Context, token: string): string => {
  const { form, attributes } = cookieOf(ctx)
  ctx.append('Set-Cookie', `${form}=${token}; ${attributes}; Max-Age=3600`)
  return token
}

export const newFormToken = (ctx: Context): string => setFormToken(ctx, randomBytes(24).toString('base64url'))

/** The token that the browser has, for one hour more, so that forms of several open pages stay good; else a new one. */
export const formToken = (ctx: Context): string => {
  const token = readCookie(ctx, cookieOf(ctx).form)
  return token !== null && /^[\w-]{32}$/.test(token) ? setFormToken(ctx, token) : newFormToken(ctx)
}

export const headersOfPage = (policy: string) => ({
  'Content-Security-Policy': policy,
  // Under no-referrer a browser sends its own form with `Origin: null`, which cannot be told from a foreign one.
  'Referrer-Policy': 'same-origin',
  'Content-Type': 'text/html; charset=utf-8',
})

export const sendHtml = (ctx: Context, status: number, policy: string, body: Html) => {
  ctx.status = status
  ctx.set(headersOfPage(policy))
  ctx.body = body.text
}
