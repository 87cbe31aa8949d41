import type { Knex } from 'knex'

/**
 * Indexes for the jobs that operators look for: those that are dead, of one tenant, or did not end well. Dead jobs get an index in the order in which
 * they are listed, and the index of tenants holds them too. Only the death of a job adds writes to the two. In the archive, one index of the few unusual
 * jobs takes the place of the index of errors.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`create index jobs_dead_created on jobs (created_at desc, id) where status = 'dead'`)
  await knex.raw(`drop index jobs_tenant`)
  await knex.raw(`create index jobs_tenant on jobs (tenant_id, queue) where status in ('pending', 'dead')`)
  await knex.raw(
    `create index job_archive_unusual on job_archive (queue, finished_at) where outcome <> 'done' or last_error is not null`,
  )
  await knex.raw(`drop index job_archive_error`)
}
