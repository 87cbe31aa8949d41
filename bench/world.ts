import './variables.ts'
import { settings } from '../config/env.ts'
import { closeDatabase } from '../db/connection.ts'
import { freshDatabase, leaveDatabase } from '../test/support/database.ts'
import type { Database } from '../test/support/database.ts'
import { startServices, stopServices, testRedisUrl } from '../test/support/services.ts'

/** A PostgreSQL that waits for the disk and a Redis that keeps its log, for one bench alone. */
export const withWorld = async <T>(work: (database: Database) => Promise<T>): Promise<T> => {
  await startServices({ durable: true })
  settings.redisUrl = testRedisUrl()
  process.env.REDIS_URL = settings.redisUrl
  try {
    const database = await freshDatabase()
    return await work(database)
  } finally {
    await leaveDatabase()
    await closeDatabase()
    await stopServices()
  }
}
