import type { Knex } from 'knex'
import { splitByTenant } from './ledger-support.ts'
import { appendOnly, sweepFunction, tenantTable, touch } from './support.ts'

/** Entries and the events that they come from, in parts by tenant. What an entry must be stands in 0004c, as triggers that no program can pass by. */
export const up = async (knex: Knex) => {
  await entries(knex)
  await events(knex)
  await others(knex)
}

const entries = async (knex: Knex) => {
  await knex.raw(`create sequence journal_entry_sequence as bigint cache 1`)
  await tenantTable(
    knex,
    'journal_entry',
    `sequence bigint not null,
     book_id uuid not null,
     journal_id uuid not null,
     period_id uuid not null,
     posting_date date not null,
     currency text not null,
     kind text not null default 'standard',
     reverses_entry_id uuid,
     source_type text not null,
     source_id uuid not null,
     source_seq int not null default 0,
     total bigint not null,
     description text not null,
     late boolean not null default false,
     created_by uuid,
     approved_by uuid,
     self_approved boolean not null default false,
     created_xid xid8 not null,
     created_at timestamptz not null default now(),
     primary key (tenant_id, id),
     constraint journal_entry_kind check (kind in ('standard', 'reversal', 'opening', 'closing')),
     constraint journal_entry_reversal check ((kind = 'reversal') = (reverses_entry_id is not null)),
     constraint journal_entry_total check (total between 1 and 9007199254740991),
     constraint journal_entry_description check (length(description) between 1 and 300),
     constraint journal_entry_late check (not late or approved_by is not null),
     constraint journal_entry_approved check (approved_by is null or approved_by is distinct from created_by or self_approved),
     constraint journal_entry_source unique (tenant_id, source_type, source_id, source_seq),
     constraint journal_entry_reverses_key unique (tenant_id, reverses_entry_id),
     constraint journal_entry_book foreign key (tenant_id, book_id, currency) references book (tenant_id, id, currency),
     constraint journal_entry_journal foreign key (tenant_id, book_id, journal_id) references journal (tenant_id, book_id, id),
     constraint journal_entry_period foreign key (tenant_id, book_id, period_id) references fiscal_period (tenant_id, book_id, id),
     constraint journal_entry_reverses foreign key (tenant_id, reverses_entry_id) references journal_entry (tenant_id, id)`,
    { grant: 'select, insert', suffix: 'partition by hash (tenant_id)' },
  )
  await splitByTenant(knex, 'journal_entry')
  await knex.raw(`create index journal_entry_by_date on journal_entry (tenant_id, book_id, posting_date, sequence)`)
  await knex.raw(`create index journal_entry_by_sequence on journal_entry (tenant_id, book_id, sequence)`)
  await knex.raw(`create index journal_entry_by_source on journal_entry (tenant_id, source_id)`)
  // The last one made: between indexes that look alike, as all do while the table has no statistics, PostgreSQL takes the newest,
  // and the check of each line's foreign key must not go through all entries of a day.
  await knex.raw(
    `alter table journal_entry add constraint journal_entry_line_key unique (tenant_id, id, book_id, period_id, posting_date)`,
  )

  await tenantTable(
    knex,
    'journal_line',
    `entry_id uuid not null,
     line_no smallint not null,
     book_id uuid not null,
     period_id uuid not null,
     posting_date date not null,
     account_id uuid not null,
     debit bigint not null default 0,
     credit bigint not null default 0,
     property_id uuid,
     cost_center_id uuid,
     party_type text,
     party_id uuid,
     document_type text,
     document_id uuid,
     tax_code_id uuid,
     tax_base bigint,
     memo text not null default '',
     primary key (tenant_id, entry_id, line_no),
     constraint journal_line_no check (line_no between 1 and 32000),
     constraint journal_line_one_side check (
       (debit = 0 and credit between 1 and 9007199254740991) or (credit = 0 and debit between 1 and 9007199254740991)),
     constraint journal_line_party check (
       (party_type is null) = (party_id is null) and party_type in ('guest', 'company', 'customer', 'supplier', 'book')),
     constraint journal_line_document check ((document_type is null) = (document_id is null) and length(document_type) between 1 and 40),
     constraint journal_line_memo check (length(memo) <= 200),
     constraint journal_line_entry foreign key (tenant_id, entry_id, book_id, period_id, posting_date)
       references journal_entry (tenant_id, id, book_id, period_id, posting_date),
     constraint journal_line_account foreign key (tenant_id, book_id, account_id) references account (tenant_id, book_id, id),
     constraint journal_line_cost_center foreign key (tenant_id, book_id, cost_center_id) references cost_center (tenant_id, book_id, id),
     constraint journal_line_tax_code foreign key (tenant_id, book_id, tax_code_id) references tax_code (tenant_id, book_id, id)`,
    { grant: 'select, insert', suffix: 'partition by hash (tenant_id)' },
  )
  await splitByTenant(knex, 'journal_line')
  await knex.raw(`create index journal_line_account on journal_line (tenant_id, book_id, account_id, posting_date)`)
  await knex.raw(`create index journal_line_property on journal_line (tenant_id, book_id, property_id, posting_date)`)
  await knex.raw(
    `create index journal_line_document on journal_line (tenant_id, document_id) where document_id is not null`,
  )
  await knex.raw(`create index journal_line_party on journal_line (tenant_id, party_id) where party_id is not null`)
  await knex.raw(
    `create index journal_line_cost_center on journal_line (tenant_id, book_id, cost_center_id) where cost_center_id is not null`,
  )
  await knex.raw(
    `create index journal_line_tax_code on journal_line (tenant_id, book_id, tax_code_id) where tax_code_id is not null`,
  )

  await tenantTable(
    knex,
    'account_balance',
    `book_id uuid not null,
     account_id uuid not null,
     property_id uuid,
     period_id uuid not null,
     debit bigint not null default 0,
     credit bigint not null default 0,
     line_count bigint not null default 0,
     constraint account_balance_range check (debit between 0 and 9007199254740991 and credit between 0 and 9007199254740991),
     constraint account_balance_key unique nulls not distinct (tenant_id, book_id, account_id, property_id, period_id),
     constraint account_balance_account foreign key (tenant_id, book_id, account_id) references account (tenant_id, book_id, id),
     constraint account_balance_period foreign key (tenant_id, book_id, period_id) references fiscal_period (tenant_id, book_id, id)`,
    { grant: 'select' },
  )
  await knex.raw(`alter table account_balance set (fillfactor = 60)`)
  await knex.raw(`create index account_balance_period on account_balance (tenant_id, book_id, period_id)`)
  await knex.raw(`create index account_balance_property on account_balance (tenant_id, book_id, property_id)`)

  await tenantTable(
    knex,
    'journal_seal',
    `book_id uuid not null,
     year smallint not null,
     number bigint not null,
     entry_id uuid not null,
     previous_hash bytea not null,
     hash bytea not null,
     created_at timestamptz not null default now(),
     constraint journal_seal_hash check (octet_length(hash) = 32 and octet_length(previous_hash) = 32),
     constraint journal_seal_number check (number >= 1),
     constraint journal_seal_number_key unique (tenant_id, book_id, year, number),
     constraint journal_seal_entry_key unique (tenant_id, entry_id),
     constraint journal_seal_year foreign key (tenant_id, book_id, year) references fiscal_year (tenant_id, book_id, year),
     constraint journal_seal_entry foreign key (tenant_id, entry_id) references journal_entry (tenant_id, id)`,
    { grant: 'select, insert' },
  )
  await appendOnly(knex, 'journal_seal')
}

