import type { Knex } from 'knex'

/** Checks the hours of issues of before: without a lock that keeps anybody from reading or writing them. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table issue validate constraint issue_hours`)
}
