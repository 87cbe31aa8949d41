import type { Knex } from 'knex'
import { appendOnly, tenantTable, touch } from './support.ts'

const stamps = `
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`
const ofProperty = `foreign key (tenant_id, property_id) references property (tenant_id, id)`

/** Seasons, and bulk changes of prices and restrictions with each cell before and after. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'season',
    `property_id uuid not null,
     code text not null,
     name text not null,
     colour text not null,
     constraint season_code unique (tenant_id, property_id, code) deferrable initially deferred,
     constraint season_colour check (colour ~ '^#[0-9a-f]{6}$'),
     constraint season_of_property unique (tenant_id, id, property_id),
     ${ofProperty}`,
  )
  await tenantTable(
    knex,
    'season_range',
    `season_id uuid not null,
     property_id uuid not null,
     "from" date not null,
     "to" date not null,
     constraint season_range_order check ("to" >= "from"),
     constraint season_range_one_at_a_time exclude using gist
       (tenant_id with =, property_id with =, daterange("from", "to", '[]') with &&) deferrable initially deferred,
     foreign key (tenant_id, season_id, property_id) references season (tenant_id, id, property_id) on delete cascade`,
  )
  await knex.raw(`create index season_range_season on season_range (tenant_id, season_id, property_id)`)

  await tenantTable(
    knex,
    'rate_change',
    `property_id uuid not null,
     status text not null,
     note text not null default '',
     items jsonb not null,
     cell_count int not null,
     skipped_count int not null default 0,
     reverts_id uuid,
     created_by uuid,
     applied_at timestamptz,
     error text,
     ${stamps},
     constraint rate_change_status check (status in ('queued', 'applied', 'reverted', 'failed')),
     constraint rate_change_note check (length(note) <= 500),
     constraint rate_change_cells check (cell_count between 0 and 100000 and skipped_count >= 0),
     constraint rate_change_applied check ((status in ('applied', 'reverted')) = (applied_at is not null) and (status = 'failed') = (error is not null)),
     constraint rate_change_reverts unique (tenant_id, reverts_id),
     ${ofProperty},
     foreign key (tenant_id, reverts_id) references rate_change (tenant_id, id)`,
  )
  await knex.raw(`create index rate_change_property on rate_change (tenant_id, property_id, created_at, id)`)
  await touch(knex, 'rate_change')

  // The cells of one level and kind in one row, day by day: a hundred thousand of them are some hundred rows.
  await tenantTable(
    knex,
    'rate_change_level',
    `rate_change_id uuid not null,
     position int not null,
     kind text not null,
     rate_plan_id uuid,
     unit_type_id uuid,
     dates date[] not null,
     before jsonb not null,
     after jsonb not null,
     skipped boolean not null default false,
     primary key (tenant_id, rate_change_id, position),
     constraint rate_change_level_kind check (kind in ('price', 'restriction')),
     constraint rate_change_level_price check (kind <> 'price' or (rate_plan_id is not null and unit_type_id is not null)),
     constraint rate_change_level_cells check (
       cardinality(dates) between 1 and 1000 and jsonb_array_length(before) = cardinality(dates) and jsonb_array_length(after) = cardinality(dates)),
     foreign key (tenant_id, rate_change_id) references rate_change (tenant_id, id)`,
    { grant: 'select, insert' },
  )
  await appendOnly(knex, 'rate_change_level')
}
