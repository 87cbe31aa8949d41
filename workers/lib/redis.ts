import { Redis } from 'ioredis'
import { setTimeout as sleep } from 'node:timers/promises'
import { required, settings } from '../../config/env.ts'
import { log } from '../../config/log.ts'

/** Keeps trying, at most a second apart, for as long as the process lives. */
const retryStrategy = (times: number) => Math.min(50 * times, 1_000)

/** `queues`: a connection for BullMQ's commands, which wait for Redis to return. `commands`: one that fails while it is away. */
export const connectRedis = (use: 'queues' | 'commands'): Redis => {
  const options = {
    retryStrategy,
    connectTimeout: 2_000,
    keepAlive: 5_000,
    ...(use === 'queues'
      ? { maxRetriesPerRequest: null }
      : { maxRetriesPerRequest: 0, enableOfflineQueue: false, commandTimeout: 5_000 }),
  }
  const redis = new Redis(required(settings.redisUrl, 'REDIS_URL'), options)
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

export const isReady = (redis: Redis) => redis.status === 'ready'

/**
 * Keeps hold of the connections that BullMQ makes of this one to block on: it never closes them while Redis is away. Answers how to
 * end them all.
 */
export const withDuplicates = (redis: Redis): (() => void) => {
  const made: Redis[] = []
  const duplicate = redis.duplicate.bind(redis)
  redis.duplicate = (options) => {
    const copy = duplicate(options)
    copy.on('error', () => {})
    made.push(copy)
    return copy
  }
  return () => {
    for (const each of [...made, redis]) each.disconnect()
  }
}

/** Waits until the connection can be used, at most `ms`; false when it could not. */
export const whenReady = async (redis: Redis, ms = Number.POSITIVE_INFINITY): Promise<boolean> => {
  for (const end = Date.now() + ms; !isReady(redis); await sleep(20)) if (Date.now() > end) return false
  return true
}

/** Redis that evicts keys would lose jobs without a word. Throws a message for whoever starts the process. */
export const refuseEviction = async (redis: Redis): Promise<void> => {
  const policy = await evictionPolicy(redis)
  if (policy !== 'noeviction')
    throw new Error(
      `REDIS_URL: maxmemory-policy is ${policy}; jobs need noeviction (redis-cli config set maxmemory-policy noeviction)`,
    )
}

const evictionPolicy = async (redis: Redis): Promise<string> => {
  const info = await redis.info('memory')
  return /maxmemory_policy:(\S+)/.exec(info)?.[1] ?? 'unknown'
}

/** Share of Redis' memory in use, 0 where it has no limit. */
export const memoryShare = async (redis: Redis): Promise<number> => {
  const info = await redis.info('memory')
  const most = Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? 0)
  return most === 0 ? 0 : Number(/^used_memory:(\d+)/m.exec(info)?.[1] ?? 0) / most
}
