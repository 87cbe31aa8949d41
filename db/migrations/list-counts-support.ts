import type { Knex } from 'knex'

/** Triggers that write the changes in a table's number of rows to `list_count`, by these columns, and the number of those that are there. */
export const countRows = async (knex: Knex, table: string, columns: readonly string[]) => {
  const by = ['tenant_id', ...columns].join(', ')
  const definer = `language plpgsql security definer set search_path = public, pg_temp`
  // The purge of a tenant takes its counts away with everything else.
  const unlessPurged = `if coalesce(current_setting('app.purging', true), '') = 'on' then return null; end if;`
  const summed = (sign: '' | '-') =>
    `insert into list_count (list, ${by}, n) select '${table}', ${by}, ${sign}count(*) from changed group by ${by};`
  await knex.raw(`
    create function ${table}_counted() returns trigger ${definer} as $$
    begin
      ${unlessPurged}
      if tg_op = 'INSERT' then ${summed('')}
      else ${summed('-')}
      end if;
      return null;
    end $$`)
  const each = (row: string) => columns.map((column) => `${row}.${column}`).join(', ')
  if (columns.length > 0)
    await knex.raw(`
    create function ${table}_recounted() returns trigger ${definer} as $$
    begin
      insert into list_count (list, ${by}, n)
      values ('${table}', old.tenant_id, ${each('old')}, -1), ('${table}', new.tenant_id, ${each('new')}, 1);
      return null;
    end $$`)
  for (const name of [`${table}_counted`, ...(columns.length > 0 ? [`${table}_recounted`] : [])])
    await knex.raw(`revoke all on function ${name}() from public`)
  const trigger = (name: string, when: string, end: string) =>
    knex.raw(`create trigger ${table}_${name} after ${when} on ${table} ${end}`)
  const statement = `for each statement execute function ${table}_counted()`
  await trigger('count_added', 'insert', `referencing new table as changed ${statement}`)
  await trigger('count_removed', 'delete', `referencing old table as changed ${statement}`)
  if (columns.length > 0)
    await trigger(
      'count_moved',
      'update',
      `for each row when ((${each('old')}) is distinct from (${each('new')})) execute function ${table}_recounted()`,
    )
  await knex.raw(
    `insert into list_count (list, ${by}, n, folded) select '${table}', ${by}, count(*), true from ${table} group by ${by}`,
  )
}

/** Counts a table's rows by other columns from now on. */
export const countAnew = async (knex: Knex, table: string, columns: readonly string[]) => {
  for (const name of ['count_added', 'count_removed', 'count_moved'])
    await knex.raw(`drop trigger ${table}_${name} on ${table}`)
  await knex.raw(`drop function ${table}_counted(), ${table}_recounted()`)
  await knex.raw(`delete from list_count where list = '${table}'`)
  await countRows(knex, table, columns)
}
