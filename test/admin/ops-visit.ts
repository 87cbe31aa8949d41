import { expect } from 'chai'
import { clientOf } from '../support/client.ts'
import type { Reply } from '../support/client.ts'
import { operator } from './ops-support.ts'

export const base = '/superuser/ops'

export type Send = { cookie?: string; form?: Record<string, string> | [string, string][]; origin?: string | null }

/** Visits of the operations pages: anybody's by `send`, and those of the operator by `get` and `post`, who signs in with the first. */
export const visitsOf = (baseUrl: () => string) => {
  const send = (method: string, path: string, { cookie = '', form, origin = baseUrl() }: Send = {}) =>
    clientOf(baseUrl())<string>(method, path, {
      headers: {
        ...(cookie === '' ? {} : { cookie }),
        ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        ...(form === undefined || origin === null ? {} : { origin }),
      },
      ...(form === undefined ? {} : { raw: new URLSearchParams(form).toString() }),
    })
  const setCookies = (reply: Reply<unknown>) =>
    (reply.headers['set-cookie'] ?? []).map((line) => line.split(';')[0] ?? '')
  const tokenOf = (page: Reply<string>) => /name="formToken" value="([^"]+)"/.exec(page.body)?.[1] ?? ''

  /** Cookies of session and form, and the form's token. */
  let signedIn: { cookie: string; formToken: string } | null = null
  const enter = async () => {
    if (signedIn) return signedIn
    const first = await send('GET', `${base}/sign-in`)
    const form = { ...operator, formToken: tokenOf(first) }
    const reply = await send('POST', `${base}/sign-in`, { cookie: setCookies(first).join('; '), form })
    expect([reply.status, reply.headers.location]).to.deep.equal([303, base])
    const session = setCookies(reply).join('; ')
    const page = await send('GET', `${base}/queues/messages`, { cookie: session })
    expect(page.status).to.equal(200)
    signedIn = { cookie: [session, ...setCookies(page)].join('; '), formToken: tokenOf(page) }
    return signedIn
  }
  const get = async (path: string) => send('GET', `${base}${path}`, { cookie: (await enter()).cookie })
  const post = async (path: string, form: Record<string, string> | [string, string][], options: Send = {}) => {
    const { cookie, formToken } = await enter()
    const fields = Array.isArray(form) ? form : Object.entries(form)
    return send('POST', `${base}${path}`, { cookie, form: [['formToken', formToken], ...fields], ...options })
  }
  return { send, enter, get, post }
}
