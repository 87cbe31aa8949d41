import type { Knex } from 'knex'
import { sweepFunction } from './support.ts'

/**
 * Names are found by the beginnings of their words. Trigrams of common names have long lists, each of which has to be read; a word has one, and lists of
 * several words are cut with each other inside the index. The words of a query are letters and digits.
 */
export const up = async (knex: Knex) => {
  await knex.raw(
    `create index guest_name_words on guest using gin (tenant_id, array_to_tsvector(array_remove(string_to_array(name_search, ' '), '')))`,
  )
  // Neither patterns nor words use an index through row-level security, so this asks as the owner, within the tenant of the transaction.
  await sweepFunction(
    knex,
    'guests_by_words(words text[], most int)',
    'id uuid',
    `select g.id from guest g
     where g.tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid
       and array_to_tsvector(array_remove(string_to_array(g.name_search, ' '), ''))
         @@ (select string_agg(quote_literal(w) || ':*', ' & ') from unnest(words) w)::tsquery
     limit most`,
  )
  // Without a bound on what it reads, a scan of the whole table can look cheap for a common word.
  await knex.raw(`alter function guests_by_words(text[], int) set enable_seqscan to off`)
}