const events = async (knex: Knex) => {
  await knex.raw(`create sequence posting_event_seq as bigint cache 1`)
  await tenantTable(
    knex,
    'posting_event',
    `seq bigint not null,
     book_id uuid not null,
     property_id uuid,
     event text not null,
     source_id uuid not null,
     source_seq int not null default 0,
     dated text not null,
     posting_date date not null,
     period_id uuid not null,
     reverses_event_id uuid,
     payload jsonb not null default '{}',
     status text not null default 'pending',
     attempts int not null default 0,
     next_at timestamptz,
     error_code text,
     error_message text,
     rule_ids uuid[] not null default '{}',
     entry_id uuid,
     dismiss_reason text,
     replacing_entry_id uuid,
     created_at timestamptz not null default now(),
     primary key (tenant_id, id),
     constraint posting_event_status check (status in ('pending', 'posted', 'failed', 'parked', 'dismissed')),
     constraint posting_event_dated check (dated in ('day', 'document')),
     constraint posting_event_dismissed check ((status = 'dismissed') = (dismiss_reason is not null)),
     constraint posting_event_posted check (entry_id is null or status = 'posted'),
     constraint posting_event_source unique (tenant_id, event, source_id, source_seq),
     constraint posting_event_reverses_key unique (tenant_id, reverses_event_id),
     constraint posting_event_period foreign key (tenant_id, book_id, period_id) references fiscal_period (tenant_id, book_id, id),
     constraint posting_event_reverses foreign key (tenant_id, reverses_event_id) references posting_event (tenant_id, id),
     constraint posting_event_entry foreign key (tenant_id, entry_id) references journal_entry (tenant_id, id),
     constraint posting_event_replacing foreign key (tenant_id, replacing_entry_id) references journal_entry (tenant_id, id)`,
    {
      grant: `select, insert, update (status, attempts, next_at, error_code, error_message, rule_ids, entry_id, dismiss_reason, replacing_entry_id)`,
      suffix: 'partition by hash (tenant_id)',
    },
  )
  await splitByTenant(knex, 'posting_event')
  await knex.raw(
    `create index posting_event_waiting on posting_event (tenant_id, book_id, seq) where status in ('pending', 'failed')`,
  )
  await knex.raw(
    `create index posting_event_unposted on posting_event (tenant_id, book_id, period_id) where status in ('pending', 'failed', 'parked')`,
  )
  await knex.raw(`create index posting_event_book on posting_event (tenant_id, book_id, period_id, seq)`)
  await knex.raw(`create index posting_event_entry on posting_event (tenant_id, entry_id) where entry_id is not null`)
  await knex.raw(
    `create index posting_event_replacing on posting_event (tenant_id, replacing_entry_id) where replacing_entry_id is not null`,
  )
  await sweepFunction(
    knex,
    'books_with_postings_due()',
    'tenant_id uuid, book_id uuid',
    `select distinct e.tenant_id, e.book_id from posting_event e
     where e.status in ('pending', 'failed') and coalesce(e.next_at, e.created_at + interval '2 seconds') <= now()`,
  )
}

