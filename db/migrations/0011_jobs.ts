import type { Knex } from 'knex'
import { openTable, platformTable } from './support.ts'

/** Indexes of `jobs` and the tables around it: the archive, the clock, the controls, the journal of outside calls, the epoch and the beats. */
export const up = async (knex: Knex) => {
  await knex.raw(`create index jobs_window on jobs (queue, run_at) where status in ('dispatched', 'running')`)
  await knex.raw(`drop index jobs_pending`)
  await knex.raw(`create index jobs_pending on jobs (queue, class, run_at, seq) where status = 'pending'`)
  await knex.raw(`create index jobs_kind on jobs (kind) where status <> 'dead'`)

  await platformTable(
    knex,
    'job_archive',
    `id uuid not null,
     money boolean not null,
     tenant_id uuid,
     queue text not null,
     kind text not null,
     version smallint not null,
     payload jsonb not null,
     outcome text not null,
     reason text,
     class text not null,
     run_at timestamptz not null,
     unique_key text,
     attempts int not null,
     starts int not null,
     dispatch_no int not null,
     worker text,
     progress jsonb,
     last_error jsonb,
     request_id text not null,
     traceparent text,
     actor jsonb not null,
     created_at timestamptz not null,
     started_at timestamptz,
     finished_at timestamptz not null,
     constraint job_archive_outcome check (outcome in ('done', 'skipped', 'cancelled', 'discarded', 'expired', 'failed', 'missed')),
     primary key (id, money, finished_at)`,
    { grant: 'select, insert', suffix: 'partition by list (money)' },
  )
  for (const [table, value] of [
    ['job_archive_money', 'true'],
    ['job_archive_other', 'false'],
  ] as const) {
    await knex.raw(
      `create table ${table} partition of job_archive for values in (${value}) partition by range (finished_at)`,
    )
    await knex.raw(`create table ${table}_default partition of ${table} default`)
  }
  await knex.raw(`create index job_archive_tenant on job_archive (tenant_id, queue, finished_at)`)
  await knex.raw(`create index job_archive_kind on job_archive (kind, finished_at)`)
  await knex.raw(`create index job_archive_request on job_archive (request_id)`)
  await knex.raw(`
    create function ensure_job_archive_partitions(weeks int) returns int language plpgsql security definer set search_path = public, pg_temp as $$
    declare
      parent text;
      first date;
      part text;
      made int := 0;
    begin
      foreach parent in array array['job_archive_money', 'job_archive_other'] loop
        for n in 0..weeks loop
          first := (date_trunc('week', now() at time zone 'UTC') + make_interval(weeks => n))::date;
          part := parent || to_char(first, '_YYYYMMDD');
          if to_regclass(format('%I', part)) is null then
            execute format('create table %I partition of %I for values from (%L) to (%L)', part, parent,
              first::timestamp at time zone 'UTC', (first + 7)::timestamp at time zone 'UTC');
            made := made + 1;
          end if;
        end loop;
      end loop;
      return made;
    end $$`)
  // The weeks wholly past their time, one table each: no row is deleted one by one.
  await knex.raw(`
    create function drop_job_archive_partitions() returns int language plpgsql security definer set search_path = public, pg_temp as $$
    declare
      old record;
      dropped int := 0;
    begin
      for old in
        select child.relname, parent.relname as parent
        from pg_inherits i join pg_class child on child.oid = i.inhrelid join pg_class parent on parent.oid = i.inhparent
        where parent.relname in ('job_archive_money', 'job_archive_other') and child.relname ~ '_[0-9]{8}$'
      loop
        if to_date(right(old.relname, 8), 'YYYYMMDD') + 7
          < (now() at time zone 'UTC')::date - (case old.parent when 'job_archive_money' then 400 else 30 end) then
          execute format('drop table %I', old.relname);
          dropped := dropped + 1;
        end if;
      end loop;
      return dropped;
    end $$`)
  for (const signature of ['ensure_job_archive_partitions(int)', 'drop_job_archive_partitions()']) {
    await knex.raw(`revoke all on function ${signature} from public`)
    await knex.raw(`grant execute on function ${signature} to pousada_service`)
  }
  await knex.raw(`select ensure_job_archive_partitions(5)`)

  await openTable(
    knex,
    'schedule',
    `kind text primary key,
     every_seconds int,
     cron text,
     time_zone text not null default 'UTC',
     backfill text not null,
     next_at timestamptz not null,
     last_at timestamptz,
     misses int not null default 0,
     updated_at timestamptz not null default now(),
     constraint schedule_clock check ((every_seconds is null) <> (cron is null)),
     constraint schedule_backfill check (backfill in ('none', 'last', 'all'))`,
  )
  await knex.raw(`create index schedule_due on schedule (next_at)`)

  await platformTable(
    knex,
    'queue_control',
    `id uuid primary key default gen_random_uuid(),
     scope text not null,
     queue text,
     kind text,
     tenant_id uuid,
     provider text,
     paused boolean not null default true,
     until timestamptz,
     reason text not null,
     actor jsonb not null,
     created_at timestamptz not null default now(),
     constraint queue_control_scope check (
       case scope
         when 'queue' then queue is not null and num_nonnulls(kind, tenant_id, provider) = 0
         when 'kind' then kind is not null and num_nonnulls(tenant_id, provider) = 0
         when 'tenant' then tenant_id is not null and num_nonnulls(kind, provider) = 0
         when 'provider' then provider is not null and num_nonnulls(kind, tenant_id) = 0
         else false
       end)`,
  )
  await knex.raw(
    `create unique index queue_control_one on queue_control
     (scope, coalesce(queue, ''), coalesce(kind, ''), coalesce(tenant_id::text, ''), coalesce(provider, ''))`,
  )

  await platformTable(
    knex,
    'external_call',
    `id uuid primary key default gen_random_uuid(),
     tenant_id uuid,
     job_id uuid not null,
     provider text not null,
     operation text not null,
     idempotency_key text not null,
     state text not null default 'started',
     tries int not null default 1,
     request_hash bytea,
     code text,
     http_status smallint,
     answer_reference text,
     first_started_at timestamptz not null default now(),
     started_at timestamptz not null default now(),
     finished_at timestamptz,
     constraint external_call_state check (state in ('started', 'succeeded', 'failed', 'not_sent', 'unknown')),
     constraint external_call_key check (length(idempotency_key) between 1 and 255)`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(`create unique index external_call_once on external_call (provider, operation, idempotency_key)`)
  await knex.raw(`create index external_call_job on external_call (job_id)`)
  await knex.raw(`create index external_call_key_of on external_call (tenant_id, idempotency_key)`)
  await knex.raw(`create index external_call_open on external_call (started_at) where state in ('started', 'unknown')`)

  await openTable(
    knex,
    'dispatch_epoch',
    `one boolean primary key default true,
     epoch uuid not null default gen_random_uuid(),
     changed_at timestamptz not null default now(),
     constraint dispatch_epoch_one check (one)`,
    { grant: 'select, update' },
  )
  await knex.raw(`insert into dispatch_epoch default values`)

  await openTable(
    knex,
    'worker_heartbeat',
    `id uuid primary key,
     process text not null,
     host text not null,
     pid int not null,
     version text not null,
     queues jsonb not null default '{}',
     running int not null default 0,
     loop_lag_ms int not null default 0,
     started_at timestamptz not null default now(),
     beat_at timestamptz not null default now(),
     constraint worker_heartbeat_process check (process in ('worker', 'relay', 'scheduler'))`,
  )
  await knex.raw(`create index worker_heartbeat_beat on worker_heartbeat (beat_at)`)
}
