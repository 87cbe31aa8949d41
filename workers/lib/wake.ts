import { settings } from '../../config/env.ts'
import type { RedisConnection } from '../../config/redis.ts'
import { onWake } from '../../db/wake.ts'
import { isReady } from './redis.ts'

/** Where commits tell the relay of their jobs; the API's processes publish there too. */
export const wakeChannel = () => `${settings.redisPrefix}:wake`

/** Commits of this process wake the relay through Redis: fire and forget, nothing while Redis is away. Answers how to stop. */
export const wakeThrough = (redis: RedisConnection): (() => void) => {
  const channel = wakeChannel()
  const waking = new Set<string>()
  onWake((queue) => {
    // One message tells of everything that commits in the same turn.
    if (waking.has(queue) || !isReady(redis)) return
    waking.add(queue)
    setImmediate(() => {
      waking.delete(queue)
      redis.publish(channel, queue).catch(() => {})
    })
  })
  return () => onWake(() => {})
}
