import { Redis } from 'ioredis'
import { settings } from '../../config/env.ts'
import { log } from '../../config/log.ts'

let client: Redis | null = null
let closedUntil = 0

const patienceMs = 100
const restMs = 1_000

/** Connects the process to Redis; commands never queue while it is away. */
export const openRedis = (url = settings.redisUrl): void => {
  client?.disconnect()
  closedUntil = 0
  if (!url) {
    client = null
    return
  }
  client = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: patienceMs,
    connectTimeout: 2_000,
    retryStrategy: (times) => Math.min(1_000, times * 50),
    keyPrefix: `${settings.redisPrefix}:`,
  })
  client.on('error', (error: Error) => log.debug({ err: error }, 'redis'))
}

export const closeRedis = (): void => {
  client?.disconnect()
  client = null
}

/** Whether Redis answered lately; readiness says degraded while it does not. */
export const redisAnswers = (): boolean => client?.status === 'ready' && Date.now() >= closedUntil

const slow = Symbol('slow')

/**
 * Runs one short piece of work on Redis. Answers null where Redis is down or took longer than 100 ms; it is then left alone for
 * a second, so that no request waits for it again and again. Whoever calls must be right without it.
 */
export const quickly = async <T>(work: (redis: Redis) => Promise<T>): Promise<T | null> => {
  const redis = client
  if (!redis || redis.status !== 'ready' || Date.now() < closedUntil) return null
  let timer: NodeJS.Timeout | undefined
  try {
    const late = new Promise<typeof slow>((resolve) => {
      timer = setTimeout(() => resolve(slow), patienceMs)
    })
    const result = await Promise.race([work(redis), late])
    if (result !== slow) return result
    closedUntil = Date.now() + restMs
    return null
  } catch {
    closedUntil = Date.now() + restMs
    return null
  } finally {
    clearTimeout(timer)
  }
}

/** Says that a queue has work: fire and forget, the relay's poll finds it anyway. */
export const publishWake = (queue: string): void => {
  const redis = client
  if (redis?.status === 'ready') redis.publish(`${settings.redisPrefix}:wake`, queue).catch(() => {})
}
