import type { Knex } from 'knex'
import { settings } from '../../config/env.ts'
import { database, sql, sqlOne } from '../../db/lib/connection.ts'

/**
 * Deadlocks that PostgreSQL has broken in this test's database: repeating the work hides them from who asked. A connection keeps for a
 * second what it met, unless it is told to report it: each of the pool is told, all at once.
 */
export const deadlocks = async (): Promise<number> => {
  const report = () => sql(database(), 'select pg_stat_force_next_flush(), pg_sleep(0.05)')
  await Promise.all(Array.from({ length: settings.databasePool }, report))
  const row = await sqlOne<{ deadlocks: number }>(
    database(),
    'select deadlocks from pg_stat_database where datname = current_database()',
  )
  return row?.deadlocks ?? -1
}

/** Tells whether a connection of this test's database waits for a lock of another. */
export const waitsForLock = async (admin: Knex): Promise<boolean> =>
  (await sql(admin, `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`))
    .length > 0
