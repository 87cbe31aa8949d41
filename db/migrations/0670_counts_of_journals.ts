import type { Knex } from 'knex'
import { countAnew, countRows } from './list-counts-support.ts'

/** Counts by journal, period and connection: lists that are filtered by these, and the number of entries that a period has. */
export const up = async (knex: Knex) => {
  await knex.raw(
    `alter table list_count add column journal_id uuid, add column period_id uuid, add column channel_connection_id uuid`,
  )
  await folding(knex)
  await countAnew(knex, 'journal_entry', ['book_id', 'kind', 'journal_id', 'period_id'])
  await countRows(knex, 'channel_push', ['channel_connection_id', 'status', 'kind'])
  await knex.raw(
    `create index journal_entry_journal on journal_entry (tenant_id, book_id, journal_id, posting_date, sequence)`,
  )
}

/** Adds up the changes of a key, as before, with the further columns in the key. */
const folding = async (knex: Knex) => {
  const columns = [
    'property_id', 'book_id', 'status', 'kind', 'journal_id', 'period_id', 'channel_connection_id',
  ] // oxfmt-ignore
  const key = `tenant_id, list, ${columns.join(', ')}`
  const same = columns.map((column) => `c.${column} is not distinct from k.${column}`).join(' and ')
  await knex.raw(`
    create or replace function fold_list_counts(at_least int) returns bigint
    language sql security definer set search_path = public, pg_temp as $$
      with busy as (select tenant_id, list from list_count where not folded group by 1, 2 having count(*) >= at_least),
      keys as (select distinct ${key} from list_count join busy using (tenant_id, list) where not folded),
      held as (
        select c.tenant_id, c.list, c.seq from keys k
        join list_count c on c.tenant_id = k.tenant_id and c.list = k.list and ${same}
        for update of c skip locked),
      taken as (
        delete from list_count c using held h where c.tenant_id = h.tenant_id and c.list = h.list and c.seq = h.seq returning c.*),
      made as (
        insert into list_count (${key}, n, folded) select ${key}, sum(n), true from taken group by ${key} having sum(n) <> 0)
      select count(*) from taken
    $$`)
}
