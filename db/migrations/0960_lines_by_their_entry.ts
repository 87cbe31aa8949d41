import type { Knex } from 'knex'
import { partsOf, wall } from './ledger-support.ts'

/**
 * From here on a line names its entry by id, and a trigger compares book, period and day with those of the entry. The foreign key over all of them was looked
 * up along an index of periods while a table had no statistics: a first batch of entries read each of them for each line. Lines of before are checked by the
 * next migration, in a transaction without this one's lock.
 */
export const up = async (knex: Knex) => {
  // Entries that are being posted end first.
  await knex.raw(`lock table journal_entry, journal_line in share row exclusive mode`)
  await wall(
    knex,
    'journal_line_entry_wall',
    `
    declare
      wrong uuid;
    begin
      select l.entry_id into wrong
        from (select distinct tenant_id, entry_id, book_id, period_id, posting_date from lines) l
        left join lateral (select x.book_id, x.period_id, x.posting_date from journal_entry x
          where x.tenant_id = l.tenant_id and x.id = l.entry_id offset 0) e on true
        where (l.book_id, l.period_id, l.posting_date) is distinct from (e.book_id, e.period_id, e.posting_date)
        limit 1;
      if found then
        raise exception 'a line is of another book, period or day than its entry %', wrong
          using errcode = '23503', table = 'journal_line', constraint = 'journal_line_of_entry';
      end if;
      return null;
    end`,
    'set enable_seqscan = off',
  )
  for (const table of ['journal_line', ...partsOf('journal_line')])
    await knex.raw(`
      create trigger journal_line_entry_wall after insert on ${table} referencing new table as lines
      for each statement execute function journal_line_entry_wall()`)
  // A foreign key of the whole cannot be left unchecked; those of its parts can.
  for (const part of partsOf('journal_line'))
    await knex.raw(
      `alter table ${part} add constraint journal_line_of_entry foreign key (tenant_id, entry_id) references journal_entry (tenant_id, id) not valid`,
    )
}
