import type { Knex } from 'knex'
import { appendOnly, openTable, tenantTable, touch } from './support.ts'

const stamps = `
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`
const ofProperty = `foreign key (tenant_id, property_id) references property (tenant_id, id)`
const clock = (column: string) => `${column} ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'`

/** What a property is, what it sells, at which price and under which rules. */
export const up = async (knex: Knex) => {
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

  await tenantTable(
    knex,
    'policy',
    `property_id uuid not null,
     code text not null,
     name text not null,
     kind text not null,
     status text not null default 'active',
     current_version int not null default 1,
     ${stamps},
     constraint policy_code unique (tenant_id, property_id, code),
     constraint policy_kind_id unique (tenant_id, id, kind),
     constraint policy_kind check (kind in ('cancellation', 'deposit', 'no_show')),
     constraint policy_status check (status in ('active', 'archived')),
     ${ofProperty}`,
  )
  await touch(knex, 'policy')

  await tenantTable(
    knex,
    'policy_version',
    `policy_id uuid not null,
     number int not null,
     rules jsonb not null,
     hash text not null,
     created_by uuid,
     created_at timestamptz not null default now(),
     constraint policy_version_number unique (tenant_id, policy_id, number),
     constraint policy_version_hash check (hash ~ '^[0-9a-f]{64}$'),
     foreign key (tenant_id, policy_id) references policy (tenant_id, id)`,
    { grant: 'select, insert' },
  )
  await appendOnly(knex, 'policy_version')

  await tenantTable(
    knex,
    'rate_plan',
    `property_id uuid not null,
     code text not null,
     name jsonb not null,
     description jsonb not null default '{}',
     status text not null default 'active',
     parent_id uuid,
     derivation jsonb,
     inherit_restrictions boolean not null default true,
     market_segment text not null default 'transient',
     meal_plan text not null default 'none',
     included_extras jsonb not null default '[]',
     cancellation_policy_id uuid not null,
     no_show_policy_id uuid not null,
     deposit_policy_id uuid,
     cancellation_kind text not null generated always as ('cancellation') stored,
     no_show_kind text not null generated always as ('no_show') stored,
     deposit_kind text not null generated always as ('deposit') stored,
     visibility text not null default 'public',
     bookable_from date,
     bookable_until date,
     stay_from date,
     stay_until date,
     min_advance_days int,
     max_advance_days int,
     min_nights int,
     max_nights int,
     los_discounts jsonb not null default '[]',
     ${stamps},
     constraint rate_plan_code unique (tenant_id, property_id, code),
     constraint rate_plan_status check (status in ('active', 'archived')),
     constraint rate_plan_derived check ((parent_id is null) = (derivation is null) and parent_id <> id),
     constraint rate_plan_market_segment check (market_segment in ('transient', 'group', 'corporate', 'government', 'wholesale', 'long_stay', 'package', 'complimentary', 'house_use')),
     constraint rate_plan_meal_plan check (meal_plan in ('none', 'breakfast', 'half_board', 'full_board', 'all_inclusive')),
     constraint rate_plan_visibility check (visibility in ('public', 'code', 'private')),
     constraint rate_plan_limits check (min_advance_days >= 0 and max_advance_days >= 0 and min_nights >= 1 and max_nights >= 1),
     ${ofProperty},
     foreign key (tenant_id, parent_id) references rate_plan (tenant_id, id),
     foreign key (tenant_id, cancellation_policy_id, cancellation_kind) references policy (tenant_id, id, kind),
     foreign key (tenant_id, no_show_policy_id, no_show_kind) references policy (tenant_id, id, kind),
     foreign key (tenant_id, deposit_policy_id, deposit_kind) references policy (tenant_id, id, kind)`,
  )
  await knex.raw(`create index rate_plan_parent on rate_plan (tenant_id, parent_id)`)
  await knex.raw(
    `create index rate_plan_cancellation on rate_plan (tenant_id, cancellation_policy_id, cancellation_kind)`,
  )
  await knex.raw(`create index rate_plan_no_show on rate_plan (tenant_id, no_show_policy_id, no_show_kind)`)
  await knex.raw(`create index rate_plan_deposit on rate_plan (tenant_id, deposit_policy_id, deposit_kind)`)
  await touch(knex, 'rate_plan')

  await tenantTable(
    knex,
    'rate_plan_unit_type',
    `rate_plan_id uuid not null,
     unit_type_id uuid not null,
     standard_amount bigint,
     adults jsonb not null default '{}',
     extra_adult_amount bigint not null default 0,
     children jsonb not null default '[]',
     primary key (tenant_id, rate_plan_id, unit_type_id),
     constraint rate_plan_unit_type_amounts check (standard_amount between 0 and 100000000000 and extra_adult_amount between 0 and 100000000000),
     foreign key (tenant_id, rate_plan_id) references rate_plan (tenant_id, id)`,
  )
  await knex.raw(`create index rate_plan_unit_type_type on rate_plan_unit_type (tenant_id, unit_type_id)`)

  await tenantTable(
    knex,
    'rate_cell',
    `rate_plan_id uuid not null,
     unit_type_id uuid not null,
     date date not null,
     amount bigint not null,
     primary key (tenant_id, rate_plan_id, unit_type_id, date),
     constraint rate_cell_amount check (amount between 0 and 100000000000),
     foreign key (tenant_id, rate_plan_id, unit_type_id) references rate_plan_unit_type (tenant_id, rate_plan_id, unit_type_id)`,
  )

  await tenantTable(
    knex,
    'restriction_cell',
    `property_id uuid not null,
     unit_type_id uuid,
     rate_plan_id uuid,
     date date not null,
     stop_sell boolean,
     closed_to_arrival boolean,
     closed_to_departure boolean,
     min_stay_arrival int,
     max_stay_arrival int,
     min_stay_through int,
     max_stay_through int,
     min_advance_days int,
     max_advance_days int,
     constraint restriction_cell_place unique nulls not distinct (tenant_id, property_id, date, unit_type_id, rate_plan_id),
     constraint restriction_cell_limits check (
       min_stay_arrival between 1 and 366 and max_stay_arrival between 1 and 366 and min_stay_through between 1 and 366
       and max_stay_through between 1 and 366 and min_advance_days between 0 and 730 and max_advance_days between 0 and 730),
     ${ofProperty},
     foreign key (tenant_id, rate_plan_id) references rate_plan (tenant_id, id)`,
  )
  await knex.raw(`create index restriction_cell_rate_plan on restriction_cell (tenant_id, rate_plan_id)`)
  await knex.raw(`create index restriction_cell_unit_type on restriction_cell (tenant_id, unit_type_id)`)

  await tenantTable(
    knex,
    'extra',
    `property_id uuid not null,
     code text not null,
     name jsonb not null,
     description jsonb not null default '{}',
     category text not null,
     revenue_group text not null,
     amount bigint not null,
     basis text not null,
     mandatory boolean not null default false,
     bookable_online boolean not null default true,
     unit_type_ids uuid[] not null default '{}',
     max_quantity int not null default 1,
     cutoff_hours int not null default 0,
     daily_limit int,
     pool_id uuid,
     status text not null default 'active',
     ${stamps},
     constraint extra_code unique (tenant_id, property_id, code),
     constraint extra_category check (category in ('early_check_in', 'late_check_out', 'cleaning', 'meal', 'transport', 'parking', 'pet', 'bed', 'activity', 'other')),
     constraint extra_revenue_group check (revenue_group in ('rooms', 'food', 'beverage', 'laundry', 'spa', 'parking', 'tours', 'other')),
     constraint extra_amount check (amount between 0 and 100000000000),
     constraint extra_basis check (basis in ('per_stay', 'per_night', 'per_person', 'per_person_per_night', 'per_unit')),
     constraint extra_quantity check (max_quantity between 1 and 99 and cutoff_hours between 0 and 720 and daily_limit between 1 and 10000),
     constraint extra_pool check ((daily_limit is null) = (pool_id is null)),
     constraint extra_status check (status in ('active', 'archived')),
     ${ofProperty}`,
  )
  await knex.raw(`create index extra_pool on extra (tenant_id, pool_id)`)
  await touch(knex, 'extra')

  await tenantTable(
    knex,
    'promo_code',
    `property_id uuid not null,
     code text not null,
     type text not null,
     value bigint not null,
     rate_plan_ids uuid[] not null default '{}',
     unit_type_ids uuid[] not null default '{}',
     bookable_from date,
     bookable_until date,
     stay_from date,
     stay_until date,
     min_nights int,
     max_redemptions int,
     max_per_booker int,
     redeemed int not null default 0,
     status text not null default 'active',
     ${stamps},
     constraint promo_code_code unique (tenant_id, property_id, code),
     constraint promo_code_form check (code ~ '^[A-Z0-9-]{3,30}$'),
     constraint promo_code_value check (type in ('percent', 'amount') and value > 0 and (type = 'amount' or value <= 10000)),
     constraint promo_code_limit check (redeemed <= coalesce(max_redemptions, redeemed)),
     constraint promo_code_redeemed check (redeemed >= 0 and max_redemptions > 0 and max_per_booker > 0 and min_nights > 0),
     constraint promo_code_status check (status in ('active', 'archived')),
     ${ofProperty}`,
  )
  await touch(knex, 'promo_code')

  await tenantTable(
    knex,
    'property_payment_method',
    `property_id uuid not null,
     method text not null,
     offered_to text not null,
     position int not null default 0,
     gateway_account_id uuid,
     min_days_before_arrival int not null default 0,
     max_amount bigint,
     max_installments int not null default 1,
     instructions jsonb not null default '{}',
     constraint property_payment_method_offer unique (tenant_id, property_id, method, offered_to),
     constraint property_payment_method_kind check (method in ('card', 'pix', 'boleto', 'bank_transfer', 'cash', 'pay_at_property')),
     constraint property_payment_method_offered_to check (offered_to in ('portal', 'staff', 'both') and (offered_to = 'staff' or method not in ('bank_transfer', 'cash'))),
     constraint property_payment_method_gateway check (offered_to = 'staff' or method not in ('card', 'pix', 'boleto') or gateway_account_id is not null),
     constraint property_payment_method_days check (min_days_before_arrival between (case method when 'boleto' then 5 else 0 end) and 365),
     constraint property_payment_method_limits check (max_installments between 1 and 12 and max_amount > 0),
     ${ofProperty}`,
  )
  await knex.raw(
    `create index property_payment_method_account on property_payment_method (tenant_id, gateway_account_id)`,
  )

  await tenantTable(
    knex,
    'gallery_image',
    `property_id uuid not null,
     url text not null,
     unit_type_id uuid,
     category text not null,
     caption jsonb not null default '{}',
     position int not null default 0,
     status text not null default 'pending',
     width int,
     height int,
     mime_type text,
     bytes int,
     checked_at timestamptz,
     ${stamps},
     constraint gallery_image_url unique (tenant_id, property_id, url),
     constraint gallery_image_address check (url ~ '^https://' and length(url) <= 2000),
     constraint gallery_image_category check (category in ('exterior', 'unit', 'bathroom', 'common', 'food', 'surroundings', 'plan')),
     constraint gallery_image_status check (status in ('pending', 'ready', 'broken')),
     ${ofProperty}`,
  )
  await knex.raw(`create index gallery_image_unit_type on gallery_image (tenant_id, unit_type_id)`)
  await touch(knex, 'gallery_image')
}
