import { settings } from '../../config/env.ts'
import { lastSeenKey, readSeen } from '../../config/last-seen.ts'
import { warnOfKeys, purgeOver, writeLastSeen } from '../../db/auth/index.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { flushLastSeen, purgeSessions, warnExpiringKeys } from '../../jobs/auth.ts'
import { onDatabase, processor } from '../lib/processor.ts'
import { connectRedis, whenReady } from '../lib/redis.ts'

// An entry that came anew meanwhile stays for the next minute.
const takeOff = `if redis.call('hget', KEYS[1], ARGV[1]) == ARGV[2] then return redis.call('hdel', KEYS[1], ARGV[1]) end return 0`

const flush = processor(flushLastSeen, async (ctx) => {
  const redis = connectRedis('commands')
  try {
    if (!(await whenReady(redis, 2_000))) return ctx.skip('redis_away')
    const key = `${settings.redisPrefix}:${lastSeenKey}`
    const noted = Object.entries(await redis.hgetall(key))
    const entries = noted.flatMap(([field, value]) => readSeen(field, value) ?? [])
    await ctx.finish((trx) => writeLastSeen(trx, entries))
    const pipeline = redis.pipeline()
    for (const [field, value] of noted) pipeline.eval(takeOff, 1, key, field, value)
    return await pipeline.exec()
  } finally {
    redis.disconnect()
  }
})

const purge = onDatabase(purgeSessions, async (trx) => {
  if (await purgeOver(trx)) await enqueue(trx, purgeSessions, {})
})

const warn = onDatabase(warnExpiringKeys, warnOfKeys)

export const processors = [flush, purge, warn]
