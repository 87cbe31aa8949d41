import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { closeRedis, quickly, redisAnswers } from '../../api/lib/redis.ts'
import { limit } from '../../api/lib/rate-limit.ts'
import type { Caller } from '../../api/lib/caller.ts'
import type { RequestFacts } from '../../api/lib/route.ts'
import { connectRedis } from '../support/redis.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'
import type { Reply } from '../support/client.ts'
import { forgetLimits, makeKey, makeTenant, makeUser, roomInMinute, signIn } from './support.ts'

const headersOf = ({ headers }: Reply) =>
  ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'].map((name) => Number(headers[name]))

describe('the limit of requests a minute', () => {
  const world = useWorld({ keepsLimits: true })
  let tenantId: string
  before(async () => {
    tenantId = await makeTenant()
  })
  beforeEach(() => forgetLimits(world))
  afterEach(connectRedis)

  it('is 100 for a session: the hundredth passes, the next does not, whatever the others were', async function () {
    this.timeout(240_000)
    const { token } = await signIn(world, await makeUser({ [tenantId]: 'owner' }))
    const other = await signIn(world, await makeUser({ [tenantId]: 'owner' }))
    await roomInMinute(20)
    const reset = (Math.floor(Date.now() / 60_000) + 1) * 60
    const paths = [
      '/api/auth/me',
      `/api/tenants/${tenantId}/guests?unknown=1`,
      '/api/auth/sessions/000000000000',
      `/api/tenants/${tenantId}/reservations`,
    ]
    const statuses = new Set<number>()
    for (let n = 0; n < 10; n += 1) {
      const replies = await Promise.all(
        Array.from({ length: 10 }, (_, m) =>
          world.request(m % 4 === 2 ? 'DELETE' : 'GET', paths[m % 4] ?? '', { token }),
        ),
      )
      for (const reply of replies) {
        statuses.add(reply.status)
        expect(reply.headers['x-ratelimit-limit']).to.equal('100')
        expect(Number(reply.headers['x-ratelimit-reset'])).to.equal(reset)
      }
    }
    expect([...statuses].toSorted((a, b) => a - b)).to.deep.equal([200, 400, 404])
    const next = await world.request('GET', '/api/auth/me', { token })
    expect([next.status, next.body.code, ...headersOf(next)]).to.deep.equal([429, 'rate_limited', 100, 0, reset])
    expect(Number(next.headers['retry-after'])).to.be.within(1, 60)
    expect((await world.request('GET', '/api/auth/me', { token: other.token })).status).to.equal(200)
  })

  it('of a session is not reset by a refresh', async () => {
    await roomInMinute(10)
    const { token } = await signIn(world, await makeUser())
    const first = await world.request('GET', '/api/auth/me', { token })
    const fresh = (await world.request('POST', '/api/auth/refresh', { token })).body.token as string
    const second = await world.request('GET', '/api/auth/me', { token: fresh })
    expect([headersOf(first)[1], headersOf(second)[1]]).to.deep.equal([99, 98])
  })

  /** The answer of `count` for a new caller. Repeats it, up to ten runs, where Redis seemed slow and each process counted its part. */
  const undisturbed = async <T>(count: (one: string) => Promise<T>): Promise<T> => {
    for (let one = 0; ; one += 1) {
      await until(() => quickly((redis) => redis.ping()).then((answer) => answer === 'PONG'))
      let isCalm = true
      const watching = setInterval(() => {
        isCalm &&= redisAnswers()
      }, 1)
      const found = await count(String(one)).finally(() => clearInterval(watching))
      if ((isCalm && redisAnswers()) || one === 9) return found
    }
  }

  it('is 1000 for a key', async () => {
    const { key } = await makeKey(tenantId, ['read'])
    const first = await world.request('GET', `/api/tenants/${tenantId}`, { key })
    expect(headersOf(first).slice(0, 2)).to.deep.equal([1000, 999])
    // A minute of its own: a thousand requests may take more than one.
    const request = { address: '127.0.0.1', receivedAt: new Date('2026-11-21T12:00:30.000Z') } as RequestFacts
    const passed = await undisturbed(async (one) => {
      const caller = { kind: 'api_key', keyId: `KEY${one}`, tenantId, address: '127.0.0.1' } as Caller
      let count = 0
      for (let n = 0; n < 101; n += 1) {
        const results = await Promise.allSettled(
          Array.from({ length: 10 }, () => limit(caller, 'credential', request, () => {})),
        )
        count += results.filter(({ status }) => status === 'fulfilled').length
      }
      return count
    })
    expect(passed).to.equal(1000)
  })

  it('counts what runs at the same time exactly, in Redis and alone', async () => {
    const passed = async (address: string) => {
      const caller: Caller = { kind: 'anonymous', address }
      const request = { address, receivedAt: new Date('2026-11-21T12:00:30.000Z') } as RequestFacts
      const results = await Promise.allSettled(
        Array.from({ length: 150 }, () => limit(caller, 'public_read', request, () => {})),
      )
      return results.filter(({ status }) => status === 'fulfilled').length
    }
    expect(await undisturbed((one) => passed(`203.0.113.${one}`))).to.equal(120)
    closeRedis()
    expect(await passed('203.0.113.99'), 'alone').to.equal(120)
  })

  it('is shared by processes while Redis is away: each has its part, and none is open', async () => {
    closeRedis()
    const processes = settings.apiProcesses
    settings.apiProcesses = 4
    try {
      const caller: Caller = { kind: 'anonymous', address: '203.0.113.8' }
      const request = { address: caller.address, receivedAt: new Date('2026-11-21T12:01:30.000Z') } as RequestFacts
      const results = await Promise.allSettled(
        Array.from({ length: 60 }, () => limit(caller, 'public_read', request, () => {})),
      )
      expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(30)
    } finally {
      settings.apiProcesses = processes
    }
  })

  it('begins anew with the clock’s minute', async () => {
    const passed = await undisturbed(async (one) => {
      const caller: Caller = { kind: 'anonymous', address: `203.0.114.${one}` }
      const at = (time: string) => ({ address: caller.address, receivedAt: new Date(time) }) as RequestFacts
      const passes = (time: string) =>
        limit(caller, 'public_write', at(time), () => {}).then(
          () => true,
          () => false,
        )
      const found: boolean[] = []
      for (let n = 0; n < 21; n += 1) found.push(await passes('2026-11-21T12:02:59.999Z'))
      return [...found, await passes('2026-11-21T12:03:00.000Z')]
    })
    expect(passed).to.deep.equal([...Array.from({ length: 20 }, () => true), false, true])
  })

  it('counts an IPv6 client by its network of 64 bits', async () => {
    const use = (address: string) =>
      limit(
        { kind: 'anonymous', address },
        'sign_in',
        { address, receivedAt: new Date('2026-11-21T12:04:00.000Z') },
        () => {},
      )
    // Some may be counted here while this machine is so busy that Redis seems slow: twice the limit is beyond it wherever they are.
    for (let n = 0; n < 40; n += 1) await use(`2001:db8:1:2::${n + 1}`).catch(() => {})
    const refused = await use('2001:db8:1:2:ffff::1').catch((error: unknown) => error)
    expect(refused).to.include({ status: 429 })
    await use('2001:db8:1:3::1')
  })

  it('holds for failed authentication: 60, then 429 instead of 401, while good credentials still pass', async () => {
    const { token } = await signIn(world, await makeUser())
    await roomInMinute(10)
    const fail = () => world.request('GET', '/api/auth/me', { token: 'v4.public.nonsense' })
    const replies = await Promise.all(Array.from({ length: 60 }, fail))
    expect(replies.every(({ status, headers }) => status === 401 && headers['x-ratelimit-limit'] === '60')).to.equal(
      true,
    )
    const next = await fail()
    expect([next.status, next.body.code]).to.deep.equal([429, 'rate_limited'])
    expect((await world.request('GET', '/api/auth/me', { token })).status).to.equal(200)
  })

  it('holds for documents and pages, and for callbacks: by their client address', async () => {
    await roomInMinute(30)
    const ask = (path: string) => fetch(`${world.baseUrl}${path}`, { redirect: 'manual' })
    for (const path of ['/api/openapi.json', '/superuser/ops', '/api/docs']) {
      const reply = await ask(path)
      expect(reply.headers.get('x-ratelimit-limit'), path).to.equal('600')
      // A body that is not read keeps its connection.
      await reply.text()
    }
    for (let n = 0; n < 12; n += 1)
      await Promise.all(Array.from({ length: 50 }, async () => (await ask('/superuser/ops/none')).text()))
    const refused = await ask('/api/openapi.json')
    expect([refused.status, ((await refused.json()) as { code: string }).code]).to.deep.equal([429, 'rate_limited'])
    const back = await world.request('POST', '/api/callbacks/payments/sandbox', { body: {} })
    expect([back.status, back.headers['x-ratelimit-limit']]).to.deep.equal([401, '6000'])
  })

  it('holds for refreshes of a session: ten', async () => {
    await roomInMinute(10)
    const { token } = await signIn(world, await makeUser())
    const statuses = (
      await Promise.all(Array.from({ length: 12 }, () => world.request('POST', '/api/auth/refresh', { token })))
    ).map(({ status }) => status)
    expect(statuses.toSorted((a, b) => a - b)).to.deep.equal([...Array<number>(10).fill(200), 429, 429])
  })

  it('is on every reply: of a public read, of one without credential, of a refusal', async () => {
    for (const reply of [
      await world.request('GET', '/api/public/property/00000000-0000-4000-8000-000000000000/config'),
      await world.request('GET', '/api/auth/me'),
      await world.request('GET', '/api/auth/me', { token: 'x' }),
      await world.request('POST', '/api/auth/sign-in/email', { body: {} }),
    ]) {
      const [most, left, reset] = headersOf(reply)
      expect(most, String(reply.status)).to.be.greaterThan(0)
      expect(left).to.be.within(0, most ?? 0)
      expect(reset).to.be.within(Date.now() / 1000 - 1, Date.now() / 1000 + 61)
    }
  })
})
