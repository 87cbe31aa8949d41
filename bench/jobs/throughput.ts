import { setTimeout as wait } from 'node:timers/promises'
import type { Knex } from 'knex'
import { Redis } from 'ioredis'
import { settings } from '../../config/env.ts'
import { queueNames } from '../../config/queues.ts'
import { sql } from '../../db/lib/connection.ts'
import type { Job } from '../../jobs/job.ts'
import { startChild } from '../child.ts'
import type { Child } from '../child.ts'
import { posting, probe } from '../probe.ts'
import { judge } from '../report.ts'
import type { Result } from '../report.ts'
import { sized } from '../size.ts'
import { makeBooks, postingRate } from './postings.ts'
import { clearJobs, insertJobs, median, whenDone } from './rows.ts'

const rounds = sized(3, 1)
const relayed = sized(30_000, 10_000)
const worked = sized(15_000, 4_000)
const concurrency = 50

const perSecond = (count: number, ms: number) => (count / ms) * 1000

/** All of Redis goes, with the epoch: the next relay begins anew. Nothing of the service may run. */
const emptyRedis = async () => {
  const redis = new Redis(settings.redisUrl)
  await redis.flushall()
  redis.disconnect()
}

/**
 * The rate at which the relay hands over, in jobs a second: workers of all queues that are infinitely fast and cost nothing but the deletion of
 * what they were given.
 */
export const relayRate = async (admin: Knex): Promise<number> => {
  await clearJobs(admin)
  await emptyRedis()
  await sql(
    admin,
    `insert into worker_heartbeat (id, process, host, pid, version, queues, beat_at)
     select gen_random_uuid(), 'worker', 'bench', 0, 'bench', cast(? as jsonb), now() + interval '1 hour'`,
    [JSON.stringify(Object.fromEntries(queueNames.map((name) => [name, 1_000])))],
  )
  const relay = await startChild('jobs', 'relay')
  try {
    await wait(1_000)
    const from = await insertJobs(admin, probe, relayed, { spread: queueNames })
    for (let taken = 0; taken < relayed;) {
      const rows = await sql<{ count: number }>(
        admin,
        `with gone as (delete from jobs where status = 'dispatched' returning 1) select count(*) as count from gone`,
      )
      taken += rows[0]?.count ?? 0
      if (Date.now() - from > 60_000) throw new Error(`${taken} of ${relayed} jobs were handed over within a minute`)
      await wait(2)
    }
    return perSecond(relayed, Date.now() - from)
  } finally {
    await relay.stop()
    await sql(admin, `delete from worker_heartbeat`)
  }
}

/** Jobs a second of one kind from the table to their completion, through a relay and one worker process. `fill` puts others beside them. */
export const machineryRate = async (
  admin: Knex,
  kind: Job,
  fill: () => Promise<unknown> = () => Promise.resolve(),
): Promise<number> => {
  await clearJobs(admin)
  await fill()
  await emptyRedis()
  const children = [await startChild('jobs', 'relay'), await startChild('jobs', 'worker', { concurrency })]
  try {
    await wait(1_000)
    const from = await insertJobs(admin, kind, worked)
    return perSecond(worked, (await whenDone(admin, kind, 120_000)) - from)
  } finally {
    await Promise.all(children.map((child) => child.stop()))
  }
}

const ask = async (child: Child, type: string, given: Record<string, unknown> = {}) => {
  child.send({ type, ...given })
  return child.next<{ ms: number; count: number }>('answer')
}

export const bareRate = async (type: 'add' | 'work', count: number): Promise<number> => {
  const child = await startChild('bare', 'bare', { concurrency })
  try {
    return perSecond(count, (await ask(child, type, { count })).ms)
  } finally {
    await child.stop()
  }
}

/** Effect transactions a second of pg alone: each one statement, on as many connections as the worker has jobs at once. */
export const statementRate = async (admin: Knex): Promise<number> => {
  await clearJobs(admin)
  await insertJobs(admin, posting, worked)
  const child = await startChild('bare', 'bare', { concurrency })
  try {
    const { ms, count } = await ask(child, 'statements')
    return perSecond(count, ms)
  } finally {
    await child.stop()
  }
}

/** Rounds of ours and the bare part in turn; the median of each. */
const compared = async (ours: () => Promise<number>, reference: () => Promise<number>) => {
  const found = { ours: [] as number[], reference: [] as number[] }
  for (let round = 0; round < rounds; round += 1) {
    found.ours.push(await ours())
    found.reference.push(await reference())
  }
  return { ours: median(found.ours), reference: median(found.reference) }
}

type Compared = { ours: number; reference: number }

/** Every posting is added to BullMQ, worked off by it, and its statement run: where these share the processors, their times add up. */
const bounded = (relay: Compared, noop: Compared, effect: Compared): Compared => ({
  ours: 1 / (1 / relay.reference + 1 / noop.reference + 1 / effect.reference),
  reference: effect.reference,
})

export const throughput = async (admin: Knex): Promise<Result[]> => {
  const relay = await compared(
    () => relayRate(admin),
    () => bareRate('add', relayed),
  )
  const noop = await compared(
    () => machineryRate(admin, probe),
    () => bareRate('work', relayed),
  )
  const effect = await compared(
    () => machineryRate(admin, posting),
    () => statementRate(admin),
  )
  const houses = await makeBooks()
  const ledger = await compared(
    () => postingRate(admin, houses, emptyRedis),
    () => statementRate(admin),
  )
  const unit = 'jobs/s'
  return [
    judge({ name: 'relay, and addBulk of 100 alone', unit, ...relay }, { least: 0.6 }),
    judge({ name: 'a kind that does nothing, and BullMQ alone', unit, ...noop }, { least: 0.08 }),
    judge(
      { name: 'a posting of the ledger, and the single statement of one row alone', unit, ...ledger },
      { least: 0.3 },
    ),
    judge({ name: 'a job of one row by itself, and its single statement alone', unit, ...effect }, null),
    judge(
      { name: 'the same, if nothing but the bare parts cost anything', unit, ...bounded(relay, noop, effect) },
      null,
    ),
  ]
}
