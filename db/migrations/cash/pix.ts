import type { Knex } from 'knex'
import { sweepFunction, tenantTable, touch } from '../support.ts'

const stamps = `version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`

/** Pix through the bank of the house. */
export const pix = async (knex: Knex) => {
  await tenantTable(
    knex,
    'pix_connection',
    `cash_account_id uuid not null,
     provider text not null,
     credentials bytea not null,
     hook bytea not null,
     hook_hash bytea not null,
     status text not null default 'connecting',
     last_synced_at timestamptz,
     next_sync_at timestamptz not null default now(),
     last_error text,
     failing_since timestamptz,
     ${stamps},
     constraint pix_connection_status check (status in ('connecting', 'active', 'failing')),
     constraint pix_connection_words check (length(provider) between 1 and 20 and length(last_error) <= 300 and octet_length(hook_hash) = 32),
     constraint pix_connection_account unique (tenant_id, cash_account_id),
     foreign key (tenant_id, cash_account_id) references cash_account (tenant_id, id)`,
  )
  await touch(knex, 'pix_connection')
  await knex.raw(`create unique index pix_connection_hook on pix_connection (hook_hash, tenant_id)`)
  await knex.raw(`create index pix_connection_due on pix_connection (next_sync_at)`)

  await tenantTable(
    knex,
    'pix_key',
    `cash_account_id uuid not null,
     type text not null,
     value text not null,
     created_at timestamptz not null default now(),
     constraint pix_key_type check (type in ('cpf', 'cnpj', 'email', 'phone', 'random')),
     constraint pix_key_value check (length(value) between 1 and 77),
     constraint pix_key_once unique (tenant_id, value),
     constraint pix_key_account_key unique (tenant_id, cash_account_id, id),
     foreign key (tenant_id, cash_account_id) references cash_account (tenant_id, id)`,
  )

  await tenantTable(
    knex,
    'pix_charge',
    `cash_account_id uuid not null,
     book_id uuid not null,
     property_id uuid,
     pix_key_id uuid,
     kind text not null,
     amount bigint,
     currency text not null,
     txid text not null,
     target_type text,
     target_id uuid,
     installment_id uuid,
     payer bytea,
     due_on date,
     grace_days int,
     fine_rate int not null default 0,
     monthly_interest_rate int not null default 0,
     discounts jsonb not null default '[]',
     expires_at timestamptz,
     text text not null default '',
     merchant_name text not null,
     merchant_city text not null,
     br_code text,
     location text,
     paid bigint not null default 0,
     received_count int not null default 0,
     status text not null,
     failure jsonb,
     ends_at timestamptz,
     created_by uuid,
     ${stamps},
     constraint pix_charge_kind check (kind in ('static', 'immediate', 'due_date')),
     constraint pix_charge_status check (status in ('creating', 'active', 'paid', 'expired', 'cancelling', 'cancelled', 'failed')),
     constraint pix_charge_amount check (amount between 1 and 10000000000000 and paid >= 0 and received_count >= 0),
     constraint pix_charge_amount_said check (amount is not null or kind = 'static'),
     constraint pix_charge_txid check (case kind when 'static' then txid ~ '^[A-Za-z0-9]{1,25}$' else txid ~ '^[A-Za-z0-9]{26,35}$' end),
     constraint pix_charge_target check ((target_type is null) = (target_id is null)
       and target_type in ('booking', 'reservation', 'folio', 'receivable') and (installment_id is null or target_type = 'receivable')),
     constraint pix_charge_due check ((kind = 'due_date') = (due_on is not null) and (kind = 'due_date') = (grace_days is not null)
       and grace_days between 0 and 365 and (kind <> 'due_date' or payer is not null)),
     constraint pix_charge_rates check (fine_rate between 0 and 1000 and monthly_interest_rate between 0 and 1000
       and (kind = 'due_date' or (fine_rate, monthly_interest_rate) = (0, 0))),
     constraint pix_charge_discounts check (jsonb_typeof(discounts) = 'array' and jsonb_array_length(discounts) <= 3),
     constraint pix_charge_ends check ((kind = 'immediate') = (expires_at is not null) and (kind = 'static') = (ends_at is null)),
     constraint pix_charge_words check (length(text) <= 140 and length(br_code) <= 600 and length(location) <= 77),
     constraint pix_charge_code check (br_code is not null or status in ('creating', 'failed', 'cancelled', 'cancelling')),
     constraint pix_charge_currency check (currency = 'BRL'),
     constraint pix_charge_txid_once unique (tenant_id, txid),
     foreign key (tenant_id, cash_account_id, currency) references cash_account (tenant_id, id, currency),
     foreign key (tenant_id, book_id, cash_account_id) references cash_account (tenant_id, book_id, id),
     foreign key (tenant_id, property_id) references property (tenant_id, id),
     foreign key (tenant_id, cash_account_id, pix_key_id) references pix_key (tenant_id, cash_account_id, id) on delete set null (pix_key_id)`,
    { grant: 'select, insert, update' },
  )
  await touch(knex, 'pix_charge')
  await knex.raw(
    `create unique index pix_charge_one_live on pix_charge (tenant_id, target_type, target_id, coalesce(installment_id, '00000000-0000-0000-0000-000000000000'))
     where status in ('creating', 'active') and target_id is not null`,
  )
  await knex.raw(`create index pix_charge_account on pix_charge (tenant_id, cash_account_id, currency, created_at)`)
  await knex.raw(`create index pix_charge_book on pix_charge (tenant_id, book_id, cash_account_id)`)
  await knex.raw(`create index pix_charge_key on pix_charge (tenant_id, cash_account_id, pix_key_id)`)
  await knex.raw(
    `create index pix_charge_property on pix_charge (tenant_id, property_id) where property_id is not null`,
  )
  await knex.raw(
    `create index pix_charge_target_of on pix_charge (tenant_id, target_type, target_id) where target_id is not null`,
  )
  await knex.raw(`create index pix_charge_days on pix_charge (tenant_id, due_on) where due_on is not null`)
  await knex.raw(
    `create index pix_charge_ending on pix_charge (ends_at) where status in ('creating', 'active', 'cancelling') and ends_at is not null`,
  )
  await knex.raw(`
    create function pix_charge_wall() returns trigger language plpgsql as $$
    begin
      if (new.cash_account_id, new.kind, new.amount, new.currency, new.txid, new.target_type, new.target_id, new.installment_id, new.due_on, new.expires_at,
          new.discounts, new.fine_rate, new.monthly_interest_rate) is distinct from (old.cash_account_id, old.kind, old.amount, old.currency, old.txid,
          old.target_type, old.target_id, old.installment_id, old.due_on, old.expires_at, old.discounts, old.fine_rate, old.monthly_interest_rate)
        or (old.br_code is not null and new.br_code is distinct from old.br_code) then
        raise exception 'a charge does not change' using errcode = 'PL010';
      end if;
      if new.status <> old.status and not (case old.status
        when 'creating' then new.status in ('active', 'failed', 'cancelling', 'paid', 'expired')
        when 'active' then new.status in ('paid', 'expired', 'cancelling', 'cancelled')
        when 'cancelling' then new.status in ('cancelled', 'paid')
        else false end) then
        raise exception 'a charge does not go from % to %', old.status, new.status using errcode = 'PL013';
      end if;
      return new;
    end $$`)
  await knex.raw(
    `create trigger pix_charge_wall before update on pix_charge for each row execute function pix_charge_wall()`,
  )
  await money(knex)
}

