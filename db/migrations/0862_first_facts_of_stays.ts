import type { Knex } from 'knex'

/** The first fact of a stay and its last change on the books are found by one row of an index: reports ask for them stay by stay. */
export const up = async (knex: Knex) => {
  await knex.raw(
    `create index night_fact_first on night_fact (tenant_id, reservation_id, business_date, id) where reservation_id is not null`,
  )
  await knex.raw(`drop index night_fact_reservation`)
  await knex.raw(
    `create index on_the_books_change_last on on_the_books_change (tenant_id, reservation_id, created_at desc, id)`,
  )
  await knex.raw(`drop index on_the_books_change_reservation`)
}