const others = async (knex: Knex) => {
  await tenantTable(
    knex,
    'posting_rule',
    `book_id uuid not null,
     event text not null,
     line text not null,
     match jsonb not null default '{}',
     match_key text not null generated always as (match::text) stored,
     account_id uuid not null,
     cost_center_id uuid,
     valid_from date not null,
     valid_to date,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint posting_rule_names check (length(event) <= 80 and length(line) <= 40),
     constraint posting_rule_match check (jsonb_typeof(match) = 'object' and octet_length(match::text) <= 2000),
     constraint posting_rule_dates check (valid_to >= valid_from),
     constraint posting_rule_account foreign key (tenant_id, book_id, account_id) references account (tenant_id, book_id, id),
     constraint posting_rule_cost_center foreign key (tenant_id, book_id, cost_center_id) references cost_center (tenant_id, book_id, id),
     constraint posting_rule_apart exclude using gist
       (tenant_id with =, book_id with =, event with =, line with =, match_key with =, daterange(valid_from, valid_to, '[]') with &&)`,
    { grant: 'select, insert, update (valid_to, version)' },
  )
  await knex.raw(`create index posting_rule_account on posting_rule (tenant_id, book_id, account_id)`)
  await knex.raw(`create index posting_rule_cost_center on posting_rule (tenant_id, book_id, cost_center_id)`)
  await touch(knex, 'posting_rule')

  await tenantTable(
    knex,
    'integrity_run',
    `book_id uuid not null,
     status text not null default 'queued',
     results jsonb not null default '[]',
     requested_at timestamptz not null default now(),
     started_at timestamptz,
     finished_at timestamptz,
     constraint integrity_run_status check (status in ('queued', 'running', 'passed', 'failed')),
     constraint integrity_run_book foreign key (tenant_id, book_id) references book (tenant_id, id)`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(`create index integrity_run_book on integrity_run (tenant_id, book_id, requested_at)`)
  await knex.raw(
    `create unique index integrity_run_one_at_a_time on integrity_run (tenant_id, book_id) where status in ('queued', 'running')`,
  )

  await sweepFunction(
    knex,
    'active_books()',
    'tenant_id uuid, book_id uuid',
    `select b.tenant_id, b.id from book b where b.active`,
  )
  await sweepFunction(
    knex,
    'books_without_next_year(days int)',
    'tenant_id uuid, book_id uuid',
    `select b.tenant_id, b.id from book b
     where b.active and (select max(y.ends_on) from fiscal_year y where y.tenant_id = b.tenant_id and y.book_id = b.id)
       < (now() at time zone b.time_zone)::date + days`,
  )
}
