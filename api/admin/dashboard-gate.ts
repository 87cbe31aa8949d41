import type { Context } from 'koa'
import { ApiError } from '../../config/errors.ts'
import type { Guarded } from '../lib/password-admission.ts'
import { cookieOf, headersOfPage, newFormToken, readCookie, readForm, refuseForeign, sendHtml } from './forms.ts'
import { dashboardSession, endDashboardSession, signInToDashboard } from './dashboard-session.ts'
import type { Operator } from './dashboard-session.ts'
import { messagePage, pagePolicy, signInPage, signOutPage } from './dashboard-page.ts'

const sessionHours = 12

const text = (form: URLSearchParams, name: string, most: number) => (form.get(name) ?? '').slice(0, most)

/** The sign-in form of the gate to `base`, for the password admission. A refused visitor gets an HTML page instead of JSON. */
export const guardedSignIn = (id: string, base: string): Guarded => {
  const path = `${base}/sign-in`
  const page: Guarded['page'] = ({ message }) => ({
    headers: headersOfPage(pagePolicy),
    body: messagePage('Not now', message, { href: path, label: 'Sign in' }).text,
  })
  return { id, method: 'POST', path, rate: 'sign_in', page }
}

/** Lets signed-in operators pass to what lies under `base`; shows the sign-in page to everyone else. One session serves every base. */
export const dashboardGate = (base: string, { id, path }: Guarded) => {
  const signIn = async (ctx: Context) => {
    ctx.state.routeId = id
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
      sendHtml(
        ctx,
        error.status,
        pagePolicy,
        signInPage({
          action: path,
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
    ctx.redirect(path)
  }
  return async (ctx: Context, show: (operator: Operator) => Promise<unknown>) => {
    const cookie = readCookie(ctx, cookieOf(ctx).session)
    if (ctx.path === path && ctx.method === 'POST') return signIn(ctx)
    if (ctx.path === `${base}/sign-out` && ctx.method === 'POST') return signOut(ctx, cookie)
    const session = cookie === null ? null : await dashboardSession(cookie)
    if (session !== null && ctx.path === `${base}/sign-out`)
      return sendHtml(
        ctx,
        200,
        pagePolicy,
        signOutPage({ action: `${base}/sign-out`, formToken: newFormToken(ctx), name: session.email, back: base }),
      )
    if (session !== null && ctx.path !== path) return show(session)
    if (session !== null) {
      ctx.status = 303
      return ctx.redirect(base)
    }
    // Scripts of an expired page get a plain 401; people get the form.
    if (ctx.path.startsWith(`${base}/api/`) || (ctx.method !== 'GET' && ctx.method !== 'HEAD'))
      throw new ApiError('unauthenticated', 'Sign in to the dashboard')
    return sendHtml(
      ctx,
      ctx.path === path ? 200 : 401,
      pagePolicy,
      signInPage({ action: path, formToken: newFormToken(ctx) }),
    )
  }
}
