import type { Knex } from 'knex'
import { openTable, platformTable, tenantTable, touch } from '../support.ts'

const common = `
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()`

/** Callbacks of gateways, exceptions that call for a person, and the sandbox gateway's own state. */
export const callbacks = async (knex: Knex) => {
  // Stored before anybody knows whose it is; the tenant is written when it has been resolved.
  await platformTable(
    knex,
    'gateway_callback',
    `id uuid primary key default gen_random_uuid(),
     provider text not null,
     account_ref text not null,
     event_id text not null,
     raw_body bytea,
     headers jsonb not null,
     body_hash bytea not null,
     event_type text not null,
     object_type text not null,
     object_ref text not null,
     our_id uuid,
     tenant_id uuid,
     status text not null default 'received',
     received_at timestamptz not null default now(),
     processed_at timestamptz,
     error text,
     constraint gateway_callback_once unique (provider, account_ref, event_id),
     constraint gateway_callback_status check (status in ('received', 'processed', 'ignored', 'failed'))`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(`create index gateway_callback_bodies on gateway_callback (received_at) where raw_body is not null`)
  await knex.raw(`create index gateway_callback_tenant on gateway_callback (tenant_id) where tenant_id is not null`)

  await tenantTable(
    knex,
    'payment_exception',
    `kind text not null,
     property_id uuid not null,
     subject_type text not null,
     subject_id uuid not null,
     amount bigint not null,
     expected_amount bigint,
     currency text not null,
     status text not null default 'open',
     resolution text,
     reason text,
     resolved_by jsonb,
     resolved_at timestamptz,
     automatic boolean not null default false,
     ${common},
     constraint payment_exception_kind check (kind in
       ('outcome_unknown', 'amount_differs', 'currency_differs', 'duplicate_payment', 'late_payment', 'unallocated', 'refund_failed',
        'missing_here', 'missing_there', 'fee_differs', 'payout_differs', 'account_gone')),
     constraint payment_exception_status check (status in ('open', 'resolved') and (status = 'resolved') = (resolved_at is not null)),
     constraint payment_exception_resolution check (resolution in ('accepted', 'recorded', 'written_off')),
     foreign key (tenant_id, property_id) references property (tenant_id, id)`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(
    `create unique index payment_exception_open on payment_exception (tenant_id, kind, subject_type, subject_id) where status = 'open'`,
  )
  await knex.raw(`create index payment_exception_property on payment_exception (tenant_id, property_id)`)
  await knex.raw(`create index payment_exception_subject on payment_exception (tenant_id, subject_type, subject_id)`)
  await touch(knex, 'payment_exception')

  // The fake gateway's own: it stands for a machine elsewhere, so nothing of ours refers to it.
  await openTable(
    knex,
    'sandbox_object',
    `id text primary key,
     kind text not null,
     account_ref text not null,
     our_id text,
     state jsonb not null,
     due_at timestamptz,
     created_at timestamptz not null default now(),
     constraint sandbox_object_kind check (kind in ('charge', 'refund', 'key', 'callback'))`,
  )
  await knex.raw(
    `create index sandbox_object_ours on sandbox_object (account_ref, kind, our_id) where our_id is not null`,
  )
  await knex.raw(`create index sandbox_object_due on sandbox_object (due_at) where due_at is not null`)
}
