import type { Knex } from 'knex'
import { sweepFunction, tenantTable, touch } from './support.ts'

const refers = (column: string, table: string) =>
  `foreign key (tenant_id, ${column}) references ${table} (tenant_id, id)`

/** Requests that wait for a room. They take nothing. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'waitlist_entry',
    `property_id uuid not null,
     guest_id uuid,
     sealed bytea,
     arrival date not null,
     departure date not null,
     flexible_days int not null default 0,
     rooms int not null default 1,
     unit_type_ids uuid[] not null default '{}',
     rate_plan_id uuid,
     adults int not null,
     children_ages int[] not null default '{}',
     priority int not null default 3,
     status text not null default 'waiting',
     matched_at timestamptz,
     booking_id uuid,
     close_reason text,
     closed_at timestamptz,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint waitlist_entry_person check (guest_id is not null or sealed is not null or status = 'closed'),
     constraint waitlist_entry_stay check (departure > arrival and departure - arrival <= 366),
     constraint waitlist_entry_wish check (flexible_days between 0 and 7 and rooms between 1 and 9 and priority between 1 and 5
       and cardinality(unit_type_ids) <= 50),
     constraint waitlist_entry_party check (adults between 1 and 40 and cardinality(children_ages) <= 40),
     constraint waitlist_entry_status check (status in ('waiting', 'booked', 'closed')),
     constraint waitlist_entry_booked check ((status = 'booked') <= (booking_id is not null)),
     constraint waitlist_entry_closed check ((status = 'closed') = (closed_at is not null) and (status = 'closed') = (close_reason is not null)),
     constraint waitlist_entry_matched check (matched_at is null or status <> 'closed'),
     ${refers('property_id', 'property')},
     ${refers('guest_id', 'guest')},
     ${refers('rate_plan_id', 'rate_plan')},
     ${refers('booking_id', 'booking')}`,
  )
  await knex.raw(
    `create index waitlist_entry_waiting on waitlist_entry (tenant_id, property_id, arrival) where status <> 'closed'`,
  )
  await knex.raw(`create index waitlist_entry_property on waitlist_entry (tenant_id, property_id, created_at, id)`)
  await knex.raw(`create index waitlist_entry_guest on waitlist_entry (tenant_id, guest_id) where guest_id is not null`)
  await knex.raw(
    `create index waitlist_entry_plan on waitlist_entry (tenant_id, rate_plan_id) where rate_plan_id is not null`,
  )
  await knex.raw(
    `create index waitlist_entry_booking on waitlist_entry (tenant_id, booking_id) where booking_id is not null`,
  )
  await knex.raw(
    `create index waitlist_entry_unerased on waitlist_entry (closed_at) where sealed is not null and closed_at is not null`,
  )
  await touch(knex, 'waitlist_entry')
  await sweepFunction(
    knex,
    'waitlist_unerased(most int)',
    'tenant_id uuid, id uuid',
    `select w.tenant_id, w.id from waitlist_entry w where w.sealed is not null and w.closed_at < now() - interval '30 days' order by w.closed_at limit most`,
  )
}