const money = async (knex: Knex) => {
  await tenantTable(
    knex,
    'pix_receipt',
    `cash_account_id uuid not null,
     cash_movement_id uuid not null,
     pix_charge_id uuid,
     end_to_end_id text not null,
     txid text,
     amount bigint not null,
     currency text not null,
     payer bytea,
     provider_time timestamptz not null,
     claimed_by_type text not null,
     claimed_by_id uuid not null,
     returned bigint not null default 0,
     return_reserved bigint not null default 0,
     ${stamps},
     constraint pix_receipt_amount check (amount between 1 and 10000000000000),
     constraint pix_return_limit check (returned >= 0 and returned <= return_reserved and return_reserved <= amount),
     constraint pix_receipt_claimed check (claimed_by_type in ('payment', 'receipt')),
     constraint pix_receipt_words check (length(end_to_end_id) between 1 and 60 and length(txid) <= 35),
     constraint pix_receipt_once unique (tenant_id, end_to_end_id),
     constraint pix_receipt_movement unique (tenant_id, cash_movement_id),
     foreign key (tenant_id, cash_account_id, currency) references cash_account (tenant_id, id, currency),
     foreign key (tenant_id, cash_movement_id) references cash_movement (tenant_id, id),
     foreign key (tenant_id, pix_charge_id) references pix_charge (tenant_id, id)`,
    { grant: 'select, insert, update (returned, return_reserved, payer, version, updated_at)' },
  )
  await touch(knex, 'pix_receipt')
  await knex.raw(`create index pix_receipt_account on pix_receipt (tenant_id, cash_account_id, currency)`)
  await knex.raw(
    `create index pix_receipt_charge on pix_receipt (tenant_id, pix_charge_id) where pix_charge_id is not null`,
  )
  await knex.raw(`create index pix_receipt_claim on pix_receipt (tenant_id, claimed_by_type, claimed_by_id)`)

  await tenantTable(
    knex,
    'pix_return',
    `pix_receipt_id uuid not null,
     return_code text not null,
     requested_by_type text,
     requested_by_id uuid,
     amount bigint not null,
     origin text not null,
     status text not null,
     reason text not null default '',
     failure jsonb,
     movement_id uuid,
     document_id uuid,
     next_read_at timestamptz,
     read_count int not null default 0,
     ${stamps},
     constraint pix_return_origin check (origin in ('request', 'bank') and (origin = 'request') = (requested_by_id is not null)
       and (requested_by_type is null) = (requested_by_id is null)),
     constraint pix_return_status check (status in ('requested', 'sending', 'succeeded', 'failed') and (status = 'succeeded') = (movement_id is not null)),
     constraint pix_return_amount check (amount between 1 and 10000000000000),
     constraint pix_return_words check (length(return_code) between 1 and 35 and length(reason) <= 300),
     constraint pix_return_once unique (tenant_id, pix_receipt_id, return_code),
     constraint pix_return_asked_once unique (tenant_id, requested_by_type, requested_by_id),
     foreign key (tenant_id, pix_receipt_id) references pix_receipt (tenant_id, id),
     foreign key (tenant_id, movement_id) references cash_movement (tenant_id, id)`,
    { grant: 'select, insert, update' },
  )
  await touch(knex, 'pix_return')
  await knex.raw(
    `create index pix_return_movement on pix_return (tenant_id, movement_id) where movement_id is not null`,
  )
  await knex.raw(`create index pix_return_due on pix_return (next_read_at) where next_read_at is not null`)

  await sweepFunction(
    knex,
    'pix_connection_of(of_hash bytea)',
    'tenant_id uuid, id uuid',
    `select tenant_id, id from pix_connection where hook_hash = of_hash`,
  )
  await sweepFunction(
    knex,
    'pix_due(most int)',
    'tenant_id uuid, kind text, id uuid',
    `(select tenant_id, 'transfer', id from cash_transfer where next_read_at <= now() order by next_read_at limit most)
     union all (select tenant_id, 'return', id from pix_return where next_read_at <= now() order by next_read_at limit most)
     union all (select tenant_id, 'charge', id from pix_charge where status in ('creating', 'active', 'cancelling') and ends_at <= now() order by ends_at limit most)
     union all (select tenant_id, 'connection', id from pix_connection where next_sync_at <= now() order by next_sync_at limit most)`,
  )
  await knex.raw(`alter table sandbox_object drop constraint sandbox_object_kind`)
  await knex.raw(
    `alter table sandbox_object add constraint sandbox_object_kind check (kind in
       ('charge', 'refund', 'key', 'callback', 'account', 'method', 'link', 'dispute', 'transaction', 'payout',
        'pix_hook', 'pix_charge', 'pix', 'pix_return', 'pix_sent', 'pix_callback'))`,
  )
}
