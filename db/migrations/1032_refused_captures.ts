import type { Knex } from 'knex'

/** How many captures of a payment the gateway has refused: each is asked for under a key of its own, since a key keeps its answer. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table payment add column capture_refusals int not null default 0 check (capture_refusals >= 0)`)
  await knex.raw(
    `create index payment_exception_capture_refused on payment_exception (tenant_id, property_id) where kind = 'capture_refused' and status = 'open'`,
  )
}
