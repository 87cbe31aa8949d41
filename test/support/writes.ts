import type { Knex } from 'knex'
import { sql } from '../../db/lib/connection.ts'

const events = ['insert', 'update', 'delete', 'truncate'] as const

/** Transition tables are what a statement really changed: one that changes no row is no write. */
const transition = { insert: 'new', update: 'new', delete: 'old', truncate: null } as const

const rowsOf = (event: (typeof events)[number]) =>
  transition[event] === null ? '' : `referencing ${transition[event]} table as changed`

const prepare = `
  create schema watch;
  create table watch.written (name text not null);
  create function watch.note() returns trigger language plpgsql security definer as $$
  begin
    if tg_op = 'TRUNCATE' then
      insert into watch.written values (tg_table_name);
    elsif exists (select from changed) then
      insert into watch.written values (tg_table_name);
    end if;
    return null;
  end $$;
  do $$
  declare place record;
  begin
    for place in select oid::regclass as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') loop
      ${events
        .map(
          (event) =>
            `execute format('create trigger watch_${event} after ${event} on %s ${rowsOf(event)} for each statement execute function watch.note()', place.name);`,
        )
        .join('\n      ')}
    end loop;
  end $$;`

export type Writes = {
  /** The tables with rows that were written, and committed, since this was asked before; each once, in their order. */
  written: () => Promise<string[]>
}

/**
 * Notes each write to a table of the service in this database, by triggers: a note is committed, or rolled back, with what it tells of.
 * The look at them costs the same however many tables there are. Notes are only added, so that no transaction waits for another's.
 */
export const watchWrites = async (admin: Knex): Promise<Writes> => {
  await admin.raw(prepare)
  return {
    written: async () => {
      const rows = await sql<{ name: string }>(
        admin,
        `with seen as (delete from watch.written returning name) select distinct name from seen order by name`,
      )
      return rows.map(({ name }) => name)
    },
  }
}
