import type { Knex } from 'knex'

/** Checks the orders of before: without a lock that keeps anybody from reading or writing them. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table purchase_order validate constraint purchase_order_no_editor`)
}
