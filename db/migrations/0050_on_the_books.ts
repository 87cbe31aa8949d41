import type { Knex } from 'knex'
import { appendOnly, tenantTable } from './support.ts'

const refers = (column: string, table: string) =>
  `foreign key (tenant_id, ${column}) references ${table} (tenant_id, id)`

/** Nights on the books as they changed day by day (modules/reports.md): what was known on a day of a night to come cannot be worked out later. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'on_the_books_change',
    `property_id uuid not null,
     stay_date date not null,
     changed_on date not null,
     reservation_id uuid not null,
     unit_type_id uuid not null,
     rate_plan_id uuid not null,
     market_segment text not null,
     source text not null,
     channel_connection_id uuid,
     company_id uuid,
     agency_id uuid,
     group_id uuid,
     unit_nights int not null,
     room_revenue bigint not null,
     created_at timestamptz not null default clock_timestamp(),
     constraint on_the_books_change_changes check (unit_nights <> 0 or room_revenue <> 0),
     ${refers('property_id', 'property')},
     ${refers('reservation_id', 'reservation')}`,
    { grant: 'select, insert' },
  )
  await knex.raw(
    `create index on_the_books_change_night on on_the_books_change (tenant_id, property_id, stay_date, changed_on)`,
  )
  await knex.raw(`create index on_the_books_change_reservation on on_the_books_change (tenant_id, reservation_id)`)
  await appendOnly(knex, 'on_the_books_change')
  // The difference between the nights as they count now and the sum of the rows so far, so that a second call inserts nothing.
  await knex.raw(`
    create function record_on_the_books(stays uuid[]) returns void language sql set search_path = public, pg_temp as $$
      insert into on_the_books_change (tenant_id, property_id, stay_date, changed_on, reservation_id, unit_type_id, rate_plan_id, market_segment, source,
        channel_connection_id, company_id, agency_id, group_id, unit_nights, room_revenue)
      select c.tenant_id, c.property_id, c.stay_date, coalesce(p.business_date, (now() at time zone p.timezone)::date), c.reservation_id, c.unit_type_id,
        c.rate_plan_id, c.market_segment, c.source, c.channel_connection_id, c.company_id, c.agency_id, c.group_id,
        sum(c.unit_nights)::int, sum(c.room_revenue)::bigint
      from (
        select r.tenant_id, r.property_id, n.date as stay_date, r.id as reservation_id, n.unit_type_id, n.rate_plan_id, r.market_segment, b.source,
          b.channel_connection_id, null::uuid as company_id, null::uuid as agency_id, null::uuid as group_id,
          (select coalesce(sum(s.quantity), 0) from unit_type_pool s where s.tenant_id = n.tenant_id and s.unit_type_id = n.unit_type_id) as unit_nights,
          case n.status when 'waived' then 0
            else n.amount - (select coalesce(sum((x ->> 'amount')::bigint), 0) from jsonb_array_elements(n.components) x) end as room_revenue
        from reservation r
        join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
        join reservation_night n on n.tenant_id = r.tenant_id and n.reservation_id = r.id and n.status <> 'released'
        where r.id = any(stays) and r.status in ('confirmed', 'checked_in', 'checked_out')
        union all
        select o.tenant_id, o.property_id, o.stay_date, o.reservation_id, o.unit_type_id, o.rate_plan_id, o.market_segment, o.source,
          o.channel_connection_id, o.company_id, o.agency_id, o.group_id, -o.unit_nights, -o.room_revenue
        from on_the_books_change o where o.reservation_id = any(stays)) c
      join property p on p.tenant_id = c.tenant_id and p.id = c.property_id
      group by c.tenant_id, c.property_id, c.stay_date, p.business_date, p.timezone, c.reservation_id, c.unit_type_id, c.rate_plan_id, c.market_segment,
        c.source, c.channel_connection_id, c.company_id, c.agency_id, c.group_id
      having sum(c.unit_nights) <> 0 or sum(c.room_revenue) <> 0
    $$`)
  await knex.raw(`
    do $$
    declare
      stays uuid[];
      last uuid := '00000000-0000-0000-0000-000000000000';
    begin
      loop
        select array_agg(f.id order by f.id), max(f.id::text)::uuid into stays, last from (
          select r.id from reservation r where r.id > last and r.status in ('confirmed', 'checked_in', 'checked_out') order by r.id limit 1000) f;
        exit when stays is null;
        perform record_on_the_books(stays);
      end loop;
    end $$`)
}
