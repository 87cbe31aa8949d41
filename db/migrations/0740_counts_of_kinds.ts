import type { Knex } from 'knex'
import { wall } from './ledger-support.ts'

const columns = 'property_id, book_id, kind, journal_id, period_id'

/**
 * Counts the lines of the ledger by the kind and the journal of their entries as well, in the same statement as the entries of a house. The balances count lines
 * by account, house and period, which say nothing of entries. The periods have an index of their own, so that a year reads its twelve alone.
 */
export const up = async (knex: Knex) => {
  // Entries that are being posted end first: from here on each is seen by the count below or by the trigger.
  await knex.raw(`lock table journal_line in share row exclusive mode`)
  await wall(
    knex,
    'journal_line_counted',
    `
    begin
      insert into list_count (tenant_id, list, property_id, book_id, n)
      select l.tenant_id, 'journal_entry_of_house', l.property_id, l.book_id, count(distinct l.entry_id) from lines l
      where l.property_id is not null group by 1, 3, 4;
      insert into list_count (tenant_id, list, ${columns}, n)
      select l.tenant_id, 'journal_line', l.property_id, l.book_id, e.kind, e.journal_id, l.period_id, sum(l.n)
      from (select tenant_id, entry_id, property_id, book_id, period_id, count(*) as n from lines group by 1, 2, 3, 4, 5) l
      cross join lateral (select x.kind, x.journal_id from journal_entry x
        where x.tenant_id = l.tenant_id and x.id = l.entry_id offset 0) e
      group by 1, 3, 4, 5, 6, 7;
      return null;
    end`,
    'set enable_seqscan = off',
  )
  await knex.raw(`
    insert into list_count (tenant_id, list, ${columns}, n, folded)
    select l.tenant_id, 'journal_line', l.property_id, l.book_id, e.kind, e.journal_id, l.period_id, count(*), true
    from journal_line l join journal_entry e on e.tenant_id = l.tenant_id and e.id = l.entry_id group by 1, 3, 4, 5, 6, 7`)
  await knex.raw(
    `create index list_count_period on list_count (tenant_id, period_id, list) where period_id is not null`,
  )
}
