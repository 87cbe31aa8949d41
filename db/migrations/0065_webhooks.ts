import type { Knex } from 'knex'
import { platformTable, sweepFunction, tenantTable, touch } from './support.ts'

const stamps = `
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`

/** Tables partitioned by month, and how they are made ahead and dropped once their 90 days are over. */
const rollByMonth = async (knex: Knex) => {
  await knex.raw(`
    create or replace function ensure_month_partitions(months int) returns int language plpgsql security definer set search_path = public, pg_temp as $$
    declare
      parent text;
      first date;
      made int := 0;
    begin
      foreach parent in array array['audit_entry', 'event', 'webhook_delivery', 'webhook_attempt'] loop
        for n in 0..months loop
          first := (date_trunc('month', now() at time zone 'UTC') + make_interval(months => n))::date;
          if to_regclass(format('%I', parent || to_char(first, '_YYYYMM'))) is null then
            execute format('create table %I partition of %I for values from (%L) to (%L)', parent || to_char(first, '_YYYYMM'), parent,
              first::timestamp at time zone 'UTC', (first + interval '1 month')::timestamp at time zone 'UTC');
            made := made + 1;
          end if;
        end loop;
      end loop;
      return made;
    end $$`)
  // Months wholly past their time, one table each: no row is deleted one by one.
  await knex.raw(`
    create function drop_event_partitions() returns int language plpgsql security definer set search_path = public, pg_temp as $$
    declare
      old text;
      dropped int := 0;
    begin
      for old in
        select child.relname
        from pg_inherits i join pg_class child on child.oid = i.inhrelid join pg_class parent on parent.oid = i.inhparent
        where parent.relname in ('event', 'webhook_delivery', 'webhook_attempt') and child.relname ~ '_[0-9]{6}$'
      loop
        if to_date(right(old, 6), 'YYYYMM') + interval '1 month' < (now() at time zone 'UTC')::date - 90 then
          execute format('drop table %I', old);
          dropped := dropped + 1;
        end if;
      end loop;
      return dropped;
    end $$`)
  await knex.raw(`revoke all on function drop_event_partitions() from public`)
  await knex.raw(`grant execute on function drop_event_partitions() to pousada_service`)
  await knex.raw(`select ensure_month_partitions(14)`)
}

