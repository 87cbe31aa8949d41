import type { Knex } from 'knex'
import { openTable, platformTable, sweepFunction } from './support.ts'

/** Support for changes that people make to their own account, and that a tenant makes to its keys. */
export const up = async (knex: Knex) => {
  // A second factor that is being set up: its secret counts for ten minutes, until a code of it confirms it.
  await knex.raw(`alter table app_user add column totp_pending_at timestamptz`)

  // Addresses that asked for a new password, until a job has looked whether there is such an account: so that asking is the same work for all.
  await openTable(
    knex,
    'password_request',
    `id uuid primary key default gen_random_uuid(),
     email text not null,
     created_at timestamptz not null default now(),
     constraint password_request_email check (length(email) <= 254)`,
    { grant: 'select, insert, delete' },
  )

  // A copy of a key kept elsewhere carries its version, as a copy of a session does. Being used is no change.
  await knex.raw(
    `alter table api_key add column changed_at timestamptz not null default clock_timestamp(), add column name_released_at timestamptz`,
  )
  await knex.raw(`
    create function api_key_changed() returns trigger language plpgsql as $$
    begin
      if old.revoked_at is not null and new.revoked_at is null then
        raise exception 'a revoked key does not live again' using errcode = 'PL010';
      end if;
      if to_jsonb(new) - array['last_used_at', 'last_used_ip', 'updated_at'] is distinct from to_jsonb(old) - array['last_used_at', 'last_used_ip', 'updated_at'] then
        new.version := old.version + 1;
        new.changed_at := clock_timestamp();
      end if;
      return new;
    end $$`)
  await knex.raw(
    `create trigger api_key_changed before update on api_key for each row execute function api_key_changed()`,
  )
  await knex.raw(`create index api_key_changed on api_key (changed_at) where version > 1`)
  // A name is free again once its key was revoked, replaced, or found expired.
  await knex.raw(`drop index api_key_live_name`)
  await knex.raw(
    `create unique index api_key_live_name on api_key (tenant_id, name) where revoked_at is null and name_released_at is null`,
  )
  await knex.raw(
    `create index api_key_expiring on api_key (expires_at) where revoked_at is null and name_released_at is null`,
  )

  await knex.raw(`drop function api_key_of(text)`)
  await knex.raw(`
    create function api_key_of(of_key text)
    returns table (id uuid, tenant_id uuid, key_id text, hash bytea, pepper_id text, scopes text[], cidrs text[], property_ids uuid[], expires_at timestamptz,
      revoked_at timestamptz, version int)
    language sql stable security definer set search_path = public, pg_temp as $$
      select k.id, k.tenant_id, k.key_id, k.hash, k.pepper_id, k.scopes, k.cidrs::text[],
        case when k.all_properties then null else
          coalesce((select array_agg(p.property_id) from api_key_property p where p.tenant_id = k.tenant_id and p.api_key_id = k.id), '{}') end,
        k.expires_at, k.revoked_at, k.version
      from api_key k where k.key_id = of_key
    $$`)
  await knex.raw(`revoke all on function api_key_of(text) from public`)
  await knex.raw(`grant execute on function api_key_of(text) to pousada_service`)
  await sweepFunction(
    knex,
    'api_keys_changed(since timestamptz)',
    'key_id text, version int',
    `select key_id, version from api_key where version > 1 and changed_at > since`,
  )

  // That a key expires soon is told once for each of the two distances, to whoever may do something about it.
  await platformTable(
    knex,
    'api_key_warning',
    `id uuid not null default gen_random_uuid(),
     tenant_id uuid not null references tenant (id),
     api_key_id uuid not null,
     days int not null,
     key_name text not null,
     expires_at timestamptz not null,
     created_at timestamptz not null default now(),
     primary key (tenant_id, id),
     constraint api_key_warning_id unique (id),
     constraint api_key_warning_once unique (tenant_id, api_key_id, days, expires_at),
     constraint api_key_warning_days check (days in (7, 30)),
     foreign key (tenant_id, api_key_id) references api_key (tenant_id, id)`,
    { grant: 'select, insert' },
  )
  await sweepFunction(
    knex,
    'api_keys_expiring(most int)',
    'tenant_id uuid, api_key_id uuid, days int',
    `select k.tenant_id, k.id, d.days from api_key k cross join lateral (select case when k.expires_at <= now() + interval '7 days' then 7 else 30 end as days) d
     where k.revoked_at is null and k.name_released_at is null and k.expires_at > now() and k.expires_at <= now() + interval '30 days'
       and not exists (select from api_key_warning w where w.tenant_id = k.tenant_id and w.api_key_id = k.id and w.days = d.days and w.expires_at = k.expires_at)
     order by k.expires_at, k.id limit most`,
  )
}
