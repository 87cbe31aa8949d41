import type { Knex } from 'knex'

/** An index of the stays and blocks that are in a unit now. Every list of units reads them, and must not look through past stays. */
export const up = async (knex: Knex) => {
  await knex.raw(
    `create index unit_assignment_present on unit_assignment (tenant_id, unit_id) where status in ('occupied', 'blocked')`,
  )
}
