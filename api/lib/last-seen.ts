import { LRUCache } from 'lru-cache'
import { lastSeenKey, seenField } from '../../config/last-seen.ts'
import type { Seen } from '../../config/last-seen.ts'
import { sessionLimits } from '../../config/limits.ts'
import { quickly } from './redis.ts'

const everyMs = sessionLimits.lastSeenMinutes * 60_000
const noted = new LRUCache<string, number>({ max: 10_000 })

/** Notes that a session or a key was used, at most every five minutes. It is not awaited; a job stores it. */
export const noteSeen = (seen: Seen, address: string, at: Date): void => {
  const field = seenField(seen)
  const now = at.getTime()
  if (now - (noted.get(field) ?? 0) < everyMs) return
  noted.set(field, now)
  void quickly((redis) => redis.hset(lastSeenKey, field, `${now}|${address}`))
}
