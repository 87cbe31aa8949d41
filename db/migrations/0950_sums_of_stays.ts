import type { Knex } from 'knex'
import { tenantTable } from './support.ts'

const dimensions = ['all', 'unitType', 'ratePlan', 'segment', 'source', 'channel', 'company', 'agency', 'country']
const isDimension = `dimension in (${dimensions.map((one) => `'${one}'`).join(', ')})`
const ofProperty = `foreign key (tenant_id, property_id) references property (tenant_id, id)`

/**
 * Sums of closed days that follow from reservations and folio lines: stays that came and left, revenue beside the room, and taxes of prices. A day is summed up after
 * its close, by a job. Triggers note each day of which a figure or a key has changed since, and reports read such a day row by row until it is summed up anew.
 */
export const up = async (knex: Knex) => {
  const summed = { grant: 'select, insert, delete' }
  await tenantTable(
    knex,
    'stay_sum',
    `property_id uuid not null,
     dimension text not null,
     date date not null,
     key text not null,
     arrivals int not null,
     cancelled int not null,
     no_shows int not null,
     lead_days bigint not null,
     departed int not null,
     departed_nights bigint not null,
     primary key (tenant_id, property_id, dimension, date, key),
     constraint stay_sum_dimension check (${isDimension}),
     constraint stay_sum_counts check (least(arrivals, cancelled, no_shows, lead_days, departed, departed_nights) >= 0),
     ${ofProperty}`,
    summed,
  )
  await tenantTable(
    knex,
    'extra_sum',
    `property_id uuid not null,
     dimension text not null,
     date date not null,
     key text not null,
     category text not null,
     amount bigint not null,
     primary key (tenant_id, property_id, dimension, date, key, category),
     constraint extra_sum_dimension check (${isDimension}),
     ${ofProperty}`,
    summed,
  )
  await tenantTable(
    knex,
    'price_tax_sum',
    `property_id uuid not null,
     date date not null,
     code text not null,
     rule text not null,
     base bigint not null,
     tax bigint not null,
     primary key (tenant_id, property_id, date, code, rule),
     ${ofProperty}`,
    summed,
  )
  await tenantTable(
    knex,
    'stay_sum_day',
    `property_id uuid not null,
     date date not null,
     primary key (tenant_id, property_id, date),
     ${ofProperty}`,
    summed,
  )
  await tenantTable(
    knex,
    'stay_sum_change',
    `property_id uuid not null,
     date date not null,
     ${ofProperty}`,
    { grant: 'select, delete' },
  )
  await knex.raw(`create index stay_sum_change_day on stay_sum_change (tenant_id, property_id, date)`)
  for (const table of ['stay_sum', 'extra_sum', 'price_tax_sum', 'stay_sum_day', 'stay_sum_change'])
    await knex.raw(`alter table ${table} set (autovacuum_analyze_threshold = 5)`)
  await noted(knex)
}

const inDatabase = `language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off`

/**
 * Days up to the open one alone are noted: later ones are not closed before what is written now has ended. Notes are inserted and never changed, so that
 * writers do not wait for each other. Lines of folios need no note: they are of the open day, which does not close before they are committed.
 */
