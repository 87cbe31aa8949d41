import { setTimeout as wait } from 'node:timers/promises'
import { settings } from '../../config/env.ts'
import { database, sql, sqlOne } from '../../db/connection.ts'

/**
 * Deadlocks that PostgreSQL has broken in this test's database: repeating the work hides them from who asked. A connection reports what
 * it met with its first statement a second later, so each of the pool makes one.
 */
export const deadlocks = async (): Promise<number> => {
  await wait(1_100)
  await Promise.all(Array.from({ length: settings.databasePool }, () => sql(database(), 'select pg_sleep(0.05)')))
  const row = await sqlOne<{ deadlocks: number }>(
    database(),
    'select deadlocks from pg_stat_database where datname = current_database()',
  )
  return row?.deadlocks ?? -1
}
