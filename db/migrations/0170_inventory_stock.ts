import type { Knex } from 'knex'
import { appendOnly, tenantTable, touch } from './support.ts'

const refers = (column: string, table: string) =>
  `foreign key (tenant_id, ${column}) references ${table} (tenant_id, id)`
/** Ten-thousandths of the base measure: at most 99,999,999.9999. */
const largest = '999999999999'

/** What is kept in store, where, and what moved it. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'inventory_set',
    `kind text not null,
     owner_id uuid not null,
     version int not null default 1,
     primary key (tenant_id, kind, owner_id),
     constraint inventory_set_kind check (kind in ('all', 'categories', 'locations', 'outlets', 'prices'))`,
  )

  await tenantTable(
    knex,
    'inventory_category',
    `code text not null,
     name text not null,
     parent_code text,
     expense_group text not null,
     stock_account_id uuid,
     expense_account_id uuid,
     position int not null default 0,
     status text not null default 'active',
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint inventory_category_group check (expense_group in ('food', 'beverage', 'guest_supplies', 'cleaning_supplies', 'operating_supplies', 'other')),
     constraint inventory_category_status check (status in ('active', 'archived')),
     constraint inventory_category_parent check (parent_code <> code),
     ${refers('stock_account_id', 'account')},
     ${refers('expense_account_id', 'account')}`,
  )
  await touch(knex, 'inventory_category')
  await knex.raw(
    `create unique index inventory_category_code on inventory_category (tenant_id, code) where status = 'active'`,
  )
  for (const column of ['stock_account_id', 'expense_account_id'])
    await knex.raw(
      `create index inventory_category_${column} on inventory_category (tenant_id, ${column}) where ${column} is not null`,
    )

  await tenantTable(
    knex,
    'inventory_location',
    `property_id uuid not null,
     code text not null,
     name text not null,
     kind text not null,
     position int not null default 0,
     status text not null default 'active',
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint inventory_location_of_property unique (tenant_id, property_id, id),
     constraint inventory_location_kind check (kind in ('store', 'kitchen', 'bar', 'housekeeping', 'minibar', 'shop')),
     constraint inventory_location_status check (status in ('active', 'archived')),
     ${refers('property_id', 'property')}`,
  )
  await touch(knex, 'inventory_location')
  await knex.raw(
    `create unique index inventory_location_code on inventory_location (tenant_id, property_id, code) where status = 'active'`,
  )

  await tenantTable(
    knex,
    'inventory_item',
    `sku text not null,
     name text not null,
     barcode text,
     category_id uuid not null,
     base text not null,
     packages jsonb not null default '[]',
     supplier_id uuid,
     lead_days int not null default 2,
     reference_amount bigint,
     reference_quantity bigint,
     status text not null default 'active',
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint inventory_item_sku_form check (sku ~ '^[A-Z0-9._-]{1,30}$'),
     constraint inventory_item_barcode_form check (barcode ~ '^[0-9]{8,14}$'),
     constraint inventory_item_base check (base in ('g', 'ml', 'un')),
     constraint inventory_item_lead check (lead_days between 0 and 60),
     constraint inventory_item_reference check ((reference_amount is null) = (reference_quantity is null) and reference_amount >= 0 and reference_quantity > 0),
     constraint inventory_item_status check (status in ('active', 'archived')),
     ${refers('category_id', 'inventory_category')}`,
  )
  await touch(knex, 'inventory_item')
  await knex.raw(`create unique index inventory_item_sku on inventory_item (tenant_id, sku) where status = 'active'`)
  await knex.raw(
    `create unique index inventory_item_barcode on inventory_item (tenant_id, barcode) where status = 'active' and barcode is not null`,
  )
  await knex.raw(`create index inventory_item_category on inventory_item (tenant_id, category_id)`)

  await tenantTable(
    knex,
    'inventory_level',
    `location_id uuid not null,
     item_id uuid not null,
     minimum bigint not null,
     maximum bigint not null,
     primary key (tenant_id, location_id, item_id),
     constraint inventory_level_range check (0 <= minimum and minimum <= maximum and maximum <= ${largest}),
     ${refers('location_id', 'inventory_location')},
     ${refers('item_id', 'inventory_item')}`,
  )
  await knex.raw(`create index inventory_level_item on inventory_level (tenant_id, item_id)`)

  // Quantity and value change by lines of movements alone: the service has no right to write them.
  await tenantTable(
    knex,
    'inventory_stock',
    `location_id uuid not null,
     item_id uuid not null,
     quantity bigint not null default 0,
     value bigint not null default 0,
     last_seq int not null default 0,
     low_since timestamptz,
     last_counted_at timestamptz,
     last_counted_on date,
     last_cost_value bigint,
     last_cost_quantity bigint,
     last_cost_at timestamptz,
     primary key (tenant_id, location_id, item_id),
     constraint stock_not_negative check (quantity >= 0 and value >= 0),
     constraint stock_value_needs_quantity check (quantity > 0 or value = 0),
     constraint inventory_stock_largest check (quantity <= ${largest}),
     constraint inventory_stock_cost check ((last_cost_value is null) = (last_cost_quantity is null) and (last_cost_value is null) = (last_cost_at is null)),
     ${refers('location_id', 'inventory_location')},
     ${refers('item_id', 'inventory_item')}`,
    {
      grant: `select, insert (tenant_id, location_id, item_id),
        update (low_since, last_counted_at, last_counted_on, last_cost_value, last_cost_quantity, last_cost_at)`,
      suffix: 'with (fillfactor = 70)',
    },
  )
  await knex.raw(`create index inventory_stock_item on inventory_stock (tenant_id, item_id)`)

  await tenantTable(
    knex,
    'inventory_movement',
    `property_id uuid not null,
     kind text not null,
     occurred_on date not null,
     reference text,
     note text,
     supplier_id uuid,
     purchase_order_id uuid,
     recipe_version_id uuid,
     reverses_id uuid,
     status text not null default 'posted',
     source_type text not null,
     source_id uuid not null,
     reversal_reason text,
     created_by uuid,
     version int not null default 1,
     created_at timestamptz not null default now(),
     constraint inventory_movement_kind check (kind in ('opening', 'receipt', 'transfer', 'production', 'consumption', 'count', 'shortage', 'reversal')),
     constraint inventory_movement_status check (status in ('posted', 'reversed')),
     constraint inventory_movement_reversal check ((kind = 'reversal') = (reverses_id is not null)),
     constraint inventory_movement_source unique (tenant_id, source_type, source_id),
     constraint inventory_movement_reverses unique (tenant_id, reverses_id),
     ${refers('property_id', 'property')},
     ${refers('reverses_id', 'inventory_movement')}`,
  )
  await appendOnly(
    knex,
    'inventory_movement',
    'of property_id, kind, occurred_on, reference, note, supplier_id, purchase_order_id, recipe_version_id, reverses_id, source_type, source_id, created_by, created_at',
  )
  await knex.raw(
    `create index inventory_movement_property on inventory_movement (tenant_id, property_id, occurred_on, id)`,
  )
  await knex.raw(`create index inventory_movement_created on inventory_movement (tenant_id, created_at, id)`)
  await knex.raw(
    `create index inventory_movement_order on inventory_movement (tenant_id, purchase_order_id) where purchase_order_id is not null`,
  )

  await tenantTable(
    knex,
    'inventory_movement_line',
    `movement_id uuid not null,
     position int not null,
     item_id uuid not null,
     location_id uuid not null,
     quantity bigint not null,
     value bigint not null,
     entered_quantity bigint not null,
     entered_measure text not null,
     seq int not null,
     occurred_on date not null,
     purchase_order_line_id uuid,
     constraint inventory_movement_line_place unique (tenant_id, movement_id, position),
     constraint inventory_movement_line_seq unique (tenant_id, location_id, item_id, seq),
     constraint inventory_movement_line_quantity check (quantity <> 0 and abs(quantity) <= ${largest}),
     constraint inventory_movement_line_value check (value = 0 or sign(value) = sign(quantity)),
     ${refers('movement_id', 'inventory_movement')},
     ${refers('item_id', 'inventory_item')},
     ${refers('location_id', 'inventory_location')}`,
    { grant: 'select, insert' },
  )
  await appendOnly(knex, 'inventory_movement_line')
  await knex.raw(
    `create index inventory_movement_line_item on inventory_movement_line (tenant_id, item_id, occurred_on)`,
  )
  await knex.raw(
    `create index inventory_movement_line_on on inventory_movement_line (tenant_id, location_id, occurred_on)`,
  )
  await knex.raw(
    `create index inventory_movement_line_order on inventory_movement_line (tenant_id, purchase_order_line_id) where purchase_order_line_id is not null`,
  )

  // Stock is the sum of its lines, since it changes with them and in no other way.
  await knex.raw(`create function inventory_apply_lines() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
    declare
      due int;
      met int;
    begin
      select count(*) into due from (select distinct tenant_id, location_id, item_id from added) k;
      update inventory_stock s set quantity = s.quantity + l.quantity, value = s.value + l.value, last_seq = greatest(s.last_seq, l.seq)
      from (select tenant_id, location_id, item_id, sum(quantity)::bigint as quantity, sum(value)::bigint as value, max(seq) as seq
        from added group by tenant_id, location_id, item_id) l
      where s.tenant_id = l.tenant_id and s.location_id = l.location_id and s.item_id = l.item_id;
      get diagnostics met = row_count;
      if met <> due then
        raise exception 'a line of a movement has no stock row';
      end if;
      return null;
    end $$`)
  await knex.raw(`revoke all on function inventory_apply_lines() from public`)
  await knex.raw(
    `create trigger apply_lines after insert on inventory_movement_line referencing new table as added
     for each statement execute function inventory_apply_lines()`,
  )

  // What was entered keeps its meaning: neither the base nor a package that was used changes.
  await knex.raw(`create function inventory_item_fixed() returns trigger language plpgsql as $$
    begin
      if new.base <> old.base and exists (select from inventory_movement_line l where l.tenant_id = new.tenant_id and l.item_id = new.id) then
        raise exception 'the base of an item that moved is fixed' using errcode = 'check_violation', constraint = 'inventory_item_fixed';
      end if;
      if exists (select from jsonb_array_elements(old.packages) p
          where exists (select from inventory_movement_line l where l.tenant_id = new.tenant_id and l.item_id = new.id and l.entered_measure = p ->> 'code')
            and not exists (select from jsonb_array_elements(new.packages) n where n ->> 'code' = p ->> 'code' and n -> 'quantity' = p -> 'quantity')) then
        raise exception 'a package that was used is fixed' using errcode = 'check_violation', constraint = 'inventory_item_fixed';
      end if;
      return new;
    end $$`)
  await knex.raw(
    `create trigger fixed before update of base, packages on inventory_item for each row execute function inventory_item_fixed()`,
  )

  await tenantTable(
    knex,
    'inventory_count',
    `property_id uuid not null,
     location_id uuid not null,
     category_id uuid,
     blind boolean not null default true,
     status text not null default 'open',
     started_by uuid not null,
     approved_by uuid,
     self_approved boolean not null default false,
     movement_id uuid,
     note text not null default '',
     approval_note text not null default '',
     closed_at timestamptz,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint inventory_count_status check (status in ('open', 'approved', 'cancelled')),
     constraint inventory_count_approved check ((status = 'approved') = (approved_by is not null) and (movement_id is null or status = 'approved')),
     constraint inventory_count_closed check ((status = 'open') = (closed_at is null)),
     foreign key (tenant_id, property_id, location_id) references inventory_location (tenant_id, property_id, id),
     ${refers('category_id', 'inventory_category')},
     ${refers('movement_id', 'inventory_movement')}`,
  )
  await touch(knex, 'inventory_count')
  await knex.raw(
    `create index inventory_count_place on inventory_count (tenant_id, property_id, location_id, created_at)`,
  )
  await knex.raw(
    `create index inventory_count_category on inventory_count (tenant_id, category_id) where category_id is not null`,
  )
  await knex.raw(
    `create index inventory_count_movement on inventory_count (tenant_id, movement_id) where movement_id is not null`,
  )

  await tenantTable(
    knex,
    'inventory_count_line',
    `count_id uuid not null,
     location_id uuid not null,
     item_id uuid not null,
     open boolean not null default true,
     expected bigint not null,
     counted bigint,
     entered_quantity bigint,
     entered_measure text,
     counted_by uuid,
     counted_at timestamptz,
     value bigint,
     constraint inventory_count_line_item unique (tenant_id, count_id, item_id),
     constraint inventory_count_line_quantity check (expected >= 0 and counted between 0 and ${largest}),
     constraint inventory_count_line_counted check ((counted is null) = (counted_at is null) and (counted is null) = (counted_by is null)),
     ${refers('count_id', 'inventory_count')},
     ${refers('location_id', 'inventory_location')},
     ${refers('item_id', 'inventory_item')}`,
  )
  await knex.raw(
    `create unique index inventory_count_line_once on inventory_count_line (tenant_id, location_id, item_id) where open`,
  )
  await knex.raw(`create index inventory_count_line_location on inventory_count_line (tenant_id, location_id)`)
  await knex.raw(`create index inventory_count_line_of_item on inventory_count_line (tenant_id, item_id)`)
  await tenantTable(
    knex,
    'inventory_count_counter',
    `count_id uuid not null,
     user_id uuid not null,
     primary key (tenant_id, count_id, user_id),
     ${refers('count_id', 'inventory_count')}`,
    { grant: 'select, insert' },
  )
}
