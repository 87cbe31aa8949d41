import type { Knex } from 'knex'
import { tenantTable, touch } from './support.ts'

const controls = [
  'cash',
  'transit',
  'guest',
  'deposit',
  'receivable',
  'gateway',
  'dispute',
  'unallocated',
  'refund',
  'supplier',
  'advance',
  'received',
  'stock',
  'pos',
]
const quoted = (values: string[]) => values.map((value) => `'${value}'`).join(', ')

/** The base of the ledger: books with their charts, fiscal years, business days, cost centres and tax codes. */
export const up = async (knex: Knex) => {
  await books(knex)
  await years(knex)
}

const books = async (knex: Knex) => {
  await tenantTable(
    knex,
    'book',
    `name text not null,
     legal_name text not null,
     country_code text not null,
     document text,
     tax_regime text not null default 'other',
     currency text not null,
     time_zone text not null,
     fiscal_year_start_month smallint not null default 1,
     locked_until date,
     approval_threshold bigint,
     single_operator boolean not null default false,
     is_default boolean not null default false,
     active boolean not null default true,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint book_name check (length(name) between 1 and 120 and length(legal_name) between 1 and 200),
     constraint book_country check (country_code ~ '^[A-Z]{2}$'),
     constraint book_currency check (currency ~ '^[A-Z]{3}$'),
     constraint book_tax_regime check (tax_regime in ('simples', 'presumed_profit', 'actual_profit', 'other')),
     constraint book_start_month check (fiscal_year_start_month between 1 and 12),
     constraint book_threshold check (approval_threshold >= 0),
     constraint book_document unique (tenant_id, country_code, document),
     constraint book_currency_key unique (tenant_id, id, currency)`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(`create unique index book_one_default on book (tenant_id) where is_default`)
  await touch(knex, 'book')

  await tenantTable(
    knex,
    'journal',
    `book_id uuid not null,
     code text not null,
     name text not null,
     kind text not null,
     locked_until date,
     active boolean not null default true,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint journal_code check (code ~ '^[0-9A-Z.]{1,20}$' and length(name) between 1 and 120),
     constraint journal_kind check (kind in ('general', 'sales', 'purchases', 'cash', 'stock', 'opening', 'closing')),
     constraint journal_book foreign key (tenant_id, book_id) references book (tenant_id, id),
     constraint journal_code_key unique (tenant_id, book_id, code),
     constraint journal_book_key unique (tenant_id, book_id, id)`,
    { grant: 'select, insert, update' },
  )
  await touch(knex, 'journal')

  await tenantTable(
    knex,
    'account',
    `book_id uuid not null,
     code text not null,
     name text not null,
     class text not null,
     side text not null,
     parent_id uuid,
     postable boolean not null,
     control text,
     role text,
     section text,
     cash_flow text,
     usali_code text not null default '',
     referential_code text not null default '',
     currency text not null,
     status text not null default 'active',
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint account_code check (code ~ '^[0-9A-Z.]{1,20}$'),
     constraint account_name check (length(name) between 1 and 120),
     constraint account_class check (class in ('asset', 'liability', 'equity', 'revenue', 'expense')),
     constraint account_side check (side in ('debit', 'credit')),
     constraint account_control check (control in (${quoted(controls)})),
     constraint account_synthetic check (postable or (control is null and role is null)),
     constraint account_cash_flow check (cash_flow in ('cash', 'operating', 'investing', 'financing')),
     constraint account_codes check (length(usali_code) <= 20 and length(referential_code) <= 20),
     constraint account_status check (status in ('active', 'archived')),
     constraint account_not_own_parent check (parent_id <> id),
     constraint account_code_key unique (tenant_id, book_id, code),
     constraint account_book_key unique (tenant_id, book_id, id),
     constraint account_class_key unique (tenant_id, book_id, id, class),
     constraint account_currency_key unique (tenant_id, id, currency),
     constraint account_book foreign key (tenant_id, book_id, currency) references book (tenant_id, id, currency),
     constraint account_parent foreign key (tenant_id, book_id, parent_id, class) references account (tenant_id, book_id, id, class)`,
  )
  await knex.raw(
    `create index account_parent on account (tenant_id, book_id, parent_id, class) where parent_id is not null`,
  )
  await knex.raw(`create unique index account_role_key on account (tenant_id, book_id, role) where role is not null`)
  await touch(knex, 'account')
}

const years = async (knex: Knex) => {
  await tenantTable(
    knex,
    'fiscal_year',
    `book_id uuid not null,
     year smallint not null,
     starts_on date not null,
     ends_on date not null,
     status text not null default 'open',
     close_run int not null default 0,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint fiscal_year_status check (status in ('open', 'closing', 'closed')),
     constraint fiscal_year_dates check (starts_on < ends_on),
     constraint fiscal_year_book foreign key (tenant_id, book_id) references book (tenant_id, id),
     constraint fiscal_year_key unique (tenant_id, book_id, year),
     constraint fiscal_year_book_key unique (tenant_id, book_id, id),
     constraint fiscal_year_apart exclude using gist (tenant_id with =, book_id with =, daterange(starts_on, ends_on, '[]') with &&)`,
    { grant: 'select, insert, update' },
  )
  await touch(knex, 'fiscal_year')

  // The closing period lies on the year's last day, beside the regular one that ends there.
  await tenantTable(
    knex,
    'fiscal_period',
    `book_id uuid not null,
     fiscal_year_id uuid not null,
     number smallint not null,
     kind text not null default 'regular',
     starts_on date not null,
     ends_on date not null,
     status text not null default 'open',
     closed_by uuid,
     reopened_by uuid,
     sealed_at timestamptz,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint fiscal_period_status check (status in ('open', 'soft_closed', 'closed')),
     constraint fiscal_period_kind check (kind in ('regular', 'closing') and (kind = 'closing') = (number = 13)),
     constraint fiscal_period_number check (number between 1 and 13),
     constraint fiscal_period_dates check (starts_on <= ends_on),
     constraint fiscal_period_year foreign key (tenant_id, book_id, fiscal_year_id) references fiscal_year (tenant_id, book_id, id),
     constraint fiscal_period_number_key unique (tenant_id, fiscal_year_id, number),
     constraint fiscal_period_book_key unique (tenant_id, book_id, id),
     constraint fiscal_period_apart exclude using gist
       (tenant_id with =, book_id with =, daterange(starts_on, ends_on, '[]') with &&) where (kind = 'regular')`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(`create index fiscal_period_year on fiscal_period (tenant_id, book_id, fiscal_year_id)`)
  await knex.raw(`create index fiscal_period_by_date on fiscal_period (tenant_id, book_id, starts_on)`)
  await touch(knex, 'fiscal_period')

  await tenantTable(
    knex,
    'business_day',
    `property_id uuid not null,
     date date not null,
     status text not null default 'open',
     opened_at timestamptz not null default now(),
     closed_at timestamptz,
     closed_by uuid,
     totals jsonb,
     constraint business_day_status check (status in ('open', 'closed')),
     constraint business_day_closed check ((status = 'closed') = (closed_at is not null)),
     constraint business_day_key unique (tenant_id, property_id, date)`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(
    `create unique index business_day_one_open on business_day (tenant_id, property_id) where status = 'open'`,
  )

  await tenantTable(
    knex,
    'cost_center',
    `book_id uuid not null,
     code text not null,
     name text not null,
     kind text not null default 'department',
     parent_id uuid,
     active boolean not null default true,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint cost_center_code check (code ~ '^[0-9A-Z.]{1,20}$' and length(name) between 1 and 120),
     constraint cost_center_kind check (kind in ('department', 'project', 'other')),
     constraint cost_center_code_key unique (tenant_id, book_id, code),
     constraint cost_center_book_key unique (tenant_id, book_id, id),
     constraint cost_center_book foreign key (tenant_id, book_id) references book (tenant_id, id),
     constraint cost_center_parent foreign key (tenant_id, book_id, parent_id) references cost_center (tenant_id, book_id, id)`,
  )
  await knex.raw(`create index cost_center_parent on cost_center (tenant_id, book_id, parent_id)`)
  await touch(knex, 'cost_center')

  await tenantTable(
    knex,
    'tax_code',
    `book_id uuid not null,
     kind text not null,
     code text not null,
     name text not null,
     liability_account_id uuid not null,
     contra_account_id uuid,
     sections text[] not null default '{}',
     payee_name text,
     due_day smallint,
     active boolean not null default true,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint tax_code_kind check (kind in ('period', 'document', 'withheld_from_suppliers', 'withheld_by_customers')),
     constraint tax_code_code check (code ~ '^[0-9A-Z._-]{1,20}$' and length(name) between 1 and 120),
     constraint tax_code_payee check (length(payee_name) between 1 and 120),
     constraint tax_code_due_day check (due_day between 1 and 28),
     constraint tax_code_key unique (tenant_id, book_id, kind, code),
     constraint tax_code_book_key unique (tenant_id, book_id, id),
     constraint tax_code_liability foreign key (tenant_id, book_id, liability_account_id) references account (tenant_id, book_id, id),
     constraint tax_code_contra foreign key (tenant_id, book_id, contra_account_id) references account (tenant_id, book_id, id)`,
    { grant: 'select, insert, update' },
  )
  await knex.raw(`create index tax_code_liability on tax_code (tenant_id, book_id, liability_account_id)`)
  await knex.raw(`create index tax_code_contra on tax_code (tenant_id, book_id, contra_account_id)`)
  await touch(knex, 'tax_code')

  await tenantTable(
    knex,
    'tax_rate',
    `tax_code_id uuid not null,
     rate int not null,
     valid_from date not null,
     valid_to date,
     created_at timestamptz not null default now(),
     constraint tax_rate_range check (rate between 0 and 1000000),
     constraint tax_rate_dates check (valid_to >= valid_from),
     constraint tax_rate_code foreign key (tenant_id, tax_code_id) references tax_code (tenant_id, id),
     constraint tax_rate_apart exclude using gist (tenant_id with =, tax_code_id with =, daterange(valid_from, valid_to, '[]') with &&)`,
    { grant: 'select, insert, update (valid_to)' },
  )
  await knex.raw(`create index tax_rate_code on tax_rate (tenant_id, tax_code_id, valid_from)`)
}
