import { openRedis, redisAnswers } from '../../api/lib/redis.ts'
import { settings } from '../../config/env.ts'
import { until } from './until.ts'

/** Opens the connection of the API in this process, and waits until it is there: requests go on without it before. */
export const connectRedis = async () => {
  openRedis(settings.redisUrl)
  await until(redisAnswers, { what: 'the connection to Redis' })
}
