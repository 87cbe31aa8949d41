import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Context, Next } from 'koa'
import { settings } from '../../config/env.ts'
import { ApiError, forbidden } from '../../config/errors.ts'
import { dashboardSession, endDashboardSession, signInToDashboard } from './dashboard-session.ts'
import { pagePolicy, signInPage, signOutPage } from './dashboard-page.ts'

const mostBytes = 8 * 1024
const sessionHours = 12

const isLoopback = (host: string) => /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host)

/** Browsers keep `__Host-` cookies over https alone; on loopback, outside production, the cookie goes without both. */
const cookieOf = (ctx: Context) => {
  const plain = !settings.production && isLoopback(ctx.host) && !settings.publicBaseUrl.startsWith('https:')
  const attributes = `Path=/; HttpOnly; SameSite=Strict${plain ? '' : '; Secure'}`
  const prefix = plain ? 'pousada-dev' : '__Host-pousada'
  return { session: prefix, form: `${prefix}-form`, attributes }
}

const readCookie = (ctx: Context, name: string): string | null => {
  const found = (ctx.req.headers.cookie ?? '').split(/;\s*/).filter((part) => part.startsWith(`${name}=`))
  return found.length === 1 ? (found[0]?.slice(name.length + 1) ?? null) : null
}

const equal = (one: string, other: string) =>
  timingSafeEqual(createHash('sha256').update(one).digest(), createHash('sha256').update(other).digest())

const readForm = async (message: IncomingMessage): Promise<URLSearchParams> => {
  if (!/^application\/x-www-form-urlencoded(;|$)/i.test(message.headers['content-type'] ?? ''))
    throw new ApiError(400, 'body_invalid', 'Send the form of the page')
  const parts: Buffer[] = []
  let size = 0
  for await (const part of message as AsyncIterable<Buffer>) {
    size += part.length
    if (size > mostBytes) throw new ApiError(400, 'body_invalid', 'The form is too large')
    parts.push(part)
  }
  return new URLSearchParams(Buffer.concat(parts).toString('utf8'))
}

/** A form counts only from our own page: same origin, and with the token that the page's cookie has too. */
const refuseForeign = (ctx: Context, form: URLSearchParams) => {
  const origin = ctx.req.headers.origin
  const own = new Set([new URL(settings.publicBaseUrl).origin])
  if (!settings.production && isLoopback(ctx.host)) own.add(`http://${ctx.host}`)
  const token = readCookie(ctx, cookieOf(ctx).form)
  if (typeof origin !== 'string' || !own.has(origin) || token === null || !equal(form.get('formToken') ?? '', token))
    throw forbidden('form_refused', 'Open the page again and repeat what you did')
}

const html = (ctx: Context, status: number, body: string) => {
  ctx.status = status
  ctx.set('Content-Security-Policy', pagePolicy)
  // Under no-referrer a browser sends its own form with `Origin: null`, which cannot be told from a foreign one.
  ctx.set('Referrer-Policy', 'same-origin')
  ctx.type = 'text/html; charset=utf-8'
  ctx.body = body
}

const newFormToken = (ctx: Context): string => {
  const { form, attributes } = cookieOf(ctx)
  const token = randomBytes(24).toString('base64url')
  ctx.append('Set-Cookie', `${form}=${token}; ${attributes}; Max-Age=3600`)
  return token
}

const text = (form: URLSearchParams, name: string, most: number) => (form.get(name) ?? '').slice(0, most)

/** Lets signed-in operators pass; shows the sign-in page to everyone else. */
export const dashboardGate = (base: string) => {
  const signIn = async (ctx: Context) => {
    const form = await readForm(ctx.req)
    refuseForeign(ctx, form)
    const email = text(form, 'email', 254)
    try {
      const { cookie } = await signInToDashboard(ctx.req, {
        email,
        password: text(form, 'password', 1_025),
        code: text(form, 'code', 64).trim() || null,
        requestId: String(ctx.state.requestId),
      })
      const { session, attributes } = cookieOf(ctx)
      ctx.append('Set-Cookie', `${session}=${cookie}; ${attributes}; Max-Age=${sessionHours * 3600}`)
      ctx.status = 303
      ctx.redirect(base)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error
      if (error.retryAfterSeconds !== undefined) ctx.set('Retry-After', String(error.retryAfterSeconds))
      html(
        ctx,
        error.status,
        signInPage({
          action: `${base}/sign-in`,
          formToken: newFormToken(ctx),
          email,
          problem: error.message,
          needsCode: error.code.startsWith('mfa_'),
        }),
      )
    }
  }
  const signOut = async (ctx: Context, cookie: string | null) => {
    refuseForeign(ctx, await readForm(ctx.req))
    if (cookie !== null) await endDashboardSession(cookie, String(ctx.state.requestId))
    const { session, attributes } = cookieOf(ctx)
    ctx.append('Set-Cookie', `${session}=; ${attributes}; Max-Age=0`)
    ctx.status = 303
    ctx.redirect(`${base}/sign-in`)
  }
  return async (ctx: Context, show: Next) => {
    const cookie = readCookie(ctx, cookieOf(ctx).session)
    if (ctx.path === `${base}/sign-in` && ctx.method === 'POST') return signIn(ctx)
    if (ctx.path === `${base}/sign-out` && ctx.method === 'POST') return signOut(ctx, cookie)
    const session = cookie === null ? null : await dashboardSession(cookie)
    if (session !== null && ctx.path === `${base}/sign-out`)
      return html(
        ctx,
        200,
        signOutPage({ action: `${base}/sign-out`, formToken: newFormToken(ctx), name: session.email }),
      )
    if (session !== null && ctx.path !== `${base}/sign-in`) return show()
    if (session !== null) {
      ctx.status = 303
      return ctx.redirect(base)
    }
    // Scripts of an expired page get a plain 401; people get the form.
    if (ctx.path.startsWith(`${base}/api/`) || (ctx.method !== 'GET' && ctx.method !== 'HEAD'))
      throw new ApiError(401, 'unauthenticated', 'Sign in to the dashboard')
    return html(
      ctx,
      ctx.path === `${base}/sign-in` ? 200 : 401,
      signInPage({ action: `${base}/sign-in`, formToken: newFormToken(ctx) }),
    )
  }
}
