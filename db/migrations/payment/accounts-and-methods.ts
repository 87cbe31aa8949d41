import type { Knex } from 'knex'
import { appendOnly, tenantTable, touch } from '../support.ts'

const common = `
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()`

/** Opening of accounts, saved methods, and the history of each payment. */
export const accountsAndMethods = async (knex: Knex) => {
  await knex.raw(`
    alter table gateway_account
      add column onboarding_status text not null default 'none',
      add column onboarding_url bytea,
      add column onboarding_expires_at timestamptz,
      add column onboarding_return_url text,
      add column onboarding_requests int not null default 0,
      add column test_token text,
      add column balance jsonb,
      add column failure jsonb,
      add column next_read_at timestamptz,
      add column read_count int not null default 0,
      add column next_import_at timestamptz,
      add column imported_at timestamptz,
      add column import_cursor text,
      add constraint gateway_account_onboarding check (onboarding_status in ('none', 'requested', 'ready', 'failed')),
      add constraint gateway_account_onboarding_page check ((onboarding_status = 'ready') = (onboarding_url is not null)),
      add constraint gateway_account_texts check (length(onboarding_return_url) <= 2000 and length(test_token) <= 60 and length(import_cursor) <= 200)`)
  await knex.raw(`create index gateway_account_due on gateway_account (next_read_at) where next_read_at is not null`)
  await knex.raw(
    `create index gateway_account_imports on gateway_account (next_import_at) where next_import_at is not null`,
  )

  // A customer has no table yet: its owner's module adds the foreign key.
  await tenantTable(
    knex,
    'payment_method',
    `gateway_account_id uuid not null,
     guest_id uuid,
     customer_id uuid,
     booking_id uuid,
     status text not null default 'pending',
     brand text,
     last4 text,
     exp_month int,
     exp_year int,
     fingerprint text,
     external_id text,
     external_customer_id text,
     setup_id text,
     consent_at timestamptz not null default now(),
     consent_text_version text not null,
     consent_address_hash bytea,
     submission bytea,
     action bytea,
     failure jsonb,
     sent_at timestamptz,
     next_read_at timestamptz,
     read_count int not null default 0,
     ${common},
     constraint payment_method_owner check (num_nonnulls(guest_id, customer_id, booking_id) = 1),
     constraint payment_method_status check (status in ('pending', 'active', 'expired', 'failed', 'detached')),
     constraint payment_method_last4 check (last4 ~ '^[0-9]{4}$'),
     constraint payment_method_expiry check (exp_month between 1 and 12 and exp_year between 2000 and 2200),
     constraint payment_method_active check (status <> 'active' or external_id is not null),
     constraint payment_method_texts check (length(brand) <= 40 and length(fingerprint) <= 100 and length(consent_text_version) <= 100),
     foreign key (tenant_id, gateway_account_id) references gateway_account (tenant_id, id),
     foreign key (tenant_id, guest_id) references guest (tenant_id, id),
     foreign key (tenant_id, booking_id) references booking (tenant_id, id)`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(
    `create unique index payment_method_external on payment_method (tenant_id, gateway_account_id, external_id) where external_id is not null`,
  )
  await knex.raw(`create index payment_method_account on payment_method (tenant_id, gateway_account_id)`)
  await knex.raw(`create index payment_method_guest on payment_method (tenant_id, guest_id) where guest_id is not null`)
  await knex.raw(
    `create index payment_method_customer on payment_method (tenant_id, customer_id) where customer_id is not null`,
  )
  await knex.raw(
    `create index payment_method_booking on payment_method (tenant_id, booking_id) where booking_id is not null`,
  )
  await knex.raw(`create index payment_method_due on payment_method (next_read_at) where next_read_at is not null`)
  await knex.raw(`create index payment_method_expiring on payment_method (exp_year, exp_month) where status = 'active'`)
  await touch(knex, 'payment_method')

  await knex.raw(`
    alter table payment
      add column payment_method_id uuid,
      add column link_id text,
      add column declines int not null default 0,
      add column end_neared_at timestamptz,
      add column link_sent_at timestamptz,
      add constraint payment_declines check (declines >= 0),
      add constraint payment_saved_method foreign key (tenant_id, payment_method_id) references payment_method (tenant_id, id)`)
  await knex.raw(
    `create index payment_by_method on payment (tenant_id, payment_method_id) where payment_method_id is not null`,
  )
  await knex.raw(
    `create unique index payment_link on payment (tenant_id, gateway_account_id, link_id) where link_id is not null`,
  )
  await knex.raw(
    `create index payment_authorised on payment (authorisation_expires_at) where status = 'authorised' and end_neared_at is null`,
  )

  await tenantTable(
    knex,
    'payment_history',
    `payment_id uuid not null,
     seq bigint generated always as identity,
     status text not null,
     at timestamptz not null default clock_timestamp(),
     actor jsonb not null,
     cause text not null,
     constraint payment_history_cause check (cause in ('call', 'callback', 'read', 'command', 'clock')),
     foreign key (tenant_id, payment_id) references payment (tenant_id, id)`,
    { grant: 'select, insert' },
  )
  await knex.raw(`create unique index payment_history_of on payment_history (tenant_id, payment_id, seq)`)
  await appendOnly(knex, 'payment_history')
}
