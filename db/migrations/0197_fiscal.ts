import type { Knex } from 'knex'
import { appendOnly, sweepFunction, tenantTable, touch } from './support.ts'

const refers = (column: string, table: string) =>
  `foreign key (tenant_id, ${column}) references ${table} (tenant_id, id)`
const stamps = `version int not null default 1, created_at timestamptz not null default now(), updated_at timestamptz not null default now()`

const settings = async (knex: Knex) => {
  await tenantTable(
    knex,
    'receivable_settings',
    `book_id uuid not null,
     dunning_enabled boolean not null default false,
     dunning_steps jsonb not null default '[]',
     dunning_minimum bigint not null default 0,
     dunning_hour int not null default 9,
     fine_rate int not null default 0,
     monthly_interest_rate int not null default 0,
     fiscal_adapter text not null default 'none',
     fiscal_automatic boolean not null default false,
     fiscal_codes jsonb not null default '{}',
     iss_rate int not null default 0,
     fiscal_credentials bytea,
     bad_debt_account_id uuid,
     allowance_account_id uuid,
     ${stamps},
     constraint receivable_settings_book unique (tenant_id, book_id),
     constraint receivable_settings_steps check (jsonb_typeof(dunning_steps) = 'array' and jsonb_array_length(dunning_steps) <= 8),
     constraint receivable_settings_dunning check (dunning_minimum >= 0 and dunning_hour between 8 and 19),
     constraint receivable_settings_late check (fine_rate between 0 and 1000 and monthly_interest_rate between 0 and 1000),
     constraint receivable_settings_adapter check (fiscal_adapter in ('none', 'sandbox')),
     constraint receivable_settings_iss check (iss_rate between 0 and 10000),
     ${refers('book_id', 'book')},
     ${refers('bad_debt_account_id', 'account')},
     ${refers('allowance_account_id', 'account')}`,
  )
  await touch(knex, 'receivable_settings')
  for (const column of ['bad_debt_account_id', 'allowance_account_id'])
    await knex.raw(
      `create index receivable_settings_${column} on receivable_settings (tenant_id, ${column}) where ${column} is not null`,
    )
}

const sendings = async (knex: Knex) => {
  await tenantTable(
    knex,
    'receivable_sending',
    `receivable_id uuid not null,
     channels text[] not null,
     sealed bytea,
     with_pix boolean not null default false,
     pix_until timestamptz,
     status text not null default 'queued',
     message_ids uuid[] not null default '{}',
     sent_at timestamptz,
     created_by uuid,
     position bigint generated always as identity,
     ${stamps},
     constraint receivable_sending_channels check (cardinality(channels) between 1 and 2 and channels <@ array['email', 'whatsapp']),
     constraint receivable_sending_pix check (with_pix = (pix_until is not null)),
     constraint receivable_sending_status check (status in ('queued', 'handed_over', 'sent', 'failed')),
     ${refers('receivable_id', 'receivable')}`,
  )
  await touch(knex, 'receivable_sending')
  await knex.raw(`create index receivable_sending_of on receivable_sending (tenant_id, receivable_id, position desc)`)
}

const dunning = async (knex: Knex) => {
  await tenantTable(
    knex,
    'dunning_run',
    `book_id uuid not null,
     run_on date not null,
     status text not null default 'queued',
     steps jsonb not null,
     minimum bigint not null,
     counts jsonb not null default '{}',
     started_by uuid,
     finished_at timestamptz,
     ${stamps},
     constraint dunning_run_once unique (tenant_id, book_id, run_on),
     constraint dunning_run_status check (status in ('queued', 'running', 'done')),
     constraint dunning_run_finished check ((status = 'done') = (finished_at is not null)),
     ${refers('book_id', 'book')}`,
  )
  await touch(knex, 'dunning_run')
  await tenantTable(
    knex,
    'dunning_notice',
    `dunning_run_id uuid not null,
     customer_id uuid not null,
     receivable_id uuid not null,
     installment_id uuid not null,
     level int not null,
     channels text[] not null,
     stop_credit boolean not null default false,
     amount bigint not null,
     due_on date not null,
     status text not null default 'queued',
     skip_reason text,
     message_ids uuid[] not null default '{}',
     ${stamps},
     constraint dunning_notice_once unique (tenant_id, installment_id, level),
     constraint dunning_notice_level check (level between 1 and 8 and amount > 0),
     constraint dunning_notice_status check (status in ('queued', 'sent', 'failed', 'skipped')),
     constraint dunning_notice_skipped check ((status in ('skipped', 'failed')) = (skip_reason is not null)),
     ${refers('dunning_run_id', 'dunning_run')},
     ${refers('customer_id', 'customer')},
     ${refers('receivable_id', 'receivable')},
     foreign key (tenant_id, receivable_id, installment_id) references receivable_installment (tenant_id, receivable_id, id)`,
  )
  await touch(knex, 'dunning_notice')
  await knex.raw(`create index dunning_notice_run on dunning_notice (tenant_id, dunning_run_id, customer_id)`)
  await knex.raw(`create index dunning_notice_customer on dunning_notice (tenant_id, customer_id)`)
  await knex.raw(`create index dunning_notice_receivable on dunning_notice (tenant_id, receivable_id, installment_id)`)
  // Books whose hour has come on a working day, and that have no run for their day yet.
  await sweepFunction(
    knex,
    'books_to_dun()',
    'tenant_id uuid, book_id uuid',
    `select s.tenant_id, s.book_id from receivable_settings s join book b on b.tenant_id = s.tenant_id and b.id = s.book_id
     cross join lateral (select now() at time zone b.time_zone as clock) t
     where s.dunning_enabled and extract(isodow from t.clock) <= 5 and extract(hour from t.clock) >= s.dunning_hour and extract(hour from t.clock) < 20
       and not exists (select from dunning_run r where r.tenant_id = s.tenant_id and r.book_id = s.book_id and r.run_on = cast(t.clock as date))
     order by 1, 2`,
  )
}

