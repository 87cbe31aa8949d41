import { setTimeout as sleep } from 'node:timers/promises'
import { connectTo, mastersOf } from '../../config/redis.ts'
import type { RedisConnection } from '../../config/redis.ts'
import { log } from '../../config/log.ts'

/**
 * `queues`: a connection for BullMQ's commands, which wait for Redis to return, and go together where they come while others are answered: jobs
 * that end close to one another cost a third less of Redis, and their process less for sending. `commands`: one that fails while it is away. One that
 * owes an answer for long is dropped and made anew: the other side of it may be gone without a word.
 */
export const connectRedis = (use: 'queues' | 'commands'): RedisConnection => {
  const redis = connectTo({
    connectTimeout: 2_000,
    keepAlive: 5_000,
    ...(use === 'queues'
      ? { maxRetriesPerRequest: null, socketTimeout: 20_000, enableAutoPipelining: true }
      : { maxRetriesPerRequest: 0, enableOfflineQueue: false, commandTimeout: 5_000, socketTimeout: 6_000 }),
  })
  let down = false
  redis.on('error', (error) => {
    if (!down) log.warn({ err: error }, 'redis is away')
    down = true
  })
  redis.on('ready', () => {
    if (down) log.info('redis is back')
    down = false
  })
  return redis
}

export const isReady = (redis: RedisConnection) => redis.status === 'ready'

/**
 * Keeps hold of the connections that BullMQ makes of this one to block on: it never closes them while Redis is away. Answers how to
 * end them all.
 */
export const withDuplicates = (redis: RedisConnection): (() => void) => {
  const made: RedisConnection[] = []
  const duplicate = redis.duplicate.bind(redis) as (...given: unknown[]) => RedisConnection
  redis.duplicate = ((...given: unknown[]) => {
    const copy = duplicate(...given)
    copy.on('error', () => {})
    // It has one command at a time.
    copy.options.enableAutoPipelining = false
    made.push(copy)
    return copy
  }) as never
  return () => {
    for (const each of [...made, redis]) each.disconnect()
  }
}

/** Waits until the connection can be used, at most `ms`; false when it could not. */
export const whenReady = async (redis: RedisConnection, ms = Number.POSITIVE_INFINITY): Promise<boolean> => {
  for (const end = Date.now() + ms; !isReady(redis); await sleep(20)) if (Date.now() > end) return false
  return true
}

/** Refuses a Redis that evicts keys, since it would lose jobs silently. Throws a message for the operator. */
export const refuseEviction = async (redis: RedisConnection): Promise<void> => {
  for (const info of await memoryOf(redis)) {
    const policy = /maxmemory_policy:(\S+)/.exec(info)?.[1] ?? 'unknown'
    if (policy !== 'noeviction')
      throw new Error(
        `REDIS_URL: maxmemory-policy is ${policy}; jobs need noeviction (redis-cli config set maxmemory-policy noeviction)`,
      )
  }
}

const memoryOf = (redis: RedisConnection): Promise<string[]> =>
  Promise.all(mastersOf(redis).map((master) => master.info('memory')))

/** Share of Redis' memory in use, 0 where it has no limit; of a cluster, that of its fullest node. */
export const memoryShare = async (redis: RedisConnection): Promise<number> => {
  const shares = (await memoryOf(redis)).map((info) => {
    const most = Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? 0)
    return most === 0 ? 0 : Number(/^used_memory:(\d+)/m.exec(info)?.[1] ?? 0) / most
  })
  return Math.max(0, ...shares)
}
