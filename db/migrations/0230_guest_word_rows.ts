import type { Knex } from 'knex'
import { sweepFunction, tenantTable } from './support.ts'

const tenant = `nullif(current_setting('app.tenant_id', true), '')::uuid`

/**
 * Words of the names of guests, one row each. A bitmap of an inverted index holds every guest of a common name before the first is answered; a scan of these
 * rows ends when it has found enough.
 */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'guest_word',
    `guest_id uuid not null,
     word text collate "C" not null,
     primary key (tenant_id, guest_id, word),
     foreign key (tenant_id, guest_id) references guest (tenant_id, id) on delete cascade`,
  )
  await knex.raw(`create index guest_word_beginning on guest_word (tenant_id, word, guest_id)`)
  await knex.raw(`
    create function guest_words() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' then
        delete from guest_word where tenant_id = old.tenant_id and guest_id = old.id;
      end if;
      if new.status <> 'erased' then
        insert into guest_word (tenant_id, guest_id, word)
        select distinct new.tenant_id, new.id, w from unnest(string_to_array(new.name_search, ' ')) w where w <> '';
      end if;
      return null;
    end $$`)
  await knex.raw(`create trigger guest_words_added after insert on guest for each row execute function guest_words()`)
  await knex.raw(
    `create trigger guest_words_changed after update of name_search, status on guest for each row
     when (old.name_search is distinct from new.name_search or new.status = 'erased') execute function guest_words()`,
  )
  await knex.raw(
    `insert into guest_word (tenant_id, guest_id, word)
     select distinct g.tenant_id, g.id, w from guest g, unnest(string_to_array(g.name_search, ' ')) w where w <> '' and g.status <> 'erased'`,
  )
  await knex.raw(`drop function guests_by_words(text[], int)`)
  await knex.raw(`drop index guest_name_words`)
  await knex.raw(`drop function guests_named(text[], int)`)
  await byWords(knex)
  await byPattern(knex)
}

/** Both functions put the words into the text as quoted literals, so that each search has a plan of its own. */
const byWords = async (knex: Knex) => {
  await sweepFunction(knex, 'guests_by_words(words text[], most int)', 'id uuid', `select null::uuid where false`)
  await knex.raw(`
    create or replace function guests_by_words(words text[], most int) returns table (id uuid)
    language plpgsql stable security definer set search_path = public, pg_temp set max_parallel_workers_per_gather = 0 as $$
    declare
      -- One or two letters begin too many names: they are looked for among those that the other words find.
      long text[] := (select array_agg(w order by length(w) desc) from unnest(words) w where length(w) > 2);
      short text[];
      found text;
    begin
      if long is null then
        long := (select array_agg(w) from (select w from unnest(words) w order by length(w) desc limit 1) x);
      end if;
      short := (select array_agg(w) from unnest(words) w where w <> all (long));
      found := format('select f.guest_id from guest_word f where f.tenant_id = %L and f.word >= %L and f.word < %L', ${tenant}, long[1],
        long[1] || chr(1114111));
      found := found || coalesce((select string_agg(format(
        ' and exists (select from guest_word w where w.tenant_id = %L and w.guest_id = f.guest_id and w.word >= %L and w.word < %L)',
        ${tenant}, w, w || chr(1114111)), '') from unnest(long[2:]) w), '');
      if short is null then
        return query execute format('select distinct x.guest_id from (%s limit %s) x', found, most);
      else
        return query execute format('select distinct x.guest_id from (%s limit %s) x where %s limit %s', found, 5 * most,
          (select string_agg(format('(select '' '' || g.name_search like %L from guest g where g.tenant_id = %L and g.id = x.guest_id)',
            '% ' || w || '%', ${tenant}), ' and ') from unnest(short) w), most);
      end if;
    end $$`)
}

const byPattern = async (knex: Knex) => {
  await sweepFunction(knex, 'guests_named(patterns text[], most int)', 'id uuid', `select null::uuid where false`)
  await knex.raw(`
    create or replace function guests_named(patterns text[], most int) returns table (id uuid)
    language plpgsql stable security definer set search_path = public, pg_temp set max_parallel_workers_per_gather = 0 as $$
    begin
      return query execute format('select g.id from guest g where g.tenant_id = %L%s limit %s', ${tenant},
        (select string_agg(format(' and g.name_search like %L', p), '') from unnest(patterns) p), most);
    end $$`)
}
