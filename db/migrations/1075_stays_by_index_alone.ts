import type { Knex } from 'knex'

/**
 * Stays that are expected by a day, and those that touch some days, are found in an index alone: PostgreSQL takes many to be confirmed and past their arrival, or
 * to leave later, and would read the table for them.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`drop index reservation_arrivals, reservation_stays`)
  await knex.raw(`create index reservation_arrivals on reservation (tenant_id, property_id, status, arrival, id)`)
  await knex.raw(`create index reservation_stays on reservation (tenant_id, property_id, arrival, departure, id)`)
}
