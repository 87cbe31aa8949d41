import { expect } from 'chai'
import { clientOf } from '../support/client.ts'
import type { Client } from '../support/client.ts'
import { startProcess } from '../support/processes.ts'
import type { RunningProcess } from '../support/processes.ts'
import { useWorld } from '../support/world.ts'
import { forgetLimits, makeKey, makeTenant, makeUser, roomInMinute, signIn } from './support.ts'

describe('several processes of the api', function () {
  this.timeout(240_000)
  const world = useWorld({ keepsLimits: true })
  const started: RunningProcess[] = []
  let withRedis: Client[] = []

  const start = async (environment: Record<string, string>): Promise<Client[]> => {
    const two = await Promise.all([startProcess('api', environment), startProcess('api', environment)])
    started.push(...two)
    return [world.request, ...two.map(({ baseUrl }) => clientOf(baseUrl))]
  }
  before(async () => {
    withRedis = await start({})
  })
  after(() => Promise.all(started.map((one) => one.kill())))
  beforeEach(() => forgetLimits(world))

  for (const [name, begun] of [
    ['with Redis', () => Promise.resolve(withRedis)],
    ['two of them without Redis', () => start({ REDIS_URL: 'redis://127.0.0.1:1' })],
  ] as const)
    it(`see a revocation within a second, ${name}`, async () => {
      const clients = await begun()
      const everywhere = (token: string) =>
        Promise.all(clients.map(async (client) => (await client('GET', '/api/auth/me', { token })).status))
      const tenantId = await makeTenant()
      const who = await makeUser()
      const owner = await signIn(world, await makeUser({ [tenantId]: 'owner' }))
      for (const at of [0, 1, 2]) {
        const [one, two] = [await signIn(world, who), await signIn(world, who)]
        const { key, apiKeyId } = await makeKey(tenantId, ['read'])
        const byKey = () =>
          Promise.all(clients.map(async (client) => (await client('GET', `/api/tenants/${tenantId}`, { key })).status))
        expect(await byKey()).to.deep.equal([200, 200, 200])
        expect(await everywhere(one.token)).to.deep.equal([200, 200, 200])
        expect(await everywhere(two.token)).to.deep.equal([200, 200, 200])
        // The other processes remember a state older than the new token. They look again, and do not refuse it.
        const fresh = await clients[at]?.('POST', '/api/auth/refresh', { token: two.token })
        expect(await everywhere(fresh?.body.token as string)).to.deep.equal([200, 200, 200])
        expect((await clients[at]?.('POST', '/api/auth/revoke-all', { token: one.token }))?.status).to.equal(200)
        const revoke = `/api/tenants/${tenantId}/api-keys/${apiKeyId}/revoke`
        expect((await clients[at]?.('POST', revoke, { token: owner.token, body: {} }))?.status).to.equal(200)
        await new Promise((resolve) => setTimeout(resolve, 950))
        expect(await byKey()).to.deep.equal([401, 401, 401])
        expect(await everywhere(two.token)).to.deep.equal([401, 401, 401])
        expect(await everywhere(one.token)).to.deep.equal([401, 401, 401])
      }
    })

  it('share one limit, exactly', async () => {
    const tenantId = await makeTenant()
    const { token } = await signIn(world, await makeUser({ [tenantId]: 'owner' }))
    await roomInMinute(15)
    const replies = await Promise.all(
      Array.from({ length: 120 }, async (_, n) => withRedis[n % 3]?.('GET', '/api/auth/me', { token })),
    )
    expect(replies.filter((reply) => reply?.status === 200)).to.have.length(100)
    expect(replies.filter((reply) => reply?.status === 429)).to.have.length(20)
  })

  it('let a revoked feature go at once, everywhere', async () => {
    const tenantId = await makeTenant()
    const { key } = await makeKey(tenantId, ['read'])
    const read = () =>
      Promise.all(
        withRedis.map(async (client) => (await client('GET', `/api/tenants/${tenantId}/guests`, { key })).status),
      )
    expect(await read()).to.deep.equal([200, 200, 200])
    await world.database.admin.raw(
      `update entitlement_grant set ended_at = now(), end_cause = 'revoked', end_reason = 'test' where tenant_id = ? and key = 'core'`,
      [tenantId],
    )
    expect(await read()).to.deep.equal([403, 403, 403])
  })
})