const fiscal = async (knex: Knex) => {
  await tenantTable(
    knex,
    'fiscal_document',
    `kind text not null default 'nfse',
     book_id uuid not null,
     property_id uuid,
     receivable_id uuid,
     folio_id uuid,
     adapter text not null,
     status text not null default 'queued',
     series text not null default '1',
     rps_number bigint,
     total bigint not null,
     currency text not null,
     service_text text not null default '',
     snapshot bytea not null,
     authority_number text,
     verification_code text,
     access_key text,
     authorised_at timestamptz,
     document_url text,
     xml_blob_id uuid,
     rejection jsonb,
     cancel_reason text,
     next_read_at timestamptz,
     attempts int not null default 0,
     reads int not null default 0,
     created_by uuid,
     ${stamps},
     constraint fiscal_document_kind check (kind = 'nfse'),
     constraint fiscal_document_source check (num_nonnulls(receivable_id, folio_id) = 1),
     constraint fiscal_document_status check (status in ('queued', 'sending', 'unknown', 'authorised', 'rejected', 'cancel_requested', 'cancelled')),
     constraint fiscal_document_rps unique (tenant_id, book_id, series, rps_number),
     constraint fiscal_document_numbered check (rps_number is not null or status in ('queued', 'rejected', 'cancelled')),
     constraint fiscal_document_authorised check (status not in ('authorised', 'cancel_requested') or (authority_number is not null and authorised_at is not null)),
     constraint fiscal_document_rejected check (status <> 'rejected' or rejection is not null),
     constraint fiscal_document_total check (total > 0),
     ${refers('book_id', 'book')},
     ${refers('property_id', 'property')},
     ${refers('receivable_id', 'receivable')},
     ${refers('folio_id', 'folio')}`,
    { grant: 'select, insert, update' },
  )
  await touch(knex, 'fiscal_document')
  for (const source of ['receivable_id', 'folio_id']) {
    await knex.raw(
      `create unique index fiscal_document_one_per_${source} on fiscal_document (tenant_id, ${source})
       where ${source} is not null and status not in ('rejected', 'cancelled')`,
    )
    await knex.raw(
      `create index fiscal_document_${source} on fiscal_document (tenant_id, ${source}) where ${source} is not null`,
    )
  }
  await knex.raw(
    `create unique index fiscal_document_access_key on fiscal_document (tenant_id, access_key) where access_key is not null`,
  )
  await knex.raw(`create index fiscal_document_by_date on fiscal_document (tenant_id, created_at desc, id)`)
  await knex.raw(
    `create index fiscal_document_property on fiscal_document (tenant_id, property_id) where property_id is not null`,
  )
  await knex.raw(
    `create index fiscal_document_next_read on fiscal_document (next_read_at) where next_read_at is not null`,
  )
  // A number of a document is given once; what an authority gave it stays.
  await knex.raw(`create function fiscal_document_kept() returns trigger language plpgsql as $$
    begin
      if old.rps_number is not null and (new.rps_number is distinct from old.rps_number or new.series <> old.series) then
        raise exception 'a fiscal document keeps its number' using errcode = 'check_violation', constraint = 'fiscal_document_kept';
      end if;
      if old.authority_number is not null and (new.authority_number is distinct from old.authority_number or new.access_key is distinct from old.access_key) then
        raise exception 'an authorised document keeps what its authority gave it' using errcode = 'check_violation', constraint = 'fiscal_document_kept';
      end if;
      return new;
    end $$`)
  await knex.raw(
    `create trigger fiscal_document_kept before update on fiscal_document for each row execute function fiscal_document_kept()`,
  )
  await tenantTable(
    knex,
    'fiscal_exchange',
    `fiscal_document_id uuid not null,
     at timestamptz not null default clock_timestamp(),
     operation text not null,
     outcome text not null,
     code text,
     position bigint generated always as identity,
     constraint fiscal_exchange_operation check (operation in ('send', 'read', 'cancel')),
     constraint fiscal_exchange_outcome check (outcome in ('authorised', 'cancelled', 'processing', 'rejected', 'refused', 'not_found', 'not_sent', 'unknown')),
     ${refers('fiscal_document_id', 'fiscal_document')}`,
    { grant: 'select, insert' },
  )
  await appendOnly(knex, 'fiscal_exchange')
  await knex.raw(`create index fiscal_exchange_of on fiscal_exchange (tenant_id, fiscal_document_id, position)`)
  await sweepFunction(
    knex,
    'fiscal_documents_due(most int)',
    'tenant_id uuid, id uuid',
    `select d.tenant_id, d.id from fiscal_document d where d.next_read_at <= now() order by d.next_read_at, d.id limit most`,
  )
}

/** Settings of receivables, sendings of invoices, reminders, and fiscal documents with the log of their exchanges. */
export const up = async (knex: Knex) => {
  await settings(knex)
  await sendings(knex)
  await dunning(knex)
  await fiscal(knex)
  // Documents that the sandbox authority has issued, and what it has heard of without an answer.
  await knex.raw(`alter table sandbox_object drop constraint sandbox_object_kind`)
  await knex.raw(`alter table sandbox_object add constraint sandbox_object_kind check (kind ~ '^[a-z_]{2,40}$')`)
}
