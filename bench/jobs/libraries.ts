import { setTimeout as wait } from 'node:timers/promises'
import PgBoss from 'pg-boss'
import pg from 'pg'
import { runMigrations } from 'graphile-worker'
import { sql } from '../../db/lib/connection.ts'
import type { Database } from '../../test/support/database.ts'
import { inTenant } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { connectRedis, whenReady } from '../../workers/lib/redis.ts'
import { wakeThrough } from '../../workers/lib/wake.ts'
import { startChild } from '../child.ts'
import type { Child } from '../child.ts'
import { posting } from '../probe.ts'
import { judge, percentile } from '../report.ts'
import type { Result } from '../report.ts'
import { sized } from '../size.ts'
import { clearJobs, median } from './rows.ts'

const rounds = sized(3, 1)
const many = sized(3_000, 1_000)
const steady = sized(500, 150)
const everyMs = 20
const concurrency = 20
const tenantId = '00000000-0000-4000-8000-000000000001'
const now = () => performance.timeOrigin + performance.now()

/** A library's way to take a job in the caller's transaction, beside a row of the caller's own. */
type Library = { name: string; ask: (number: number) => Promise<void>; start: () => Promise<Child[]> }

/** The worker tells of each effect after its commit. */
const listen = (children: Child[]) => {
  const ends = new Map<number, number>()
  for (const child of children)
    child.on<{ number: number; at: number }>('done', ({ number, at }) => ends.set(number, at))
  return ends
}

const until = async (ends: Map<number, number>, count: number, name: string) => {
  for (const end = Date.now() + 120_000; ends.size < count; await wait(20))
    if (Date.now() > end) throw new Error(`${name}: ${count - ends.size} jobs did not come`)
}

/** Jobs a second: asked for by eight callers at once, while the workers work. */
const throughput = async ({ name, ask, start }: Library) => {
  const children = await start()
  try {
    const ends = listen(children)
    await wait(500)
    const from = now()
    let next = 0
    const lane = async () => {
      while (next < many) await ask(next++)
    }
    await Promise.all(Array.from({ length: 8 }, lane))
    const asked = now()
    await until(ends, many, name)
    return { asked: (many / (asked - from)) * 1000, done: (many / (Math.max(...ends.values()) - from)) * 1000 }
  } finally {
    await Promise.all(children.map((child) => child.stop()))
  }
}

/** Milliseconds from the commit of the job to the commit of its effect, at 50 a second. */
const latency = async ({ name, ask, start }: Library) => {
  const children = await start()
  try {
    const ends = listen(children)
    await wait(500)
    const commits: number[] = []
    const asking: Promise<void>[] = []
    for (let number = 0; number < steady; number += 1) {
      asking.push(
        ask(number).then(() => {
          commits[number] = now()
        }),
      )
      await wait(Math.min(200, -Math.log(1 - Math.random()) * everyMs))
    }
    await Promise.all(asking)
    await until(ends, steady, name)
    return commits.map((at, number) => (ends.get(number) ?? 0) - at).slice(30)
  } finally {
    await Promise.all(children.map((child) => child.stop()))
  }
}

/** Each takes the same work: a row of the caller and the job in one transaction; the effect in another; the job done. */
export const libraries = async ({ admin, adminUrl }: Database): Promise<Result[]> => {
  await runMigrations({ connectionString: adminUrl })
  const boss = new PgBoss({ connectionString: adminUrl, max: 2, schedule: false, supervise: false })
  await boss.start()
  await boss.createQueue('posting')
  const pool = new pg.Pool({ connectionString: adminUrl, max: 8 })
  const redis = connectRedis('commands')
  await whenReady(redis, 5_000)
  const stopWaking = wakeThrough(redis)
  await sql(admin, `create table bench_fact (number int not null)`)
  await sql(admin, `grant insert on bench_fact to pousada_service`)
  const fact = 'insert into bench_fact (number) values ($1)'

  const inTransaction = async (work: (client: pg.PoolClient) => Promise<unknown>) => {
    const client = await pool.connect()
    try {
      await client.query('begin')
      await work(client)
      await client.query('commit')
    } finally {
      client.release()
    }
  }
  const started = { url: adminUrl, concurrency }
  const ours: Library = {
    name: 'ours',
    ask: (number) =>
      inTenant(tenantId, async (trx) => {
        await sql(trx, `insert into bench_fact (number) values (?)`, [number])
        await enqueue(trx, posting, { tenantId, number })
      }),
    start: async () => [
      await startChild('jobs', 'relay'),
      await startChild('jobs', 'worker', { concurrency, isTold: true }),
    ],
  }
  const graphile: Library = {
    name: 'graphile-worker',
    ask: (number) =>
      inTransaction(async (client) => {
        await client.query(fact, [number])
        await client.query(`select graphile_worker.add_job('posting', $1)`, [JSON.stringify({ tenantId, number })])
      }),
    start: async () => [await startChild('libraries', 'graphile-worker', started)],
  }
  const pgBoss: Library = {
    name: 'pg-boss',
    ask: (number) =>
      inTransaction(async (client) => {
        await client.query(fact, [number])
        const db = { executeSql: (text: string, values: unknown[]) => client.query(text, values) }
        await boss.send('posting', { tenantId, number }, { db })
      }),
    start: async () => [await startChild('libraries', 'pg-boss', started)],
  }
  try {
    const runs = [ours, graphile, pgBoss].map((library) => ({
      library,
      asked: [] as number[],
      done: [] as number[],
      times: [] as number[],
    }))
    for (let round = 0; round < rounds; round += 1)
      for (const run of runs) {
        await clearJobs(admin)
        const { asked, done } = await throughput(run.library)
        run.asked.push(asked)
        run.done.push(done)
        await clearJobs(admin)
        run.times.push(...(await latency(run.library)))
      }
    const found = runs.map(({ library, asked, done, times }) => ({
      name: library.name,
      asked: median(asked),
      done: median(done),
      times,
    }))
    const [own, ...others] = found
    if (!own) return []
    return others.flatMap(({ name, asked, done, times }) => [
      judge({ name: `asked for in a transaction; ${name}`, unit: 'jobs/s', ours: own.asked, reference: asked }, null),
      judge({ name: `asked for, done and completed; ${name}`, unit: 'jobs/s', ours: own.done, reference: done }, null),
      ...[0.5, 0.99].map((share) =>
        judge(
          {
            name: `commit to effect at 50/s, p${share * 100}; ${name}`,
            unit: 'ms',
            ours: percentile(own.times, share),
            reference: percentile(times, share),
          },
          null,
        ),
      ),
    ])
  } finally {
    stopWaking()
    redis.disconnect()
    await pool.end()
    await boss.stop({ graceful: false })
  }
}
