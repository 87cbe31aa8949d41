import type { Knex } from 'knex'
import { appendOnly, sweepFunction, tenantTable, touch } from './support.ts'

const stamps = `
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`
const refers = (column: string, table: string) =>
  `foreign key (tenant_id, ${column}) references ${table} (tenant_id, id)`
const ofProperty = refers('property_id', 'property')

/** The close of business days: audits with their checkpoints, what a stay has been charged so far, and the facts of closed days. */
export const up = async (knex: Knex) => {
  await audits(knex)
  await charged(knex)
  await facts(knex)
}

const audits = async (knex: Knex) => {
  await tenantTable(
    knex,
    'night_audit',
    `property_id uuid not null,
     business_date date not null,
     status text not null default 'queued',
     step text,
     done int not null default 0,
     total bigint not null default 0,
     exceptions jsonb not null default '[]',
     exception_count int not null default 0,
     turn int not null default 1,
     lease_owner uuid,
     lease_until timestamptz,
     started_by uuid,
     started_at timestamptz,
     finished_at timestamptz,
     error text,
     ${stamps},
     constraint night_audit_day unique (tenant_id, property_id, business_date),
     constraint night_audit_status check (status in ('queued', 'running', 'succeeded', 'failed')),
     constraint night_audit_step check (step in ('exceptions', 'no_shows', 'room_charges', 'extra_charges', 'snapshot', 'housekeeping', 'roll')),
     constraint night_audit_counts check (least(done, total, exception_count) >= 0 and turn >= 1),
     constraint night_audit_lease check ((lease_owner is null) = (lease_until is null) and (status = 'running' or lease_owner is null)),
     constraint night_audit_finished check ((status in ('succeeded', 'failed')) = (finished_at is not null)),
     constraint night_audit_error check (length(error) <= 500 and (status <> 'failed' or error is not null)),
     ${ofProperty}`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(`create index night_audit_newest on night_audit (tenant_id, business_date desc, id desc)`)
  await touch(knex, 'night_audit')

  await tenantTable(
    knex,
    'night_audit_checkpoint',
    `night_audit_id uuid not null,
     step text not null,
     last_id uuid,
     done int not null default 0,
     finished_at timestamptz,
     ${refers('night_audit_id', 'night_audit')},
     primary key (tenant_id, night_audit_id, step),
     constraint night_audit_checkpoint_step check (step in ('exceptions', 'no_shows', 'room_charges', 'extra_charges', 'snapshot', 'housekeeping', 'roll')),
     constraint night_audit_checkpoint_done check (done >= 0)`,
    { grant: 'select, insert, update' },
  )

  // When a local time comes, of two the first; one that a clock change skips is met early, and whoever starts the audit looks again.
  await knex.raw(`
    create function local_time_not_before(local timestamp, zone text) returns timestamptz language sql stable as $$
      select coalesce(
        (select min(c.at) from (values (t.at), (t.at - interval '30 minutes'), (t.at - interval '1 hour')) c (at) where (c.at at time zone zone) = local),
        t.at - interval '1 hour')
      from (select local at time zone zone as at) t
    $$`)
  await sweepFunction(
    knex,
    'business_days_due(after uuid, most int)',
    'tenant_id uuid, property_id uuid',
    `select d.tenant_id, d.property_id from business_day d
     join property p on p.tenant_id = d.tenant_id and p.id = d.property_id
     cross join lateral (select (d.date + 1)::timestamp + coalesce(p.settings -> 'nightAudit' ->> 'at', '03:00')::time as local) l
     where d.status = 'open' and d.property_id > after
       and ((p.status = 'archived' or coalesce((p.settings -> 'nightAudit' ->> 'automatic')::boolean, true))
           and now() >= local_time_not_before(l.local, p.timezone)
         or exists (select from night_audit a where a.tenant_id = d.tenant_id and a.property_id = d.property_id and a.business_date = d.date
           and a.status <> 'succeeded' and coalesce(a.lease_until, '-infinity') < now()))
     order by d.property_id limit most`,
  )
}

/** How much of a stay stands on folios already: what is left of its price, no query needs to add up. */
const charged = async (knex: Knex) => {
  await knex.raw(`
    alter table reservation add column posted_total bigint not null default 0,
      add constraint reservation_posted check (posted_total >= 0)`)
  await knex.raw(`
    alter table reservation_extra add column charged_until date,
      add constraint reservation_extra_charged check (charged_until between "from" and "until")`)
  await knex.raw(`create index folio_line_day on folio_line (tenant_id, business_date, folio_id)`)

  await knex.raw(`create index reservation_event_day on reservation_event (tenant_id, business_date, transition)`)
  await knex.raw(`create index booking_credit_held on booking (tenant_id, property_id) where credit > 0`)

  // A line stands on the open business day of its property: nothing is dated on a day after it closed.
  await knex.raw(`
    create or replace function folio_line_counts() returns trigger language plpgsql as $$
    declare
      is_money constant boolean := new.payment_id is not null or new.kind = 'receivable';
      house uuid;
      day date;
    begin
      update folio f set charges = f.charges + case when is_money then 0 else new.amount end,
        credits = f.credits - case when is_money then new.amount else 0 end, version = f.version + 1
      where f.tenant_id = new.tenant_id and f.id = new.folio_id and f.status = 'open' returning f.property_id into house;
      if not found then
        raise exception 'folio % is closed', new.folio_id using errcode = '23514', constraint = 'folio_line_on_open_folio';
      end if;
      select d.date into day from business_day d where d.tenant_id = new.tenant_id and d.property_id = house and d.status = 'open' for share;
      if not found then -- a roll may have committed while we waited: the next statement sees its day
        select d.date into day from business_day d where d.tenant_id = new.tenant_id and d.property_id = house and d.status = 'open' for share;
      end if;
      if day <> new.business_date
        or day is null and exists (select from business_day d where d.tenant_id = new.tenant_id and d.property_id = house) then
        raise exception 'the business day is %, not %', coalesce(day::text, 'none'), new.business_date using errcode = 'PL012';
      end if;
      return null;
    end $$`)
}

/** The realised results of a day and its capacity for sale (modules/reports.md). The night audit alone writes them, and they never change. */
const facts = async (knex: Knex) => {
  await tenantTable(
    knex,
    'night_fact',
    `property_id uuid not null,
     business_date date not null,
     stay_date date not null,
     reservation_id uuid,
     kind text not null,
     source_type text not null,
     source_id uuid not null,
     unit_type_id uuid,
     rate_plan_id uuid,
     market_segment text,
     source text,
     channel_connection_id uuid,
     company_id uuid,
     agency_id uuid,
     group_id uuid,
     country_code text,
     unit_nights int not null,
     adults int not null,
     children int not null,
     free text not null,
     room_revenue bigint not null,
     included_tax bigint not null,
     commission bigint not null default 0,
     constraint night_fact_source unique (tenant_id, source_type, source_id),
     constraint night_fact_kind check (kind in ('night', 'other', 'adjustment') and (kind = 'night' or unit_nights = 0)),
     constraint night_fact_free check (free in ('none', 'complimentary', 'house_use')),
     constraint night_fact_counts check (least(unit_nights, adults, children) >= 0),
     ${ofProperty},
     ${refers('reservation_id', 'reservation')}`,
    { grant: 'select, insert' },
  )
  await knex.raw(`create index night_fact_day on night_fact (tenant_id, property_id, business_date)`)
  await knex.raw(
    `create index night_fact_reservation on night_fact (tenant_id, reservation_id) where reservation_id is not null`,
  )
  await appendOnly(knex, 'night_fact')

  await tenantTable(
    knex,
    'property_day',
    `property_id uuid not null,
     date date not null,
     unit_type_id uuid not null,
     units int not null,
     out_of_order int not null,
     out_of_service int not null,
     ${ofProperty},
     ${refers('unit_type_id', 'unit_type')},
     primary key (tenant_id, property_id, date, unit_type_id),
     constraint property_day_counts check (least(units, out_of_order, out_of_service) >= 0 and out_of_order + out_of_service <= units)`,
    { grant: 'select, insert' },
  )
  await knex.raw(`create index property_day_unit_type on property_day (tenant_id, unit_type_id)`)
  await appendOnly(knex, 'property_day')

  await tenantTable(
    knex,
    'property_day_count',
    `property_id uuid not null,
     date date not null,
     arrivals int not null,
     departures int not null,
     stay_overs int not null,
     walk_ins int not null,
     no_shows int not null,
     cancellations int not null,
     bookings int not null,
     guests_in_house int not null,
     overbooked int not null,
     conditions jsonb not null,
     tasks jsonb not null,
     ${ofProperty},
     primary key (tenant_id, property_id, date)`,
    { grant: 'select, insert' },
  )
  await appendOnly(knex, 'property_day_count')
}
