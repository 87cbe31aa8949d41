import type { Knex } from 'knex'
import { tenantTable } from './support.ts'

/**
 * What the lines of movements add to the value of an item in a location, by months: the value at the beginning of a range is that of now less the months since, and not
 * the sum of all lines that there ever were. Writers of one item in one location take turns at its stock, which the trigger before has changed.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`lock table inventory_movement_line in share row exclusive mode`)
  await tenantTable(
    knex,
    'inventory_stock_month',
    `location_id uuid not null,
     item_id uuid not null,
     month date not null,
     value bigint not null,
     primary key (tenant_id, location_id, month, item_id),
     constraint inventory_stock_month_first check (extract(day from month) = 1),
     foreign key (tenant_id, location_id) references inventory_location (tenant_id, id),
     foreign key (tenant_id, item_id) references inventory_item (tenant_id, id)`,
    { grant: 'select' },
  )
  await knex.raw(`alter table inventory_stock_month set (autovacuum_analyze_threshold = 5)`)
  await knex.raw(`create index inventory_stock_month_item on inventory_stock_month (tenant_id, item_id)`)
  const summed = (lines: string) => `
    select l.tenant_id, l.location_id, l.item_id, cast(date_trunc('month', cast(l.occurred_on as timestamp)) as date), sum(l.value)
    from ${lines} l group by 1, 2, 3, 4`
  await knex.raw(`
    create function inventory_months_summed() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
    begin
      insert into inventory_stock_month as m (tenant_id, location_id, item_id, month, value)
      ${summed('added')} order by 1, 2, 3, 4
      on conflict (tenant_id, location_id, month, item_id) do update set value = m.value + excluded.value;
      return null;
    end $$`)
  await knex.raw(`revoke all on function inventory_months_summed() from public`)
  // By its name it comes after apply_lines.
  await knex.raw(
    `create trigger months_summed after insert on inventory_movement_line referencing new table as added
     for each statement execute function inventory_months_summed()`,
  )
  await knex.raw(
    `insert into inventory_stock_month (tenant_id, location_id, item_id, month, value) ${summed('inventory_movement_line')}`,
  )
}
