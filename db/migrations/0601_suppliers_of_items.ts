import type { Knex } from 'knex'

/** Items name suppliers of their tenant; ids that were never one mean nothing. Rows of before are looked at by the next migration. */
export const up = async (knex: Knex) => {
  await knex.raw(
    `update inventory_item i set supplier_id = null where supplier_id is not null
       and not exists (select from supplier s where s.tenant_id = i.tenant_id and s.id = i.supplier_id)`,
  )
  await knex.raw(
    `alter table inventory_item add constraint inventory_item_supplier foreign key (tenant_id, supplier_id) references supplier (tenant_id, id) not valid`,
  )
  await knex.raw(
    `create index inventory_item_supplier on inventory_item (tenant_id, supplier_id) where supplier_id is not null`,
  )
}
