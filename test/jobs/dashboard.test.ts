import { expect } from 'chai'
import { hashPassword } from '../../db/auth/hashing.ts'
import { grantSuperuser, createUser } from '../../db/auth/users.ts'
import { inPlatform } from '../../db/lib/connection.ts'
import { closeDashboard } from '../../api/admin/dashboard.ts'
import { settings } from '../../config/env.ts'
import { startRelay } from '../../workers/relay.ts'
import { clientOf } from '../support/client.ts'
import type { Reply } from '../support/client.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'
import { ask, newKey, note, rowOf } from './support.ts'

const password = 'a long phrase of operators'
const base = '/superuser/dashboard'

describe('the dashboard', () => {
  const world = useWorld()
  before(async () => {
    for (const level of ['N1', 'N2'] as const) {
      const email = `${level.toLowerCase()}@pousada.example`
      const hash = await hashPassword(password)
      await inPlatform(async (trx) => {
        const userId = await createUser(trx, { email, name: level, hash })
        await grantSuperuser(trx, userId, level, 'the tests of the dashboard')
      })
    }
  })
  after(closeDashboard)

  const send = (
    method: string,
    path: string,
    { cookie = '', form, origin }: { cookie?: string; form?: Record<string, string>; origin?: string } = {},
  ) =>
    clientOf(world.baseUrl)<string>(method, path, {
      headers: {
        ...(cookie === '' ? {} : { cookie }),
        ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        ...(origin === undefined ? {} : { origin }),
      },
      ...(form === undefined ? {} : { raw: new URLSearchParams(form).toString() }),
    })
  const setCookies = (reply: Reply<unknown>) =>
    (reply.headers['set-cookie'] ?? []).map((line) => line.split(';')[0] ?? '')
  const openForm = async (cookie = '', path = `${base}/sign-in`) => {
    const page = await send('GET', path, { cookie })
    const formToken = /name="formToken" value="([^"]+)"/.exec(page.body)?.[1] ?? ''
    return { formToken, cookie: [cookie, ...setCookies(page)].filter(Boolean).join('; ') }
  }
  const signIn = async (email: string, given = password) => {
    const { formToken, cookie } = await openForm()
    return send('POST', `${base}/sign-in`, {
      cookie,
      origin: world.baseUrl,
      form: { formToken, email, password: given },
    })
  }
  const sessionCookie = async () =>
    setCookies(await signIn('n1@pousada.example')).find((cookie) => cookie.startsWith('pousada-dev=')) ?? ''

  it('shows strangers a form, and their scripts a plain 401', async () => {
    const page = await send('GET', base)
    expect(page.status).to.equal(401)
    expect(page.headers['content-type']).to.match(/^text\/html/)
    expect(page.headers['content-security-policy']).to.match(/frame-ancestors 'none'/)
    expect(page.body).to.match(/<form method="post"/)
    expect((await send('GET', `${base}/api/queues`)).status).to.equal(401)
    expect((await send('PUT', `${base}/api/queues/pause`)).status).to.equal(401)
    expect((await send('GET', `${base}/static/js/main.js`)).status).to.equal(401)
  })

  it('lets N1 in, with a cookie that scripts and other sites do not get', async () => {
    const reply = await signIn('n1@pousada.example')
    expect(reply.status).to.equal(303)
    expect(reply.headers.location).to.equal(base)
    const line = (reply.headers['set-cookie'] ?? []).find((each) => each.startsWith('pousada-dev='))
    expect(line)
      .to.match(/HttpOnly/)
      .and.match(/SameSite=Strict/)
      .and.match(/Path=\//)
    const board = await send('GET', base, { cookie: line?.split(';')[0] ?? '' })
    expect(board.status).to.equal(200)
    expect(board.body).to.match(/Pousada: jobs/)
    expect(board.headers['content-security-policy']).to.match(/script-src 'self'/)
  })

  it('over https the cookie is __Host- and Secure', async () => {
    const before = settings.publicBaseUrl
    settings.publicBaseUrl = 'https://pousada.example'
    try {
      const lines = (await send('GET', `${base}/sign-in`)).headers['set-cookie'] ?? []
      expect(lines.join()).to.match(/^__Host-pousada-form=.*; Path=\/; HttpOnly; SameSite=Strict; Secure/)
    } finally {
      settings.publicBaseUrl = before
    }
  })

  it('refuses wrong passwords, other levels, foreign origins and forms without their token', async () => {
    expect((await signIn('n1@pousada.example', 'a wrong phrase')).status).to.equal(401)
    expect((await signIn('nobody@pousada.example')).status).to.equal(401)
    const other = await signIn('n2@pousada.example')
    expect(other.status).to.equal(403)
    expect(setCookies(other).some((cookie) => cookie.startsWith('pousada-dev='))).to.equal(false)
    const { formToken, cookie } = await openForm()
    const form = { formToken, email: 'n1@pousada.example', password }
    const post = (given: Parameters<typeof send>[2]) =>
      send('POST', `${base}/sign-in`, given).then(({ status }) => status)
    expect(await post({ cookie, form }), 'no origin').to.equal(403)
    expect(await post({ cookie, form, origin: 'https://evil.example' })).to.equal(403)
    expect(await post({ form, origin: world.baseUrl }), 'no form cookie').to.equal(403)
    expect(await post({ cookie, form: { ...form, formToken: 'other' }, origin: world.baseUrl })).to.equal(403)
    expect(await post({ cookie, form: { ...form, email: 'x'.repeat(9_000) }, origin: world.baseUrl })).to.equal(400)
  })

  it('writes nothing of the form back but the escaped address', async () => {
    const reply = await signIn('"><script>alert(1)</script>@x.example')
    expect(reply.body).not.to.match(/<script>/)
    expect(reply.body).not.to.include(password)
  })

  it('shows jobs by ids alone, and changes nothing', async () => {
    const cookie = await sessionCookie()
    const relay = await startRelay()
    const key = newKey()
    const id = await ask(note, { key })
    await until(async () => (await rowOf(id))?.status === 'dispatched')
    await relay.stop()
    const list = await send('GET', `${base}/api/queues?activeQueue=inventory&status=latest&page=1`, { cookie })
    expect(list.status).to.equal(200)
    const text = JSON.stringify(list.body)
    expect(text).to.include(`j-${id}-1`).and.include(note.name)
    expect(text).not.to.include(key)
    for (const [method, path] of [
      ['PUT', `${base}/api/queues/inventory/j-${id}-1/promote`],
      ['PUT', `${base}/api/queues/inventory/pause`],
      ['PUT', `${base}/api/queues/inventory/empty`],
      ['POST', `${base}/api/queues/inventory/add`],
      ['DELETE', `${base}/api/queues/inventory`],
    ] as const)
      expect((await send(method, path, { cookie })).status, path).to.equal(405)
    expect((await send('GET', '/superuser/jobs', { cookie })).status, 'the API does not read cookies').to.equal(401)
  })

  it('ends at sign-out, after half an hour unused, and when the operator is N1 no more', async () => {
    const cookie = await sessionCookie()
    const form = await openForm(cookie, `${base}/sign-out`)
    const out = await send('POST', `${base}/sign-out`, {
      cookie: form.cookie,
      origin: world.baseUrl,
      form: { formToken: form.formToken },
    })
    expect(out.status).to.equal(303)
    expect((await send('GET', base, { cookie })).status).to.equal(401)
    const idle = await sessionCookie()
    await world.database.admin.raw(
      `update session set last_seen_at = now() - interval '31 minutes' where kind = 'dashboard'`,
    )
    expect((await send('GET', base, { cookie: idle })).status).to.equal(401)
    const demoted = await sessionCookie()
    await world.database.admin.raw(`update superuser_account set ended_at = now() where level = 'N1'`)
    expect((await send('GET', base, { cookie: demoted })).status).to.equal(401)
    await world.database.admin.raw(`update superuser_account set ended_at = null where level = 'N1'`)
  })

  it('answers under the base address of the API too', async () => {
    const reply = await send('GET', `/api${base}/queue/payments?status=failed`)
    expect(reply.status).to.equal(308)
    expect(reply.headers.location).to.equal(`${base}/queue/payments?status=failed`)
  })
})
