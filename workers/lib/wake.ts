import { settings } from '../../config/env.ts'
import type { RedisConnection } from '../../config/redis.ts'
import { onWake } from '../../db/lib/wake.ts'
import { isReady } from './redis.ts'

/** The channel on which commits tell the relay of their jobs; the API's processes publish there too. */
export const wakeChannel = () => `${settings.redisPrefix}:wake`

/** Commits of this process wake the relay through Redis: fire and forget, nothing while Redis is away. Answers how to stop. */
export const wakeThrough = (redis: RedisConnection): (() => void) => {
  const channel = wakeChannel()
  let isWaking = false
  onWake(() => {
    // One message tells of everything that commits in the same turn.
    if (isWaking || !isReady(redis)) return
    isWaking = true
    setImmediate(() => {
      isWaking = false
      redis.publish(channel, '').catch(() => {})
    })
  })
  return () => onWake(() => {})
}
