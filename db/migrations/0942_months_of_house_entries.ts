import type { Knex } from 'knex'
import { wall } from './ledger-support.ts'

const ofHouse = 'property_id, book_id, kind, journal_id, late, day'
const ofLine = 'property_id, book_id, kind, journal_id, period_id, late'
const month = (entry: string) => `date_trunc('month', ${entry}.posting_date::timestamp)::date`

/** Counts the entries that have a line of a house by the month of their day as well, for lists that are asked for days. */
export const up = async (knex: Knex) => {
  // Entries that are being posted end first: from here on each is seen by the counts below or by the trigger.
  await knex.raw(`lock table journal_entry, journal_line in share row exclusive mode`)
  await knex.raw(`delete from list_count where list = 'journal_entry_of_house'`)
  await wall(
    knex,
    'journal_line_counted',
    `
    begin
      with line as (
        select l.tenant_id, l.entry_id, l.property_id, l.book_id, e.kind, e.journal_id, l.period_id, e.late, e.day, l.n
        from (select tenant_id, entry_id, property_id, book_id, period_id, count(*) as n from lines group by 1, 2, 3, 4, 5) l
        cross join lateral (select x.kind, x.journal_id, x.late, ${month('x')} as day from journal_entry x
          where x.tenant_id = l.tenant_id and x.id = l.entry_id offset 0) e),
      entry as (
        insert into list_count (tenant_id, list, ${ofHouse}, n)
        select tenant_id, 'journal_entry_of_house', ${ofHouse}, count(distinct entry_id) from line
        where property_id is not null group by tenant_id, ${ofHouse})
      insert into list_count (tenant_id, list, ${ofLine}, n)
      select tenant_id, 'journal_line', ${ofLine}, sum(n) from line group by tenant_id, ${ofLine};
      return null;
    end`,
    'set enable_seqscan = off',
  )
  await knex.raw(`
    insert into list_count (tenant_id, list, ${ofHouse}, n, folded)
    select tenant_id, 'journal_entry_of_house', ${ofHouse}, count(*), true from (
      select distinct l.tenant_id, l.entry_id, l.property_id, l.book_id, e.kind, e.journal_id, e.late, ${month('e')} as day
      from journal_line l join journal_entry e on e.tenant_id = l.tenant_id and e.id = l.entry_id where l.property_id is not null) x
    group by tenant_id, ${ofHouse}`)
}
