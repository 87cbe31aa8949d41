import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { closeRedis, openRedis, quickly } from '../../api/lib/redis.ts'
import { buryOf } from '../../api/lib/session-cache.ts'
import { listen, makeServer } from '../../api/server.ts'
import { settings } from '../../config/env.ts'
import { queuePrefix, redisAddresses } from '../../config/redis.ts'
import { seedDemo } from '../../db/demo/seed.ts'
import { sol } from '../../db/demo/ids.ts'
import { startRelay } from '../../workers/relay.ts'
import { drain } from '../../workers/drain.ts'
import { startWorkers } from '../../workers/workers.ts'
import { roomInMinute } from '../auth/support.ts'
import { clientOf } from '../support/client.ts'
import { useDatabase } from '../support/database.ts'
import { startRedisCluster } from '../support/redis-cluster.ts'
import type { RedisCluster } from '../support/redis-cluster.ts'
import { until } from '../support/until.ts'
import { processors } from './kinds.ts'
import { ask, call, effects, makeEffects, mostRepeated, newKey, note, send } from './support.ts'

const slotOf = createRequire(createRequire(import.meta.url).resolve('ioredis'))('cluster-key-slot') as (
  key: string,
) => number

describe('addresses of Redis', () => {
  it('several, or one that says so, are a cluster; one alone is a server', () => {
    expect(redisAddresses('redis://:a@one:6379').cluster).to.equal(false)
    expect(redisAddresses('redis://:a@one:1, rediss://two:2').urls.map(({ port }) => port)).to.deep.equal(['1', '2'])
    expect(redisAddresses('redis://:a@one:1,redis://two:2').cluster).to.equal(true)
    const single = redisAddresses('rediss+cluster://user:a@one:1')
    expect([single.cluster, single.urls[0]?.protocol, single.urls[0]?.hostname]).to.deep.equal([true, 'rediss:', 'one'])
  })
})

describe('a Redis Cluster of three', function () {
  this.timeout(120_000)
  const ending: (() => unknown)[] = []
  // Before the database's own, which closes it.
  after(async () => {
    for (const end of ending.reverse()) await end()
  })
  const held = useDatabase()
  let cluster: RedisCluster
  let direct = ''
  before(async () => {
    direct = settings.redisUrl
    cluster = await startRedisCluster()
    settings.redisUrl = cluster.url
    await makeEffects(held.database.admin)
    await seedDemo()
    await held.database.admin.raw(`delete from jobs`)
  })
  after(async () => {
    settings.redisUrl = direct
    await cluster.stop()
  })

  it('carries jobs of several queues and the state of the api; a node that dies empty loses no job and repeats none', async () => {
    const prefixes = (['inventory', 'payments', 'messages'] as const).map(queuePrefix)
    expect(new Set(prefixes.map(slotOf)).size, 'queues lie apart').to.equal(3)

    openRedis()
    ending.push(closeRedis)
    const server = await makeServer()
    const request = clientOf(await listen(server, 0, '127.0.0.1'))
    ending.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()))
    await until(async () => (await quickly((redis) => redis.ping())) === 'PONG')
    const left = async () => {
      const reply = await request('GET', `/api/public/property/${sol.propertyId}/config`)
      expect(reply.status).to.equal(200)
      return Number(reply.headers['x-ratelimit-remaining'])
    }
    await roomInMinute(5)
    expect((await left()) - (await left())).to.equal(1)
    const sessions = Array.from({ length: 5 }, newKey)
    await buryOf(sessions)
    expect(await quickly((redis) => redis.get(`sess:${sessions[4]}`))).to.equal('revoked')

    const relay = await startRelay({ reconcileEveryMs: 200 })
    ending.push(() => relay.stop())
    const workers = await startWorkers({ queues: { inventory: 5, payments: 5, messages: 5 }, processors })
    ending.push(() => workers.stop({ deadlineMs: 2_000 }))
    const many = async (count: number) => {
      for (let n = 0; n < count; n += 1) for (const kind of [note, call, send]) await ask(kind, { key: newKey() })
    }
    await many(20)
    await drain()
    expect(await effects()).to.have.lengthOf(60)

    const slot = slotOf(queuePrefix('inventory'))
    await many(10)
    const restart = await cluster.kill(slot)
    await many(10)
    await sleep(500)
    await restart()
    // The jobs that the node held are lost. Their leases are made to lapse here, rather than waited for.
    const lapse = setInterval(() => {
      held.database.admin
        .raw(
          `update jobs set leased_until = now() - interval '1 second' where status = 'dispatched' and queue = 'inventory'`,
        )
        .catch(() => {})
    }, 1_000)
    ending.push(() => clearInterval(lapse))
    await drain({ timeoutMs: 90_000, withinMs: 10_000 })
    expect(await effects()).to.have.lengthOf(120)
    expect(await mostRepeated()).to.equal(1)
    expect(relay.isReady() && workers.isReady()).to.equal(true)
  })
})
