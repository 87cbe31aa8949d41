import type { Knex } from 'knex'
import { sweepFunction, tenantTable, touch } from './support.ts'

const stamps = `
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`

/** The registration form of each guest and stay, and what the authority was told of it. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'guest_registration',
    `reservation_guest_id uuid not null,
     reservation_id uuid not null,
     guest_id uuid not null,
     property_id uuid not null,
     status text not null default 'pending',
     sealed bytea,
     form_version int not null default 1,
     missing text[] not null default '{}',
     signed_at timestamptz,
     signed_on text,
     link_valid_from timestamptz,
     link_sent_at timestamptz,
     external_id text,
     reject_reason text,
     ${stamps},
     constraint guest_registration_once unique (tenant_id, reservation_guest_id),
     constraint guest_registration_status check (status in ('pending', 'ready', 'submitted', 'accepted', 'rejected', 'cancelled')),
     constraint guest_registration_signed check ((signed_at is null) = (signed_on is null)),
     constraint guest_registration_signed_on check (signed_on in ('link', 'paper', 'tablet')),
     constraint guest_registration_complete check (status in ('pending', 'rejected', 'cancelled') or (missing = '{}' and signed_at is not null)),
     foreign key (tenant_id, reservation_id) references reservation (tenant_id, id),
     foreign key (tenant_id, guest_id) references guest (tenant_id, id),
     foreign key (tenant_id, property_id) references property (tenant_id, id)`,
  )
  await knex.raw(`create index guest_registration_stay on guest_registration (tenant_id, reservation_id)`)
  await knex.raw(`create index guest_registration_guest on guest_registration (tenant_id, guest_id)`)
  await knex.raw(`create index guest_registration_property on guest_registration (tenant_id, property_id, status, id)`)
  await touch(knex, 'guest_registration')

  await tenantTable(
    knex,
    'registration_report',
    `registration_id uuid not null,
     kind text not null,
     form_version int not null,
     status text not null default 'queued',
     request_id uuid not null default gen_random_uuid(),
     external_id text,
     error text,
     sent_at timestamptz,
     answered_at timestamptz,
     ${stamps},
     constraint registration_report_once unique (tenant_id, registration_id, kind, form_version),
     constraint registration_report_kind check (kind in ('registration', 'check_in', 'check_out', 'cancellation')),
     constraint registration_report_status check (status in ('queued', 'accepted', 'rejected', 'unknown')),
     foreign key (tenant_id, registration_id) references guest_registration (tenant_id, id)`,
  )
  await touch(knex, 'registration_report')

  await tenantTable(
    knex,
    'registration_secret',
    `property_id uuid not null,
     sealed bytea not null,
     created_at timestamptz not null default now(),
     primary key (tenant_id, property_id),
     foreign key (tenant_id, property_id) references property (tenant_id, id)`,
  )

  // Stays that arrive within `days` and have a form that is not filled in: ids alone, looked up again by tenant.
  await sweepFunction(
    knex,
    'registrations_to_invite(after_id uuid, most int)',
    'tenant_id uuid, id uuid',
    `select g.tenant_id, g.id from guest_registration g join reservation r on r.tenant_id = g.tenant_id and r.id = g.reservation_id
     join property p on p.tenant_id = g.tenant_id and p.id = g.property_id
     where g.status in ('pending', 'rejected') and g.link_sent_at is null and g.id > after_id and r.status = 'confirmed'
       and coalesce((p.settings -> 'registration' ->> 'linkDaysBefore')::int, 3) > 0
       and coalesce(p.settings -> 'registration' ->> 'mode', 'warn') <> 'off'
       and r.arrival - coalesce((p.settings -> 'registration' ->> 'linkDaysBefore')::int, 3) <= (now() at time zone p.timezone)::date
       and r.arrival >= (now() at time zone p.timezone)::date
     order by g.id limit most`,
  )
}
