import type { Knex } from 'knex'

/**
 * Money of a customer that is there, by the column that says so: an index by its formula serves no statement. The list of receipts has an index of its own
 * (`receipt_listed`).
 */
export const up = async (knex: Knex) => {
  await knex.raw(`drop index receipt_available`)
  await knex.raw(
    `create index receipt_available on receipt (tenant_id, customer_id) where available > 0 and status = 'recorded'`,
  )
}
