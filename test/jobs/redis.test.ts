import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { redisBinary, startRedis } from '../../scripts/services/redis.ts'
import type { RedisServer } from '../../scripts/services/redis.ts'
import { inPlatform } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { drain } from '../../workers/drain.ts'
import { redisMemory } from '../../workers/lib/metrics.ts'
import { startRelay } from '../../workers/relay.ts'
import type { RunningRelay } from '../../workers/relay.ts'
import { startWorkers } from '../../workers/workers.ts'
import type { RunningWorkers } from '../../workers/workers.ts'
import { useDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { processors } from './kinds.ts'
import { ask, call, effects, makeEffects, mostRepeated, newKey, note, openRedis } from './support.ts'

describe('a Redis of its own that stops, hangs and forgets', function () {
  this.timeout(120_000)
  const held = useDatabase()
  const directory = mkdtempSync(join(tmpdir(), 'pousada-redis-'))
  const shared = { url: '' }
  let redis: RedisServer
  let relay: RunningRelay
  let workers: RunningWorkers
  const start = (port = 0) =>
    startRedis({
      binary: redisBinary(() => {}),
      account: null,
      directory,
      password: 'test',
      durable: false,
      ...(port === 0 ? {} : { port }),
    })
  before(async () => {
    await makeEffects(held.database.admin)
    redis = await start()
    shared.url = settings.redisUrl
    settings.redisUrl = redis.url
  })
  beforeEach(async () => {
    relay = await startRelay()
    workers = await startWorkers({ queues: { inventory: 5, payments: 5 }, processors })
  })
  afterEach(async () => {
    await workers.stop({ deadlineMs: 3_000 })
    await relay.stop()
    await held.database.admin.raw(`delete from jobs; delete from effect`)
  })
  after(async () => {
    settings.redisUrl = shared.url
    await redis.stop()
    rmSync(directory, { recursive: true, force: true })
  })
  const many = (count: number) =>
    inPlatform(async (trx) => {
      for (let n = 0; n < count; n += 1) await enqueue(trx, note, { key: newKey() })
    })
  const pid = () => Number(readFileSync(join(directory, 'redis.pid'), 'utf8'))

  it('stopped during dispatch and started empty: jobs go on being accepted, and run once each when it is back', async () => {
    await many(200)
    for (let n = 0; n < 20; n += 1) await ask(call, { key: newKey() })
    await sleep(60)
    await redis.stop()
    // A command that waited for Redis would wait for ever: it comes back only after.
    await many(50)
    await sleep(1_500)
    redis = await start(redis.port)
    await drain({ timeoutMs: 90_000, withinMs: 10_000 })
    expect(await effects()).to.have.lengthOf(270)
    expect(await mostRepeated()).to.equal(1)
  })

  it('hung for seconds: everything goes on by itself', async () => {
    await many(100)
    process.kill(pid(), 'SIGSTOP')
    await many(50)
    await sleep(4_000)
    process.kill(pid(), 'SIGCONT')
    await drain({ timeoutMs: 90_000 })
    expect(await effects()).to.have.lengthOf(150)
    expect(await mostRepeated()).to.equal(1)
  })

  it('flushed whole while jobs run', async () => {
    const client = openRedis()
    try {
      for (let n = 0; n < 5; n += 1) {
        await many(40)
        await ask(call, { key: newKey() })
        await sleep(30)
        await client.flushall()
      }
    } finally {
      client.disconnect()
    }
    await drain({ timeoutMs: 90_000 })
    expect(await effects()).to.have.lengthOf(205)
    expect(await mostRepeated()).to.equal(1)
  })

  it('nearly full: nothing more is dispatched, and what is there runs', async () => {
    const client = openRedis()
    try {
      const used = Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1])
      await client.config('SET', 'maxmemory', String(Math.round(used * 1.1)))
      await until(async () => ((await redisMemory.get()).values[0]?.value ?? 0) > 0.7, { what: 'a look at the memory' })
      await many(10)
      await sleep(1_000)
      expect(await effects()).to.have.lengthOf(0)
      await client.config('SET', 'maxmemory', '0')
      await until(async () => (await effects()).length === 10)
    } finally {
      await client.config('SET', 'maxmemory', '0')
      client.disconnect()
    }
  })

  it('one that may evict is refused at the start', async () => {
    const client = openRedis()
    try {
      await client.config('SET', 'maxmemory-policy', 'allkeys-lru')
      const refusal = await startWorkers({ queues: { inventory: 1 }, processors }).then(
        () => '',
        (error: Error) => error.message,
      )
      expect(refusal).to.match(/maxmemory-policy is allkeys-lru/)
    } finally {
      await client.config('SET', 'maxmemory-policy', 'noeviction')
      client.disconnect()
    }
  })

  it('workers end within their time though Redis is away', async () => {
    const other = await startWorkers({ queues: { inventory: 1 }, processors })
    await redis.stop()
    // Closing a worker of BullMQ alone would not end before Redis is back.
    await other.stop({ deadlineMs: 2_000 })
    redis = await start(redis.port)
  })
})