const noted = async (knex: Knex) => {
  await knex.raw(`
    create function note_days(of_tenant uuid, of_property uuid, days date[]) returns void ${inDatabase} as $$
    begin
      insert into stay_sum_change (tenant_id, property_id, date)
      select distinct p.tenant_id, p.id, d.date from property p cross join unnest(days) d (date)
      where p.tenant_id = of_tenant and p.id = of_property and d.date <= coalesce(p.business_date, (now() at time zone p.timezone)::date + 1);
    end $$`)
  // Of stays that no night fact has a key of: all of their days, for the key may be another now.
  await knex.raw(`
    create function note_stays(of_tenant uuid, stays uuid[]) returns void ${inDatabase} as $$
    begin
      insert into stay_sum_change (tenant_id, property_id, date)
      select distinct p.tenant_id, d.property_id, d.date
      from reservation r
      cross join lateral (
        select r.property_id, r.arrival as date
        union all select r.property_id, r.check_out_business_date
        union all select l.property_id, l.business_date from folio w join folio_line l on l.tenant_id = w.tenant_id and l.folio_id = w.id
          where w.tenant_id = r.tenant_id and w.reservation_id = r.id and l.category not in ('room', 'tax')) d
      join property p on p.tenant_id = r.tenant_id and p.id = d.property_id
      where r.tenant_id = of_tenant and r.id = any(stays) and d.date <= coalesce(p.business_date, (now() at time zone p.timezone)::date + 1);
    end $$`)
  for (const signature of ['note_days(uuid, uuid, date[])', 'note_stays(uuid, uuid[])'])
    await knex.raw(`revoke all on function ${signature} from public`)

  const trigger = async (name: string, body: string, ...on: string[]) => {
    await knex.raw(`create function ${name}() returns trigger ${inDatabase} as $$ ${body} $$`)
    await knex.raw(`revoke all on function ${name}() from public`)
    for (const [index, event] of on.entries())
      await knex.raw(
        `create trigger ${name}${index > 0 ? `_${index + 1}` : ''} after ${event} execute function ${name}()`,
      )
  }
  const noFact = (alias: string) =>
    `not exists (select from night_fact f where f.tenant_id = ${alias}.tenant_id and f.reservation_id = ${alias}.id)`
  const counted = [
    'arrival', 'property_id', 'confirmed_at', 'check_out_business_date', 'status', 'market_segment', 'unit_type_id', 'rate_plan_id',
  ] // prettier-ignore
  const row = (of: string) => `(${counted.map((column) => `${of}.${column}`).join(', ')})`
  await trigger(
    'reservation_noted',
    `begin
      if tg_op = 'INSERT' then
        perform note_days(new.tenant_id, new.property_id, array[new.arrival, new.check_out_business_date]);
        return null;
      end if;
      if (old.arrival, old.confirmed_at, old.status = 'cancelled', old.status = 'no_show', old.property_id)
        is distinct from (new.arrival, new.confirmed_at, new.status = 'cancelled', new.status = 'no_show', new.property_id) then
        perform note_days(new.tenant_id, of.id, array[old.arrival, new.arrival]) from unnest(array[old.property_id, new.property_id]) of (id);
      end if;
      if (old.check_out_business_date, old.status = 'checked_out', old.property_id) is distinct from
        (new.check_out_business_date, new.status = 'checked_out', new.property_id) then
        perform note_days(new.tenant_id, of.id, array[old.check_out_business_date, new.check_out_business_date])
          from unnest(array[old.property_id, new.property_id]) of (id);
      end if;
      if (old.market_segment, old.unit_type_id, old.rate_plan_id) is distinct from (new.market_segment, new.unit_type_id, new.rate_plan_id)
        and ${noFact('new')} then
        perform note_stays(new.tenant_id, array[new.id]);
      end if;
      return null;
    end`,
    `insert on reservation for each row when (new.confirmed_at is not null)`,
    `update of ${counted.join(', ')} on reservation for each row when (${row('old')} is distinct from ${row('new')})`,
  )
  await trigger(
    'reservation_night_noted',
    `begin
      perform note_days(r.tenant_id, r.property_id, array[r.check_out_business_date]) from reservation r
      where r.tenant_id = new.tenant_id and r.id = new.reservation_id and r.check_out_business_date is not null;
      return null;
    end`,
    `update of status on reservation_night for each row when ((old.status = 'released') <> (new.status = 'released'))`,
  )
  await trigger(
    'night_fact_noted',
    `begin
      perform note_stays(a.tenant_id, array_agg(distinct a.reservation_id)) from added a
      where a.reservation_id is not null and not exists (select from night_fact f where f.tenant_id = a.tenant_id and f.reservation_id = a.reservation_id
        and (f.business_date, f.id) < (a.business_date, a.id))
      group by a.tenant_id;
      return null;
    end`,
    `insert on night_fact referencing new table as added for each statement`,
  )
  await trigger(
    'on_the_books_change_noted',
    `begin
      perform note_stays(r.tenant_id, array_agg(r.id)) from (select distinct a.tenant_id, a.reservation_id as id from added a) r
      where ${noFact('r')} group by r.tenant_id;
      return null;
    end`,
    `insert on on_the_books_change referencing new table as added for each statement`,
  )
  const ofBooking = ['source', 'channel_connection_id', 'company_id', 'agency_id', 'booker_guest_id']
  await trigger(
    'booking_noted',
    `begin
      perform note_stays(new.tenant_id, array_agg(r.id)) from reservation r
      where r.tenant_id = new.tenant_id and r.booking_id = new.id and ${noFact('r')} having count(*) > 0;
      return null;
    end`,
    `update of ${ofBooking.join(', ')} on booking for each row
     when (${['old', 'new'].map((of) => `(${ofBooking.map((column) => `${of}.${column}`).join(', ')})`).join(' is distinct from ')})`,
  )
  await trigger(
    'guest_noted',
    `begin
      perform note_stays(new.tenant_id, array_agg(r.id)) from booking b
      join reservation r on r.tenant_id = b.tenant_id and r.booking_id = b.id
      where b.tenant_id = new.tenant_id and b.booker_guest_id = new.id and ${noFact('r')} having count(*) > 0;
      return null;
    end`,
    `update of residence_country on guest for each row when (old.residence_country is distinct from new.residence_country)`,
  )
}
