import type { Knex } from 'knex'

type Counting = {
  /** The name that the rows are counted under. */
  list: string
  table: string
  /** Those by which the table's rows are counted. */
  columns: readonly string[]
  /** SQL of the fact, which is never null; each `:row` stands for the row. */
  fact: string
}

/** Counts the rows of a table that have a fact, as `countRows` counts all of them. Rows without it cost nothing. */
export const countFact = async (knex: Knex, { list, table, columns, fact }: Counting) => {
  const by = ['list', 'tenant_id', ...columns].join(', ')
  const has = (row: string) => `(${fact.replaceAll(':row', row)})`
  const key = (row: string) => ['tenant_id', ...columns].map((column) => `${row}.${column}`).join(', ')
  const one = (row: string, n: string, not: string) =>
    `select '${list}', ${key(row)}, ${n} where tg_op <> '${not}' and ${has(row)}`
  // The purge of a tenant takes its counts away with everything else.
  await knex.raw(`
    create function ${list}_counted() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
    begin
      if coalesce(current_setting('app.purging', true), '') = 'on' then return null; end if;
      insert into list_count (${by}, n) ${one('old', '-1', 'INSERT')} union all ${one('new', '1', 'DELETE')};
      return null;
    end $$`)
  await knex.raw(`revoke all on function ${list}_counted() from public`)
  const trigger = (name: string, when: string, condition: string) =>
    knex.raw(
      `create trigger ${list}_count_${name} after ${when} on ${table} for each row when (${condition}) execute function ${list}_counted()`,
    )
  await trigger('added', 'insert', has('new'))
  await trigger('removed', 'delete', has('old'))
  await trigger(
    'moved',
    'update',
    `(${has('old')} or ${has('new')}) and (${has('old')}, ${key('old')}) is distinct from (${has('new')}, ${key('new')})`,
  )
  await knex.raw(
    `insert into list_count (${by}, n, folded) select '${list}', ${key('r')}, count(*), true from ${table} r where ${has('r')} group by ${key('r')}`,
  )
}
