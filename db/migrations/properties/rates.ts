import type { Knex } from 'knex'
import { appendOnly, tenantTable, touch } from '../support.ts'

const stamps = `
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`
const ofProperty = `foreign key (tenant_id, property_id) references property (tenant_id, id)`

/** Policies, rate plans, their prices and restrictions. */
export const rates = async (knex: Knex) => {
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
}
