import type { Knex } from 'knex'
import { sweepFunction, tenantTable, touch } from './support.ts'

const stamps = `
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`
const refers = (column: string, table: string) =>
  `foreign key (tenant_id, ${column}) references ${table} (tenant_id, id)`

/** Groups with their allotments, the bookings that pick them up, and their master folios. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'booking_group',
    `property_id uuid not null,
     code text not null,
     number text not null,
     name text not null,
     sealed bytea,
     status text not null default 'inquiry',
     arrival date not null,
     departure date not null,
     rate_plan_id uuid not null,
     option_until timestamptz,
     release_type text not null default 'none',
     release_on date,
     release_days int,
     master_folio_id uuid,
     routing text[] not null default '{room}',
     notes text not null default '',
     cancel_reason text,
     ${stamps},
     constraint booking_group_code unique (tenant_id, property_id, code),
     constraint booking_group_number unique (tenant_id, number),
     constraint booking_group_status check (status in ('inquiry', 'optional', 'confirmed', 'closed', 'cancelled')),
     constraint booking_group_stay check (departure > arrival and departure - arrival <= 366),
     constraint booking_group_option check ((status = 'optional') = (option_until is not null)),
     constraint booking_group_release check (case release_type when 'fixed' then release_on is not null and release_days is null
       when 'rolling' then release_days between 0 and 365 and release_on is null
       else release_type = 'none' and release_on is null and release_days is null end),
     constraint booking_group_texts check (length(code) between 1 and 20 and length(name) between 1 and 120 and length(notes) <= 2000),
     constraint booking_group_master check (status not in ('confirmed', 'closed') or master_folio_id is not null),
     ${refers('property_id', 'property')},
     ${refers('rate_plan_id', 'rate_plan')}`,
  )
  await knex.raw(`create index booking_group_property on booking_group (tenant_id, property_id, status, arrival)`)
  await knex.raw(`create index booking_group_plan on booking_group (tenant_id, rate_plan_id)`)
  await knex.raw(`create index booking_group_option_due on booking_group (option_until) where option_until is not null`)
  await touch(knex, 'booking_group')
  await tenantTable(
    knex,
    'booking_group_night',
    `group_id uuid not null,
     unit_type_id uuid not null,
     night date not null,
     allotted int not null,
     picked_up int not null default 0,
     amount bigint,
     released boolean not null default false,
     constraint booking_group_night_picked_up check (picked_up between 0 and allotted),
     constraint booking_group_night_amount check (amount >= 0),
     constraint booking_group_night_limits check (allotted between 0 and 10000),
     primary key (tenant_id, group_id, unit_type_id, night),
     ${refers('group_id', 'booking_group')},
     ${refers('unit_type_id', 'unit_type')}`,
  )
  await knex.raw(`create index booking_group_night_type on booking_group_night (tenant_id, unit_type_id, night)`)

  await knex.raw(`alter table booking add column group_id uuid, add column group_row_key text,
    add constraint booking_group_row unique (tenant_id, group_id, group_row_key),
    add constraint booking_group_row_key check (group_row_key is null or group_id is not null and length(group_row_key) between 1 and 60),
    add constraint booking_group_id_fkey ${refers('group_id', 'booking_group')}`)
  await knex.raw(`create index booking_of_group on booking (tenant_id, group_id) where group_id is not null`)
  await knex.raw(`alter table reservation_night add column picked_up boolean not null default false`)

  await knex.raw(`alter table folio add column group_id uuid,
    add constraint folio_group check (group_id is null or reservation_id is null and kind <> 'house'),
    add constraint folio_group_id_fkey ${refers('group_id', 'booking_group')}`)
  await knex.raw(`create index folio_group on folio (tenant_id, group_id) where group_id is not null`)
  await knex.raw(`alter table booking_group add constraint booking_group_master_folio_id_fkey
    ${refers('master_folio_id', 'folio')}`)
  await knex.raw(
    `create index booking_group_master_folio on booking_group (tenant_id, master_folio_id) where master_folio_id is not null`,
  )

  await sweepFunction(
    knex,
    'groups_due(most int)',
    'tenant_id uuid, id uuid',
    `select g.tenant_id, g.id from booking_group g
     join property p on p.tenant_id = g.tenant_id and p.id = g.property_id
     where g.option_until <= now()
       or g.status in ('optional', 'confirmed') and (g.status = 'confirmed' and g.departure < p.business_date
         or g.release_type <> 'none' and exists (select from booking_group_night n where n.tenant_id = g.tenant_id and n.group_id = g.id
           and n.allotted > n.picked_up and n.night >= p.business_date
           and (g.release_on <= p.business_date or n.night - g.release_days <= p.business_date)))
     order by g.id limit most`,
  )
}
