import type { Knex } from 'knex'

/** Digits and letters of a tax number. */
const bare = (column: string) => `upper(regexp_replace(${column}, '[^0-9A-Za-z]', '', 'g'))`

/**
 * The CPF of a book of a natural person is sealed, and found by its blind index. Columns and an index of a small table; numbers that are plain are sealed tenant by
 * tenant, by `provisionParts`, since the key is not the database's. From here on no plain one is written.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table book
    add column sealed bytea,
    add column document_index bytea,
    add constraint book_sealed check (sealed is null or document is null) not valid,
    add constraint book_document_index_sealed check (document_index is null or (sealed is not null and length(document_index) = 16)) not valid`)
  await knex.raw(`alter table book validate constraint book_sealed, validate constraint book_document_index_sealed`)
  await knex.raw(
    `create unique index book_document_index on book (tenant_id, country_code, document_index) where document_index is not null`,
  )
  // The number of a company is kept bare, so that it is the same one with dots; a book whose number another one has bare keeps its own.
  await knex.raw(`
    update book b set document = ${bare('b.document')} from
      (select tenant_id, ${bare('document')} as number, min(id::text)::uuid as first from book where country_code = 'BR' group by 1, 2) n
    where b.country_code = 'BR' and b.tenant_id = n.tenant_id and b.id = n.first and ${bare('b.document')} = n.number and b.document <> n.number and length(n.number) = 14
      and not exists (select from book o where o.tenant_id = b.tenant_id and o.country_code = 'BR' and o.document = n.number)`)
  await knex.raw(`
    create function refuse_plain_document() returns trigger language plpgsql as $$
    begin
      raise exception 'the number of a person is kept sealed' using errcode = 'check_violation', constraint = 'book_document_of_person';
    end $$`)
  await knex.raw(`
    create trigger book_document_of_person before insert or update of document on book for each row
    when (new.country_code = 'BR' and length(regexp_replace(new.document, '[^0-9A-Za-z]', '', 'g')) = 11) execute function refuse_plain_document()`)
}
