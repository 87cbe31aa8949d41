import type { Knex } from 'knex'
import { wall } from './ledger-support.ts'
import { countAnew } from './list-counts-support.ts'

const columns = 'property_id, book_id, kind, journal_id, period_id, late'

/** Counts entries of the ledger, and their lines, by whether they came late as well. Late ones have an index in the order of their list. */
export const up = async (knex: Knex) => {
  // Entries that are being posted end first: from here on each is seen by the counts below or by the triggers.
  await knex.raw(`lock table journal_entry, journal_line in share row exclusive mode`)
  await countAnew(knex, 'journal_entry', ['book_id', 'kind', 'journal_id', 'period_id', 'late'])
  await knex.raw(
    `create index journal_entry_late on journal_entry (tenant_id, book_id, posting_date, sequence) where late`,
  )
  await knex.raw(`delete from list_count where list = 'journal_line'`)
  await wall(
    knex,
    'journal_line_counted',
    `
    begin
      insert into list_count (tenant_id, list, property_id, book_id, n)
      select l.tenant_id, 'journal_entry_of_house', l.property_id, l.book_id, count(distinct l.entry_id) from lines l
      where l.property_id is not null group by 1, 3, 4;
      insert into list_count (tenant_id, list, ${columns}, n)
      select l.tenant_id, 'journal_line', l.property_id, l.book_id, e.kind, e.journal_id, l.period_id, e.late, sum(l.n)
      from (select tenant_id, entry_id, property_id, book_id, period_id, count(*) as n from lines group by 1, 2, 3, 4, 5) l
      cross join lateral (select x.kind, x.journal_id, x.late from journal_entry x
        where x.tenant_id = l.tenant_id and x.id = l.entry_id offset 0) e
      group by 1, 3, 4, 5, 6, 7, 8;
      return null;
    end`,
    'set enable_seqscan = off',
  )
  await knex.raw(`
    insert into list_count (tenant_id, list, ${columns}, n, folded)
    select l.tenant_id, 'journal_line', l.property_id, l.book_id, e.kind, e.journal_id, l.period_id, e.late, count(*), true
    from journal_line l join journal_entry e on e.tenant_id = l.tenant_id and e.id = l.entry_id group by 1, 3, 4, 5, 6, 7, 8`)
}
