import type { Knex } from 'knex'

/** What is in a unit now is read with every list of units: past stays of it must not be looked through. */
export const up = async (knex: Knex) => {
  await knex.raw(
    `create index unit_assignment_present on unit_assignment (tenant_id, unit_id) where status in ('occupied', 'blocked')`,
  )
}
