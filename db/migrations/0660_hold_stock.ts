import type { Knex } from 'knex'

/**
 * Locks rows of stock in the order (location, item) after their locations and items, and answers them with what a use needs to know of both. Rows that are
 * missing are made at 0 first. `wanted` is a list of {locationId, itemId}.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`create function hold_stock(wanted jsonb) returns table (
      location_id uuid, item_id uuid, property_id uuid, book_id uuid, quantity bigint, value bigint, last_seq int, low_since timestamptz, last_counted_on date,
      last_cost_value bigint, last_cost_quantity bigint, minimum bigint, is_short boolean, sku text, base text, packages jsonb, status text, category_id uuid,
      reference_amount bigint, reference_quantity bigint, expense_group text, stock_account_id uuid, expense_account_id uuid)
    language plpgsql as $$
    #variable_conflict use_column
    begin
      perform 1 from inventory_location l where l.id = any(array(select (w ->> 'locationId')::uuid from jsonb_array_elements(wanted) w))
        order by l.id for key share;
      perform 1 from inventory_item i where i.id = any(array(select (w ->> 'itemId')::uuid from jsonb_array_elements(wanted) w))
        order by i.id for key share;
      insert into inventory_stock (location_id, item_id)
      select w."locationId", w."itemId" from jsonb_to_recordset(wanted) as w ("locationId" uuid, "itemId" uuid)
      where not exists (select from inventory_stock s where s.location_id = w."locationId" and s.item_id = w."itemId")
      order by 1, 2 on conflict do nothing;
      return query with held as materialized (
        select s.* from inventory_stock s
        where (s.location_id, s.item_id) in (select w."locationId", w."itemId" from jsonb_to_recordset(wanted) as w ("locationId" uuid, "itemId" uuid))
        order by s.location_id, s.item_id for no key update)
      select h.location_id, h.item_id, p.property_id, y.book_id, h.quantity, h.value, h.last_seq, h.low_since, h.last_counted_on, h.last_cost_value,
        h.last_cost_quantity, coalesce(l.minimum, 0)::bigint,
        exists (select from inventory_shortage x where x.location_id = h.location_id and x.item_id = h.item_id and x.status = 'open'),
        i.sku, i.base, i.packages, i.status, i.category_id, i.reference_amount, i.reference_quantity, c.expense_group, c.stock_account_id, c.expense_account_id
      from held h join inventory_location p on p.tenant_id = h.tenant_id and p.id = h.location_id
      join property y on y.tenant_id = p.tenant_id and y.id = p.property_id
      join inventory_item i on i.tenant_id = h.tenant_id and i.id = h.item_id
      join inventory_category c on c.tenant_id = i.tenant_id and c.id = i.category_id
      left join inventory_level l on l.location_id = h.location_id and l.item_id = h.item_id;
    end $$`)
}
