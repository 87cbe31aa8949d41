import { log } from '../../config/log.ts'
import { queuePrefix } from '../../config/redis.ts'
import type { RedisConnection } from '../../config/redis.ts'
import type { QueueName } from '../../config/queues.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Line } from './queue-worker.ts'
import { connectRedis, whenReady } from './redis.ts'

/** Looks in a row that must find the same before anything is done about it: a process that slept itself sees one look alone. */
export type Patience = { everyMs: number; looks: number }
export const usualPatience: Patience = { everyMs: 5_000, looks: 6 }

type Watched = { line: Line; starts: number; looks: number; isRebuilt: boolean }

/** Jobs of a queue that a worker could start now. BullMQ scores a delayed job by its instant times 4096. */
const waitingIn = async (redis: RedisConnection, queue: QueueName): Promise<number> => {
  const key = (name: string) => `${queuePrefix(queue)}:${queue}:${name}`
  const counts = await Promise.all([
    redis.llen(key('wait')),
    redis.zcard(key('prioritized')),
    redis.zcount(key('delayed'), 0, (Date.now() - 1_000) * 4_096),
  ])
  return counts.reduce((sum, count) => sum + count, 0)
}

const patienceMs = 1_000

const late = async (): Promise<never> => {
  await sleep(patienceMs, undefined, { ref: false })
  throw new Error('redis is away')
}

/** Asks Redis over a connection that is none of the workers'. Null: Redis itself is away, which is no fault of theirs. */
const makeProbe = () => {
  let redis: RedisConnection | null = null
  const drop = () => {
    redis?.disconnect()
    redis = null
  }
  return {
    ask: async (queues: QueueName[]): Promise<Map<QueueName, number> | null> => {
      const asked = (redis ??= connectRedis('commands'))
      const count = async () => {
        await whenReady(asked, patienceMs)
        return Promise.all(queues.map(async (queue) => [queue, await waitingIn(asked, queue)] as const))
      }
      try {
        return new Map(await Promise.race([count(), late()]))
      } catch {
        drop()
        return null
      }
    },
    drop,
  }
}

/**
 * Watches that queues which have jobs in Redis also start them here: a connection can be dead on one side only, and then nothing fails
 * and nothing happens. A line that has room, jobs to start and started none is rebuilt; when that did not help, `giveUp` ends the process.
 * Jobs that PostgreSQL believes to be in Redis and are not are left to the relay's reconciliation.
 */
export const startWatchdog = (
  lines: () => readonly Line[],
  rebuild: (line: Line) => void,
  giveUp: (queue: QueueName) => void,
  { everyMs, looks }: Patience = usualPatience,
): (() => void) => {
  const watched = new Map<QueueName, Watched>()
  const probe = makeProbe()
  const look = async () => {
    const quiet: Watched[] = []
    for (const line of lines()) {
      const before = watched.get(line.queue)
      const same = before?.line === line && before.starts === line.starts() && line.hasRoom()
      // A new line starts its count anew; a start of its own tells that the rebuilding helped.
      const isRebuilt = (before?.isRebuilt ?? false) && line.starts() === 0 && line.hasRoom()
      const now = { line, starts: line.starts(), looks: same ? before.looks : 0, isRebuilt }
      watched.set(line.queue, now)
      if (same) quiet.push(now)
    }
    if (quiet.length === 0) return
    const waiting = await probe.ask(quiet.map(({ line }) => line.queue))
    for (const each of quiet) {
      const count = waiting?.get(each.line.queue) ?? 0
      // Nothing waits: what may be wrong later is a new matter.
      if (waiting && count === 0) each.isRebuilt = false
      each.looks = count === 0 || each.starts !== each.line.starts() ? 0 : each.looks + 1
      if (each.looks < looks) continue
      const { queue } = each.line
      if (each.isRebuilt) {
        log.fatal({ queue, waiting: count }, 'jobs wait and none starts, though the worker was rebuilt')
        giveUp(queue)
        return
      }
      log.error({ queue, waiting: count }, 'jobs wait and none starts: the worker of the queue is rebuilt')
      each.isRebuilt = true
      rebuild(each.line)
    }
  }
  let looking: Promise<void> | null = null
  const timer = setInterval(() => {
    looking ??= look().finally(() => {
      looking = null
    })
  }, everyMs)
  return () => {
    clearInterval(timer)
    probe.drop()
  }
}
