import type { Knex } from 'knex'
import { appendOnly, tenantTable, touch } from '../support.ts'

const stamps = `
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`
const refers = (column: string, table: string) =>
  `foreign key (tenant_id, ${column}) references ${table} (tenant_id, id)`
const ofProperty = refers('property_id', 'property')
const ofReservation = refers('reservation_id', 'reservation')
const clock = (column: string) => `${column} ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'`

/** Reservations with their nights, guests, extras, deposits and history. */
export const reservations = async (knex: Knex) => {
  await tenantTable(
    knex,
    'reservation',
    `booking_id uuid not null,
     position int not null,
     property_id uuid not null,
     status text not null,
     unit_type_id uuid not null,
     rate_plan_id uuid not null,
     arrival date not null,
     departure date not null,
     adults int not null,
     children_ages int[] not null default '{}',
     primary_guest_id uuid,
     policies jsonb not null,
     guarantee text not null default 'none',
     currency text not null,
     room_total bigint not null,
     extras_total bigint not null,
     tax_total bigint not null,
     total bigint not null,
     arrival_time text,
     departure_time text,
     purpose text,
     market_segment text not null,
     requests bytea,
     channel_managed boolean not null default false,
     overbooked boolean not null default false,
     actual_check_in_at timestamptz,
     actual_check_out_at timestamptz,
     check_in_business_date date,
     check_out_business_date date,
     confirmed_at timestamptz,
     cancel_reason text,
     cancelled_at timestamptz,
     fee_amount bigint,
     fee_requested_at timestamptz,
     ${stamps},
     constraint reservation_position unique (tenant_id, booking_id, position),
     constraint reservation_status check (status in ('held', 'confirmed', 'checked_in', 'checked_out', 'cancelled', 'no_show', 'expired')),
     constraint reservation_stay check (departure > arrival and departure - arrival <= 366),
     constraint reservation_party check (adults between 1 and 40 and cardinality(children_ages) <= 40),
     constraint reservation_guest_named check (status in ('held', 'expired', 'cancelled') or primary_guest_id is not null),
     constraint reservation_guarantee check (guarantee in ('none', 'method', 'deposit', 'company', 'channel')),
     constraint reservation_amounts check (least(room_total, extras_total, tax_total, fee_amount) >= 0 and total = room_total + extras_total + tax_total),
     constraint reservation_times check (${clock('arrival_time')} and ${clock('departure_time')}),
     constraint reservation_purpose check (purpose in ('leisure', 'business', 'event', 'health', 'study', 'other')),
     constraint reservation_checked_in check ((status in ('checked_in', 'checked_out')) = (actual_check_in_at is not null)
       and (actual_check_in_at is null) = (check_in_business_date is null)),
     constraint reservation_checked_out check ((status = 'checked_out') = (actual_check_out_at is not null)
       and (actual_check_out_at is null) = (check_out_business_date is null)),
     constraint reservation_confirmed check (confirmed_at is not null or status in ('held', 'expired', 'cancelled')),
     constraint reservation_cancelled check ((status = 'cancelled') = (cancelled_at is not null) and (status = 'cancelled') = (cancel_reason is not null)),
     constraint reservation_cancel_reason check (cancel_reason in ('guest_request', 'changed_plans', 'found_other', 'illness', 'transport', 'weather',
       'visa', 'payment_failed', 'deposit_unpaid', 'duplicate', 'test', 'guest_unreachable', 'overbooked_relocated', 'property_fault',
       'force_majeure', 'privacy', 'other')),
     ${refers('booking_id', 'booking')},
     ${ofProperty},
     ${refers('unit_type_id', 'unit_type')},
     ${refers('rate_plan_id', 'rate_plan')},
     ${refers('primary_guest_id', 'guest')}`,
  )
  for (const [name, columns] of [
    ['arrivals', 'property_id, status, arrival'],
    ['departures', 'property_id, status, departure'],
    ['stays', 'property_id, arrival, departure'],
    ['all_arrivals', 'arrival, id, departure'],
    ['status_created', 'status, created_at, id'],
    ['created', 'created_at, id'],
    ['changed', 'updated_at, id'],
    ['unit_type', 'unit_type_id'],
    ['rate_plan', 'rate_plan_id'],
    ['primary_guest', 'primary_guest_id'],
  ])
    await knex.raw(`create index reservation_${name} on reservation (tenant_id, ${columns})`)
  await touch(knex, 'reservation')
  // The trigger refuses moves that are never allowed. db/reservations/rules/states.ts says which command may make a move.
  await knex.raw(`
    create function reservation_move() returns trigger language plpgsql as $$
    begin
      if new.status <> old.status and (old.status, new.status) not in (
        ('held', 'confirmed'), ('held', 'expired'), ('held', 'cancelled'), ('expired', 'confirmed'), ('confirmed', 'cancelled'),
        ('confirmed', 'checked_in'), ('confirmed', 'no_show'), ('checked_in', 'confirmed'), ('checked_in', 'checked_out'),
        ('checked_out', 'checked_in'), ('no_show', 'confirmed'), ('cancelled', 'confirmed')) then
        raise exception 'a reservation does not go from % to %', old.status, new.status using errcode = 'PL011';
      end if;
      return new;
    end $$`)
  await knex.raw(
    `create trigger reservation_move before update of status on reservation for each row execute function reservation_move()`,
  )

  await tenantTable(
    knex,
    'reservation_night',
    `reservation_id uuid not null,
     date date not null,
     unit_type_id uuid not null,
     rate_plan_id uuid not null,
     amount bigint not null,
     taxes jsonb not null default '[]',
     components jsonb not null default '[]',
     status text not null default 'open',
     primary key (tenant_id, reservation_id, date),
     constraint reservation_night_amount check (amount >= 0),
     constraint reservation_night_status check (status in ('open', 'charged', 'waived', 'released')),
     ${ofReservation},
     ${refers('unit_type_id', 'unit_type')},
     ${refers('rate_plan_id', 'rate_plan')}`,
  )
  await knex.raw(`create index reservation_night_unit_type on reservation_night (tenant_id, unit_type_id, date)`)
  await knex.raw(`create index reservation_night_rate_plan on reservation_night (tenant_id, rate_plan_id)`)
  await knex.raw(`
    create function charged_night_stays() returns trigger language plpgsql as $$
    begin
      if old.status = 'charged' then
        raise exception 'a charged night does not change' using errcode = 'PL010';
      end if;
      return case tg_op when 'DELETE' then old else new end;
    end $$`)
  await knex.raw(
    `create trigger charged_night_stays before update or delete on reservation_night for each row execute function charged_night_stays()`,
  )

  await tenantTable(
    knex,
    'reservation_guest',
    `reservation_id uuid not null,
     guest_id uuid not null,
     role text not null,
     age int,
     responsible_id uuid,
     kinship text,
     authorisation_document_id uuid,
     ${stamps},
     constraint reservation_guest_once unique (tenant_id, reservation_id, guest_id),
     constraint reservation_guest_role check (role in ('primary', 'companion')),
     constraint reservation_guest_age check (age between 0 and 120),
     constraint reservation_guest_kinship check (length(kinship) <= 60 and responsible_id <> id),
     ${ofReservation},
     ${refers('guest_id', 'guest')},
     ${refers('responsible_id', 'reservation_guest')},
     ${refers('authorisation_document_id', 'guest_document')}`,
  )
  await knex.raw(
    `create unique index reservation_guest_primary on reservation_guest (tenant_id, reservation_id) where role = 'primary'`,
  )
  await knex.raw(`create index reservation_guest_guest on reservation_guest (tenant_id, guest_id)`)
  await knex.raw(
    `create index reservation_guest_responsible on reservation_guest (tenant_id, responsible_id) where responsible_id is not null`,
  )
  await knex.raw(
    `create index reservation_guest_document on reservation_guest (tenant_id, authorisation_document_id) where authorisation_document_id is not null`,
  )
  await touch(knex, 'reservation_guest')

  await tenantTable(
    knex,
    'reservation_extra',
    `reservation_id uuid not null,
     extra_id uuid not null,
     name text not null,
     basis text not null,
     quantity int not null,
     "from" date not null,
     "until" date not null,
     unit_amount bigint not null,
     amount bigint not null,
     taxes jsonb not null default '[]',
     status text not null default 'active',
     ${stamps},
     constraint reservation_extra_basis check (basis in ('per_stay', 'per_night', 'per_person', 'per_person_per_night', 'per_unit')),
     constraint reservation_extra_quantity check (quantity between 1 and 99 and "until" >= "from" and least(unit_amount, amount) >= 0),
     constraint reservation_extra_status check (status in ('active', 'cancelled')),
     ${ofReservation},
     ${refers('extra_id', 'extra')}`,
  )
  await knex.raw(`create index reservation_extra_reservation on reservation_extra (tenant_id, reservation_id)`)
  await knex.raw(`create index reservation_extra_extra on reservation_extra (tenant_id, extra_id)`)
  await touch(knex, 'reservation_extra')

  // Totals of a live reservation are the sums of what it consists of, whoever changed which of the three tables.
  await knex.raw(`
    create function reservation_totals() returns trigger language plpgsql as $$
    declare
      subject uuid;
      r reservation;
      room bigint;
      extras bigint;
      tax bigint;
    begin
      if tg_table_name = 'reservation' then subject := new.id; else subject := coalesce(new.reservation_id, old.reservation_id); end if;
      select * into r from reservation x where x.tenant_id = coalesce(new.tenant_id, old.tenant_id) and x.id = subject;
      if not found or r.status in ('cancelled', 'no_show', 'expired') then return null; end if;
      select coalesce(sum(n.amount), 0), coalesce(sum((select sum((t->>'amount')::bigint) from jsonb_array_elements(n.taxes) t where not (t->>'included')::boolean)), 0)
        into room, tax from reservation_night n where n.tenant_id = r.tenant_id and n.reservation_id = r.id and n.status in ('open', 'charged');
      select coalesce(sum(e.amount), 0),
        tax + coalesce(sum((select sum((t->>'amount')::bigint) from jsonb_array_elements(e.taxes) t where not (t->>'included')::boolean)), 0)
        into extras, tax from reservation_extra e where e.tenant_id = r.tenant_id and e.reservation_id = r.id and e.status = 'active';
      if (room, extras, tax) is distinct from (r.room_total, r.extras_total, r.tax_total) then
        raise exception 'totals of reservation % are %, %, % and not %, %, %', r.id, room, extras, tax, r.room_total, r.extras_total, r.tax_total
          using errcode = '23514', constraint = 'reservation_totals';
      end if;
      return null;
    end $$`)
  await knex.raw(`
    create constraint trigger reservation_totals after insert or update of status, room_total, extras_total, tax_total on reservation
    deferrable initially deferred for each row execute function reservation_totals()`)
  // A statement that adds nights also writes the reservation, whose own trigger then looks; these two see changes that forget it.
  await knex.raw(`
    create constraint trigger reservation_totals after update of amount, taxes, status or delete on reservation_night
    deferrable initially deferred for each row execute function reservation_totals()`)
  await knex.raw(`
    create constraint trigger reservation_totals after update of amount, taxes, status or delete on reservation_extra
    deferrable initially deferred for each row execute function reservation_totals()`)

  await tenantTable(
    knex,
    'deposit',
    `reservation_id uuid not null,
     position int not null,
     due_at timestamptz not null,
     amount bigint not null,
     origin text not null default 'policy',
     waived_amount bigint not null default 0,
     requested_at timestamptz,
     ${stamps},
     constraint deposit_position unique (tenant_id, reservation_id, position),
     constraint deposit_waived check (waived_amount between 0 and amount),
     constraint deposit_origin check (origin in ('policy', 'manual')),
     ${ofReservation}`,
  )
  await knex.raw(`create index deposit_due on deposit (due_at) where requested_at is null`)
  await touch(knex, 'deposit')

  await tenantTable(
    knex,
    'reservation_event',
    `reservation_id uuid not null,
     transition text not null,
     command text not null,
     "from" text,
     "to" text not null,
     changes jsonb not null default '[]',
     reason text,
     override jsonb,
     actor jsonb not null,
     business_date date,
     at timestamptz not null default clock_timestamp(),
     request_id text not null,
     ${ofReservation}`,
    { grant: 'select, insert' },
  )
  await knex.raw(`create index reservation_event_reservation on reservation_event (tenant_id, reservation_id, at)`)
  await appendOnly(knex, 'reservation_event')

  await knex.raw(`alter table unit_assignment add ${ofReservation}`)
}
