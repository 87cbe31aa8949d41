import './variables.ts'
import { totalmem } from 'node:os'
import { settings } from '../config/env.ts'
import { closeDatabase } from '../db/lib/connection.ts'
import { freshDatabase, leaveDatabase } from '../test/support/database.ts'
import type { Database } from '../test/support/database.ts'
import { startServices, stopServices, testRedisUrl } from '../test/support/services.ts'
import { registerModules } from '../db/register.ts'

// As PostgreSQL's manual advises for a machine of its own.
const buffersMb = Math.min(4_096, Math.floor(totalmem() / 4 / 1_048_576))

/** A PostgreSQL that waits for the disk and has a quarter of the memory, and a Redis that keeps its log, for one bench alone. */
export const withWorld = async <T>(work: (database: Database) => Promise<T>): Promise<T> => {
  registerModules()
  await startServices({ durable: true, buffersMb })
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
