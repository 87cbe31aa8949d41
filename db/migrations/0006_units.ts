import type { Knex } from 'knex'
import { sweepFunction, tenantTable, touch } from './support.ts'

const stamps = `
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`
const ofProperty = `foreign key (tenant_id, property_id) references property (tenant_id, id)`

/** Units, their types and pools, and the counters that say how much of a pool is left. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'unit_pool',
    `property_id uuid not null,
     name text not null,
     kind text not null default 'unit',
     ${stamps},
     constraint unit_pool_name unique (tenant_id, property_id, name),
     constraint unit_pool_kind check (kind in ('unit', 'extra')),
     constraint unit_pool_name_length check (length(name) between 1 and 60),
     ${ofProperty}`,
  )
  await touch(knex, 'unit_pool')

  await tenantTable(
    knex,
    'unit_type',
    `property_id uuid not null,
     code text not null,
     name jsonb not null,
     description jsonb not null default '{}',
     kind text not null,
     base_occupancy int not null,
     max_adults int not null,
     max_children int not null,
     max_occupancy int not null,
     beds jsonb not null default '[]',
     size_m2 numeric(7, 2),
     amenities text[] not null default '{}',
     position int not null default 0,
     bookable boolean not null default true,
     status text not null default 'active',
     ${stamps},
     constraint unit_type_code unique (tenant_id, property_id, code),
     constraint unit_type_code_form check (code ~ '^[A-Z0-9-]{1,12}$'),
     constraint unit_type_kind check (kind in ('private', 'shared', 'entire')),
     constraint unit_type_status check (status in ('active', 'archived')),
     constraint unit_type_occupancy check (base_occupancy >= 1 and base_occupancy <= max_adults and max_adults <= max_occupancy
       and max_occupancy <= 40 and max_children between 0 and 40),
     ${ofProperty}`,
  )
  await touch(knex, 'unit_type')

  await tenantTable(
    knex,
    'unit_type_pool',
    `unit_type_id uuid not null,
     unit_pool_id uuid not null,
     quantity int not null,
     primary key (tenant_id, unit_type_id, unit_pool_id),
     constraint unit_type_pool_quantity check (quantity between 1 and 200),
     foreign key (tenant_id, unit_type_id) references unit_type (tenant_id, id),
     foreign key (tenant_id, unit_pool_id) references unit_pool (tenant_id, id)`,
  )
  await knex.raw(`create index unit_type_pool_pool on unit_type_pool (tenant_id, unit_pool_id)`)

  await tenantTable(
    knex,
    'pool_night',
    `pool_id uuid not null,
     night date not null,
     capacity int not null,
     sold int not null default 0,
     held int not null default 0,
     allotted int not null default 0,
     blocked int not null default 0,
     oversell int not null default 0,
     forced int not null default 0,
     primary key (tenant_id, pool_id, night),
     constraint pool_night_within_capacity check (sold + held + allotted + blocked <= capacity + oversell + forced),
     constraint pool_night_not_negative check (least(capacity, sold, held, allotted, blocked, oversell, forced) >= 0),
     foreign key (tenant_id, pool_id) references unit_pool (tenant_id, id)`,
    // No other index and no trigger, so that updates stay in place.
    { suffix: 'with (fillfactor = 70)' },
  )

  await tenantTable(
    knex,
    'unit',
    `property_id uuid not null,
     name text not null,
     building text,
     floor int,
     position int not null default 0,
     unit_type_id uuid not null,
     unit_pool_id uuid not null,
     attributes text[] not null default '{}',
     active_from date not null,
     active_until date,
     condition text not null default 'dirty',
     condition_at timestamptz,
     condition_by uuid,
     last_cleaned_at timestamptz,
     last_deep_clean_at timestamptz,
     do_not_disturb boolean not null default false,
     make_up_requested boolean not null default false,
     service_refused jsonb,
     observed_occupancy text,
     observed_at timestamptz,
     observed_by uuid,
     credits int not null default 2,
     notes text not null default '',
     status text not null default 'active',
     ${stamps},
     constraint unit_name_length check (length(name) between 1 and 40),
     constraint unit_active check (active_until > active_from),
     constraint unit_condition check (condition in ('dirty', 'cleaning', 'clean', 'inspected', 'pickup')),
     constraint unit_observed check (observed_occupancy in ('vacant', 'occupied')),
     constraint unit_credits check (credits between 1 and 20),
     constraint unit_status check (status in ('active', 'archived')),
     ${ofProperty},
     foreign key (tenant_id, unit_type_id, unit_pool_id) references unit_type_pool (tenant_id, unit_type_id, unit_pool_id),
     foreign key (tenant_id, unit_pool_id) references unit_pool (tenant_id, id)`,
  )
  await knex.raw(`create unique index unit_name on unit (tenant_id, property_id, name) where status = 'active'`)
  await knex.raw(`create index unit_property on unit (tenant_id, property_id)`)
  await knex.raw(`create index unit_type_units on unit (tenant_id, unit_type_id, unit_pool_id)`)
  await knex.raw(`create index unit_pool_units on unit (tenant_id, unit_pool_id)`)
  await touch(knex, 'unit')

  await tenantTable(
    knex,
    'unit_block',
    `property_id uuid not null,
     unit_ids uuid[] not null,
     kind text not null,
     reason text not null,
     note text not null default '',
     "from" date not null,
     "to" date not null,
     issue_id uuid,
     status text not null default 'open',
     ${stamps},
     constraint unit_block_units check (cardinality(unit_ids) between 1 and 100),
     constraint unit_block_kind check (kind in ('out_of_order', 'out_of_service')),
     constraint unit_block_reason check (reason in ('maintenance', 'renovation', 'damage', 'deep_cleaning', 'inspection', 'owner_use', 'staff_use', 'other')),
     constraint unit_block_dates check ("to" > "from"),
     constraint unit_block_status check (status in ('open', 'ended', 'cancelled')),
     ${ofProperty}`,
  )
  await knex.raw(`create index unit_block_property on unit_block (tenant_id, property_id, "from", "to")`)
  await touch(knex, 'unit_block')

  // reservation_id gets its foreign key in 0008, where reservations begin.
  await tenantTable(
    knex,
    'unit_assignment',
    `unit_id uuid not null,
     reservation_id uuid,
     unit_block_id uuid,
     during daterange not null,
     status text not null,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint unit_assignment_one_owner check (num_nonnulls(reservation_id, unit_block_id) = 1),
     constraint unit_assignment_status check (status in ('proposed', 'locked', 'occupied', 'blocked', 'ended', 'released')),
     constraint unit_assignment_blocked check ((status = 'blocked') <= (unit_block_id is not null)),
     constraint unit_assignment_bounded check (not isempty(during) and not lower_inf(during) and not upper_inf(during)),
     constraint unit_assignment_no_overlap exclude using gist
       (tenant_id with =, unit_id with =, during with &&)
       where (status in ('proposed', 'locked', 'occupied', 'blocked')) deferrable initially immediate,
     foreign key (tenant_id, unit_id) references unit (tenant_id, id),
     foreign key (tenant_id, unit_block_id) references unit_block (tenant_id, id)`,
  )
  await knex.raw(`create index unit_assignment_unit on unit_assignment (tenant_id, unit_id)`)
  await knex.raw(`create index unit_assignment_reservation on unit_assignment (tenant_id, reservation_id)`)
  await knex.raw(`create index unit_assignment_block on unit_assignment (tenant_id, unit_block_id)`)
  await touch(knex, 'unit_assignment')

  const ofType = (column: string) => `foreign key (tenant_id, ${column}) references unit_type (tenant_id, id)`
  await knex.raw(`alter table rate_plan_unit_type add ${ofType('unit_type_id')}`)
  await knex.raw(`alter table restriction_cell add ${ofType('unit_type_id')}`)
  await knex.raw(`alter table gallery_image add ${ofType('unit_type_id')}`)
  await knex.raw(`alter table extra add foreign key (tenant_id, pool_id) references unit_pool (tenant_id, id)`)

  await sweepFunction(
    knex,
    'pools_short_of_horizon(nights int, after uuid, most int)',
    'tenant_id uuid, pool_id uuid',
    `select p.tenant_id, p.id from unit_pool p
     join property y on y.tenant_id = p.tenant_id and y.id = p.property_id
     where p.id > after and coalesce((select max(n.night) from pool_night n where n.tenant_id = p.tenant_id and n.pool_id = p.id), '-infinity')
       < (now() at time zone y.timezone)::date + nights
     order by p.id limit most`,
  )
  await sweepFunction(
    knex,
    'properties_with_counters(after uuid, most int)',
    'tenant_id uuid, property_id uuid',
    `select y.tenant_id, y.id from property y where y.id > after and y.status <> 'archived'
       and exists (select from unit_pool p where p.tenant_id = y.tenant_id and p.property_id = y.id)
     order by y.id limit most`,
  )
}
