import type { Knex } from 'knex'
import { appendOnly, tenantTable } from './support.ts'

const refers = (column: string, table: string) =>
  `foreign key (tenant_id, ${column}) references ${table} (tenant_id, id)`

/** Series of numbers without gaps, and the jumps that people recorded. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'number_series',
    `book_id uuid not null,
     kind text not null,
     scope_id uuid,
     year int,
     prefix text not null default '',
     next bigint not null default 1,
     skipped bigint not null default 0,
     version int not null default 1,
     created_at timestamptz not null default now(),
     constraint number_series_once unique nulls not distinct (tenant_id, book_id, kind, scope_id, year),
     constraint number_series_kind check (kind in ('invoice', 'credit_note', 'receipt', 'rps', 'register_z', 'purchase_order')),
     constraint number_series_prefix check (length(prefix) <= 10),
     constraint number_series_next check (next >= 1 and skipped >= 0 and skipped < next),
     ${refers('book_id', 'book')}`,
  )
  await knex.raw(`create function number_series_grows() returns trigger language plpgsql as $$
    begin
      if new.next < old.next then
        raise exception 'a series only grows' using errcode = 'check_violation', constraint = 'number_series_grows';
      end if;
      return new;
    end $$`)
  await knex.raw(
    `create trigger number_series_grows before update of next on number_series for each row execute function number_series_grows()`,
  )
  await tenantTable(
    knex,
    'number_jump',
    `series_id uuid not null,
     from_number bigint not null,
     to_number bigint not null,
     reason text not null,
     created_by uuid not null,
     created_at timestamptz not null default now(),
     constraint number_jump_grows check (to_number > from_number),
     ${refers('series_id', 'number_series')}`,
    { grant: 'select, insert' },
  )
  await appendOnly(knex, 'number_jump')
  await knex.raw(`create index number_jump_series on number_jump (tenant_id, series_id)`)
}
