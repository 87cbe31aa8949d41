import type { Knex } from 'knex'
import { tenantTable, touch } from '../support.ts'
import { refers, stamps } from './words.ts'

/** Purchase orders, what came of them, and what was billed of that. Quantities of stock are in the base of the item. */
export const orders = async (knex: Knex) => {
  await tenantTable(
    knex,
    'purchase_order',
    `number int,
     supplier_id uuid not null,
     property_id uuid not null,
     book_id uuid not null,
     location_id uuid,
     expected_on date,
     currency text not null,
     total bigint not null,
     notes text not null default '',
     status text not null default 'draft',
     created_by uuid not null,
     edited_by uuid not null,
     approved_by uuid,
     self_approved boolean not null default false,
     approved_at timestamptz,
     sent_at timestamptz,
     close_reason text,
     ${stamps},
     constraint purchase_order_number unique (tenant_id, book_id, number),
     constraint purchase_order_status check (status in ('draft', 'approved', 'partly_received', 'received', 'closed', 'cancelled')),
     constraint purchase_order_total check (total between 0 and 10000000000000),
     constraint purchase_order_numbered check (status in ('draft', 'cancelled') or (number is not null and approved_by is not null)),
     constraint purchase_order_two_people check (approved_by is null or self_approved or (approved_by <> created_by and approved_by <> edited_by)),
     ${refers('supplier_id', 'supplier')},
     ${refers('property_id', 'property')},
     ${refers('book_id', 'book')}`,
  )
  await touch(knex, 'purchase_order')
  await knex.raw(`create index purchase_order_by_date on purchase_order (tenant_id, created_at desc, id)`)
  await knex.raw(`create index purchase_order_supplier on purchase_order (tenant_id, supplier_id, status)`)
  await knex.raw(`create index purchase_order_property on purchase_order (tenant_id, property_id, status)`)

  await tenantTable(
    knex,
    'purchase_order_line',
    `purchase_order_id uuid not null,
     line_no int not null,
     inventory_item_id uuid,
     measure text,
     numerator numeric(40, 0) not null default 1,
     denominator numeric(40, 0) not null default 1,
     description text not null,
     account_id uuid,
     entered numeric(15, 4) not null,
     quantity numeric(24, 6) not null,
     unit_price bigint not null,
     amount bigint not null,
     received numeric(24, 6) not null default 0,
     billed numeric(24, 6) not null default 0,
     constraint purchase_order_line_no unique (tenant_id, purchase_order_id, line_no),
     constraint purchase_order_line_what check ((inventory_item_id is null) = (measure is null) and (inventory_item_id is null) = (account_id is not null)),
     constraint purchase_order_line_amounts check (entered > 0 and quantity > 0 and unit_price >= 0 and amount >= 0 and numerator > 0 and denominator > 0),
     constraint purchase_order_line_received check (received >= 0 and received <= 1.10 * quantity),
     constraint purchase_order_line_billed check (billed >= 0 and billed <= case when inventory_item_id is null then quantity else received end),
     ${refers('purchase_order_id', 'purchase_order')},
     ${refers('account_id', 'account')}`,
  )
  await knex.raw(
    `create index purchase_order_line_item on purchase_order_line (tenant_id, inventory_item_id) where inventory_item_id is not null`,
  )
  await knex.raw(
    `create index purchase_order_line_account on purchase_order_line (tenant_id, account_id) where account_id is not null`,
  )

  // What came of a line, oldest first: bills take its value from here.
  await tenantTable(
    knex,
    'purchase_receipt',
    `purchase_order_line_id uuid not null,
     movement_line_id uuid not null,
     quantity numeric(24, 6) not null,
     value bigint not null,
     billed numeric(24, 6) not null default 0,
     billed_value bigint not null default 0,
     position bigint generated always as identity,
     created_at timestamptz not null default now(),
     constraint purchase_receipt_once unique (tenant_id, movement_line_id),
     constraint purchase_receipt_amounts check (quantity > 0 and value >= 0 and billed between 0 and quantity and billed_value between 0 and value),
     ${refers('purchase_order_line_id', 'purchase_order_line')}`,
  )
  await knex.raw(`create index purchase_receipt_line on purchase_receipt (tenant_id, purchase_order_line_id, position)`)
}
