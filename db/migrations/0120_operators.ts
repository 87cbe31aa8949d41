import type { Knex } from 'knex'
import { openTable, platformTable, sweepFunction, touch } from './support.ts'

/** Tables for acts of operators: support sessions, announcements, the chain of the audit trail, exports and purges. */
export const up = async (knex: Knex) => {
  await knex.raw(`grant update (reason, delete_after) on tenant to pousada_service`)
  await knex.raw(
    `alter table tenant add constraint tenant_deletion check ((status = 'deleting') = (delete_after is not null))`,
  )
  await knex.raw(`create index tenant_name on tenant (lower(name) text_pattern_ops)`)
  await knex.raw(`create index tenant_deletion on tenant (delete_after) where status = 'deleting'`)
  await knex.raw(
    `alter table app_user add column locked_at timestamptz, add column lock_reason text, add constraint app_user_lock_reason check (length(lock_reason) <= 500)`,
  )

  await platformTable(
    knex,
    'support_session',
    `id uuid primary key default gen_random_uuid(),
     tenant_id uuid not null references tenant (id),
     superuser_id uuid not null references app_user (id),
     as_user_id uuid references app_user (id),
     mode text not null,
     reason text not null,
     started_at timestamptz not null default now(),
     expires_at timestamptz not null,
     ended_at timestamptz,
     ended_by uuid references app_user (id),
     end_cause text,
     constraint support_session_mode check (mode in ('read', 'write')),
     constraint support_session_reason check (length(trim(reason)) between 10 and 500),
     constraint support_session_time check (expires_at > started_at and expires_at <= started_at + interval '60 minutes'),
     constraint support_session_end check ((ended_at is null) = (end_cause is null)),
     constraint support_session_end_cause check (end_cause in ('ended', 'signed_out', 'expired', 'level_ended', 'consent_withdrawn', 'tenant_deleted'))`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(`create unique index support_session_running on support_session (superuser_id) where ended_at is null`)
  await knex.raw(`create index support_session_tenant on support_session (tenant_id, started_at desc)`)
  await knex.raw(`create index support_session_as_user on support_session (as_user_id)`)
  await knex.raw(`create index support_session_superuser on support_session (superuser_id)`)
  await knex.raw(`create index support_session_ended_by on support_session (ended_by)`)
  await knex.raw(`create index support_session_open on support_session (expires_at) where ended_at is null`)
  await knex.raw(`
    alter table session add column support_session_id uuid references support_session (id), add column support_mode text,
      add column support_as_user_id uuid references app_user (id)`)
  await knex.raw(`create index session_support_as_user on session (support_as_user_id)`)
  await knex.raw(`create index session_support on session (support_session_id)`)
  await knex.raw(
    `alter table session add constraint session_support check ((kind = 'support') = (support_session_id is not null) and (support_session_id is not null) = (support_mode is not null))`,
  )
  await knex.raw(`alter table session drop constraint session_reason`)
  await knex.raw(`
    alter table session add constraint session_reason check (revoke_reason in
      ('sign_out', 'user', 'all', 'reuse', 'password', 'mfa', 'email', 'admin', 'locked', 'too_many', 'support_ended', 'level_ended'))`)

  await knex.raw(`alter table add_on_price add column apply_to_holders boolean not null default false`)

  await openTable(
    knex,
    'announcement',
    `id uuid primary key default gen_random_uuid(),
     kind text not null,
     title jsonb not null,
     body jsonb not null,
     plans text[] not null default '{}',
     tenant_ids uuid[] not null default '{}',
     starts_at timestamptz not null,
     ends_at timestamptz,
     created_by uuid,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint announcement_kind check (kind in ('info', 'maintenance', 'incident', 'deprecation')),
     constraint announcement_audience check (cardinality(plans) = 0 or cardinality(tenant_ids) = 0),
     constraint announcement_time check (ends_at > starts_at)`,
  )
  await touch(knex, 'announcement')

  // The words of a mail to the people of a tenant, which it is sent with: one for each kind and fact.
  await platformTable(
    knex,
    'notice',
    `id uuid primary key default gen_random_uuid(),
     tenant_id uuid not null references tenant (id),
     kind text not null,
     reference text not null,
     house text not null,
     key text,
     day date,
     money text,
     created_at timestamptz not null default now(),
     constraint notice_once unique (tenant_id, kind, reference)`,
    { grant: 'select, insert' },
  )
  await sweepFunction(
    knex,
    'feature_uses(of_tenants uuid[])',
    'tenant_id uuid, feature text, what text, count bigint',
    `select k.tenant_id, f.key, 'keys of programs', count(*) from api_key k cross join (values ('api_read'), ('api_write')) f (key)
       where k.tenant_id = any(of_tenants) and k.revoked_at is null and k.expires_at > now() and k.last_used_at > now() - interval '30 days'
       group by k.tenant_id, f.key
     union all select c.tenant_id, 'channels', 'connected channels', count(*) from channel_connection c
       where c.tenant_id = any(of_tenants) and c.status in ('connecting', 'active', 'paused') group by c.tenant_id
     union all select e.tenant_id, 'webhooks', 'active endpoints', count(*) from webhook_endpoint e
       where e.tenant_id = any(of_tenants) and e.status = 'active' group by e.tenant_id`,
  )
  // Tenants of a user, with what announcements are addressed to.
  await sweepFunction(
    knex,
    'tenants_of(of_user uuid)',
    'tenant_id uuid, plan text',
    `select t.id, t.plan from membership m join tenant t on t.id = m.tenant_id where m.user_id = of_user and m.status = 'active' and t.status <> 'deleted'`,
  )
  await audit(knex)
  await exportsAndPurges(knex)
}

/** The chain: one head for each, and what the nightly check found. */
const audit = async (knex: Knex) => {
  await knex.raw(`grant update (seq, previous_hash, hash) on audit_entry to pousada_service`)
  await knex.raw(`create index audit_entry_unchained on audit_entry (chain, at, id) where hash is null`)
  await knex.raw(`create index audit_entry_seq on audit_entry (chain, seq) where hash is not null`)
  await knex.raw(`create index audit_entry_at on audit_entry (at desc, id)`)
  await knex.raw(`create index audit_entry_subject_id on audit_entry (subject_id, at)`)
  await knex.raw(
    `create index audit_entry_support on audit_entry (support_session_id, at) where support_session_id is not null`,
  )
  await knex.raw(`create index audit_entry_actor on audit_entry (actor_id, at)`)
  await openTable(
    knex,
    'audit_chain',
    `chain text primary key,
     seq bigint not null default 0,
     hash bytea not null default '\\x',
     chained_at timestamptz not null default now(),
     verified_at timestamptz,
     verified_through bigint not null default 0,
     problem text,
     constraint audit_chain_problem check (length(problem) <= 500)`,
    { grant: 'select, insert, update' },
  )
  // Entries of transactions that are over: a younger one than the oldest that still runs waits.
  await sweepFunction(
    knex,
    'audit_unchained(most int)',
    'chain text',
    `select distinct e.chain from (select chain from audit_entry where hash is null order by at limit 20000) e limit most`,
  )
}

const exportsAndPurges = async (knex: Knex) => {
  await platformTable(
    knex,
    'tenant_export',
    `id uuid primary key default gen_random_uuid(),
     tenant_id uuid not null references tenant (id),
     status text not null default 'queued',
     reason text not null,
     parts int not null default 0,
     bytes bigint not null default 0,
     records bigint not null default 0,
     sha256 text,
     table_name text,
     tables_done int not null default 0,
     tables int not null default 0,
     error text,
     requested_by uuid,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     ready_at timestamptz,
     expires_at timestamptz,
     constraint tenant_export_status check (status in ('queued', 'running', 'ready', 'failed', 'expired')),
     constraint tenant_export_ready check (status <> 'ready' or (sha256 is not null and expires_at is not null))`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(
    `create unique index tenant_export_open on tenant_export (tenant_id) where status in ('queued', 'running')`,
  )
  await knex.raw(`create index tenant_export_latest on tenant_export (tenant_id, created_at desc)`)
  await knex.raw(`create index tenant_export_expiry on tenant_export (expires_at) where status = 'ready'`)
  await touch(knex, 'tenant_export')
  await platformTable(
    knex,
    'tenant_export_part',
    `tenant_id uuid not null references tenant (id),
     export_id uuid not null references tenant_export (id),
     number int not null,
     bytes bytea not null,
     primary key (tenant_id, export_id, number),
     constraint tenant_export_part_size check (octet_length(bytes) <= 8388608)`,
    { grant: 'select, insert, delete' },
  )
  await knex.raw(`alter table tenant_export_part alter column bytes set storage external`)
  await knex.raw(`create index tenant_export_part_export on tenant_export_part (export_id)`)

  // How far a purge has come: tables in their order, with what went of each.
  await platformTable(
    knex,
    'tenant_purge',
    `tenant_id uuid not null references tenant (id),
     place int not null,
     table_name text not null,
     deleted bigint not null default 0,
     done_at timestamptz,
     primary key (tenant_id, table_name),
     constraint tenant_purge_place unique (tenant_id, place)`,
    { grant: 'select, insert, update' },
  )
}
