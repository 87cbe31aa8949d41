import type { Knex } from 'knex'
import { openTable, tenantTable, touch } from './support.ts'

const common = `version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`

/** Callers: users, sessions, memberships, keys. Users and sessions belong to no tenant. */
export const up = async (knex: Knex) => {
  await openTable(
    knex,
    'app_user',
    `id uuid primary key default gen_random_uuid(),
     email text not null,
     email_key text not null unique,
     name text not null,
     locale text not null default 'en',
     status text not null default 'invited',
     password_hash text,
     pepper_id text,
     email_verified_at timestamptz,
     password_changed_at timestamptz,
     session_epoch bigint not null default 0,
     totp_secret bytea,
     totp_confirmed_at timestamptz,
     totp_last_step bigint,
     last_tenant_id uuid references tenant (id),
     ${common},
     constraint app_user_status check (status in ('invited', 'active', 'locked')),
     constraint app_user_email_key check (email_key = lower(email) and length(email) <= 254),
     constraint app_user_name check (length(name) between 1 and 120),
     constraint app_user_password check ((password_hash is null) = (pepper_id is null))`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(`create index app_user_last_tenant on app_user (last_tenant_id)`)
  await touch(knex, 'app_user')

  await openTable(
    knex,
    'recovery_code',
    `id uuid primary key default gen_random_uuid(),
     user_id uuid not null references app_user (id),
     code_hash bytea not null,
     used_at timestamptz,
     created_at timestamptz not null default now()`,
  )
  await knex.raw(`create index recovery_code_user on recovery_code (user_id)`)

  await openTable(
    knex,
    'session',
    `id uuid primary key default gen_random_uuid(),
     user_id uuid not null references app_user (id),
     kind text not null default 'api',
     token_prefix text not null,
     generation int not null default 0,
     current_jti_hash bytea not null,
     previous_jti_hash bytea,
     rotated_at timestamptz,
     epoch bigint not null,
     active_tenant_id uuid references tenant (id),
     expires_at timestamptz not null,
     absolute_expires_at timestamptz not null,
     reauthenticated_at timestamptz,
     mfa_at timestamptz,
     last_seen_at timestamptz not null default now(),
     first_ip inet,
     last_ip inet,
     user_agent text not null default '',
     created_at timestamptz not null default now(),
     revoked_at timestamptz,
     revoke_reason text,
     version int not null default 1,
     changed_at timestamptz not null default clock_timestamp(),
     constraint session_kind check (kind in ('api', 'dashboard', 'support')),
     constraint session_prefix check (token_prefix ~ '^[0-9A-HJKMNP-TV-Z]{12}$'),
     constraint session_one_prefix unique (user_id, token_prefix),
     constraint session_agent check (length(user_agent) <= 256),
     constraint session_revoked check ((revoked_at is null) = (revoke_reason is null)),
     constraint session_reason check (revoke_reason in
       ('sign_out', 'user', 'all', 'reuse', 'password', 'mfa', 'email', 'admin', 'locked', 'too_many'))`,
    { grant: 'select, insert, update, delete' },
  )
  // A copy of a session kept elsewhere carries its version, and a newer version makes every copy void. Being seen is no change.
  await knex.raw(`
    create function session_changed() returns trigger language plpgsql as $$
    begin
      if old.revoked_at is not null and new.revoked_at is null then
        raise exception 'a revoked session does not live again' using errcode = 'PL010';
      end if;
      if to_jsonb(new) - array['last_seen_at', 'last_ip'] is distinct from to_jsonb(old) - array['last_seen_at', 'last_ip'] then
        new.version := old.version + 1;
        new.changed_at := clock_timestamp();
      end if;
      return new;
    end $$`)
  await knex.raw(
    `create trigger session_changed before update on session for each row execute function session_changed()`,
  )
  await knex.raw(`create index session_changed on session (changed_at) where version > 1`)
  await knex.raw(`create index session_first_ip on session (first_ip, created_at)`)
  await knex.raw(`create index session_live on session (user_id, created_at) where revoked_at is null`)
  await knex.raw(`create index session_tenant on session (active_tenant_id)`)
  await knex.raw(`create index session_ended on session (coalesce(revoked_at, absolute_expires_at))`)

  await openTable(
    knex,
    'one_time_token',
    `id uuid primary key default gen_random_uuid(),
     purpose text not null,
     user_id uuid not null references app_user (id),
     tenant_id uuid references tenant (id),
     data jsonb not null default '{}',
     expires_at timestamptz not null,
     used_at timestamptz,
     created_at timestamptz not null default now(),
     constraint one_time_token_purpose check (purpose in ('invitation', 'password_reset', 'email_change', 'mfa'))`,
  )
  await knex.raw(`
    create unique index one_time_token_live on one_time_token (purpose, user_id, coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid))
    where used_at is null and purpose <> 'mfa'`)
  await knex.raw(`create index one_time_token_user on one_time_token (user_id)`)
  await knex.raw(`create index one_time_token_tenant on one_time_token (tenant_id)`)

  // Failures of sign-in, one row each, counted alike for addresses that nobody has; the truth of the throttle when Redis is lost.
  await openTable(
    knex,
    'sign_in_failure',
    `id bigint generated always as identity primary key,
     account_key bytea not null,
     network inet not null,
     address inet not null,
     at timestamptz not null default now()`,
  )
  await knex.raw(`create index sign_in_failure_account on sign_in_failure (account_key, at)`)
  await knex.raw(`create index sign_in_failure_address on sign_in_failure (address, at)`)
  await knex.raw(`create index sign_in_failure_network on sign_in_failure (network, at)`)
  await openTable(
    knex,
    'known_network',
    `user_id uuid not null references app_user (id), network inet not null, last_at timestamptz not null default now(), primary key (user_id, network)`,
  )

  await tenantTable(
    knex,
    'role',
    `key text not null,
     name text not null,
     description text not null default '',
     permissions jsonb not null,
     ${common},
     constraint role_key unique (tenant_id, key),
     constraint role_key_form check (key ~ '^[a-z][a-z0-9-]{2,39}$'),
     constraint role_permissions check (jsonb_array_length(permissions) between 1 and 300),
     foreign key (tenant_id) references tenant (id)`,
  )
  await touch(knex, 'role')

  await tenantTable(
    knex,
    'membership',
    `user_id uuid not null references app_user (id),
     role text,
     role_id uuid,
     all_properties boolean not null default true,
     status text not null default 'invited',
     invited_by uuid references app_user (id),
     invited_at timestamptz not null default now(),
     accepted_at timestamptz,
     deactivated_at timestamptz,
     deactivated_by uuid references app_user (id),
     ${common},
     constraint membership_one unique (tenant_id, user_id),
     constraint membership_status check (status in ('invited', 'active', 'deactivated')),
     constraint membership_role check (num_nonnulls(role, role_id) = 1),
     constraint membership_built_in check (role in
       ('owner', 'admin', 'manager', 'receptionist', 'housekeeper', 'maintenance', 'finance', 'stock', 'relations', 'auditor')),
     foreign key (tenant_id) references tenant (id),
     foreign key (tenant_id, role_id) references role (tenant_id, id)`,
  )
  await knex.raw(`create index membership_user on membership (user_id)`)
  await knex.raw(`create index membership_role_id on membership (tenant_id, role_id)`)
  await knex.raw(`create index membership_invited_by on membership (invited_by)`)
  await knex.raw(`create index membership_deactivated_by on membership (deactivated_by)`)
  await touch(knex, 'membership')
  await knex.raw(`
    create function keep_an_owner() returns trigger language plpgsql as $$
    begin
      if old.role = 'owner' and old.status = 'active' then
        perform 1 from tenant where id = old.tenant_id for update;
        if not exists (select 1 from membership where tenant_id = old.tenant_id and role = 'owner' and status = 'active')
          and exists (select 1 from tenant where id = old.tenant_id and status in ('active', 'suspended')) then
          raise exception 'the last owner of a tenant stays' using errcode = '23514', constraint = 'membership_last_owner';
        end if;
      end if;
      return null;
    end $$`)
  await knex.raw(`
    create constraint trigger membership_last_owner after update or delete on membership deferrable initially deferred
    for each row execute function keep_an_owner()`)
  // The only way to read memberships across tenants.
  await knex.raw(`
    create function memberships_of(of_user uuid)
    returns table (tenant_id uuid, tenant_name text, role text, role_id uuid, status text, accepted_at timestamptz, invited_at timestamptz)
    language sql stable security definer set search_path = public, pg_temp as $$
      select m.tenant_id, t.name, coalesce(m.role, r.key), m.role_id, m.status, m.accepted_at, m.invited_at
      from membership m join tenant t on t.id = m.tenant_id left join role r on r.tenant_id = m.tenant_id and r.id = m.role_id
      where m.user_id = of_user and t.status <> 'deleted' order by m.accepted_at nulls last, m.tenant_id
    $$`)
  await knex.raw(`revoke all on function memberships_of(uuid) from public`)
  await knex.raw(`grant execute on function memberships_of(uuid) to pousada_service`)

  await tenantTable(
    knex,
    'api_key',
    `name text not null,
     key_id text not null unique,
     hint text not null,
     hash bytea not null,
     pepper_id text not null,
     scopes text[] not null,
     all_properties boolean not null default true,
     cidrs cidr[] not null default '{}',
     expires_at timestamptz not null,
     created_by uuid references app_user (id),
     revoked_at timestamptz,
     revoked_by uuid references app_user (id),
     replaces_id uuid,
     last_used_at timestamptz,
     last_used_ip inet,
     ${common},
     constraint api_key_name check (length(name) between 1 and 80),
     constraint api_key_scopes check (cardinality(scopes) between 1 and 60),
     constraint api_key_cidrs check (cardinality(cidrs) <= 20),
     foreign key (tenant_id) references tenant (id),
     foreign key (tenant_id, replaces_id) references api_key (tenant_id, id)`,
  )
  await knex.raw(
    `create unique index api_key_live_name on api_key (tenant_id, name) where revoked_at is null and replaces_id is null`,
  )
  await knex.raw(`create index api_key_created_by on api_key (created_by)`)
  await knex.raw(`create index api_key_revoked_by on api_key (revoked_by)`)
  await knex.raw(`create index api_key_replaces on api_key (tenant_id, replaces_id)`)
  await touch(knex, 'api_key')
  await openTable(
    knex,
    'user_mail',
    `id uuid primary key default gen_random_uuid(),
     user_id uuid not null references app_user (id),
     kind text not null,
     reference_id uuid not null,
     status text not null default 'queued',
     created_at timestamptz not null default now(),
     sent_at timestamptz,
     constraint user_mail_once unique (kind, reference_id, user_id),
     constraint user_mail_status check (status in ('queued', 'sent', 'failed'))`,
  )
  await knex.raw(`create index user_mail_user on user_mail (user_id)`)

  await openTable(
    knex,
    'superuser_account',
    `id uuid primary key default gen_random_uuid(),
     user_id uuid not null references app_user (id),
     level text not null,
     granted_by uuid references app_user (id),
     reason text not null,
     since timestamptz not null default now(),
     ended_at timestamptz,
     constraint superuser_level check (level in ('N1', 'N2'))`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(`create unique index superuser_live on superuser_account (user_id) where ended_at is null`)
  await knex.raw(`create index superuser_user on superuser_account (user_id)`)
  await knex.raw(`create index superuser_granted_by on superuser_account (granted_by)`)
}
