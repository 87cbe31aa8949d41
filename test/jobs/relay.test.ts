import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Redis as OpenRedis } from 'ioredis'
import type { Redis } from 'ioredis'
import { settings } from '../../config/env.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { pickFair } from '../../db/jobs/fair.ts'
import { onDatabase, processor } from '../../workers/lib/processor.ts'
import { drain } from '../../workers/drain.ts'
import { startRelay } from '../../workers/relay.ts'
import type { RunningRelay } from '../../workers/relay.ts'
import { startWorkers } from '../../workers/workers.ts'
import type { RunningWorkers } from '../../workers/workers.ts'
import { useDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import {
  archived,
  ask,
  call,
  effects,
  makeEffects,
  mostRepeated,
  newKey,
  note,
  openRedis,
  rowOf,
  wipe,
} from './support.ts'

const writes = onDatabase(note, (trx, { key }) => sql(trx, `insert into effect (key) values (?)`, [key]))
const calls = processor(call, async (context) => {
  await sleep(20)
  await context.finish((trx) => sql(trx, `insert into effect (key) values (?)`, [context.payload.key]))
})

const many = (count: number, options: Parameters<typeof enqueue>[3] = {}) =>
  inPlatform(async (trx) => {
    for (let n = 0; n < count; n += 1) await enqueue(trx, note, { key: newKey() }, options)
  })

describe('the relay', () => {
  const held = useDatabase()
  let redis: Redis
  let relays: RunningRelay[] = []
  let workers: RunningWorkers[] = []
  before(async () => {
    await makeEffects(held.database.admin)
    redis = openRedis()
  })
  afterEach(async () => {
    await Promise.all(workers.map((each) => each.stop({ deadlineMs: 3_000 })))
    await Promise.all(relays.map((each) => each.stop()))
    workers = []
    relays = []
    await held.database.admin.raw(`delete from jobs; delete from effect`)
    await wipe(redis)
  })
  after(() => redis.disconnect())
  const relay = async (...given: Parameters<typeof startRelay>) => {
    const started = await startRelay(...given)
    relays.push(started)
    return started
  }
  const work = async (concurrency = 5) => {
    const started = await startWorkers({
      queues: { inventory: concurrency, payments: concurrency },
      processors: [writes, calls],
    })
    workers.push(started)
    return started
  }

  it('two relays and three workers run 600 jobs once each', async () => {
    await Promise.all([relay(), relay(), work(), work(), work()])
    await many(600)
    await drain()
    expect(await effects()).to.have.lengthOf(600)
    expect(await mostRepeated()).to.equal(1)
  })

  it('a relay that ends between the hand-over and its commit repeats nothing', async () => {
    let breaks = 3
    await relay({
      afterAdd: () => ((breaks -= 1) >= 0 ? Promise.reject(new Error('the relay dies here')) : Promise.resolve()),
    })
    await work()
    await many(100)
    await drain()
    expect(await effects()).to.have.lengthOf(100)
    expect(await mostRepeated()).to.equal(1)
    expect(breaks).to.be.lessThan(3)
  })

  it('Redis wiped key by key, again and again under load, loses no job and repeats no effect', async function () {
    this.timeout(120_000)
    const often = { reconcileEveryMs: 100 }
    await Promise.all([relay(often), relay(often), work(2)])
    const load = async () => {
      for (let n = 0; n < 8; n += 1) {
        await many(50)
        for (let each = 0; each < 5; each += 1) await ask(call, { key: newKey() })
        await sleep(40)
      }
    }
    const wiping = async () => {
      for (let n = 0; n < 6; n += 1) {
        await sleep(70)
        // The relays begin a new epoch, and the rest is wiped under it.
        await redis.del(`${settings.redisPrefix}:epoch`)
        await sleep(30)
        await wipe(redis)
      }
    }
    await Promise.all([load(), wiping()])
    // Jobs that were handed over in the new epoch, and wiped with the old one, are missed when their lease ends: now, not in a minute.
    const missed = `update jobs set leased_until = now() - interval '1 second' where status = 'dispatched'`
    const untilDone = async () => {
      await held.database.admin.raw(missed)
      await drain({ timeoutMs: 2_000 })
      return true
    }
    await until(untilDone, { withinMs: 90_000, what: 'the end of all jobs' })
    expect(await effects()).to.have.lengthOf(440)
    expect(await mostRepeated()).to.equal(1)
  })

  it('connections to PostgreSQL cut, again and again under load, lose no job and repeat no effect', async () => {
    await Promise.all([relay(), work(3)])
    await many(300)
    for (let n = 0; n < 20; n += 1) await ask(call, { key: newKey() })
    for (let n = 0; n < 6; n += 1) {
      await held.database.admin.raw(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename = 'pousada_service'`,
      )
      await sleep(80)
    }
    await until(() => drain({ withinMs: 5_000 }).then(() => true))
    expect(await effects()).to.have.lengthOf(320)
    expect(await mostRepeated()).to.equal(1)
  })

  it('rounds that fail one after the other leave nothing behind on the connection', async () => {
    let rounds = 0
    let listeners = 0
    const asIs = Object.getOwnPropertyDescriptor(OpenRedis.prototype, 'on')
    const on = Reflect.get(OpenRedis.prototype, 'on') as (this: Redis, ...given: unknown[]) => Redis
    OpenRedis.prototype.on = function (this: Redis, ...given: unknown[]) {
      listeners = Math.max(listeners, on.apply(this, given).listenerCount('close'))
      return this
    }
    try {
      await relay({
        afterAdd: () => {
          rounds += 1
          return Promise.reject(new Error('no'))
        },
      })
      await ask(note, { key: newKey() })
      await until(() => rounds >= 4)
    } finally {
      if (asIs) Object.defineProperty(OpenRedis.prototype, 'on', asIs)
      else Reflect.deleteProperty(OpenRedis.prototype, 'on')
    }
    expect(listeners).to.be.at.most(2)
  })

  it('a queue that cannot be filled holds up no other', async () => {
    let failing: string | null = null
    await relay({
      pick: (trx, queue, room) =>
        queue === failing ? Promise.reject(new Error('not this one')) : pickFair(trx, queue, room),
    })
    await work()
    for (const [own, other] of [
      [note, call],
      [call, note],
    ] as const) {
      failing = own.queue
      const [held, free] = [newKey(), newKey()]
      await ask(own, { key: held })
      await ask(other, { key: free })
      await until(async () => (await effects(free)).length === 1)
      expect(await effects(held)).to.deep.equal([])
      failing = null
      await until(async () => (await effects(held)).length === 1)
    }
  })

  it('a job that Redis lost alone is handed over again after its lease', async () => {
    await relay({ reconcileEveryMs: 100 })
    const id = await ask(note, { key: newKey() })
    await until(async () => (await rowOf(id))?.status === 'dispatched')
    await redis.del(`${settings.redisPrefix}:inventory:j-${id}-1`)
    await redis.lrem(`${settings.redisPrefix}:inventory:wait`, 0, `j-${id}-1`)
    await held.database.admin.raw(`update jobs set leased_until = now() - interval '1 second' where id = ?`, [id])
    await until(async () => (await rowOf(id))?.dispatchNo === 2)
    await work()
    await drain()
    expect(await archived(id)).to.include({ outcome: 'done' })
  })

  it('a job that only waits in Redis past its lease is left there', async () => {
    await relay({ reconcileEveryMs: 100 })
    const id = await ask(note, { key: newKey() })
    await until(async () => (await rowOf(id))?.status === 'dispatched')
    await held.database.admin.raw(`update jobs set leased_until = now() - interval '1 second' where id = ?`, [id])
    await until(async () => ((await rowOf(id))?.leasedUntil ?? new Date(0)) > new Date())
    expect(await rowOf(id)).to.include({ dispatchNo: 1, status: 'dispatched' })
  })

  it('a job in its one long transaction holds up neither those that Redis lost nor a new epoch', async () => {
    await relay()
    const [long, lost] = [await ask(note, { key: newKey() }), await ask(note, { key: newKey() })]
    const dispatched = async () => [(await rowOf(long))?.dispatchNo, (await rowOf(lost))?.dispatchNo]
    await until(async () => (await dispatched()).join() === '1,1')
    await redis.del(`${settings.redisPrefix}:inventory:j-${lost}-1`)
    await redis.lrem(`${settings.redisPrefix}:inventory:wait`, 0, `j-${lost}-1`)
    await held.database.admin.raw(`update jobs set leased_until = now() - interval '1 second'`)
    await inPlatform(async (trx) => {
      await sql(trx, `select id from jobs where id = ? for update`, [long])
      await relay({ reconcileEveryMs: 100 })
      await until(async () => (await dispatched()).join() === '1,2', { what: 'the hand-over of what Redis lost' })
      await wipe(redis)
      await until(async () => (await dispatched()).join() === '1,3', { what: 'the hand-over in a new epoch' })
    })
  })

  it('what is due in more than a minute stays in PostgreSQL; nearer jobs wait in Redis, and start at their time', async () => {
    await relay()
    await work()
    const far = await ask(note, { key: newKey() }, { at: new Date(Date.now() + 90_000) })
    const key = newKey()
    const near = await ask(note, { key }, { at: new Date(Date.now() + 700) })
    await until(async () => (await rowOf(near))?.status === 'dispatched')
    expect(await rowOf(far)).to.include({ status: 'pending' })
    expect(await effects(key)).to.deep.equal([])
    await until(async () => (await effects(key)).length === 1)
    expect(await rowOf(far)).to.include({ status: 'pending' })
  })

  it('urgent goes before normal before bulk', async () => {
    for (const jobClass of ['bulk', 'normal', 'urgent'] as const) await many(2, { class: jobClass })
    const seen: string[] = []
    await relay({ afterAdd: async (jobs) => void seen.push(...jobs.map((job) => job.id)) })
    await until(() => Promise.resolve(seen.length === 6))
    const rows = await inPlatform((trx) => sql<{ id: string; class: string }>(trx, `select id, class from jobs`))
    const classes = seen.map((id) => rows.find((row) => row.id === id)?.class)
    expect(classes).to.deep.equal(['urgent', 'urgent', 'normal', 'normal', 'bulk', 'bulk'])
  })

  it('at most a window of a queue is in Redis at once: fifty while nobody works, twice what live workers run', async () => {
    await many(300)
    const most = async () => {
      const rows = await inPlatform((trx) =>
        sql<{ count: number }>(trx, `select count(*) from jobs where status = 'dispatched'`),
      )
      return rows[0]?.count ?? 0
    }
    await relay()
    await until(async () => (await most()) === 50)
    // Beats say what a worker takes; this one takes nothing.
    await held.database.admin.raw(`insert into worker_heartbeat (id, process, host, pid, version, queues)
      values (gen_random_uuid(), 'worker', 'test', 1, 'test', '{"inventory": 60, "payments": 200}')`)
    await until(async () => (await most()) === 120)
    await held.database.admin.raw(`delete from worker_heartbeat where host = 'test'`)
    await work(10)
    await drain()
    expect(await effects()).to.have.lengthOf(300)
  })

  it('a commit reaches its effect without waiting for the poll', async () => {
    await relay({ pollMs: 60_000 })
    await work()
    for (let n = 0; n < 5; n += 1) {
      const key = newKey()
      await ask(note, { key })
      await until(async () => (await effects(key)).length === 1)
    }
  })

  it('a worker refuses kinds with two processors or none', async () => {
    const { byKind } = await import('../../workers/workers.ts')
    expect(() => byKind([writes, writes], [])).to.throw(/two processors/)
    expect(() => byKind([], ['maintenance'])).to.throw(/no processor for .*maintenance\.roll-partitions/)
  })
})
