import { settings } from '../../config/env.ts'
import { log } from '../../config/log.ts'
import { connectTo } from '../../config/redis.ts'
import type { RedisConnection } from '../../config/redis.ts'

let client: RedisConnection | null = null
// The breaker: left alone until then, and after that asked by one request at a time until it answers.
let closedUntil = 0
let isTrying = false

let patienceMs = settings.redisPatienceMs
const restMs = 1_000

/** Connects the process to Redis; commands never queue while it is away. */
export const openRedis = (url = settings.redisUrl, patience = settings.redisPatienceMs): void => {
  client?.disconnect()
  patienceMs = patience
  closedUntil = 0
  isTrying = false
  if (!url) {
    client = null
    return
  }
  client = connectTo(
    {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: patienceMs,
      // One that still owes an answer then is dead on the other side, and made anew.
      socketTimeout: 2_000,
      connectTimeout: 2_000,
      keyPrefix: `${settings.redisPrefix}:`,
    },
    url,
  )
  client.on('error', (error: Error) => log.debug({ err: error }, 'redis'))
}

export const closeRedis = (): void => {
  client?.disconnect()
  client = null
}

/** Tells whether Redis answered lately; readiness says degraded while it does not. */
export const redisAnswers = (): boolean => client?.status === 'ready' && closedUntil === 0

const slow = Symbol('slow')

/**
 * Runs one short piece of work on Redis. Answers null where Redis is down or took longer than its patience; it is then left alone for
 * a second, and after that one request at a time finds out whether it answers again: a Redis that hangs costs nearly all requests
 * nothing. The caller must be correct without it.
 */
export const quickly = async <T>(work: (redis: RedisConnection) => Promise<T>): Promise<T | null> => {
  const redis = client
  if (!redis || redis.status !== 'ready' || Date.now() < closedUntil || isTrying) return null
  const isTrial = closedUntil > 0
  isTrying = isTrial
  let timer: NodeJS.Timeout | undefined
  try {
    const late = new Promise<typeof slow>((resolve) => {
      timer = setTimeout(() => resolve(slow), patienceMs)
    })
    const result = await Promise.race([work(redis), late])
    if (result === slow) closedUntil = Date.now() + restMs
    else if (isTrial) closedUntil = 0
    return result === slow ? null : result
  } catch {
    closedUntil = Date.now() + restMs
    return null
  } finally {
    clearTimeout(timer)
    if (isTrial) isTrying = false
  }
}

/** Says that there is work: fire and forget, the relay's poll finds it anyway. */
export const publishWake = (): void => {
  const redis = client
  if (redis?.status === 'ready') redis.publish(`${settings.redisPrefix}:wake`, '').catch(() => {})
}
