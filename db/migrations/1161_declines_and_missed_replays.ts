import type { Knex } from 'knex'

/** The charge of the last decline of a payment, so that the same words twice are two declines; and replays of what an endpoint had missed. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table payment add column decline_ref text check (length(decline_ref) between 1 and 200)`)
  await knex.raw(`alter table webhook_replay add column is_missed boolean not null default false`)
}
