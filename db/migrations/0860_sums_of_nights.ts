import type { Knex } from 'knex'
import { tenantTable } from './support.ts'

/** Dimensions that nights are summed by, with the column of a fact. `all` has every night once. */
const dimensions = {
  all: `''`,
  unitType: 'f.unit_type_id::text',
  ratePlan: 'f.rate_plan_id::text',
  segment: 'f.market_segment',
  source: 'f.source',
  channel: 'f.channel_connection_id::text',
  company: 'f.company_id::text',
  agency: 'f.agency_id::text',
  country: 'f.country_code',
}
const keys = Object.entries(dimensions)
  .map(([dimension, column]) => `('${dimension}', coalesce(${column}, ''))`)
  .join(', ')

const sold = ['none', 'complimentary', 'house_use']
const columns = `tenant_id, property_id, dimension, business_date, key, gap, sold, complimentary, house_use, adults, children, room_revenue, included_tax,
  commission, bookings`

/**
 * Sums of `facts`, which are night facts with the booking of their stay. A booking counts on each of its days, with the days since its last one before: bookings of
 * a range are those whose last day before lies outside of it.
 */
const sumsOf = (facts: string) => `
  select p.tenant_id, p.property_id, p.dimension, p.business_date, p.key, p.gap, sum(p.sold), sum(p.complimentary), sum(p.house_use), sum(p.adults),
    sum(p.children), sum(p.room_revenue), sum(p.included_tax), sum(p.commission), count(*) filter (where p.is_booked)
  from (
    select o.*, case when o.is_booked then coalesce(o.business_date - lag(o.business_date) over (
        partition by o.tenant_id, o.property_id, o.dimension, o.key, o.booking_id, o.is_booked order by o.business_date), 0) else 0 end as gap
    from (
      select f.tenant_id, f.property_id, d.dimension, f.business_date, d.key, f.booking_id, f.booking_id is not null and bool_or(f.unit_nights > 0) as is_booked,
        ${sold.map((free) => `coalesce(sum(f.unit_nights) filter (where f.free = '${free}'), 0) as ${free === 'none' ? 'sold' : free}`).join(', ')},
        sum(f.adults) as adults, sum(f.children) as children, sum(f.room_revenue) as room_revenue, sum(f.included_tax) as included_tax,
        sum(f.commission) as commission
      from ${facts} f cross join lateral (values ${keys}) d (dimension, key)
      group by f.tenant_id, f.property_id, d.dimension, f.business_date, d.key, f.booking_id) o) p`

const grouped = `group by p.tenant_id, p.property_id, p.dimension, p.business_date, p.key, p.gap`

/** Sums of night facts by day and dimension, kept as facts are written: a report over a year reads its days, and not its nights. */
export const up = async (knex: Knex) => {
  await knex.raw(`lock table night_fact in share row exclusive mode`)
  await tenantTable(
    knex,
    'night_sum',
    `property_id uuid not null,
     dimension text not null,
     business_date date not null,
     key text not null,
     gap int not null,
     sold bigint not null,
     complimentary bigint not null,
     house_use bigint not null,
     adults bigint not null,
     children bigint not null,
     room_revenue bigint not null,
     included_tax bigint not null,
     commission bigint not null,
     bookings bigint not null,
     primary key (tenant_id, property_id, dimension, business_date, key, gap),
     constraint night_sum_dimension check (dimension in (${Object.keys(dimensions)
       .map((one) => `'${one}'`)
       .join(', ')})),
     constraint night_sum_gap check (gap >= 0),
     constraint night_sum_counts check (least(sold, complimentary, house_use, adults, children, bookings) >= 0),
     foreign key (tenant_id, property_id) references property (tenant_id, id)`,
    { grant: 'select' },
  )
  await knex.raw(`alter table night_sum set (autovacuum_analyze_threshold = 5)`)
  await kept(knex)
  await knex.raw(`insert into night_sum (${columns})
    ${sumsOf(`(select f.*, r.booking_id from night_fact f left join reservation r on r.tenant_id = f.tenant_id and r.id = f.reservation_id)`)} ${grouped}`)
}

/**
 * Facts that are written sum up their days anew, and with them the later days of the same bookings, should there be any. Writers of facts of one property take turns:
 * the second one sees what the first has committed.
 */
const kept = async (knex: Knex) => {
  await knex.raw(`
    create function night_facts_summed() returns trigger language plpgsql security definer set search_path = public, pg_temp
    set enable_seqscan = off as $$
    declare
      house record;
    begin
      for house in select tenant_id, property_id, array_agg(distinct business_date) as days from added group by 1, 2 order by 1, 2 loop
        perform pg_advisory_xact_lock(hashtextextended(house.property_id::text, 860));
        select array_agg(distinct x.day) into house.days from (
          select unnest(house.days) as day
          union all
          select f.business_date from added a
          join reservation r on r.tenant_id = a.tenant_id and r.id = a.reservation_id
          join reservation o on o.tenant_id = r.tenant_id and o.booking_id = r.booking_id
          join night_fact f on f.tenant_id = o.tenant_id and f.reservation_id = o.id and f.business_date > a.business_date
          where a.tenant_id = house.tenant_id and a.property_id = house.property_id and f.property_id = house.property_id) x;
        delete from night_sum s where s.tenant_id = house.tenant_id and s.property_id = house.property_id
          and s.dimension = any(array[${Object.keys(dimensions)
            .map((one) => `'${one}'`)
            .join(', ')}]) and s.business_date = any(house.days);
        with today as materialized (
          select f.*, r.booking_id from night_fact f left join reservation r on r.tenant_id = f.tenant_id and r.id = f.reservation_id
          where f.tenant_id = house.tenant_id and f.property_id = house.property_id and f.business_date = any(house.days)),
        before as materialized (
          select f.*, r.booking_id from (select distinct t.booking_id from today t where t.booking_id is not null) b
          join reservation r on r.tenant_id = house.tenant_id and r.booking_id = b.booking_id
          join night_fact f on f.tenant_id = r.tenant_id and f.reservation_id = r.id
          where f.property_id = house.property_id and f.business_date <> all(house.days))
        insert into night_sum (${columns})
          ${sumsOf(`(select * from today union all select * from before)`)} where p.business_date = any(house.days) ${grouped};
      end loop;
      return null;
    end $$`)
  await knex.raw(`revoke all on function night_facts_summed() from public`)
  await knex.raw(
    `create trigger night_fact_summed after insert on night_fact referencing new table as added for each statement execute function night_facts_summed()`,
  )
}
