import type { Knex } from 'knex'
import { openTable, platformTable, touch } from './support.ts'

const common = `version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`

/** Tenants, what their plans give them, and how a feature comes and goes. */
export const up = async (knex: Knex) => {
  await platformTable(
    knex,
    'tenant',
    `id uuid primary key default gen_random_uuid(),
     name text not null,
     legal_name text,
     document text,
     billing_email text not null,
     billing_address jsonb,
     country text not null,
     currency text not null,
     time_zone text not null,
     locale text not null,
     status text not null default 'active',
     reason text,
     delete_after date,
     features text[] not null default '{}',
     features_valid_until timestamptz,
     entitlements_version int not null default 0,
     plan text not null,
     settings jsonb not null default '{}',
     ${common},
     constraint tenant_status check (status in ('active', 'suspended', 'deleting', 'deleted')),
     constraint tenant_plan check (plan in ('Starter', 'Professional', 'Enterprise')),
     constraint tenant_name check (length(name) between 1 and 120)`,
    // The service may not update the columns that the trigger below writes.
    { grant: 'select, insert' },
  )
  await knex.raw(`
    grant update (name, legal_name, document, billing_email, billing_address, country, currency, time_zone, locale, status, reason,
      delete_after, plan, settings, version, updated_at) on tenant to pousada_service`)
  await touch(knex, 'tenant')

  await openTable(
    knex,
    'feature',
    `key text primary key, name text not null, description text not null default '', position int not null default 0`,
  )
  await openTable(
    knex,
    'plan_version',
    `id uuid primary key default gen_random_uuid(),
     plan text not null,
     number int not null,
     features jsonb not null,
     prices jsonb not null,
     platform_fee_rate int not null default 0,
     effective_from timestamptz not null default now(),
     note text not null default '',
     created_by uuid,
     created_at timestamptz not null default now(),
     constraint plan_version_one unique (plan, number),
     constraint plan_version_plan check (plan in ('Starter', 'Professional', 'Enterprise')),
     constraint plan_version_fee check (platform_fee_rate between 0 and 1000)`,
    { grant: 'select, insert' },
  )
  await knex.raw(
    `create trigger append_only before update or delete on plan_version for each row execute function refuse_change()`,
  )

  await platformTable(
    knex,
    'subscription',
    `tenant_id uuid primary key references tenant (id),
     plan text not null,
     plan_version_id uuid not null references plan_version (id),
     anchor_day int not null,
     period_start date not null,
     period_end date not null,
     payment_method jsonb,
     action jsonb,
     past_due_since timestamptz,
     ${common},
     constraint subscription_anchor check (anchor_day between 1 and 31),
     constraint subscription_period check (period_end > period_start)`,
  )
  await knex.raw(`create index subscription_plan_version on subscription (plan_version_id)`)
  await touch(knex, 'subscription')

  await platformTable(
    knex,
    'entitlement_grant',
    `id uuid primary key default gen_random_uuid(),
     tenant_id uuid not null references tenant (id),
     key text not null references feature (key),
     source text not null,
     reason text,
     granted_by uuid,
     starts_at timestamptz not null default now(),
     expires_at timestamptz,
     plan_version_id uuid references plan_version (id),
     subscription_item_id uuid,
     ended_at timestamptz,
     ended_by uuid,
     end_cause text,
     end_reason text,
     constraint entitlement_source check (source in ('PLAN_DEFAULT', 'STORE_PURCHASE', 'N1_GRANT')),
     constraint entitlement_reason check (source <> 'N1_GRANT' or length(trim(reason)) >= 3),
     constraint entitlement_item check (source <> 'STORE_PURCHASE' or subscription_item_id is not null),
     constraint entitlement_plan check (source <> 'PLAN_DEFAULT' or plan_version_id is not null),
     constraint entitlement_end check ((ended_at is null) = (end_cause is null)),
     constraint entitlement_end_cause check (end_cause in ('plan_change', 'plan_version', 'cancelled', 'revoked', 'expired', 'replaced')),
     constraint entitlement_end_reason check (end_cause is distinct from 'revoked' or length(trim(end_reason)) >= 3)`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(
    `create unique index entitlement_open on entitlement_grant (tenant_id, key, source) where ended_at is null`,
  )
  await knex.raw(`create index entitlement_tenant on entitlement_grant (tenant_id, key)`)
  await knex.raw(`create index entitlement_key on entitlement_grant (key)`)
  await knex.raw(`create index entitlement_plan_version on entitlement_grant (plan_version_id)`)
  await knex.raw(
    `create index entitlement_expiry on entitlement_grant (expires_at) where ended_at is null and expires_at is not null`,
  )
  await knex.raw(`
    create function active_features(of_tenant uuid) returns text[] language sql stable as $$
      select coalesce(array_agg(distinct key order by key), '{}') from entitlement_grant
      where tenant_id = of_tenant and ended_at is null and (expires_at is null or expires_at > now())
    $$`)
  // The row's lock in a statement of its own: what is read after it holds what a grant of the same moment has committed.
  await knex.raw(`
    create function rewrite_features() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
    begin
      perform 1 from tenant where id = new.tenant_id for no key update;
      update tenant set
        features = active_features(new.tenant_id),
        features_valid_until = (select min(expires_at) from entitlement_grant
          where tenant_id = new.tenant_id and ended_at is null and expires_at > now()),
        entitlements_version = entitlements_version + 1
      where id = new.tenant_id;
      return null;
    end $$`)
  await knex.raw(
    `create trigger rewrite_features after insert or update on entitlement_grant for each row execute function rewrite_features()`,
  )
}
