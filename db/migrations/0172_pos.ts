import type { Knex } from 'knex'
import { sweepFunction, tenantTable, touch } from './support.ts'

const refers = (column: string, table: string) =>
  `foreign key (tenant_id, ${column}) references ${table} (tenant_id, id)`
const groups = `('food', 'beverage', 'laundry', 'spa', 'parking', 'tours', 'other')`
/** Ten-thousandths: at most 99,999,999.9999. */
const largest = '999999999999'

/** Outlets with their prices, and orders with what settles them. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'outlet',
    `property_id uuid not null,
     code text not null,
     name text not null,
     kind text not null,
     location_id uuid not null,
     room_charge boolean not null default false,
     service_charge_rate int not null default 0,
     position int not null default 0,
     status text not null default 'active',
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint outlet_of_property unique (tenant_id, property_id, id),
     constraint outlet_code_form check (code ~ '^[A-Z0-9]{1,6}$'),
     constraint outlet_kind check (kind in ('restaurant', 'bar', 'room_service', 'minibar', 'shop', 'events')),
     constraint outlet_service_charge check (service_charge_rate between 0 and 2000),
     constraint outlet_status check (status in ('active', 'archived')),
     foreign key (tenant_id, property_id, location_id) references inventory_location (tenant_id, property_id, id)`,
  )
  await touch(knex, 'outlet')
  await knex.raw(`create unique index outlet_code on outlet (tenant_id, property_id, code) where status = 'active'`)
  await knex.raw(`create index outlet_location on outlet (tenant_id, property_id, location_id)`)

  await tenantTable(
    knex,
    'outlet_price',
    `outlet_id uuid not null,
     code text not null,
     name text not null,
     item_id uuid,
     recipe_id uuid,
     quantity bigint not null default 10000,
     amount bigint not null,
     revenue_group text not null,
     location_id uuid,
     valid_from date,
     valid_to date,
     week_days int[],
     time_from time,
     time_to time,
     position int not null default 0,
     status text not null default 'active',
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint outlet_price_sells check (item_id is null or recipe_id is null),
     constraint outlet_price_amounts check (quantity between 1 and ${largest} and amount >= 0),
     constraint outlet_price_group check (revenue_group in ${groups}),
     constraint outlet_price_dates check (valid_from <= valid_to),
     constraint outlet_price_hours check ((time_from is null) = (time_to is null) and time_from <> time_to),
     constraint outlet_price_status check (status in ('active', 'archived')),
     ${refers('outlet_id', 'outlet')},
     ${refers('item_id', 'inventory_item')},
     ${refers('recipe_id', 'recipe')},
     ${refers('location_id', 'inventory_location')}`,
  )
  await touch(knex, 'outlet_price')
  await knex.raw(`create index outlet_price_code on outlet_price (tenant_id, outlet_id, code) where status = 'active'`)
  await knex.raw(`create index outlet_price_outlet on outlet_price (tenant_id, outlet_id)`)
  for (const column of ['item_id', 'recipe_id', 'location_id'])
    await knex.raw(
      `create index outlet_price_${column} on outlet_price (tenant_id, ${column}) where ${column} is not null`,
    )

  await tenantTable(
    knex,
    'pos_order_number',
    `outlet_id uuid not null,
     date date not null,
     last int not null default 0,
     primary key (tenant_id, outlet_id, date),
     ${refers('outlet_id', 'outlet')}`,
  )

  await tenantTable(
    knex,
    'pos_order',
    `property_id uuid not null,
     outlet_id uuid not null,
     number text not null,
     external_id text,
     business_date date not null,
     status text not null default 'open',
     "table" text,
     covers int not null default 0,
     reservation_id uuid,
     unit_id uuid,
     currency text not null,
     service_charge boolean not null default true,
     service_charge_rate int not null,
     discount bigint not null default 0,
     discount_reason text,
     note text,
     subtotal bigint not null default 0,
     service_charge_amount bigint not null default 0,
     total bigint not null default 0,
     paid_amount bigint not null default 0,
     opened_by uuid,
     closed_by uuid,
     closed_at timestamptz,
     cancel_reason text,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint pos_order_once unique (tenant_id, outlet_id, number),
     constraint pos_order_status check (status in ('open', 'closed', 'voided', 'cancelled')),
     constraint pos_order_covers check (covers between 0 and 500),
     constraint pos_order_amounts check (discount >= 0 and discount <= subtotal and service_charge_amount >= 0 and paid_amount >= 0
       and total = subtotal - discount + service_charge_amount),
     constraint pos_order_ended check ((status = 'open') = (closed_at is null)),
     constraint pos_order_cancelled check ((status in ('cancelled', 'voided')) = (cancel_reason is not null)),
     foreign key (tenant_id, property_id, outlet_id) references outlet (tenant_id, property_id, id),
     ${refers('reservation_id', 'reservation')},
     ${refers('unit_id', 'unit')}`,
  )
  await touch(knex, 'pos_order')
  await knex.raw(
    `create unique index pos_order_external on pos_order (tenant_id, outlet_id, external_id) where external_id is not null`,
  )
  await knex.raw(`create index pos_order_day on pos_order (tenant_id, property_id, business_date, id)`)
  await knex.raw(`create index pos_order_outlet on pos_order (tenant_id, property_id, outlet_id, created_at)`)
  await knex.raw(`create index pos_order_created on pos_order (tenant_id, created_at, id)`)
  for (const column of ['reservation_id', 'unit_id'])
    await knex.raw(`create index pos_order_${column} on pos_order (tenant_id, ${column}) where ${column} is not null`)

  await tenantTable(
    knex,
    'pos_order_line',
    `order_id uuid not null,
     position int not null,
     price_code text not null,
     name text not null,
     quantity bigint not null,
     unit_amount bigint not null,
     amount bigint not null,
     discount_share bigint not null default 0,
     revenue_group text not null,
     item_id uuid,
     recipe_id uuid,
     per_unit bigint not null,
     location_id uuid not null,
     note text,
     status text not null default 'live',
     void_reason text,
     wasted boolean not null default false,
     constraint pos_order_line_place unique (tenant_id, order_id, position),
     constraint pos_order_line_amounts check (quantity between 1 and ${largest} and unit_amount >= 0 and amount >= 0
       and discount_share between 0 and amount and per_unit > 0),
     constraint pos_order_line_sells check (item_id is null or recipe_id is null),
     constraint pos_order_line_group check (revenue_group in ${groups}),
     constraint pos_order_line_status check (status in ('live', 'voided')),
     constraint pos_order_line_voided check ((status = 'voided') = (void_reason is not null) and (status = 'voided' or not wasted)),
     ${refers('order_id', 'pos_order')},
     ${refers('item_id', 'inventory_item')},
     ${refers('recipe_id', 'recipe')},
     ${refers('location_id', 'inventory_location')}`,
  )
  for (const column of ['item_id', 'recipe_id', 'location_id'])
    await knex.raw(
      `create index pos_order_line_${column} on pos_order_line (tenant_id, ${column}) where ${column} is not null`,
    )

  await tenantTable(
    knex,
    'pos_settlement',
    `order_id uuid not null,
     position bigint generated always as identity,
     type text not null,
     folio_line_ids uuid[] not null default '{}',
     payment_id uuid,
     reason text,
     amount bigint not null,
     created_at timestamptz not null default now(),
     constraint pos_settlement_type check (type in ('folio', 'payment', 'house')),
     constraint pos_settlement_of check ((type = 'payment') = (payment_id is not null) and (type = 'folio') = (cardinality(folio_line_ids) > 0)),
     constraint pos_settlement_amount check (amount > 0),
     constraint pos_settlement_payment unique (tenant_id, order_id, payment_id),
     ${refers('order_id', 'pos_order')},
     ${refers('payment_id', 'payment')}`,
  )
  await knex.raw(
    `create index pos_settlement_payment_id on pos_settlement (tenant_id, payment_id) where payment_id is not null`,
  )

  // What settles a closed order is its total, whatever commands have done to either.
  await knex.raw(`create function order_settled() returns trigger language plpgsql as $$
    declare
      wanted uuid;
      owner uuid;
      due bigint;
      settled bigint;
    begin
      if tg_op = 'DELETE' then
        wanted := old.order_id;
        owner := old.tenant_id;
      elsif tg_table_name = 'pos_order' then
        wanted := new.id;
        owner := new.tenant_id;
      else
        wanted := new.order_id;
        owner := new.tenant_id;
      end if;
      select o.total into due from pos_order o where o.tenant_id = owner and o.id = wanted and o.status = 'closed';
      if found then
        select coalesce(sum(s.amount), 0) into settled from pos_settlement s where s.tenant_id = owner and s.order_id = wanted;
        if settled <> due then
          raise exception 'order % is settled by % of %', wanted, settled, due using errcode = 'check_violation', constraint = 'order_settled';
        end if;
      end if;
      return null;
    end $$`)
  await knex.raw(
    `create constraint trigger order_settled after insert or update of status, total on pos_order deferrable initially deferred
     for each row when (new.status = 'closed') execute function order_settled()`,
  )
  await knex.raw(
    `create constraint trigger order_settled after insert or update or delete on pos_settlement deferrable initially deferred
     for each row execute function order_settled()`,
  )

  await knex.raw(
    `alter table inventory_consumption add constraint inventory_consumption_reasons check (reason in ('spoiled', 'expired', 'broken', 'spilled', 'returned', 'other'))`,
  )
  await knex.raw(
    `alter table inventory_consumption add ${refers('outlet_id', 'outlet')}, add ${refers('order_id', 'pos_order')}`,
  )
  await sweepFunction(
    knex,
    'properties_with_stock(beyond uuid, most int)',
    'tenant_id uuid, property_id uuid',
    `select p.tenant_id, p.id from property p
     where p.id > beyond and exists (select from inventory_location l where l.tenant_id = p.tenant_id and l.property_id = p.id)
     order by p.id limit most`,
  )
}
