import type { Knex } from 'knex'

/**
 * Each index of `jobs` is written by every job: a row that is handed over is written anew in all that hold it then. Those that a
 * bounded look at another index replaces go, and what is asked of waiting jobs alone no longer holds the others.
 */
export const up = async (knex: Knex) => {
  // The windows bound what is dispatched or running: what is past its lease is found among that.
  await knex.raw(`drop index jobs_leased`)
  // The queues that have work are known by name, and asked one by one of jobs_turn and jobs_waiting.
  await knex.raw(`drop index jobs_pending`)
  // By kind only the scheduler asks, for its own jobs.
  await knex.raw(`drop index jobs_kind`)
  await knex.raw(`create index jobs_scheduled on jobs (kind) where tenant_id is null and status <> 'dead'`)
  await knex.raw(`drop index jobs_request`)
  await knex.raw(`create index jobs_request on jobs (request_id) where status in ('pending', 'dead')`)
}
