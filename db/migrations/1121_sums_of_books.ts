import type { Knex } from 'knex'
import { tenantTable } from './support.ts'

const ofProperty = `foreign key (tenant_id, property_id) references property (tenant_id, id)`

/** Dimensions that changes are summed by, with the column of a change. `all` has every change once. */
const keys = {
  all: `''`,
  unitType: 'c.unit_type_id::text',
  segment: 'c.market_segment',
  channel: `coalesce(c.channel_connection_id::text, '')`,
}
const columns = 'tenant_id, property_id, dimension, span, stay_date, changed_on, key, unit_nights, room_revenue'

/** Sums of `changes` by night, dimension, and the day and the month of the change. */
const sumsOf = (changes: string) => `
  select c.tenant_id, c.property_id, k.dimension, s.span, c.stay_date, s.changed_on, k.key, sum(c.unit_nights), sum(c.room_revenue)
  from ${changes} c
  cross join lateral (values ${Object.entries(keys)
    .map(([dimension, key]) => `('${dimension}', ${key})`)
    .join(', ')}) k (dimension, key)
  cross join lateral (values ('day', c.changed_on), ('month', date_trunc('month', c.changed_on)::date)) s (span, changed_on)
  group by c.tenant_id, c.property_id, k.dimension, s.span, c.stay_date, s.changed_on, k.key`

/**
 * Sums of the changes on the books of each night, by the day and by the month of the change: what was on the books at the close of a day is that of the months before
 * it and of the days of its month. A change waits beside the sums until a job adds it to them, in the transaction that takes it away, so that both together are all changes
 * at any moment and bookings do not wait for each other.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`lock table on_the_books_change in share row exclusive mode`)
  await tenantTable(
    knex,
    'on_the_books_sum',
    `property_id uuid not null,
     dimension text not null,
     span text not null,
     stay_date date not null,
     changed_on date not null,
     key text not null,
     unit_nights bigint not null,
     room_revenue bigint not null,
     ${ofProperty},
     primary key (tenant_id, property_id, dimension, span, stay_date, changed_on, key),
     constraint on_the_books_sum_dimension check (dimension in (${Object.keys(keys)
       .map((one) => `'${one}'`)
       .join(', ')})),
     constraint on_the_books_sum_span check (span = 'day' or (span = 'month' and extract(day from changed_on) = 1))`,
    { grant: 'select' },
  )
  await tenantTable(
    knex,
    'on_the_books_waiting',
    `property_id uuid not null,
     stay_date date not null,
     changed_on date not null,
     unit_type_id uuid not null,
     market_segment text not null,
     channel_connection_id uuid,
     unit_nights bigint not null,
     room_revenue bigint not null,
     ${ofProperty}`,
    { grant: 'select' },
  )
  await knex.raw(
    `create index on_the_books_waiting_night on on_the_books_waiting (tenant_id, property_id, stay_date, changed_on)`,
  )
  for (const table of ['on_the_books_sum', 'on_the_books_waiting'])
    await knex.raw(`alter table ${table} set (autovacuum_analyze_threshold = 5)`)
  await knex.raw(`
    create function on_the_books_waits() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
    begin
      insert into on_the_books_waiting (tenant_id, property_id, stay_date, changed_on, unit_type_id, market_segment, channel_connection_id, unit_nights, room_revenue)
      select tenant_id, property_id, stay_date, changed_on, unit_type_id, market_segment, channel_connection_id, sum(unit_nights), sum(room_revenue)
      from added group by 1, 2, 3, 4, 5, 6, 7;
      return null;
    end $$`)
  await knex.raw(`revoke all on function on_the_books_waits() from public`)
  await knex.raw(
    `create trigger on_the_books_change_waits after insert on on_the_books_change referencing new table as added for each statement
     execute function on_the_books_waits()`,
  )
  await knex.raw(`insert into on_the_books_sum (${columns}) ${sumsOf('on_the_books_change')}`)
  await folding(knex)
}

/** Adds changes that wait to the sums, of properties where so many do; one caller at a time, and so many rows. Answers how many rows went. */
const folding = async (knex: Knex) => {
  await knex.raw(`
    create function fold_on_the_books(at_least int, at_most int) returns bigint
    language plpgsql security definer set search_path = public, pg_temp as $$
    declare
      gone bigint;
    begin
      if not pg_try_advisory_xact_lock(hashtextextended('on_the_books_sum', 1121)) then return 0; end if;
      with busy as (select tenant_id, property_id from on_the_books_waiting group by 1, 2 having count(*) >= at_least),
      held as (
        select w.tenant_id, w.id from busy b join on_the_books_waiting w on w.tenant_id = b.tenant_id and w.property_id = b.property_id
        order by w.tenant_id, w.id limit at_most),
      taken as (
        delete from on_the_books_waiting w using held h where w.tenant_id = h.tenant_id and w.id = h.id returning w.*),
      made as (
        insert into on_the_books_sum as o (${columns}) ${sumsOf('taken')}
        on conflict (tenant_id, property_id, dimension, span, stay_date, changed_on, key) do update
          set unit_nights = o.unit_nights + excluded.unit_nights, room_revenue = o.room_revenue + excluded.room_revenue)
      select count(*) from taken into gone;
      return gone;
    end $$`)
  await knex.raw(`revoke all on function fold_on_the_books(int, int) from public`)
  await knex.raw(`grant execute on function fold_on_the_books(int, int) to pousada_service`)
}
