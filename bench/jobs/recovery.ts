import { setTimeout as wait } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Knex } from 'knex'
import { settings } from '../../config/env.ts'
import { queueNames } from '../../config/queues.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { startChild } from '../child.ts'
import { lengthy, probe } from '../probe.ts'
import { judge } from '../report.ts'
import type { Result } from '../report.ts'
import { sized } from '../size.ts'
import { clearJobs, insertJobs, whenDone } from './rows.ts'

const rounds = sized(3, 1)
const live = sized(100_000, 20_000)

/** Seconds from the SIGKILL of a worker with jobs in hand until another worker begins the last of them; each is a second of work. */
const afterKill = async (admin: Knex): Promise<number> => {
  await clearJobs(admin)
  const relay = await startChild('jobs', 'relay')
  const [victim, other] = [
    await startChild('jobs', 'worker', { concurrency: 5 }),
    await startChild('jobs', 'worker', { concurrency: 5 }),
  ]
  let begun = 0
  victim.on('begun', () => (begun += 1))
  try {
    await insertJobs(admin, lengthy, 10)
    for (const end = Date.now() + 10_000; begun < 3; await wait(5))
      if (Date.now() > end) throw new Error('the worker took no jobs')
    const from = Date.now()
    await victim.kill()
    return ((await whenDone(admin, lengthy, 60_000)) - from) / 1000 - 1
  } finally {
    await Promise.all([relay.stop(), victim.kill(), other.stop()])
  }
}

/** Seconds from the start of a relay that finds Redis empty, with so many jobs handed over and lost, to the first effect, and to windows that are full again. */
const afterLoss = async (admin: Knex) => {
  await clearJobs(admin)
  const redis = new Redis(settings.redisUrl)
  await redis.flushall()
  const worker = await startChild('jobs', 'worker', { concurrency: 20 })
  await insertJobs(admin, probe, live, { spread: queueNames, status: 'dispatched' })
  const from = Date.now()
  const relay = await startChild('jobs', 'relay')
  try {
    const first = async () => (await sqlOne(admin, `select 1 from job_archive limit 1`)) !== null
    for (const end = from + 60_000; !(await first()); await wait(20))
      if (Date.now() > end) throw new Error('no job came back within a minute')
    const effectSeconds = (Date.now() - from) / 1000
    for (const end = Date.now() + 60_000; ; await wait(20)) {
      const rows = await sql<{ queue: string }>(
        admin,
        `select distinct queue from jobs where status = 'dispatched' and dispatch_no = 1`,
      )
      // Each queue has its window of the second dispatch, or its workers have already done all of it.
      const empty = await sql<{ queue: string }>(
        admin,
        `select queue from unnest(cast(? as text[])) as named (queue) where not exists (
           select from jobs where jobs.queue = named.queue and dispatch_no = 2) and exists (
           select from jobs where jobs.queue = named.queue and status = 'pending')`,
        [queueNames],
      )
      if (rows.length === 0 && empty.length === 0) break
      if (Date.now() > end) throw new Error(`${empty.map(({ queue }) => queue).join(', ')}: not filled again`)
    }
    return { effectSeconds, filledSeconds: (Date.now() - from) / 1000 }
  } finally {
    await Promise.all([relay.stop(), worker.stop()])
    redis.disconnect()
  }
}

export const recovery = async (admin: Knex): Promise<Result[]> => {
  const kills: number[] = []
  for (let round = 0; round < rounds; round += 1) kills.push(await afterKill(admin))
  const loss = await afterLoss(admin)
  const own = { unit: 's', reference: null }
  return [
    judge(
      {
        name: `SIGKILL of a worker until its jobs are begun again, worst of ${rounds}`,
        ...own,
        ours: Math.max(...kills),
      },
      { most: 15 },
    ),
    judge({ name: `Redis lost with ${live} live jobs: first effect`, ...own, ours: loss.effectSeconds }, { most: 10 }),
    judge({ name: 'the same: every queue filled again', ...own, ours: loss.filledSeconds }, { most: 10 }),
  ]
}
