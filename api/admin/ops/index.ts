import type Koa from 'koa'
import type { Context } from 'koa'
import { createHash } from 'node:crypto'
import { ApiError, notFound } from '../../../config/errors.ts'
import { isUuid } from '../../../config/validator.ts'
import { inPlatform } from '../../../db/lib/connection.ts'
import { clientAddress } from '../../lib/address.ts'
import { trimmed } from '../../lib/reason.ts'
import { dashboardGate, guardedSignIn } from '../dashboard-gate.ts'
import type { Operator } from '../dashboard-session.ts'
import { formToken, readForm, refuseForeign, sendHtml } from '../forms.ts'
import { html } from '../html.ts'
import { acts } from './acts.ts'
import { database } from './database.ts'
import { actions as deadActions, pages as deadPages } from './dead.ts'
import { job } from './job.ts'
import { find } from './jobs.ts'
import { base, layout, opsPolicy } from './layout.ts'
import { overview } from './overview.ts'
import { actions as providerActions, pages as providerPages } from './providers.ts'
import { actions as queueActions, pages as queuePages } from './queues.ts'
import { schedules } from './schedules.ts'
import { style } from './style.ts'
import { tenants } from './tenants.ts'
import type { Action, Page } from './visit.ts'
import { workers } from './workers.ts'

/** Its sign-in form, guarded by the password admission. */
export const operationsSignIn = guardedSignIn('operations.signIn', base)

const pages: Page[] = [
  overview,
  database,
  ...queuePages,
  tenants,
  ...deadPages,
  schedules,
  ...providerPages,
  workers,
  find,
  acts,
  job,
]
const actions: Action[] = [...queueActions, ...deadActions, ...providerActions]

const matcher = ({ path }: { path: string }) => new RegExp(`^${base}${path.replace(/:([A-Za-z]+)/g, '(?<$1>[^/]+)')}$`)
const shown = pages.map((page) => ({ page, pattern: matcher(page) }))
const acted = actions.map((action) => ({ action, pattern: matcher(action) }))

const match = <T extends { pattern: RegExp }>(list: readonly T[], path: string) => {
  for (const each of list) {
    const found = each.pattern.exec(path)
    if (found) return { ...each, params: { ...found.groups } }
  }
  return null
}

const styleTag = `"${createHash('sha256').update(style).digest('base64url').slice(0, 22)}"`

const sendStyle = (ctx: Context) => {
  ctx.set('Cache-Control', 'private, no-cache')
  ctx.set('ETag', styleTag)
  ctx.type = 'text/css; charset=utf-8'
  ctx.status = ctx.get('If-None-Match') === styleTag ? 304 : 200
  if (ctx.status === 200) ctx.body = style
}

const contextOf = (ctx: Context, operator: Operator) => ({
  actor: { type: 'superuser' as const, id: operator.userId },
  requestId: String(ctx.state.requestId),
  address: clientAddress(ctx.req),
})

/** Held or not, as the address says; a page with something to fill in is held unless it says otherwise. */
const liveOf = (path: string, querystring: string, isLive: boolean) => {
  const query = new URLSearchParams(querystring)
  const isHeld = isLive ? query.get('hold') === '1' : query.get('hold') !== '0'
  if (isHeld === isLive) query.delete('hold')
  else query.set('hold', isHeld ? '0' : '1')
  const search = query.toString()
  return { isHeld, toggle: search === '' ? path : `${path}?${search}` }
}

const show = async (ctx: Context, operator: Operator): Promise<void> => {
  const found = match(shown, ctx.path)
  if (!found) throw notFound('There is no such page')
  const token = formToken(ctx)
  const view = await inPlatform(
    (trx) =>
      found.page.show({ trx, params: found.params, query: new URLSearchParams(ctx.querystring), formToken: token }),
    contextOf(ctx, operator),
  )
  const { isLive = false, ...shownView } = view
  sendHtml(
    ctx,
    200,
    opsPolicy,
    layout({ ...shownView, operator: operator.email, live: liveOf(ctx.path, ctx.querystring, isLive) }),
  )
}

/** Runs an action through the commands of the API and redirects the browser, so that a reload repeats nothing. */
const act = async (ctx: Context, operator: Operator): Promise<void> => {
  const found = match(acted, ctx.path)
  if (!found) throw notFound('There is no such action')
  const form = await readForm(ctx.req)
  refuseForeign(ctx, form)
  const asked = { params: found.params, form, reason: trimmed(form.get('reason') ?? '') }
  const next = await inPlatform((trx) => found.action.act({ trx, ...asked }), contextOf(ctx, operator))
  ctx.status = 303
  ctx.redirect(next)
}

const problem = (ctx: Context, operator: Operator, error: ApiError) =>
  sendHtml(
    ctx,
    error.status,
    opsPolicy,
    layout({
      title: error.status === 404 ? 'Not found' : 'That did not work',
      place: '',
      operator: operator.email,
      body: html`<section>
        <p role="alert">${error.message}</p>
        <ul>
          ${error.errors?.map(({ field, message }) => html`<li>${field} ${message}</li> `) ?? []}
        </ul>
        <p>
          Nothing was changed. Go back with your browser to change what you gave, or to the
          <a href="${base}">overview</a>.
        </p>
      </section>`,
    }),
  )

const serve = async (ctx: Context, operator: Operator): Promise<void> => {
  try {
    if (ctx.method === 'POST') return await act(ctx, operator)
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') throw new ApiError('method_not_allowed', 'Use the forms')
    if (ctx.path === `${base}/style.css`) return sendStyle(ctx)
    const id =
      ctx.path === `${base}/job` ? (new URLSearchParams(ctx.querystring).get('id')?.trim().toLowerCase() ?? '') : ''
    if (!isUuid(id)) return await show(ctx, operator)
    ctx.status = 303
    return ctx.redirect(`${base}/jobs/${id}`)
  } catch (error) {
    if (error instanceof ApiError) return problem(ctx, operator, error)
    throw error
  }
}

/** The operations pages at /superuser/ops, over PostgreSQL's truth, for signed-in N1 operators alone. They stand without Redis. */
export const mountOperations = (app: Koa): void => {
  const gate = dashboardGate(base, operationsSignIn)
  app.use(async (ctx, next) => {
    if (ctx.path === `/api${base}` || ctx.path.startsWith(`/api${base}/`)) {
      ctx.status = 308
      return ctx.redirect(ctx.url.slice('/api'.length))
    }
    if (ctx.path !== base && !ctx.path.startsWith(`${base}/`)) return next()
    return gate(ctx, (operator) => serve(ctx, operator))
  })
}
