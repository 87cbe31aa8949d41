import type { Knex } from 'knex'
import { openTable, tenantTable, touch } from '../support.ts'

const stamps = `
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`
const ofProperty = `foreign key (tenant_id, property_id) references property (tenant_id, id)`
const clock = (column: string) => `${column} ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'`

/** Properties, the age categories of their guests, and their taxes. */
export const properties = async (knex: Knex) => {
  await tenantTable(
    knex,
    'property',
    `code text not null,
     slug text not null,
     name text not null,
     description jsonb not null default '{}',
     kind text not null,
     status text not null default 'draft',
     timezone text not null,
     currency text not null,
     locales text[] not null,
     address jsonb not null default '{}',
     latitude numeric(9, 6),
     longitude numeric(9, 6),
     phone text,
     email text,
     website text,
     legal_name text,
     legal_document text,
     registry_number text,
     book_id uuid not null,
     check_in_from text,
     check_in_until text,
     check_out_until text,
     cleaning_minutes int not null default 0,
     amenities text[] not null default '{}',
     house_rules jsonb not null default '{}',
     business_date date,
     public_version int not null default 1,
     settings jsonb not null default '{}',
     ${stamps},
     constraint property_code unique (tenant_id, code),
     constraint property_slug unique (slug),
     constraint property_book unique (tenant_id, id, book_id),
     constraint property_currency unique (tenant_id, id, currency),
     constraint property_code_form check (code ~ '^[A-Z0-9-]{2,12}$'),
     constraint property_slug_form check (slug ~ '^[a-z0-9-]{3,60}$'),
     constraint property_name_length check (length(name) between 1 and 120),
     constraint property_kind check (kind in ('hotel', 'inn', 'hostel', 'apart_hotel', 'resort', 'vacation_rental', 'campsite')),
     constraint property_status check (status in ('draft', 'live', 'suspended', 'archived')),
     constraint property_locales check (cardinality(locales) between 1 and 10),
     constraint property_hours check (${clock('check_in_from')} and ${clock('check_in_until')} and ${clock('check_out_until')}),
     constraint property_cleaning check (cleaning_minutes between 0 and 360),
     constraint property_live check (status <> 'live' or (business_date is not null and check_in_from is not null and check_out_until is not null)),
     foreign key (tenant_id, book_id, currency) references book (tenant_id, id, currency)`,
  )
  await knex.raw(`create index property_book_currency on property (tenant_id, book_id, currency)`)
  await touch(knex, 'property')

  // How a public call finds its tenant. No secrets; written in the transactions that write the property.
  await openTable(
    knex,
    'property_directory',
    `property_id uuid primary key,
     tenant_id uuid not null,
     slug text not null unique,
     status text not null,
     public_version int not null,
     foreign key (tenant_id, property_id) references property (tenant_id, id) on delete cascade`,
  )
  await knex.raw(`create index property_directory_tenant on property_directory (tenant_id, property_id)`)

  await tenantTable(
    knex,
    'age_category',
    `property_id uuid not null,
     code text not null,
     name jsonb not null,
     min_age int not null,
     max_age int,
     kind text not null,
     counts_in_occupancy boolean not null,
     constraint age_category_code unique (tenant_id, property_id, code),
     constraint age_category_kind check (kind in ('infant', 'child', 'adult')),
     constraint age_category_ages check (min_age between 0 and 120 and max_age between min_age and 120),
     constraint age_category_one_at_an_age exclude using gist
       (tenant_id with =, property_id with =, int4range(min_age, max_age, '[]') with &&) deferrable initially deferred,
     ${ofProperty}`,
  )

  await tenantTable(
    knex,
    'tax_rule',
    `property_id uuid not null,
     code text not null,
     name jsonb not null,
     kind text not null,
     basis text not null,
     rate int,
     amount bigint,
     included boolean not null default false,
     applies_to text not null,
     exempt_age_category_ids uuid[] not null default '{}',
     max_nights int,
     valid_from date not null,
     valid_to date,
     account_id uuid,
     ${stamps},
     constraint tax_rule_kind check (kind in ('tax', 'fee')),
     constraint tax_rule_basis check (basis in ('percent', 'per_night', 'per_stay', 'per_person_per_night')),
     constraint tax_rule_value check ((basis = 'percent') = (rate is not null) and (basis <> 'percent') = (amount is not null)),
     constraint tax_rule_rate check (rate between 0 and 10000 and (amount is null or amount between 0 and 100000000000)),
     constraint tax_rule_included check (not included or basis = 'percent'),
     constraint tax_rule_applies_to check (applies_to in ('room', 'extras', 'both') and (basis = 'percent' or applies_to = 'room')),
     constraint tax_rule_max_nights check (max_nights between 1 and 366),
     constraint tax_rule_validity check (valid_to >= valid_from),
     constraint tax_rule_one_at_a_time exclude using gist
       (tenant_id with =, property_id with =, code with =, daterange(valid_from, valid_to, '[]') with &&),
     ${ofProperty},
     foreign key (tenant_id, account_id) references account (tenant_id, id)`,
  )
  await knex.raw(
    `alter table tax_rule add constraint tax_rule_amount_or_rate check (rate is not null or amount is not null)`,
  )
  await knex.raw(`create index tax_rule_property on tax_rule (tenant_id, property_id, valid_from)`)
  await knex.raw(`create index tax_rule_account on tax_rule (tenant_id, account_id)`)
  await touch(knex, 'tax_rule')
}
