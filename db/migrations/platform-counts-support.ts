import type { Knex } from 'knex'

/**
 * Triggers that write the changes in a table's number of rows to `platform_count`, by these columns: for lists of operators, over all tenants. They add rows and
 * change none, as those of `list_count` do, so that no tenant waits for another. What a purge takes away is counted too.
 */
export const countForPlatform = async (knex: Knex, table: string, columns: readonly string[]) => {
  const definer = `language plpgsql security definer set search_path = public, pg_temp`
  const names = ['list', ...columns].join(', ')
  const grouped = columns.length === 0 ? '' : `group by ${columns.join(', ')}`
  const selected = [`'${table}'`, ...columns].join(', ')
  const summed = (sign: '' | '-') =>
    `insert into platform_count (${names}, n) select ${selected}, ${sign}count(*) from changed ${grouped} having count(*) > 0;`
  await knex.raw(`
    create function ${table}_counted_for_platform() returns trigger ${definer} as $$
    begin
      if tg_op = 'INSERT' then ${summed('')}
      else ${summed('-')}
      end if;
      return null;
    end $$`)
  await knex.raw(`revoke all on function ${table}_counted_for_platform() from public`)
  const statement = `for each statement execute function ${table}_counted_for_platform()`
  await knex.raw(
    `create trigger ${table}_platform_added after insert on ${table} referencing new table as changed ${statement}`,
  )
  await knex.raw(
    `create trigger ${table}_platform_removed after delete on ${table} referencing old table as changed ${statement}`,
  )
  if (columns.length > 0) await recount(knex, table, columns, definer)
  await knex.raw(
    `insert into platform_count (${names}, n, folded) select ${selected}, count(*), true from ${table} ${grouped} having count(*) > 0`,
  )
}

/** The trigger for rows that change one of the columns. */
const recount = async (knex: Knex, table: string, columns: readonly string[], definer: string) => {
  const each = (row: string) => columns.map((column) => `${row}.${column}`).join(', ')
  await knex.raw(`
    create function ${table}_recounted_for_platform() returns trigger ${definer} as $$
    begin
      insert into platform_count (list, ${columns.join(', ')}, n)
      values ('${table}', ${each('old')}, -1), ('${table}', ${each('new')}, 1);
      return null;
    end $$`)
  await knex.raw(`revoke all on function ${table}_recounted_for_platform() from public`)
  await knex.raw(
    `create trigger ${table}_platform_moved after update on ${table} for each row
     when ((${each('old')}) is distinct from (${each('new')})) execute function ${table}_recounted_for_platform()`,
  )
}
