import { setTimeout as wait } from 'node:timers/promises'
import { inTenant } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { connectRedis, whenReady } from '../../workers/lib/redis.ts'
import { wakeThrough } from '../../workers/lib/wake.ts'
import { startChild } from '../child.ts'
import { probe } from '../probe.ts'
import { judge, percentile } from '../report.ts'
import type { Result } from '../report.ts'
import { sized } from '../size.ts'

const count = sized(1_000, 300)
const everyMs = 20
const warm = 50
const tenantId = '00000000-0000-4000-8000-000000000001'

const now = () => performance.timeOrigin + performance.now()

/** From the commit of the row to the commit of the effect, at 50 jobs a second that come by chance. */
const ours = async (): Promise<number[]> => {
  const children = [await startChild('jobs', 'relay'), await startChild('jobs', 'worker', { isTold: true })]
  const ends = new Map<number, number>()
  children[1]?.on<{ number: number; at: number }>('done', ({ number, at }) => ends.set(number, at))
  const redis = connectRedis('commands')
  await whenReady(redis, 5_000)
  const stopWaking = wakeThrough(redis)
  const commits: number[] = []
  try {
    const asked: Promise<void>[] = []
    for (let number = 0; number < count; number += 1) {
      const ask = async () => {
        await inTenant(tenantId, (trx) => enqueue(trx, probe, { tenantId, number }))
        commits[number] = now()
      }
      asked.push(ask())
      // Chance as of strangers who know nothing of each other.
      await wait(Math.min(200, -Math.log(1 - Math.random()) * everyMs))
    }
    await Promise.all(asked)
    for (const end = Date.now() + 20_000; ends.size < count; await wait(20))
      if (Date.now() > end) throw new Error(`${count - ends.size} jobs did not come`)
  } finally {
    stopWaking()
    redis.disconnect()
    await Promise.all(children.map((child) => child.stop()))
  }
  return commits.map((at, number) => (ends.get(number) ?? 0) - at).slice(warm)
}

const bare = async (): Promise<number[]> => {
  const child = await startChild('bare', 'bare', { concurrency: 20 })
  try {
    child.send({ type: 'latency', count, everyMs })
    return (await child.next<{ times: number[] }>('answer')).times
  } finally {
    await child.stop()
  }
}

export const latency = async (): Promise<Result[]> => {
  const [times, alone] = [await ours(), await bare()]
  return [0.5, 0.99].map((share) =>
    judge(
      {
        name: `commit to effect at 50/s, p${share * 100}`,
        unit: 'ms',
        ours: percentile(times, share),
        reference: percentile(alone, share),
      },
      { most: share === 0.5 ? 15 : 60 },
    ),
  )
}
