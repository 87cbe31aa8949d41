import type { Knex } from 'knex'
import { partsOf, wall } from './ledger-support.ts'
import { sweepFunction, tenantTable } from './support.ts'

const tenant = `nullif(current_setting('app.tenant_id', true), '')::uuid`

/**
 * The different descriptions and memos of a book, each once: what posts by itself repeats a few of them. Words are looked up among these, and the entries of
 * a text by an index in their order.
 */
export const up = async (knex: Knex) => {
  // Entries that are being posted end first: from here on each is seen by the fill or by the trigger.
  await knex.raw(`lock table journal_line in share row exclusive mode`)
  await tenantTable(
    knex,
    'journal_text',
    `book_id uuid not null,
     text text not null,
     plain text not null generated always as (lower(regexp_replace(normalize(text, NFKD), '[\\u0300-\\u036f]', '', 'g'))) stored,
     primary key (tenant_id, book_id, text),
     constraint journal_text_length check (length(text) between 1 and 300),
     constraint journal_text_book foreign key (tenant_id, book_id) references book (tenant_id, id)`,
    { grant: 'select' },
  )
  await knex.raw(`create index journal_text_words on journal_text using gin (tenant_id, book_id, plain gin_trgm_ops)`)
  await knex.raw(
    `create index journal_entry_text on journal_entry (tenant_id, book_id, description, posting_date, sequence)`,
  )
  await knex.raw(
    `create index journal_line_memo on journal_line (tenant_id, book_id, memo, posting_date) where memo <> ''`,
  )
  await knex.raw(`
    insert into journal_text (tenant_id, book_id, text)
    select tenant_id, book_id, description from journal_entry union select tenant_id, book_id, memo from journal_line where memo <> ''`)
  await wall(
    knex,
    'journal_texts',
    `
    begin
      insert into journal_text (tenant_id, book_id, text)
        select tenant_id, book_id, text from (
          select e.tenant_id, e.book_id, e.description as text
          from (select distinct l.tenant_id, l.entry_id from lines l) u
          cross join lateral (select x.tenant_id, x.book_id, x.description from journal_entry x
            where x.tenant_id = u.tenant_id and x.id = u.entry_id offset 0) e
          union
          select l.tenant_id, l.book_id, l.memo from lines l where l.memo <> '') t
        order by 1, 2, 3
        on conflict do nothing;
      return null;
    end`,
    'set enable_seqscan = off',
  )
  for (const table of ['journal_line', ...partsOf('journal_line')])
    await knex.raw(`
      create trigger journal_texts after insert on ${table} referencing new table as lines
      for each statement execute function journal_texts()`)
  await byWords(knex)
}

/** Patterns use no index through row-level security, so this asks as the owner, within the tenant of the transaction. */
const byWords = async (knex: Knex) => {
  const head = `journal_texts_like(of_book uuid, patterns text[], most int)`
  await sweepFunction(knex, head, 'found text', `select null::text where false`)
  await knex.raw(`
    create or replace function ${head} returns table (found text)
    language plpgsql stable security definer set search_path = public, pg_temp set max_parallel_workers_per_gather = 0 as $$
    begin
      return query execute format('select t.text from journal_text t where t.tenant_id = %L and t.book_id = %L%s limit %s', ${tenant}, of_book,
        (select string_agg(format(' and t.plain like %L', p), '') from unnest(patterns) p), most);
    end $$`)
}
