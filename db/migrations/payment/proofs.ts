import type { Knex } from 'knex'
import { tenantTable, touch } from '../support.ts'

const common = `
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()`

/** Disputes, payouts, and what moved the balance at the gateway, day by day. */
export const proofs = async (knex: Knex) => {
  await tenantTable(
    knex,
    'dispute',
    `provider text not null,
     gateway_account_id uuid,
     payment_id uuid not null,
     property_id uuid not null,
     external_id text not null,
     amount bigint not null,
     currency text not null,
     reason text not null,
     phase text not null default 'dispute',
     status text not null,
     taken boolean not null default false,
     response text,
     response_due_at timestamptz,
     evidence bytea,
     evidence_erased_at timestamptz,
     accepted_by jsonb,
     warnings int not null default 0,
     opened_at timestamptz not null default now(),
     closed_at timestamptz,
     next_read_at timestamptz,
     read_count int not null default 0,
     ${common},
     constraint dispute_provider check (provider in ('stripe', 'sandbox', 'bank')),
     constraint dispute_amount check (amount between 1 and 10000000000000 and currency ~ '^[A-Z]{3}$'),
     constraint dispute_phase check (phase in ('inquiry', 'dispute', 'appeal')),
     constraint dispute_status check (status in ('needs_response', 'submitted', 'under_review', 'won', 'lost')),
     constraint dispute_response check (response in ('contest', 'accept')),
     constraint dispute_reason check (length(reason) between 1 and 100),
     constraint dispute_account_needed check (provider = 'bank' or gateway_account_id is not null),
     foreign key (tenant_id, payment_id) references payment (tenant_id, id),
     foreign key (tenant_id, gateway_account_id) references gateway_account (tenant_id, id),
     foreign key (tenant_id, property_id) references property (tenant_id, id)`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(`create unique index dispute_external on dispute (tenant_id, provider, external_id)`)
  await knex.raw(`create index dispute_payment on dispute (tenant_id, payment_id)`)
  await knex.raw(`create index dispute_account on dispute (tenant_id, gateway_account_id)`)
  await knex.raw(`create index dispute_property on dispute (tenant_id, property_id)`)
  await knex.raw(`create index dispute_due on dispute (next_read_at) where next_read_at is not null`)
  await knex.raw(`create index dispute_deadline on dispute (response_due_at) where status = 'needs_response'`)
  await knex.raw(`
    create function dispute_rank() returns trigger language plpgsql as $$
    declare
      phases constant jsonb := '{"inquiry": 0, "dispute": 10, "appeal": 20}';
      ranks constant jsonb := '{"needs_response": 0, "submitted": 1, "under_review": 2, "won": 3, "lost": 3}';
    begin
      if (new.phase, new.status) is distinct from (old.phase, old.status)
        and (phases->>new.phase)::int + (ranks->>new.status)::int <= (phases->>old.phase)::int + (ranks->>old.status)::int then
        raise exception 'a dispute does not go from % % to % %', old.phase, old.status, new.phase, new.status using errcode = 'PL011';
      end if;
      return new;
    end $$`)
  await knex.raw(`create trigger dispute_rank before update on dispute for each row execute function dispute_rank()`)
  await touch(knex, 'dispute')

  await tenantTable(
    knex,
    'payout',
    `gateway_account_id uuid not null,
     external_id text not null,
     amount bigint not null,
     currency text not null,
     status text not null,
     arrives_on date,
     complete boolean not null default false,
     difference bigint,
     failure jsonb,
     created_on date not null,
     paid_at timestamptz,
     ${common},
     constraint payout_currency check (currency ~ '^[A-Z]{3}$'),
     constraint payout_status check (status in ('pending', 'in_transit', 'paid', 'failed', 'cancelled')),
     foreign key (tenant_id, gateway_account_id) references gateway_account (tenant_id, id)`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(`create unique index payout_external on payout (tenant_id, gateway_account_id, external_id)`)
  await knex.raw(`create index payout_unproven on payout (paid_at) where status = 'paid'`)
  await touch(knex, 'payout')

  await tenantTable(
    knex,
    'balance_transaction',
    `gateway_account_id uuid not null,
     external_id text not null,
     seq bigint generated always as identity,
     kind text not null,
     gross bigint not null,
     fee bigint not null,
     platform_fee bigint not null,
     net bigint not null,
     currency text not null,
     occurred_at timestamptz not null,
     available_at timestamptz not null,
     payout_id uuid,
     source_ref text,
     source_payment_ref text,
     subject_type text,
     subject_id uuid,
     created_at timestamptz not null default now(),
     constraint balance_transaction_kind check (kind in ('charge', 'refund', 'refund_failure', 'dispute', 'dispute_reversal', 'gateway_fee',
       'platform_fee_refund', 'payout', 'payout_failure', 'adjustment')),
     constraint balance_transaction_sum check (net = gross - fee - platform_fee),
     constraint balance_transaction_currency check (currency ~ '^[A-Z]{3}$'),
     constraint balance_transaction_subject_type check (subject_type in ('payment', 'refund', 'dispute', 'payout')),
     constraint balance_transaction_subject check ((subject_type is null) = (subject_id is null)),
     foreign key (tenant_id, gateway_account_id) references gateway_account (tenant_id, id),
     foreign key (tenant_id, payout_id) references payout (tenant_id, id)`,
    { grant: 'select, insert' },
  )
  // A transaction is a fact; which payout it went with, and which record of ours it is about, may be learnt later, and once.
  await knex.raw(`grant update (payout_id, subject_type, subject_id) on balance_transaction to pousada_service`)
  await knex.raw(`
    create function balance_transaction_fixed() returns trigger language plpgsql as $$
    begin
      if (old.payout_id is not null and new.payout_id is distinct from old.payout_id)
        or (old.subject_id is not null and (new.subject_type, new.subject_id) is distinct from (old.subject_type, old.subject_id)) then
        raise exception 'what a balance transaction is about is written once' using errcode = 'PL010';
      end if;
      return new;
    end $$`)
  await knex.raw(
    `create trigger balance_transaction_fixed before update on balance_transaction for each row execute function balance_transaction_fixed()`,
  )
  await knex.raw(
    `create unique index balance_transaction_external on balance_transaction (tenant_id, gateway_account_id, external_id)`,
  )
  await knex.raw(
    `create index balance_transaction_days on balance_transaction (tenant_id, gateway_account_id, occurred_at)`,
  )
  await knex.raw(
    `create index balance_transaction_payout on balance_transaction (tenant_id, payout_id) where payout_id is not null`,
  )
  await knex.raw(
    `create index balance_transaction_subject on balance_transaction (tenant_id, subject_type, subject_id) where subject_id is not null`,
  )
  await knex.raw(
    `create index balance_transaction_unmatched on balance_transaction (tenant_id, gateway_account_id) where subject_id is null`,
  )

  await tenantTable(
    knex,
    'reconciliation',
    `gateway_account_id uuid not null,
     date date not null,
     status text not null default 'running',
     provisional boolean not null default true,
     opening_balance bigint,
     net bigint,
     closing_balance bigint,
     counts jsonb not null default '{"theirs": 0, "ours": 0, "matched": 0, "exceptions": 0}',
     last_run_at timestamptz,
     ${common},
     constraint reconciliation_status check (status in ('running', 'balanced', 'exceptions', 'failed')),
     foreign key (tenant_id, gateway_account_id) references gateway_account (tenant_id, id)`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(`create unique index reconciliation_day on reconciliation (tenant_id, gateway_account_id, date)`)
  await touch(knex, 'reconciliation')

  await knex.raw(`
    alter table payment_exception
      alter column property_id drop not null,
      add column gateway_account_id uuid,
      add column reconciliation_id uuid,
      add constraint payment_exception_subject_type
        check (subject_type in ('payment', 'refund', 'dispute', 'payout', 'balance_transaction', 'gateway_account')),
      add constraint payment_exception_reason_length check (length(reason) <= 500),
      add foreign key (tenant_id, gateway_account_id) references gateway_account (tenant_id, id),
      add foreign key (tenant_id, reconciliation_id) references reconciliation (tenant_id, id)`)
  await knex.raw(
    `create index payment_exception_reconciliation on payment_exception (tenant_id, reconciliation_id) where reconciliation_id is not null`,
  )
  await knex.raw(
    `create index payment_exception_account on payment_exception (tenant_id, gateway_account_id) where gateway_account_id is not null`,
  )

  // Reconciliation asks for what arrived and went back on a day of an account.
  await knex.raw(
    `create index payment_captured on payment (tenant_id, gateway_account_id, captured_at) where captured_at is not null`,
  )
  await knex.raw(
    `create index refund_succeeded on refund (tenant_id, gateway_account_id, succeeded_at) where succeeded_at is not null`,
  )

  await knex.raw(`alter table sandbox_object drop constraint sandbox_object_kind`)
  await knex.raw(
    `alter table sandbox_object add constraint sandbox_object_kind check (kind in
       ('charge', 'refund', 'key', 'callback', 'account', 'method', 'link', 'dispute', 'transaction', 'payout'))`,
  )
  await knex.raw(
    `create index sandbox_object_listed on sandbox_object (account_ref, kind, created_at) where kind in ('transaction', 'payout', 'charge')`,
  )
}