/** The feed of events and its deliveries to addresses of the tenant. */
export const up = async (knex: Knex) => {
  await tenantTable(knex, 'event_head', `last_sequence bigint not null default 0, primary key (tenant_id)`)

  await tenantTable(
    knex,
    'webhook_endpoint',
    `url text not null,
     description text not null default '',
     types text[] not null,
     subjects text[] not null,
     property_ids uuid[] not null default '{}',
     status text not null default 'active',
     secret bytea not null,
     previous_secret bytea,
     previous_until timestamptz,
     paused_cause text,
     paused_by uuid,
     paused_reason text,
     paused_after_sequence bigint,
     ping_no int not null default 0,
     ping jsonb,
     created_by uuid,
     ${stamps},
     constraint webhook_endpoint_url check (length(url) between 1 and 2000),
     constraint webhook_endpoint_description check (length(description) <= 200),
     constraint webhook_endpoint_types check (cardinality(types) between 1 and 100),
     constraint webhook_endpoint_status check (status in ('active', 'paused')),
     constraint webhook_endpoint_cause check (paused_cause in ('command', 'gone', 'failing')),
     constraint webhook_endpoint_paused check ((status = 'paused') = (paused_cause is not null)
       and (status = 'paused') = (paused_after_sequence is not null)),
     constraint webhook_endpoint_rotated check ((previous_secret is null) = (previous_until is null))`,
  )
  await knex.raw(`create index webhook_endpoint_made on webhook_endpoint (tenant_id, created_at, id)`)
  await touch(knex, 'webhook_endpoint')

  // Apart from the endpoint, whose version and lock belong to its users: this is written with every attempt.
  await tenantTable(
    knex,
    'webhook_health',
    `failures int not null default 0,
     failing_since timestamptz,
     warned_at timestamptz,
     last_success_at timestamptz,
     last_status int,
     last_error text,
     constraint webhook_health_failing check ((failures = 0) = (failing_since is null)),
     foreign key (tenant_id, id) references webhook_endpoint (tenant_id, id) on delete cascade`,
  )

  await tenantTable(
    knex,
    'webhook_replay',
    `webhook_endpoint_id uuid not null,
     from_sequence bigint not null,
     to_sequence bigint not null,
     types text[],
     cursor bigint not null,
     status text not null default 'running',
     events int not null,
     created_by uuid,
     created_at timestamptz not null default now(),
     constraint webhook_replay_span check (from_sequence <= to_sequence + 1 and cursor between from_sequence - 1 and to_sequence),
     constraint webhook_replay_status check (status in ('running', 'done', 'cancelled'))`,
  )
  await knex.raw(
    `create unique index webhook_replay_running on webhook_replay (tenant_id, webhook_endpoint_id) where status = 'running'`,
  )

  // The log outlives its endpoint, so neither refers to it by a foreign key. event_at is the event's time to the millisecond.
  await tenantTable(
    knex,
    'webhook_delivery',
    `webhook_endpoint_id uuid not null,
     event_id uuid not null,
     event_at timestamptz not null,
     sequence bigint not null,
     type text not null,
     property_id uuid,
     replay_id uuid,
     status text not null default 'pending',
     attempts int not null default 0,
     last_number int not null default 0,
     due_at timestamptz not null default now(),
     sending_until timestamptz,
     last_attempt_at timestamptz,
     delivered_at timestamptz,
     created_at timestamptz not null default now(),
     constraint webhook_delivery_status check (status in ('pending', 'delivered', 'dead', 'dropped')),
     constraint webhook_delivery_attempts check (attempts between 0 and 10 and last_number >= attempts),
     constraint webhook_delivery_delivered check (status <> 'delivered' or delivered_at is not null),
     constraint webhook_delivery_once unique nulls not distinct (tenant_id, webhook_endpoint_id, event_id, replay_id, event_at),
     primary key (tenant_id, id, event_at)`,
    { suffix: 'partition by range (event_at)' },
  )
  await knex.raw(`create table webhook_delivery_default partition of webhook_delivery default`)
  for (const [name, replayed] of [
    ['due', ''],
    ['due_again', 'not '],
  ])
    await knex.raw(
      `create index webhook_delivery_${name} on webhook_delivery (tenant_id, webhook_endpoint_id, due_at, sequence)
       where status = 'pending' and replay_id is ${replayed}null`,
    )
  await knex.raw(`create index webhook_delivery_listed on webhook_delivery (tenant_id, created_at desc, id)`)
  await tenantTable(
    knex,
    'webhook_attempt',
    `webhook_delivery_id uuid not null,
     event_at timestamptz not null,
     number int not null,
     at timestamptz not null,
     duration_ms int not null,
     http_status int,
     error text,
     excerpt text,
     constraint webhook_attempt_number check (number >= 1 and duration_ms >= 0),
     constraint webhook_attempt_error check (error in ('connect_failed', 'tls_failed', 'timeout', 'redirect', 'address_refused', 'too_large')),
     constraint webhook_attempt_excerpt check (length(excerpt) <= 200),
     primary key (tenant_id, webhook_delivery_id, number, event_at)`,
    { grant: 'select, insert', suffix: 'partition by range (event_at)' },
  )
  await knex.raw(`create table webhook_attempt_default partition of webhook_attempt default`)

  // Leases of the senders at work, counted by endpoint, tenant and host.
  await tenantTable(
    knex,
    'webhook_slot',
    `webhook_endpoint_id uuid not null,
     host text not null,
     until timestamptz not null`,
  )
  await knex.raw(`create index webhook_slot_host on webhook_slot (host, until)`)
  await sweepFunction(
    knex,
    'webhook_slots_taken(of_host text)',
    'slots int',
    `select count(*)::int from webhook_slot where host = of_host and until > clock_timestamp()`,
  )

  await platformTable(
    knex,
    'webhook_warning',
    `id uuid not null default gen_random_uuid(),
     tenant_id uuid not null references tenant (id),
     webhook_endpoint_id uuid not null,
     host text not null,
     kind text not null,
     since timestamptz not null,
     created_at timestamptz not null default now(),
     primary key (tenant_id, id),
     constraint webhook_warning_id unique (id),
     constraint webhook_warning_kind check (kind in ('failing', 'paused')),
     constraint webhook_warning_once unique (tenant_id, webhook_endpoint_id, kind, since)`,
    { grant: 'select, insert' },
  )

  // Tenants with events that have no number yet: one look into the index for each.
  await sweepFunction(
    knex,
    'tenants_with_unnumbered_events(after_id uuid, most int)',
    'tenant_id uuid',
    `with recursive found as (
       (select e.tenant_id from event e where e.sequence is null and e.tenant_id > after_id and e.occurred_at > now() - interval '125 days' order by e.tenant_id limit 1)
       union all
       select (select e.tenant_id from event e where e.sequence is null and e.tenant_id > found.tenant_id
           and e.occurred_at > now() - interval '125 days' order by e.tenant_id limit 1)
       from found where found.tenant_id is not null)
     select tenant_id from found where tenant_id is not null limit most`,
  )
  await rollByMonth(knex)
}
