import type { Knex } from 'knex'
import { partsOf } from './ledger-support.ts'

/**
 * Counts the entries that have a line of a house, by house and book. All lines of an entry are written by one statement, so that each entry is counted once, and
 * neither lines nor entries are changed afterwards. The counts stand under a name of their own: an entry may have lines of several houses.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`
    create function journal_line_counted() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
    begin
      insert into list_count (tenant_id, list, property_id, book_id, n)
      select l.tenant_id, 'journal_entry_of_house', l.property_id, l.book_id, count(distinct l.entry_id) from lines l
      where l.property_id is not null group by 1, 3, 4;
      return null;
    end $$`)
  await knex.raw(`revoke all on function journal_line_counted() from public`)
  for (const table of ['journal_line', ...partsOf('journal_line')])
    await knex.raw(`
      create trigger journal_line_counted after insert on ${table} referencing new table as lines
      for each statement execute function journal_line_counted()`)
  await knex.raw(`
    insert into list_count (tenant_id, list, property_id, book_id, n, folded)
    select tenant_id, 'journal_entry_of_house', property_id, book_id, count(distinct entry_id), true from journal_line
    where property_id is not null group by tenant_id, property_id, book_id`)
}
