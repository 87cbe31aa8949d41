import type { Knex } from 'knex'
import { sweepFunction, tenantTable, touch } from './support.ts'

const stamps = `
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`
const ofProperty = `foreign key (tenant_id, property_id) references property (tenant_id, id)`
const ofConnection = `foreign key (tenant_id, channel_connection_id) references channel_connection (tenant_id, id)`

/** Channels: whom a property sells through, what they are still to be told, what they were told, and what they have booked. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'channel_connection',
    `property_id uuid not null,
     name text not null,
     driver text not null,
     status text not null default 'draft',
     endpoint_url text not null,
     credentials bytea,
     external_property_id text not null,
     buffer int not null default 0,
     horizon_days int not null default 365,
     last_push_at timestamptz,
     push_lease_until timestamptz,
     push_lease_by uuid,
     push_failures int not null default 0,
     push_not_before timestamptz,
     push_failing_since timestamptz,
     last_pull_at timestamptz,
     next_pull_at timestamptz,
     pull_cursor text,
     pull_failing_since timestamptz,
     last_error text,
     attention_at timestamptz,
     resynced_on date,
     close_out_until timestamptz,
     disconnected_at timestamptz,
     ${stamps},
     constraint channel_connection_name check (length(name) between 1 and 120),
     constraint channel_connection_driver check (driver in ('open', 'simulator')),
     constraint channel_connection_status check (status in ('draft', 'connecting', 'active', 'paused', 'failed', 'disconnected')),
     constraint channel_connection_endpoint check (endpoint_url ~ '^https://' and length(endpoint_url) <= 2000),
     constraint channel_connection_external check (length(external_property_id) between 1 and 100),
     constraint channel_connection_limits check (buffer between 0 and 20 and horizon_days between 1 and 730 and push_failures >= 0),
     constraint channel_connection_lease check ((push_lease_until is null) = (push_lease_by is null)),
     constraint channel_connection_ended check ((status = 'disconnected') = (disconnected_at is not null)
       and (close_out_until is null or status = 'disconnected')),
     constraint channel_connection_erased check (status <> 'disconnected' or close_out_until is not null or credentials is null),
     ${ofProperty}`,
  )
  await knex.raw(
    `create unique index channel_connection_live on channel_connection (tenant_id, property_id, driver, external_property_id) where status <> 'disconnected'`,
  )
  await knex.raw(
    `create index channel_connection_property on channel_connection (tenant_id, property_id, created_at, id)`,
  )
  await knex.raw(
    `create index channel_connection_working on channel_connection (tenant_id, id) where status = 'active' or close_out_until is not null`,
  )
  await touch(knex, 'channel_connection')

  await tenantTable(
    knex,
    'channel_mapping',
    `channel_connection_id uuid not null,
     unit_type_id uuid not null,
     rate_plan_id uuid,
     external_unit_type_id text not null,
     external_rate_plan_id text,
     modifier_rate int not null default 0,
     enabled boolean not null default true,
     constraint channel_mapping_ours unique nulls not distinct (tenant_id, channel_connection_id, unit_type_id, rate_plan_id),
     constraint channel_mapping_theirs unique nulls not distinct (tenant_id, channel_connection_id, external_unit_type_id, external_rate_plan_id),
     constraint channel_mapping_rates check ((rate_plan_id is null) = (external_rate_plan_id is null)),
     constraint channel_mapping_names check (length(external_unit_type_id) between 1 and 100 and length(external_rate_plan_id) between 1 and 100),
     constraint channel_mapping_modifier check (modifier_rate between -10000 and 10000),
     ${ofConnection},
     foreign key (tenant_id, unit_type_id) references unit_type (tenant_id, id),
     foreign key (tenant_id, rate_plan_id) references rate_plan (tenant_id, id)`,
  )
  await knex.raw(`create index channel_mapping_unit_type on channel_mapping (tenant_id, unit_type_id)`)
  await knex.raw(`create index channel_mapping_rate_plan on channel_mapping (tenant_id, rate_plan_id)`)

  await tenantTable(
    knex,
    'channel_dirty',
    `channel_connection_id uuid not null,
     unit_type_id uuid not null,
     kind text not null,
     during daterange not null,
     changed_at timestamptz not null,
     constraint channel_dirty_kind check (kind in ('availability', 'rates')),
     constraint channel_dirty_bounded check (not isempty(during) and not lower_inf(during) and not upper_inf(during)),
     ${ofConnection},
     foreign key (tenant_id, unit_type_id) references unit_type (tenant_id, id)`,
    { grant: 'select, insert, delete' },
  )
  await knex.raw(
    `create index channel_dirty_oldest on channel_dirty (tenant_id, channel_connection_id, kind, changed_at)`,
  )
  await knex.raw(`create index channel_dirty_unit_type on channel_dirty (tenant_id, unit_type_id)`)

  await tenantTable(
    knex,
    'channel_push',
    `channel_connection_id uuid not null,
     property_id uuid not null,
     kind text not null,
     ranges jsonb not null,
     range_count int not null,
     message_count int not null default 0,
     status text not null default 'sending',
     attempts int not null default 1,
     error text,
     started_at timestamptz not null default now(),
     finished_at timestamptz,
     constraint channel_push_kind check (kind in ('availability', 'rates')),
     constraint channel_push_status check (status in ('sending', 'accepted', 'partial', 'failed')),
     constraint channel_push_counts check (range_count between 0 and 20000 and message_count >= 0 and attempts >= 1),
     constraint channel_push_finished check ((status = 'sending') = (finished_at is null)),
     ${ofConnection},
     ${ofProperty}`,
  )
  await knex.raw(
    `create index channel_push_connection on channel_push (tenant_id, channel_connection_id, started_at, id)`,
  )
  await knex.raw(
    `create index channel_push_sending on channel_push (tenant_id, channel_connection_id) where status = 'sending'`,
  )
  await knex.raw(`create index channel_push_property on channel_push (tenant_id, property_id)`)
  await knex.raw(`create index channel_push_age on channel_push (started_at)`)

  await tenantTable(
    knex,
    'channel_booking',
    `channel_connection_id uuid not null,
     property_id uuid not null,
     external_id text not null,
     revision int not null,
     kind text not null,
     payload bytea,
     departure date,
     status text not null default 'received',
     booking_id uuid,
     reservation_ids uuid[] not null default '{}',
     pulled_as text,
     acknowledged_at timestamptz,
     applied_at timestamptz,
     error text,
     dismiss_reason text,
     ${stamps},
     constraint channel_booking_revision unique (tenant_id, channel_connection_id, external_id, revision),
     constraint channel_booking_kind check (kind in ('new', 'modified', 'cancelled')),
     constraint channel_booking_status check (status in ('received', 'applied', 'needs_mapping', 'failed', 'superseded', 'dismissed')),
     constraint channel_booking_names check (length(external_id) between 1 and 100 and revision >= 0 and length(pulled_as) between 1 and 200),
     constraint channel_booking_dismissed check ((status = 'dismissed') = (dismiss_reason is not null)),
     ${ofConnection},
     ${ofProperty},
     foreign key (tenant_id, booking_id) references booking (tenant_id, id)`,
  )
  await knex.raw(`create index channel_booking_property on channel_booking (tenant_id, property_id, created_at, id)`)
  await knex.raw(`create index channel_booking_booking on channel_booking (tenant_id, booking_id)`)
  await knex.raw(
    `create index channel_booking_unsaid on channel_booking (tenant_id, channel_connection_id) where pulled_as is not null and acknowledged_at is null`,
  )
  await knex.raw(
    `create index channel_booking_open on channel_booking (tenant_id, channel_connection_id, created_at) where status in ('received', 'needs_mapping', 'failed')`,
  )
  await knex.raw(`create index channel_booking_erasable on channel_booking (departure) where payload is not null`)
  await touch(knex, 'channel_booking')

  await knex.raw(
    `alter table booking add channel_connection_id uuid, add external_id text, add collected_by text, add commission bigint,
       add constraint booking_channel_once unique (tenant_id, channel_connection_id, external_id),
       add constraint booking_channel check (num_nonnulls(channel_connection_id, external_id, collected_by) in (0, 3)),
       add constraint booking_collected_by check (collected_by in ('channel', 'property')),
       add constraint booking_commission check (commission >= 0),
       add ${ofConnection}`,
  )
  // The share of a channel in the price of a night, which the night audit accrues when it charges the night.
  await knex.raw(
    `alter table reservation_night add commission bigint, add constraint reservation_night_commission check (commission >= 0)`,
  )

  // The clock finds the connections with work due. Each connection is then looked at in its own tenant.
  await sweepFunction(
    knex,
    'channels_due(after uuid, most int)',
    'tenant_id uuid, id uuid',
    `select c.tenant_id, c.id from channel_connection c join property y on y.tenant_id = c.tenant_id and y.id = c.property_id
     where c.id > after and (
         (c.close_out_until is not null and (c.close_out_until <= now() or coalesce(c.push_not_before, now()) <= now()))
         or (c.status = 'active' and (
           c.next_pull_at is null or c.next_pull_at <= now() or c.resynced_on is null or c.resynced_on < (now() at time zone y.timezone)::date
           or (coalesce(c.push_not_before, now()) <= now() and exists (select from channel_dirty d where d.tenant_id = c.tenant_id and d.channel_connection_id = c.id
             and d.changed_at < now() - interval '30 seconds'))))
         or ((c.attention_at is null or c.attention_at <= now() - interval '1 hour') and (
           (c.status = 'active' and (c.pull_failing_since <= now() - interval '10 minutes' or c.push_failing_since <= now() - interval '10 minutes'))
           or exists (select from channel_booking b where b.tenant_id = c.tenant_id and b.channel_connection_id = c.id
             and b.status in ('received', 'needs_mapping', 'failed') and b.created_at <= now() - interval '10 minutes'))))
     order by c.id limit most`,
  )
  await sweepFunction(
    knex,
    'channel_payloads_erasable(most int)',
    'tenant_id uuid, id uuid',
    `select b.tenant_id, b.id from channel_booking b where b.payload is not null
       and (b.departure < current_date - 90 or (b.departure is null and b.created_at < now() - interval '90 days')) order by b.departure limit most`,
  )
  await sweepFunction(
    knex,
    'channel_pushes_purgeable()',
    'tenant_id uuid',
    `select distinct p.tenant_id from channel_push p where p.started_at < now() - interval '90 days'`,
  )
}
