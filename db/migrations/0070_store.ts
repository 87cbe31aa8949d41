import type { Knex } from 'knex'
import { appendOnly, openTable, platformTable, touch } from './support.ts'

const ofTenant = `tenant_id uuid not null references tenant (id)`

/** Add-ons that tenants buy beside their plan, and the invoices of tenants. */
export const up = async (knex: Knex) => {
  await openTable(
    knex,
    'add_on',
    `id uuid primary key default gen_random_uuid(),
     key text not null,
     name jsonb not null,
     description jsonb not null,
     feature text not null references feature (key),
     billing_type text not null,
     meter text,
     plans text[] not null default '{}',
     on_sale boolean not null default true,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint add_on_key unique (key),
     constraint add_on_billing_type check (billing_type in ('FREE', 'FLAT_MONTHLY', 'METERED', 'TIERED')),
     constraint add_on_meter check ((meter is not null) = (billing_type in ('METERED', 'TIERED')))`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(`create index add_on_feature on add_on (feature)`)
  await touch(knex, 'add_on')
  await openTable(
    knex,
    'add_on_price',
    `id uuid primary key default gen_random_uuid(),
     add_on_id uuid not null references add_on (id),
     number int not null,
     effective_from timestamptz not null default now(),
     prices jsonb not null,
     created_by uuid,
     created_at timestamptz not null default now(),
     constraint add_on_price_one unique (add_on_id, number)`,
    { grant: 'select, insert' },
  )
  await appendOnly(knex, 'add_on_price')
  await knex.raw(`
    create function tiers_contiguous() returns trigger language plpgsql as $$
    declare
      price jsonb;
      tier jsonb;
      last numeric;
      ended boolean;
    begin
      for price in select value from jsonb_each(new.prices) where value->'tiers' is not null loop
        last := 0;
        ended := false;
        for tier in select value from jsonb_array_elements(price->'tiers') loop
          if ended or (jsonb_typeof(tier->'upTo') = 'number' and (tier->>'upTo')::numeric <= last) then
            raise exception 'tiers rise, and only the last one has no end' using errcode = '23514', constraint = 'tiers_contiguous';
          end if;
          ended := jsonb_typeof(tier->'upTo') = 'null';
          last := coalesce((tier->>'upTo')::numeric, last);
        end loop;
        if not ended then
          raise exception 'the last tier has no end' using errcode = '23514', constraint = 'tiers_contiguous';
        end if;
      end loop;
      return new;
    end $$`)
  await knex.raw(
    `create trigger tiers_contiguous before insert on add_on_price for each row execute function tiers_contiguous()`,
  )

  await platformTable(
    knex,
    'subscription_item',
    `id uuid primary key default gen_random_uuid(),
     ${ofTenant},
     add_on_id uuid not null references add_on (id),
     price_id uuid not null references add_on_price (id),
     starts_at timestamptz not null default now(),
     ends_at timestamptz,
     usage_before bigint not null default 0,
     usage_at_end bigint,
     bought_by uuid,
     ended_by uuid,
     constraint subscription_item_time check (ends_at >= starts_at),
     constraint subscription_item_usage check (usage_before >= 0 and (usage_at_end is null or ends_at is not null)),
     constraint subscription_item_once exclude using gist (tenant_id with =, add_on_id with =, tstzrange(starts_at, ends_at) with &&)`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(`create index subscription_item_tenant on subscription_item (tenant_id, starts_at)`)
  await knex.raw(`create index subscription_item_add_on on subscription_item (add_on_id) where ends_at is null`)
  await knex.raw(`create index subscription_item_any_add_on on subscription_item (add_on_id)`)
  await knex.raw(`create index subscription_item_price on subscription_item (price_id)`)
  await knex.raw(`
    alter table entitlement_grant add constraint entitlement_grant_item foreign key (subscription_item_id) references subscription_item (id)`)
  await knex.raw(`create index entitlement_grant_item on entitlement_grant (subscription_item_id)`)

  await platformTable(
    knex,
    'subscription_invoice',
    `id uuid primary key default gen_random_uuid(),
     ${ofTenant},
     number text,
     status text not null,
     currency text not null,
     period_start date not null,
     period_end date not null,
     customer jsonb not null,
     total bigint not null,
     issued_at timestamptz not null default now(),
     due_on date not null,
     paid_at timestamptz,
     paid_outside jsonb,
     voided_at timestamptz,
     reason text,
     constraint subscription_invoice_number unique (number),
     constraint subscription_invoice_status check (status in ('issued', 'paid', 'void')),
     constraint subscription_invoice_total check (total >= 0),
     constraint subscription_invoice_period check (period_end > period_start),
     constraint subscription_invoice_paid check ((status = 'paid') = (paid_at is not null)),
     constraint subscription_invoice_void check ((status = 'void') = (voided_at is not null) and (status <> 'void' or reason is not null))`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(
    `create unique index subscription_invoice_once on subscription_invoice (tenant_id, period_start) where status <> 'void'`,
  )
  await knex.raw(`create index subscription_invoice_tenant on subscription_invoice (tenant_id, issued_at desc, id)`)
  await knex.raw(`create index subscription_invoice_open on subscription_invoice (due_on) where status = 'issued'`)
  await platformTable(
    knex,
    'subscription_invoice_line',
    `id uuid primary key default gen_random_uuid(),
     ${ofTenant},
     invoice_id uuid not null references subscription_invoice (id),
     place int not null,
     kind text not null,
     subject_id text not null,
     description text not null,
     from_on date not null,
     to_on date not null,
     quantity bigint not null,
     unit_price text,
     amount bigint not null,
     price_id uuid references add_on_price (id),
     constraint subscription_invoice_line_place unique (invoice_id, place),
     constraint subscription_invoice_line_once unique (invoice_id, kind, subject_id),
     constraint subscription_invoice_line_kind check (kind in ('plan', 'add_on', 'usage', 'adjustment', 'carried'))`,
    { grant: 'select, insert' },
  )
  await knex.raw(`create index subscription_invoice_line_tenant on subscription_invoice_line (tenant_id)`)
  await knex.raw(`create index subscription_invoice_line_price on subscription_invoice_line (price_id)`)
  await appendOnly(knex, 'subscription_invoice_line')

  await platformTable(
    knex,
    'billing_adjustment',
    `id uuid primary key default gen_random_uuid(),
     ${ofTenant},
     kind text not null default 'adjustment',
     amount bigint not null,
     description text not null,
     reason text not null,
     created_by uuid,
     invoice_id uuid references subscription_invoice (id),
     created_at timestamptz not null default now(),
     constraint billing_adjustment_kind check (kind in ('adjustment', 'carried')),
     constraint billing_adjustment_amount check (amount <> 0 and amount between -1000000000 and 1000000000)`,
    { grant: 'select, insert, update (invoice_id)' },
  )
  await knex.raw(
    `create index billing_adjustment_open on billing_adjustment (tenant_id, created_at) where invoice_id is null`,
  )
  await knex.raw(`create index billing_adjustment_tenant on billing_adjustment (tenant_id)`)
  await knex.raw(`create index billing_adjustment_invoice on billing_adjustment (invoice_id)`)

  await openTable(
    knex,
    'billing_run',
    `id uuid primary key default gen_random_uuid(),
     date date not null,
     tenants int not null default 0,
     issued int not null default 0,
     parked jsonb not null default '[]',
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint billing_run_date unique (date)`,
    { grant: 'select, insert, update' },
  )
  await touch(knex, 'billing_run')
  // Numbers of invoices, one series of the platform per UTC year, without gaps: the row is held from the last statement to the commit.
  await openTable(knex, 'billing_series', `year int primary key, last_number int not null default 0`, {
    grant: 'select, insert, update',
  })
}
