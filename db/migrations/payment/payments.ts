import type { Knex } from 'knex'
import { appendOnly, tenantTable, touch } from '../support.ts'

const common = `
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()`
const statuses = `'created', 'unknown', 'requires_action', 'processing', 'authorised', 'captured', 'failed', 'cancelled', 'expired', 'reversed'`
const targets = `'booking', 'reservation', 'folio', 'receivable', 'pos_order'`

/** Accounts at gateways, payments, what they pay for, and refunds. */
export const payments = async (knex: Knex) => {
  await tenantTable(
    knex,
    'gateway_account',
    `provider text not null,
     label text not null,
     book_id uuid not null,
     country text not null,
     currency text not null,
     property_ids uuid[] not null default '{}',
     is_default boolean not null default false,
     status text not null default 'opening',
     external_id text,
     capabilities jsonb not null default '{}',
     charges_enabled boolean not null default false,
     payouts_enabled boolean not null default false,
     requirements jsonb not null default '[]',
     platform_fee_rate int not null default 0,
     ${common},
     constraint gateway_account_provider check (provider in ('stripe', 'sandbox')),
     constraint gateway_account_label check (length(label) between 1 and 60),
     constraint gateway_account_country check (country ~ '^[A-Z]{2}$' and currency ~ '^[A-Z]{3}$'),
     constraint gateway_account_status check (status in ('opening', 'onboarding', 'active', 'restricted', 'disconnected', 'failed')),
     constraint gateway_account_ended_is_no_default check (not (is_default and status in ('disconnected', 'failed'))),
     constraint gateway_account_fee_rate check (platform_fee_rate between 0 and 1000),
     foreign key (tenant_id, book_id, currency) references book (tenant_id, id, currency)`,
  )
  // Across tenants: a callback knows the gateway's reference alone.
  await knex.raw(
    `create unique index gateway_account_external on gateway_account (provider, external_id) where external_id is not null`,
  )
  await knex.raw(
    `create unique index gateway_account_default on gateway_account (tenant_id, book_id) where is_default and status not in ('disconnected', 'failed')`,
  )
  await knex.raw(`create index gateway_account_book on gateway_account (tenant_id, book_id, currency)`)
  await knex.raw(`
    create function gateway_account_fixed() returns trigger language plpgsql as $$
    begin
      if (new.provider, new.book_id, new.country, new.currency) is distinct from (old.provider, old.book_id, old.country, old.currency)
        or (old.external_id is not null and new.external_id is distinct from old.external_id) then
        raise exception 'provider, book, country, currency and reference of a gateway account are fixed' using errcode = 'PL010';
      end if;
      return new;
    end $$`)
  await knex.raw(
    `create trigger gateway_account_fixed before update on gateway_account for each row execute function gateway_account_fixed()`,
  )
  await touch(knex, 'gateway_account')
  await knex.raw(
    `alter table property_payment_method add constraint property_payment_method_account
     foreign key (tenant_id, gateway_account_id) references gateway_account (tenant_id, id)`,
  )

  await tenantTable(
    knex,
    'payment',
    `origin text not null default 'gateway',
     channel text not null,
     mode text not null default 'charge',
     method text not null,
     gateway_account_id uuid,
     property_id uuid not null,
     target_type text,
     target_id uuid,
     amount bigint not null,
     currency text not null,
     status text not null default 'created',
     authorised_amount bigint not null default 0,
     captured_amount bigint not null default 0,
     refund_reserved bigint not null default 0,
     refunded_amount bigint not null default 0,
     disputed_amount bigint not null default 0,
     allocated_amount bigint not null default 0,
     fee_amount bigint,
     platform_fee_amount bigint,
     net_amount bigint,
     platform_fee_rate int not null default 0,
     installments int not null default 1,
     external_id text,
     submission bytea,
     action bytea,
     failure jsonb,
     payer bytea,
     payer_index bytea,
     description text,
     reference text,
     note text,
     expires_at timestamptz,
     authorisation_expires_at timestamptz,
     captured_at timestamptz,
     ended_at timestamptz,
     business_date date,
     capture_requested bigint,
     sent_at timestamptz,
     cancel_requested_at timestamptz,
     superseded_by_id uuid,
     late boolean not null default false,
     next_read_at timestamptz,
     read_count int not null default 0,
     ${common},
     constraint payment_origin check (origin in ('gateway', 'recorded')),
     constraint payment_account_needed check (origin = 'recorded' or gateway_account_id is not null),
     constraint payment_channel check (channel in ('desk', 'portal', 'link', 'automatic')),
     constraint payment_mode check (mode in ('charge', 'authorise')),
     constraint payment_authorises_cards check (mode = 'charge' or method = 'card'),
     constraint payment_method check (method in ('card', 'pix', 'boleto', 'cash', 'bank_transfer', 'terminal', 'cheque', 'other')),
     constraint payment_method_of_origin check (case origin when 'gateway' then method in ('card', 'pix', 'boleto') else method <> 'boleto' end),
     constraint payment_target_type check (target_type in (${targets})),
     constraint payment_target check ((target_type is null) = (target_id is null)),
     constraint payment_amount check (amount between 1 and 10000000000000 and currency ~ '^[A-Z]{3}$'),
     constraint payment_status check (status in (${statuses})),
     constraint payment_not_negative check (
       least(authorised_amount, captured_amount, refund_reserved, refunded_amount, disputed_amount, allocated_amount) >= 0),
     constraint payment_refund_limit check (refund_reserved <= captured_amount and refunded_amount <= refund_reserved),
     constraint payment_allocation_limit check (allocated_amount + refund_reserved <= captured_amount),
     constraint payment_capture_limit check (mode = 'charge' or captured_amount <= authorised_amount),
     constraint payment_captured check ((status in ('captured', 'reversed')) = (captured_at is not null)),
     constraint payment_texts check (length(description) <= 200 and length(reference) <= 60 and length(note) <= 500),
     constraint payment_payer_index check (octet_length(payer_index) = 16),
     constraint payment_installments check (installments between 1 and 12),
     foreign key (tenant_id, gateway_account_id) references gateway_account (tenant_id, id),
     foreign key (tenant_id, property_id) references property (tenant_id, id),
     foreign key (tenant_id, superseded_by_id) references payment (tenant_id, id)`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(
    `create unique index payment_external on payment (tenant_id, gateway_account_id, external_id) where external_id is not null`,
  )
  await knex.raw(`create index payment_account on payment (tenant_id, gateway_account_id)`)
  await knex.raw(`create index payment_property on payment (tenant_id, property_id, created_at)`)
  await knex.raw(`create index payment_of_target on payment (tenant_id, target_type, target_id)`)
  await knex.raw(
    `create index payment_superseded on payment (tenant_id, superseded_by_id) where superseded_by_id is not null`,
  )
  await knex.raw(`create index payment_slips on payment (tenant_id, payer_index) where payer_index is not null`)
  await knex.raw(
    `create index payment_personal on payment (updated_at) where payer is not null or payer_index is not null or submission is not null`,
  )
  await knex.raw(`create index payment_due on payment (next_read_at) where next_read_at is not null`)
  await knex.raw(
    `create index payment_unallocated on payment (captured_at)
     where captured_at is not null and status = 'captured' and allocated_amount + refund_reserved < captured_amount`,
  )
  await knex.raw(`
    create function payment_rank_of(status text) returns int language sql immutable as $$
      select case status when 'created' then 0 when 'unknown' then 0 when 'requires_action' then 1 when 'processing' then 2 when 'authorised' then 3
        when 'failed' then 4 when 'cancelled' then 4 when 'expired' then 4 when 'captured' then 5 when 'reversed' then 6 end
    $$`)
  await knex.raw(`
    create function payment_rank() returns trigger language plpgsql as $$
    begin
      if new.status <> old.status and not (old.status = 'created' and new.status = 'unknown')
        and payment_rank_of(new.status) <= payment_rank_of(old.status) then
        raise exception 'a payment does not go from % to %', old.status, new.status using errcode = 'PL011';
      end if;
      return new;
    end $$`)
  await knex.raw(`create trigger payment_rank before update on payment for each row execute function payment_rank()`)
  await touch(knex, 'payment')

  await tenantTable(
    knex,
    'payment_allocation',
    `payment_id uuid not null,
     target_type text not null,
     target_id uuid not null,
     amount bigint not null,
     reverses_id uuid,
     seq bigint generated always as identity,
     created_at timestamptz not null default now(),
     constraint payment_allocation_target check (target_type in (${targets})),
     constraint payment_allocation_amount check (case when reverses_id is null then amount > 0 else amount < 0 end),
     foreign key (tenant_id, payment_id) references payment (tenant_id, id),
     foreign key (tenant_id, reverses_id) references payment_allocation (tenant_id, id)`,
    { grant: 'select, insert' },
  )
  await knex.raw(`create unique index payment_allocation_reversed_once on payment_allocation (tenant_id, reverses_id)`)
  await knex.raw(`create index payment_allocation_payment on payment_allocation (tenant_id, payment_id)`)
  await knex.raw(`create index payment_allocation_of_target on payment_allocation (tenant_id, target_type, target_id)`)
  await appendOnly(knex, 'payment_allocation')

  await tenantTable(
    knex,
    'refund',
    `payment_id uuid not null,
     gateway_account_id uuid,
     property_id uuid not null,
     amount bigint not null,
     currency text not null,
     reason text not null,
     note text,
     via text not null default 'gateway',
     status text not null default 'requested',
     failure jsonb,
     requested_by jsonb not null,
     external_id text,
     sent_at timestamptz,
     succeeded_at timestamptz,
     next_read_at timestamptz,
     read_count int not null default 0,
     ${common},
     constraint refund_amount check (amount between 1 and 10000000000000),
     constraint refund_reason check (reason in
       ('guest_request', 'cancellation', 'duplicate', 'error', 'compensation', 'late_payment', 'dispute', 'other')),
     constraint refund_note check (length(note) <= 500),
     constraint refund_via check (via in ('gateway', 'pix_return', 'manual')),
     constraint refund_account_needed check (via <> 'gateway' or gateway_account_id is not null),
     constraint refund_status check (status in ('requested', 'processing', 'unknown', 'succeeded', 'failed')),
     constraint refund_succeeded check (status <> 'succeeded' or succeeded_at is not null),
     foreign key (tenant_id, payment_id) references payment (tenant_id, id),
     foreign key (tenant_id, gateway_account_id) references gateway_account (tenant_id, id),
     foreign key (tenant_id, property_id) references property (tenant_id, id)`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(
    `create unique index refund_external on refund (tenant_id, gateway_account_id, external_id) where external_id is not null`,
  )
  await knex.raw(`create index refund_account on refund (tenant_id, gateway_account_id)`)
  await knex.raw(`create index refund_payment on refund (tenant_id, payment_id)`)
  await knex.raw(`create index refund_property on refund (tenant_id, property_id)`)
  await knex.raw(`create index refund_due on refund (next_read_at) where next_read_at is not null`)
  await knex.raw(`
    create function refund_rank() returns trigger language plpgsql as $$
    declare
      ranks constant jsonb := '{"requested": 0, "unknown": 0, "processing": 1, "succeeded": 2, "failed": 3}';
    begin
      if new.status <> old.status and not (old.status = 'requested' and new.status = 'unknown')
        and (ranks->>new.status)::int <= (ranks->>old.status)::int then
        raise exception 'a refund does not go from % to %', old.status, new.status using errcode = 'PL011';
      end if;
      return new;
    end $$`)
  await knex.raw(`create trigger refund_rank before update on refund for each row execute function refund_rank()`)
  await touch(knex, 'refund')
}
