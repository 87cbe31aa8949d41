import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Knex } from 'knex'
import { settings } from '../../config/env.ts'
import { inPlatform, sql, sqlOne } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { connectRedis, whenReady } from '../../workers/lib/redis.ts'
import { wakeThrough } from '../../workers/lib/wake.ts'
import type { Bench } from '../bench.ts'
import { startChild } from '../child.ts'
import { fifoIndex } from '../jobs/fifo.ts'
import { clearJobs, makeEffects, median } from '../jobs/rows.ts'
import { probe } from '../probe.ts'
import { judge, percentile } from '../report.ts'
import { sized } from '../size.ts'

const count = sized(50_000, 3_000)
const rounds = sized(3, 1)
const concurrency = 50
const flooder = '00000000-0000-4000-8000-000000000001'

const flood = (admin: Knex) =>
  sql(
    admin,
    `insert into jobs (id, tenant_id, queue, kind, payload, request_id, actor)
     select gen_random_uuid(), :flooder, :queue, :kind, jsonb_build_object('tenantId', :flooder::text, 'number', n), 'flood',
       '{"type": "system", "id": null}' from generate_series(1, :count) n`,
    { flooder, queue: probe.queue, kind: probe.name, count },
  )

const isLeft = async (admin: Knex) =>
  (await sqlOne(admin, `select 1 from jobs where tenant_id = ? limit 1`, [flooder])) !== null

type Run = { perSecond: number; waits: number[] }

/**
 * One tenant's flood and, unless it is left alone with it, a small tenant's job every 20 ms or so, each of a tenant of its own. Answers
 * how fast the flood went, and how long each of the others waited from its commit to its effect.
 */
const run = async (admin: Knex, pick: 'fair' | 'fifo', hasOthers: boolean): Promise<Run> => {
  await clearJobs(admin)
  await sql(admin, `truncate relay_turn`)
  const store = new Redis(settings.redisUrl)
  await store.flushall()
  store.disconnect()
  await flood(admin)
  await admin.raw('analyze jobs')
  const worker = await startChild('jobs', 'worker', { concurrency, isTold: true })
  const ends = new Map<number, number>()
  const begun = new Map<number, number>()
  worker.on<{ number: number; at: number }>('done', ({ number, at }) => void ends.set(number, at))
  const redis = connectRedis('commands')
  await whenReady(redis, 5_000)
  const stopWaking = wakeThrough(redis)
  const relay = await startChild('jobs', 'relay', { pick })
  const from = Date.now()
  try {
    // Numbers of the others begin above those of the flood.
    for (let number = count + 1; (number - count) % 10 !== 0 || (await isLeft(admin)); number += 1) {
      if (Date.now() - from > 300_000) throw new Error('the flood does not end')
      if (!hasOthers) {
        await wait(20)
        continue
      }
      const tenantId = randomUUID()
      await inPlatform((trx) => enqueue(trx, probe, { tenantId, number }))
      begun.set(number, performance.timeOrigin + performance.now())
      await wait(10 + Math.random() * 20)
    }
    const last = await sqlOne<{ at: Date }>(
      admin,
      `select max(finished_at) as at from job_archive where tenant_id = ?`,
      [flooder],
    )
    const first = await sqlOne<{ at: Date }>(
      admin,
      `select min(finished_at) as at from job_archive where tenant_id = ?`,
      [flooder],
    )
    for (const end = Date.now() + 10_000; [...begun.keys()].some((number) => !ends.has(number)); await wait(20))
      if (Date.now() > end) throw new Error('a small tenant’s job did not come')
    return {
      perSecond: (count / ((last?.at.getTime() ?? 0) - (first?.at.getTime() ?? 0))) * 1000,
      waits: [...begun].map(([number, at]) => (ends.get(number) ?? Number.NaN) - at),
    }
  } finally {
    stopWaking()
    redis.disconnect()
    await relay.stop()
    await worker.stop()
  }
}

export const bench: Bench = async ({ admin }) => {
  await makeEffects(admin)
  await admin.raw(fifoIndex)
  const alone = { fair: [] as number[], fifo: [] as number[] }
  const fair: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    // The first run of all is the coldest: each goes first in its turn.
    for (const pick of round % 2 === 0 ? (['fifo', 'fair'] as const) : (['fair', 'fifo'] as const))
      alone[pick].push((await run(admin, pick, false)).perSecond)
    fair.push(...(await run(admin, 'fair', true)).waits)
  }
  const unfair = (await run(admin, 'fifo', true)).waits
  return {
    results: [
      judge(
        {
          name: `throughput of one tenant's ${count} jobs, alone`,
          unit: 'jobs/s',
          ours: median(alone.fair),
          reference: median(alone.fifo),
        },
        { least: 0.95 },
      ),
      judge(
        {
          name: "wait of other tenants' jobs behind them, p50",
          unit: 'ms',
          ours: percentile(fair, 0.5),
          reference: percentile(unfair, 0.5),
        },
        null,
      ),
      judge(
        {
          name: "wait of other tenants' jobs behind them, p99",
          unit: 'ms',
          ours: percentile(fair, 0.99),
          reference: percentile(unfair, 0.99),
        },
        { most: 600 },
      ),
    ],
    notes: [
      'Ours: the fair choice of the relay. Reference: the same relay, windows and worker (50 places), which takes whoever came first.',
      'Waits: from the commit of the job to the commit of its effect, a job of a new tenant every 20 ms while the flood lasts.',
    ],
  }
}
