import type { Knex } from 'knex'
import { makeKnex, sql, sqlOne } from '../../db/lib/connection.ts'
import type { World } from '../support/world.ts'

/** Rows read by table, one after the other and by an index, the bytes that it takes with its indexes, and the pages read of all that. */
export type Tables = Readonly<Record<string, [scanned: number, found: number, bytes: number, pages: number]>>

/** Totals of a run up to the end of a day. */
export type Mark = {
  day: number
  bookings: number
  /** Requests that were done. */
  requests: number
  ms: number
  pages: number
  rows: number
  bytes: number
  /** Of the days that are compared alone: what looks at each table reads more than a booking does. */
  tables: Tables
}
type Totals = Pick<Mark, 'pages' | 'rows' | 'bytes'>

/** Counts of a connection reach the others with its next statement at the latest. */
const flush = 'pg_stat_force_next_flush() is null as told'

const totalsOf = async (admin: Knex): Promise<Totals> => {
  await sql(admin, `select ${flush}`)
  const row = await sqlOne<Totals>(
    admin,
    `select (blks_hit + blks_read)::float8 as pages, (tup_returned + tup_fetched)::float8 as rows, pg_database_size(datname)::float8 as bytes
     from pg_stat_database where datname = current_database()`,
  )
  if (!row) throw new Error('the database does not count')
  return { pages: row.pages, rows: row.rows, bytes: row.bytes }
}

const tablesOf = async (admin: Knex): Promise<Tables> => {
  const tables = await sql<{ name: string; scanned: number; found: number; bytes: number; pages: number }>(
    admin,
    `select relname as name, coalesce(seq_tup_read, 0)::float8 as scanned, coalesce(idx_tup_fetch, 0)::float8 as found,
       pg_total_relation_size(relid)::float8 as bytes,
       (coalesce(heap_blks_hit, 0) + coalesce(heap_blks_read, 0) + coalesce(idx_blks_hit, 0) + coalesce(idx_blks_read, 0))::float8 as pages
     from pg_stat_user_tables join pg_statio_user_tables using (relid, schemaname, relname)
     union all
     select 'catalogue', 0, 0, 0, sum(coalesce(heap_blks_hit, 0) + coalesce(heap_blks_read, 0) + coalesce(idx_blks_hit, 0) + coalesce(idx_blks_read, 0))::float8
     from pg_statio_sys_tables`,
  )
  return Object.fromEntries(
    tables.map(({ name, scanned, found, bytes, pages }) => [name, [scanned, found, bytes, pages]]),
  )
}

/**
 * Does as autovacuum of PostgreSQL does within a minute of real life, since days pass in seconds, by the thresholds of each table: it gathers statistics of tables of
 * which a tenth has changed, without which plans are for empty tables, and clears away the dead rows of those where they are a fifth.
 */
const vacuum = async (admin: Knex): Promise<void> => {
  const tables = await sql<{ name: string; isFull: boolean }>(
    admin,
    `select relid::regclass::text as name, n_dead_tup > 50 + 0.2 * n_live_tup as is_full from pg_stat_user_tables
     join pg_class on oid = relid
     where n_dead_tup > 50 + 0.2 * n_live_tup or n_mod_since_analyze > 0.1 * n_live_tup
       + coalesce((select option_value::int from pg_options_to_table(reloptions) where option_name = 'autovacuum_analyze_threshold'), 50)`,
  )
  for (const { name, isFull } of tables) await sql(admin, `${isFull ? 'vacuum analyze' : 'analyze'} ${name}`)
}

/** Takes marks of a run on a connection of its own. What it reads itself, and what it reads to keep up, is left out of them. */
export const openMeasure = ({ database }: World) => {
  const admin = makeKnex(database.adminUrl, 1)
  const apart = { pages: 0, rows: 0 }
  const leavingOut = async (work: () => Promise<void>): Promise<void> => {
    const before = await totalsOf(admin)
    await work()
    const after = await totalsOf(admin)
    apart.pages += after.pages - before.pages
    apart.rows += after.rows - before.rows
  }
  const mark = async (withTables: boolean): Promise<Totals & Pick<Mark, 'tables'>> => {
    const { pages, rows, bytes } = await totalsOf(admin)
    const totals = { pages: pages - apart.pages, rows: rows - apart.rows, bytes }
    let tables: Tables = {}
    if (withTables)
      await leavingOut(async () => {
        tables = await tablesOf(admin)
      })
    return { ...totals, tables }
  }
  return { mark, keepUp: () => leavingOut(() => vacuum(admin)), close: () => admin.destroy() }
}
