import type { Knex } from 'knex'
import { platformTable, tenantTable } from './support.ts'

/** The base of every module: jobs, events, the audit trail and kept replies. */
export const up = async (knex: Knex) => {
  for (const extension of ['btree_gist', 'pg_trgm', 'btree_gin'])
    await knex.raw(`create extension if not exists ${extension}`)
  await knex.raw(`grant usage on schema public to pousada_service`)

  await knex.raw(`
    create function touch_updated_at() returns trigger language plpgsql as $$
    begin
      new.updated_at := now();
      return new;
    end $$`)
  await knex.raw(`
    create function refuse_change() returns trigger language plpgsql as $$
    begin
      raise exception '% of % is refused: its rows are written once', tg_op, tg_table_name using errcode = 'PL010';
    end $$`)
  // Months ahead for the tables partitioned by month; run at each release and daily. The default partition takes what comes in between.
  await knex.raw(`
    create function ensure_month_partitions(months int) returns int language plpgsql security definer set search_path = public, pg_temp as $$
    declare
      parent text;
      first date;
      made int := 0;
    begin
      foreach parent in array array['audit_entry', 'event'] loop
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
  await knex.raw(`revoke all on function ensure_month_partitions(int) from public`)
  await knex.raw(`grant execute on function ensure_month_partitions(int) to pousada_service`)

  await platformTable(
    knex,
    'jobs',
    `id uuid primary key,
     seq bigint generated always as identity,
     tenant_id uuid,
     queue text not null,
     kind text not null,
     version smallint not null default 1,
     payload jsonb not null,
     status text not null default 'pending',
     class text not null default 'normal',
     run_at timestamptz not null default now(),
     unique_key text,
     attempts int not null default 0,
     starts int not null default 0,
     dispatch_no int not null default 0,
     delivery int not null default 0,
     leased_until timestamptz,
     worker text,
     progress jsonb,
     last_error jsonb,
     request_id text not null,
     traceparent text,
     actor jsonb not null,
     created_at timestamptz not null default now(),
     constraint jobs_status check (status in ('pending', 'dispatched', 'running', 'dead')),
     constraint jobs_class check (class in ('urgent', 'normal', 'bulk')),
     constraint jobs_payload_small check (octet_length(payload::text) <= 8192)`,
    { writtenByAll: true },
  )
  await knex.raw(`alter table jobs set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02)`)
  await knex.raw(`
    create unique index jobs_unique_key on jobs (coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid), kind, unique_key)
    where unique_key is not null and status <> 'dead'`)
  await knex.raw(`create index jobs_pending on jobs (queue, run_at, seq) where status = 'pending'`)
  await knex.raw(`create index jobs_leased on jobs (leased_until) where status in ('dispatched', 'running')`)
  await knex.raw(`create index jobs_dead on jobs (queue, kind, seq) where status = 'dead'`)
  await knex.raw(`create index jobs_tenant on jobs (tenant_id, queue) where status = 'pending'`)
  await knex.raw(`create index jobs_request on jobs (request_id)`)

  await tenantTable(
    knex,
    'event',
    `type text not null,
     type_version int not null default 1,
     sequence bigint,
     property_id uuid,
     entity jsonb not null,
     occurred_at timestamptz not null default clock_timestamp(),
     actor jsonb not null,
     request_id text not null,
     cause_id uuid,
     changed jsonb not null default '[]',
     data jsonb not null,
     constraint event_data_small check (octet_length(data::text) <= 8192),
     primary key (tenant_id, id, occurred_at)`,
    { grant: 'select, insert, update (sequence)', suffix: 'partition by range (occurred_at)' },
  )
  await knex.raw(`create table event_default partition of event default`)
  await knex.raw(`create index event_sequence on event (tenant_id, sequence)`)
  await knex.raw(`create index event_unnumbered on event (tenant_id, occurred_at, id) where sequence is null`)
  await knex.raw(`create index event_entity on event (tenant_id, (entity->>'type'), (entity->>'id'))`)
  await knex.raw(`
    create function event_immutable() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' and old.sequence is null and to_jsonb(new) - 'sequence' = to_jsonb(old) - 'sequence' then
        return new;
      end if;
      raise exception 'an event does not change' using errcode = 'PL010';
    end $$`)
  await knex.raw(
    `create trigger event_immutable before update or delete on event for each row execute function event_immutable()`,
  )

  await platformTable(
    knex,
    'audit_entry',
    `id uuid not null default gen_random_uuid(),
     chain text not null,
     tenant_id uuid,
     at timestamptz not null default clock_timestamp(),
     actor_type text not null,
     actor_id uuid,
     support_session_id uuid,
     action text not null,
     subject_type text not null,
     subject_id text,
     reason text,
     changes jsonb not null default '[]',
     request_id text not null,
     job_id uuid,
     address text,
     seq bigint,
     previous_hash bytea,
     hash bytea,
     constraint audit_actor check (actor_type in ('user', 'superuser', 'support', 'api_key', 'guest', 'system')),
     primary key (id, at)`,
    { grant: 'select, insert', suffix: 'partition by range (at)', writtenByAll: true },
  )
  await knex.raw(`create table audit_entry_default partition of audit_entry default`)
  await knex.raw(`create index audit_entry_chain on audit_entry (chain, at)`)
  await knex.raw(`create index audit_entry_subject on audit_entry (chain, subject_type, subject_id, at)`)
  await knex.raw(`create index audit_entry_request on audit_entry (request_id)`)
  await knex.raw(`
    create function audit_immutable() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' and old.hash is null
        and to_jsonb(new) - array['seq', 'previous_hash', 'hash'] = to_jsonb(old) - array['seq', 'previous_hash', 'hash'] then
        return new;
      end if;
      raise exception 'the audit trail does not change' using errcode = 'PL010';
    end $$`)
  await knex.raw(
    `create trigger audit_immutable before update or delete on audit_entry for each row execute function audit_immutable()`,
  )
  await knex.raw(
    `create trigger audit_no_truncate before truncate on audit_entry for each statement execute function refuse_change()`,
  )

  // The first reply to an Idempotency-Key, sealed; it commits with what it reports.
  await platformTable(
    knex,
    'kept_reply',
    `caller text not null,
     key text not null,
     tenant_id uuid,
     request_hash bytea not null,
     status smallint not null,
     headers jsonb not null default '{}',
     body bytea not null,
     created_at timestamptz not null default now(),
     constraint kept_reply_key check (length(key) between 1 and 255 and length(caller) <= 200),
     primary key (caller, key)`,
    { grant: 'select, insert, delete' },
  )
  await knex.raw(`create index kept_reply_created on kept_reply (created_at)`)
  await knex.raw(`create trigger append_only before update on kept_reply for each row execute function refuse_change()`)
  await knex.raw(`select ensure_month_partitions(14)`)
}
