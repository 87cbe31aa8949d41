import type { Knex } from 'knex'

const definer = `language plpgsql security definer set search_path = public, pg_temp`
// The purge of a tenant takes its counts away with everything else.
const unlessPurged = `if coalesce(current_setting('app.purging', true), '') = 'on' then return null; end if;`

type Types = Readonly<Record<string, 'date' | 'time'>>

/** The first day of the month of a column; of a time by UTC. */
const monthOf = (row: string, column: string, type: 'date' | 'time') => {
  const day = `${row}."${column}"${type === 'time' ? ` at time zone 'UTC'` : '::timestamp'}`
  return `date_trunc('month', ${day})::date`
}

/**
 * Counts the rows of a table, which `countRows` counts by these columns, by the months of some of their days as well: each under a name of its own
 * (`<table>_by_<column>`), since a list without days would have to add up those of all years. A change writes all that it changes in one statement. The
 * caller holds the table, so that each row is seen by the counts or by the triggers.
 */
export const countByMonths = async (knex: Knex, table: string, columns: readonly string[], days: Types) => {
  const into = `insert into list_count (list, tenant_id, ${[...columns, 'day', 'n'].join(', ')}`
  const key = (row: string) => ['tenant_id', ...columns].map((column) => `${row}.${column}`).join(', ')
  const each = Object.entries(days)
  const summed = (n: string, from: string) =>
    each.map(([column, type]) => {
      const month = monthOf('r', column, type)
      return `select '${table}_by_${column}', ${key('r')}, ${month}, ${n} from ${from} r group by ${key('r')}, ${month}`
    })
  const all = (n: string) =>
    [
      `select '${table}', ${key('r')}, null::date, ${n} from changed r group by ${key('r')}`,
      ...summed(n, 'changed'),
    ].join(' union all ')
  await knex.raw(`
    create or replace function ${table}_counted() returns trigger ${definer} as $$
    begin
      ${unlessPurged}
      if tg_op = 'INSERT' then ${into}) ${all('count(*)')};
      else ${into}) ${all('-count(*)')};
      end if;
      return null;
    end $$`)
  const values = (row: string, n: number) =>
    [
      `('${table}', ${key(row)}, null::date, ${n})`,
      ...each.map(([column, type]) => `('${table}_by_${column}', ${key(row)}, ${monthOf(row, column, type)}, ${n})`),
    ].join(', ')
  await knex.raw(`
    create or replace function ${table}_recounted() returns trigger ${definer} as $$
    begin
      ${into}) values ${values('old', -1)}, ${values('new', 1)};
      return null;
    end $$`)
  await knex.raw(`revoke all on function ${table}_recounted() from public`)
  await knex.raw(`drop trigger if exists ${table}_count_moved on ${table}`)
  const moved = (row: string) => [key(row), ...each.map(([column, type]) => monthOf(row, column, type))].join(', ')
  await knex.raw(
    `create trigger ${table}_count_moved after update on ${table} for each row when ((${moved('old')}) is distinct from (${moved('new')}))
     execute function ${table}_recounted()`,
  )
  for (const rows of summed('count(*), true', table)) await knex.raw(`${into}, folded) ${rows}`)
}

/** Ends the counts of a table by single days, which those by months take the place of. */
export const dropDays = async (knex: Knex, table: string) => {
  for (const name of ['added', 'removed', 'moved']) await knex.raw(`drop trigger ${table}_day_${name} on ${table}`)
  await knex.raw(`drop function ${table}_counted_by_day(), ${table}_recounted_by_day()`)
  await knex.raw(`delete from list_count where list = '${table}_by_day'`)
}
