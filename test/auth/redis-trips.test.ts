import { expect } from 'chai'
import { Redis } from 'ioredis'
import { settings } from '../../config/env.ts'
import { openRedis } from '../../api/lib/redis.ts'
import { composeKey } from '../../db/auth/keys.ts'
import { sql } from '../../db/lib/connection.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { connectRedis } from '../support/redis.ts'
import { startOwnRedis } from '../support/services.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'
import { forgetLimits, makeKey, makeTenant, makeUser, roomInMinute, signIn } from './support.ts'

describe('what a request asks of Redis', () => {
  const world = useWorld({ keepsLimits: true })
  let tenantId: string
  let house: House
  before(async () => {
    tenantId = await makeTenant()
    house = await makeHouse({ tenantId })
  })
  beforeEach(() => forgetLimits(world))
  afterEach(connectRedis)

  /** The commands that the service sent while `work` ran; what a script does inside Redis is none of them, nor is a kept page of the portal. */
  const commandsOf = async (work: () => Promise<unknown>): Promise<string[]> => {
    const listener = new Redis(settings.redisUrl)
    const monitor = await listener.monitor()
    const seen: string[] = []
    let isOver = false
    monitor.on('monitor', (_time: string, args: string[], source: string) => {
      if (args[1] === 'the end') isOver = true
      else if (
        source !== 'lua' &&
        args.some((arg) => arg.startsWith(settings.redisPrefix) && !arg.includes(':public:'))
      )
        seen.push(args[0] ?? '')
    })
    await work()
    await world.redis.echo('the end')
    await until(() => isOver, { what: 'the last command' })
    monitor.disconnect()
    listener.disconnect()
    return seen.map((name) => name.toLowerCase())
  }

  it('is one command for a token, a key, a key and a guest, and for nobody: credential and limit in one', async () => {
    const { token } = await signIn(world, await makeUser({ [tenantId]: 'owner' }))
    const { key } = await makeKey(tenantId, ['read'])
    const ways: [string, () => Promise<{ status: number; headers: Record<string, unknown> }>][] = [
      ['token', () => world.request('GET', `/api/tenants/${tenantId}/guests`, { token })],
      ['own account', () => world.request('GET', '/api/auth/me', { token })],
      ['key', () => world.request('GET', `/api/tenants/${tenantId}/guests`, { key })],
      ['portal', () => world.request('GET', `/api/public/property/${house.propertyId}/config`, { key })],
      ['nobody', () => world.request('GET', `/api/public/property/${house.propertyId}/config`)],
    ]
    for (const [who, request] of ways) {
      // Twice before: what is not remembered yet is read first, and last use is noted once in five minutes.
      await request()
      const before = Number((await request()).headers['x-ratelimit-remaining'])
      let reply: Awaited<ReturnType<typeof request>> | null = null
      const commands = await commandsOf(async () => (reply = await request()))
      expect(commands, who).to.deep.equal(['eval'])
      expect(reply, who).to.deep.include({ status: 200 })
      const { headers } = reply as unknown as Awaited<ReturnType<typeof request>>
      expect(Number(headers['x-ratelimit-remaining']), who).to.equal(before - 1)
    }
  })

  it('counts a key for who has the whole of it: whoever knows its id alone uses up nothing', async () => {
    const { key, keyId } = await makeKey(tenantId, ['read'])
    const { key: other } = await makeKey(tenantId, ['read'])
    const read = (one: string) => world.request('GET', `/api/tenants/${tenantId}`, { key: one })
    const remaining = async () => Number((await read(key)).headers['x-ratelimit-remaining'])
    await roomInMinute(10)
    await read(key)
    const before = await remaining()
    for (let n = 0; n < 5; n += 1) expect((await read(composeKey(keyId, Buffer.alloc(32, n + 1)))).status).to.equal(401)
    await read(other)
    expect(await remaining()).to.equal(before - 1)
  })

  describe('that does not answer', () => {
    type Trouble = { name: string; begin: (redis: Redis, pid: number) => Promise<unknown>; end: (pid: number) => void }
    const troubles: Trouble[] = [
      {
        name: 'stopped in the middle of everything',
        begin: async (_redis, pid) => process.kill(pid, 'SIGSTOP'),
        end: (pid) => process.kill(pid, 'SIGCONT'),
      },
      {
        name: 'so slow that it might as well be gone',
        begin: (redis) => redis.call('CLIENT', 'PAUSE', '60000', 'ALL'),
        end: () => {},
      },
    ]
    const processes = settings.apiProcesses
    afterEach(() => {
      settings.apiProcesses = processes
    })

    for (const { name, begin, end } of troubles)
      it(`is done without: ${name}; good credentials pass, ended ones do not, and the limit is this process’s share`, async function () {
        this.timeout(120_000)
        const redis = await ownRedis()
        openRedis(redis.url, 100)
        try {
          const person = await makeUser({ [tenantId]: 'owner' })
          const [one, two] = [await signIn(world, person), await signIn(world, person)]
          const made = await makeKey(tenantId, ['read'])
          const byToken = (token: string) => world.request('GET', '/api/auth/me', { token })
          const byKey = () => world.request('GET', `/api/tenants/${tenantId}`, { key: made.key })
          await until(async () => (await redis.client.keys('*sess:*')).length > 0 || (await byToken(one.token), false))
          expect([(await byToken(two.token)).status, (await byKey()).status]).to.deep.equal([200, 200])
          await roomInMinute(15)
          await begin(redis.client, redis.pid)
          settings.apiProcesses = 4
          expect([(await byToken(one.token)).status, (await byKey()).status]).to.deep.equal([200, 200])
          // Ended by somebody else, whom nothing here has heard.
          await sql(
            world.database.admin,
            `update session set revoked_at = now(), revoke_reason = 'user' where user_id = ?
            and id <> (select id from session where user_id = ? order by created_at limit 1)`,
            [person.userId, person.userId],
          )
          await sql(world.database.admin, `update api_key set revoked_at = now() where id = ?`, [made.apiKeyId])
          await until(async () => (await byToken(two.token)).status === 401, {
            withinMs: 30_000,
            what: 'the end of the session',
          })
          await until(async () => (await byKey()).status === 401, { withinMs: 30_000, what: 'the end of the key' })
          const replies = await Promise.all(Array.from({ length: 30 }, () => byToken(one.token)))
          const passed = replies.filter(({ status }) => status === 200)
          expect(passed.length).to.be.within(23, 25)
          expect(replies.filter(({ status }) => status === 429)).to.have.length(30 - passed.length)
          expect(replies[0]?.headers['x-ratelimit-limit']).to.equal('25')
          const ready = await world.request('GET', '/readyz')
          expect([ready.status, JSON.stringify(ready.body)]).to.satisfy(
            ([status, body]: [number, string]) => status === 200 && /degraded/.test(body),
          )
        } finally {
          end(redis.pid)
          await redis.stop()
        }
      })

    it('is missed by nobody when it comes back empty: what ended stays ended', async () => {
      const { token } = await signIn(world, await makeUser({ [tenantId]: 'owner' }))
      const { key, apiKeyId } = await makeKey(tenantId, ['read'])
      const read = () => world.request('GET', `/api/tenants/${tenantId}`, { key })
      expect((await read()).status).to.equal(200)
      await world.request('POST', `/api/tenants/${tenantId}/api-keys/${apiKeyId}/revoke`, { token, body: {} })
      await world.redis.flushall()
      expect((await read()).status).to.equal(401)
    })

    it('cannot be made to remember an old key by a slow reader', async () => {
      const { key, keyId, apiKeyId } = await makeKey(tenantId, ['read'])
      const read = () => world.request('GET', `/api/tenants/${tenantId}`, { key })
      const name = `${settings.redisPrefix}:key:${keyId}`
      expect((await read()).status).to.equal(200)
      const old = (await world.redis.get(name)) ?? ''
      expect(old).to.match(/^1\|\{/)
      await sql(world.database.admin, `update api_key set revoked_at = now() where id = ?`, [apiKeyId])
      await until(async () => (await read()).status === 401, { withinMs: 30_000, what: 'the end of the key' })
      // An entry that was read before the end of the key arrives after it.
      await world.redis.set(name, old)
      expect((await read()).status).to.equal(401)
    })
  })
})

/** A Redis of this test alone, that may be stopped in its tracks. */
const ownRedis = async () => {
  const server = await startOwnRedis()
  const client = new Redis(server.url)
  const pid = Number(/process_id:(\d+)/.exec(await client.info('server'))?.[1])
  return {
    url: server.url,
    pid,
    client,
    stop: async () => {
      client.disconnect()
      await server.stop()
    },
  }
}
