import type { Knex } from 'knex'

/** The rows that were there before their suppliers were compared. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table inventory_item validate constraint inventory_item_supplier`)
}
