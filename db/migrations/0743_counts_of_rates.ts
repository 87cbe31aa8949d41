import type { Knex } from 'knex'
import { countRows } from './list-counts-support.ts'

/** Counts the rates of exchange, which are some each day, and has them in the order of their list. */
export const up = async (knex: Knex) => {
  await countRows(knex, 'exchange_rate', [])
  await knex.raw(
    `create index exchange_rate_listed on exchange_rate (tenant_id, date desc, from_currency, to_currency, id)`,
  )
}
