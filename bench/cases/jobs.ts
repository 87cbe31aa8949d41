import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { settings } from '../../config/env.ts'
import { inPlatform } from '../../db/connection.ts'
import { enqueue } from '../../db/enqueue.ts'
import { connectRedis, whenReady } from '../../workers/lib/redis.ts'
import { wakeThrough } from '../../workers/lib/wake.ts'
import type { Bench } from '../bench.ts'
import { probe } from '../probe.ts'
import { judge, percentile } from '../report.ts'

const count = 500
const now = () => performance.timeOrigin + performance.now()

const begin = async (role: string): Promise<ChildProcess> => {
  const child = fork(new URL('../processes/jobs.ts', import.meta.url), [role], {
    execArgv: ['--import', 'tsx/esm'],
    env: {
      ...process.env,
      DATABASE_URL: settings.databaseUrl,
      REDIS_URL: settings.redisUrl,
      REDIS_PREFIX: settings.redisPrefix,
    },
  })
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the ${role} ended with ${code}`)))
    child.on('message', (message) => message === 'ready' && resolve())
  })
  return child
}

const ours = async (): Promise<number[]> => {
  const children = [await begin('relay'), await begin('worker')]
  const ends = new Map<number, number>()
  children[1]?.on('message', (message) => {
    if (typeof message === 'object' && 'number' in message && 'at' in message)
      ends.set(Number(message.number), Number(message.at))
  })
  const redis = connectRedis('commands')
  await whenReady(redis, 5_000)
  const stopWaking = wakeThrough(redis)
  const times: number[] = []
  for (let number = 0; number < count; number += 1) {
    await inPlatform((trx) => enqueue(trx, probe, { number }))
    const committed = now()
    for (const end = Date.now() + 5_000; !ends.has(number); await wait(1))
      if (Date.now() > end) throw new Error('a job did not come')
    if (number >= 50) times.push((ends.get(number) ?? 0) - committed)
    await wait(Math.random() * 10)
  }
  stopWaking()
  redis.disconnect()
  for (const child of children) child.kill('SIGTERM')
  return times
}

/** BullMQ alone: from the answer of add to the start of the processor, without a record in PostgreSQL. */
const bare = async (): Promise<number[]> => {
  const connection = new Redis(settings.redisUrl, { maxRetriesPerRequest: null })
  const second = connection.duplicate()
  const queue = new Queue('bare', { connection, prefix: '{bare}' })
  const ends = new Map<number, number>()
  const worker = new Worker<{ number: number }>(
    'bare',
    (job) => Promise.resolve(ends.set(job.data.number, now())).then(() => undefined),
    {
      connection: second,
      prefix: '{bare}',
      concurrency: 20,
    },
  )
  await worker.waitUntilReady()
  const times: number[] = []
  for (let number = 0; number < count; number += 1) {
    const from = now()
    await queue.add('probe', { number })
    while (!ends.has(number)) await wait(1)
    if (number >= 50) times.push((ends.get(number) ?? 0) - from)
  }
  await worker.close()
  await queue.close()
  for (const open of [connection, second]) open.disconnect()
  return times
}

export const bench: Bench = async () => {
  const [times, alone] = [await ours(), await bare()]
  return {
    results: [
      judge(
        { name: 'enqueue to effect, p50', unit: 'ms', ours: percentile(times, 0.5), reference: percentile(alone, 0.5) },
        { most: 15 },
      ),
      judge(
        {
          name: 'enqueue to effect, p99',
          unit: 'ms',
          ours: percentile(times, 0.99),
          reference: percentile(alone, 0.99),
        },
        null,
      ),
    ],
    notes: [
      'Ours: from the commit of the row to the commit of the effect, through relay, Redis and worker, each a process; the disk is waited for.',
      'Reference: BullMQ alone in one process, from add to the start of the processor, with no record in PostgreSQL.',
    ],
  }
}
