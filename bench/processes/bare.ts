import { randomUUID } from 'node:crypto'
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import pg from 'pg'
import { settings } from '../../config/env.ts'
import { jobOptions } from '../../workers/lib/queues.ts'
import { given, onAsk, tell } from '../child.ts'

/** The parts alone: BullMQ adding, BullMQ working, PostgreSQL taking one effect after the other. */
const { concurrency = 50 } = given<{ concurrency?: number }>()
const prefix = '{bare}'
const connection = new Redis(settings.redisUrl, { maxRetriesPerRequest: null })
const queue = new Queue('bare', { connection, prefix })

const add = async (count: number) => {
  for (let from = 0; from < count; from += 100)
    await queue.addBulk(
      Array.from({ length: Math.min(100, count - from) }, () => ({
        name: 'inventory.bench-probe',
        data: { tenantId: randomUUID(), requestId: 'bench', traceparent: null },
        opts: jobOptions(randomUUID(), 1, 0),
      })),
    )
}

onAsk('add', async ({ count }) => {
  const startedAt = performance.now()
  await add(Number(count))
  const ms = performance.now() - startedAt
  await queue.obliterate({ force: true })
  return { ms }
})

onAsk('work', async ({ count }) => {
  await add(Number(count))
  let done = 0
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const worker = new Worker(
    'bare',
    () => {
      done += 1
      if (done === Number(count)) end()
      return Promise.resolve()
    },
    { connection: connection.duplicate(), prefix, concurrency, autorun: false },
  )
  await worker.waitUntilReady()
  const startedAt = performance.now()
  worker.run().catch((error: unknown) => console.error(error))
  await ended
  const ms = performance.now() - startedAt
  await worker.close()
  await queue.obliterate({ force: true })
  return { ms }
})

// From the answer of add to the start of the processor; nothing in PostgreSQL.
onAsk('latency', async ({ count, everyMs }) => {
  const begun = new Map<number, number>()
  const worker = new Worker<{ number: number }>(
    'bare',
    (job) => Promise.resolve(void begun.set(job.data.number, performance.now())),
    { connection: connection.duplicate(), prefix, concurrency },
  )
  await worker.waitUntilReady()
  const times: number[] = []
  const startedAt = performance.now()
  for (let number = 0; number < Number(count); number += 1) {
    const dueAt = startedAt + number * Number(everyMs)
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueAt - performance.now())))
    await queue.add('probe', { number })
    times.push(performance.now())
  }
  while (begun.size < Number(count)) await new Promise((resolve) => setTimeout(resolve, 5))
  await worker.close()
  return { times: times.map((at, number) => Math.max(0, (begun.get(number) ?? 0) - at)).slice(50) }
})

// The minimum for any machinery: the row leaves the live table, the effect and the archive are written, in one statement.
onAsk('statements', async () => {
  const pool = new pg.Pool({ connectionString: settings.databaseUrl, max: concurrency })
  const client = await pool.connect()
  await client.query(`select set_config('app.scope', 'platform', false)`)
  const { rows } = await client.query<{ id: string }>(`select id from jobs order by seq`)
  client.release()
  const text = `
    with gone as (delete from jobs where id = $1 returning *),
      effect as (insert into bench_effect (tenant_id, number) select tenant_id, (payload->>'number')::int from gone)
    insert into job_archive (id, money, tenant_id, queue, kind, version, payload, outcome, class, run_at, attempts, starts, dispatch_no, request_id, actor,
      created_at, started_at, finished_at)
    select id, true, tenant_id, queue, kind, version, payload, 'done', class, run_at, attempts, starts, dispatch_no, request_id, actor,
      created_at, clock_timestamp(), clock_timestamp() from gone`
  const lanes = await Promise.all(Array.from({ length: concurrency }, () => pool.connect()))
  for (const lane of lanes) await lane.query(`select set_config('app.scope', 'platform', false)`)
  let next = 0
  const startedAt = performance.now()
  await Promise.all(
    lanes.map(async (lane) => {
      for (let row = rows[next++]; row; row = rows[next++]) await lane.query({ name: 'effect', text, values: [row.id] })
    }),
  )
  const ms = performance.now() - startedAt
  for (const lane of lanes) lane.release()
  await pool.end()
  return { ms, count: rows.length }
})

process.once('disconnect', () => process.exit())
process.once('SIGTERM', () => process.exit())
tell({ type: 'ready' })
