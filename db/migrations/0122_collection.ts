import type { Knex } from 'knex'
import { platformTable, touch } from './support.ts'

/** How the invoices of tenants are paid: tries at the gateway, and what a tenant pays with. */
export const up = async (knex: Knex) => {
  await platformTable(
    knex,
    'invoice_payment',
    `id uuid primary key default gen_random_uuid(),
     tenant_id uuid not null references tenant (id),
     invoice_id uuid not null references subscription_invoice (id),
     try int not null,
     provider text not null,
     method text not null,
     amount bigint not null,
     captured_amount bigint not null default 0,
     currency text not null,
     status text not null default 'created',
     action jsonb,
     external_id text,
     customer_ref text,
     method_ref text,
     submission bytea,
     failure_code text,
     failure_message text,
     sent_at timestamptz,
     read_count int not null default 0,
     ended_at timestamptz,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint invoice_payment_try unique (invoice_id, try),
     constraint invoice_payment_status check (status in ('created', 'unknown', 'requires_action', 'processing', 'captured', 'failed', 'cancelled')),
     constraint invoice_payment_method check (method in ('card', 'pix', 'boleto')),
     constraint invoice_payment_amount check (amount > 0 and captured_amount >= 0),
     constraint invoice_payment_ended check ((status in ('captured', 'failed', 'cancelled')) = (ended_at is not null)),
     constraint invoice_payment_failure check (length(failure_message) <= 200)`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(
    `create unique index invoice_payment_live on invoice_payment (invoice_id) where status in ('created', 'unknown', 'processing')`,
  )
  await knex.raw(`create index invoice_payment_tenant on invoice_payment (tenant_id)`)
  await knex.raw(`create index invoice_payment_reference on invoice_payment (provider, external_id)`)
  await touch(knex, 'invoice_payment')
  // References at the gateway of what a tenant pays with. A token of a card is sealed until its first payment has become a reference.
  await knex.raw(
    `alter table subscription add column method_ref text, add column customer_ref text, add column card_token bytea, add column return_url text`,
  )
  await knex.raw(`alter table subscription_invoice add column overdue_at timestamptz`)
  await knex.raw(
    `create index subscription_invoice_due on subscription_invoice (due_on) where status = 'issued' and overdue_at is null`,
  )
}
