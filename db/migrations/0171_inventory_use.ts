import type { Knex } from 'knex'
import { appendOnly, tenantTable, touch } from './support.ts'

const refers = (column: string, table: string) =>
  `foreign key (tenant_id, ${column}) references ${table} (tenant_id, id)`

/** Recipes by version, what was used and why, and what was used before it was there. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'recipe',
    `code text not null,
     name text not null,
     kind text not null,
     output_item_id uuid,
     rules jsonb not null default '[]',
     current_version int not null default 1,
     status text not null default 'active',
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint recipe_code_form check (code ~ '^[A-Z0-9._-]{1,30}$'),
     constraint recipe_kind check (kind in ('dish', 'drink', 'kit', 'preparation')),
     constraint recipe_output check ((kind = 'preparation') = (output_item_id is not null)),
     constraint recipe_rules check (kind = 'kit' or rules = '[]'),
     constraint recipe_status check (status in ('active', 'archived')),
     ${refers('output_item_id', 'inventory_item')}`,
  )
  await touch(knex, 'recipe')
  await knex.raw(`create unique index recipe_code on recipe (tenant_id, code) where status = 'active'`)
  await knex.raw(
    `create unique index recipe_output_item on recipe (tenant_id, output_item_id) where status = 'active' and output_item_id is not null`,
  )
  await knex.raw(`create index recipe_made on recipe (tenant_id, output_item_id) where output_item_id is not null`)

  await tenantTable(
    knex,
    'recipe_version',
    `recipe_id uuid not null,
     number int not null,
     yield bigint not null,
     created_by uuid,
     created_at timestamptz not null default now(),
     constraint recipe_version_number unique (tenant_id, recipe_id, number),
     constraint recipe_version_yield check (yield > 0),
     ${refers('recipe_id', 'recipe')}`,
    { grant: 'select, insert' },
  )
  await appendOnly(knex, 'recipe_version')
  await tenantTable(
    knex,
    'recipe_component',
    `version_id uuid not null,
     position int not null,
     item_id uuid,
     recipe_id uuid,
     quantity bigint not null,
     measure text not null,
     base_quantity bigint not null,
     loss_rate int not null default 0,
     constraint recipe_component_place unique (tenant_id, version_id, position),
     constraint recipe_component_one check ((item_id is null) <> (recipe_id is null)),
     constraint recipe_component_quantity check (quantity > 0 and base_quantity > 0),
     constraint recipe_component_loss check (loss_rate between 0 and 9000),
     ${refers('version_id', 'recipe_version')},
     ${refers('item_id', 'inventory_item')},
     ${refers('recipe_id', 'recipe')}`,
    { grant: 'select, insert' },
  )
  await appendOnly(knex, 'recipe_component')
  for (const column of ['item_id', 'recipe_id'])
    await knex.raw(
      `create index recipe_component_${column} on recipe_component (tenant_id, ${column}) where ${column} is not null`,
    )
  await knex.raw(
    `alter table inventory_movement add foreign key (tenant_id, recipe_version_id) references recipe_version (tenant_id, id)`,
  )
  await knex.raw(
    `create index inventory_movement_recipe on inventory_movement (tenant_id, recipe_version_id) where recipe_version_id is not null`,
  )

  await tenantTable(
    knex,
    'inventory_consumption',
    `property_id uuid not null,
     kind text not null,
     location_id uuid,
     outlet_id uuid,
     order_id uuid,
     reservation_id uuid,
     unit_id uuid,
     task_id uuid,
     cost_center_id uuid,
     reason text,
     business_date date not null,
     movement_id uuid,
     status text not null default 'posted',
     source_type text not null,
     source_id uuid not null,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint inventory_consumption_kind check (kind in ('sale', 'minibar', 'meal', 'kit', 'department', 'waste', 'staff', 'complimentary')),
     constraint inventory_consumption_reason check ((kind = 'waste') = (reason is not null) and reason in ('spoiled', 'expired', 'broken', 'spilled', 'returned', 'other')),
     constraint inventory_consumption_status check (status in ('posted', 'reversed')),
     constraint inventory_consumption_source unique (tenant_id, source_type, source_id),
     ${refers('property_id', 'property')},
     ${refers('location_id', 'inventory_location')},
     ${refers('reservation_id', 'reservation')},
     ${refers('unit_id', 'unit')},
     ${refers('task_id', 'housekeeping_task')},
     ${refers('cost_center_id', 'cost_center')},
     ${refers('movement_id', 'inventory_movement')}`,
  )
  await touch(knex, 'inventory_consumption')
  await appendOnly(
    knex,
    'inventory_consumption',
    'of property_id, kind, location_id, outlet_id, order_id, reservation_id, unit_id, task_id, cost_center_id, reason, business_date, movement_id, source_type, source_id',
  )
  await knex.raw(
    `create index inventory_consumption_property on inventory_consumption (tenant_id, property_id, business_date, id)`,
  )
  for (const column of [
    'location_id',
    'outlet_id',
    'order_id',
    'reservation_id',
    'unit_id',
    'task_id',
    'cost_center_id',
    'movement_id',
  ])
    await knex.raw(
      `create index inventory_consumption_${column} on inventory_consumption (tenant_id, ${column}) where ${column} is not null`,
    )

  await tenantTable(
    knex,
    'inventory_consumption_line',
    `consumption_id uuid not null,
     position int not null,
     item_id uuid not null,
     location_id uuid not null,
     recipe_version_id uuid,
     quantity bigint not null,
     value bigint not null,
     short_quantity bigint not null default 0,
     constraint inventory_consumption_line_place unique (tenant_id, consumption_id, position),
     constraint inventory_consumption_line_amounts check (quantity > 0 and value >= 0 and short_quantity between 0 and quantity),
     ${refers('consumption_id', 'inventory_consumption')},
     ${refers('item_id', 'inventory_item')},
     ${refers('location_id', 'inventory_location')},
     ${refers('recipe_version_id', 'recipe_version')}`,
    { grant: 'select, insert' },
  )
  await appendOnly(knex, 'inventory_consumption_line')
  await knex.raw(`create index inventory_consumption_line_item on inventory_consumption_line (tenant_id, item_id)`)
  await knex.raw(
    `create index inventory_consumption_line_location on inventory_consumption_line (tenant_id, location_id)`,
  )
  await knex.raw(
    `create index inventory_consumption_line_recipe on inventory_consumption_line (tenant_id, recipe_version_id) where recipe_version_id is not null`,
  )

  await tenantTable(
    knex,
    'inventory_shortage',
    `consumption_id uuid not null,
     consumption_line_id uuid not null,
     item_id uuid not null,
     location_id uuid not null,
     quantity bigint not null,
     settled_quantity bigint not null default 0,
     settled_value bigint not null default 0,
     status text not null default 'open',
     position bigint generated always as identity,
     created_at timestamptz not null default now(),
     constraint inventory_shortage_line unique (tenant_id, consumption_line_id),
     constraint inventory_shortage_quantity check (quantity >= 0 and settled_quantity >= 0 and settled_value >= 0),
     constraint inventory_shortage_status check (status in ('open', 'settled', 'absorbed') and (status = 'open') = (quantity > 0)),
     ${refers('consumption_id', 'inventory_consumption')},
     ${refers('consumption_line_id', 'inventory_consumption_line')},
     ${refers('item_id', 'inventory_item')},
     ${refers('location_id', 'inventory_location')}`,
  )
  await knex.raw(
    `create index inventory_shortage_open on inventory_shortage (tenant_id, location_id, item_id, position) where status = 'open'`,
  )
  for (const column of ['consumption_id', 'item_id', 'location_id'])
    await knex.raw(`create index inventory_shortage_${column} on inventory_shortage (tenant_id, ${column})`)

  await tenantTable(
    knex,
    'inventory_use',
    `location_id uuid not null,
     item_id uuid not null,
     date date not null,
     quantity bigint not null,
     primary key (tenant_id, location_id, item_id, date),
     ${refers('location_id', 'inventory_location')},
     ${refers('item_id', 'inventory_item')}`,
  )
  await knex.raw(`create index inventory_use_item on inventory_use (tenant_id, item_id)`)
}
