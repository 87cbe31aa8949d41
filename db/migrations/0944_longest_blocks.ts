import type { Knex } from 'knex'

/** The longest block and assignment of a tenant: none that touches a day began longer ago. */
export const up = async (knex: Knex) => {
  await knex.raw(`create index unit_block_longest on unit_block (tenant_id, ("to" - "from"))`)
  await knex.raw(`create index unit_assignment_longest on unit_assignment (tenant_id, (ends_on - starts_on))`)
}
