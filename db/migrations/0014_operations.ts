import type { Knex } from 'knex'
import { openTable } from './support.ts'

/** Support for operators: the history of a job, running totals of queues, and the orders in which jobs and calls are listed. */
export const up = async (knex: Knex) => {
  // The history tells of earlier tries, and of replays with their authors. It goes with the row into the archive.
  for (const table of ['jobs', 'job_archive'])
    await knex.raw(`alter table ${table} add column history jsonb not null default '[]'`)

  await knex.raw(`create index jobs_pending_created on jobs (created_at desc, id) where status = 'pending'`)
  await knex.raw(`create index job_archive_queue on job_archive (queue, finished_at)`)
  // Those with an error are few; what its code is cannot be looked up under row-level security, whether there is one can.
  await knex.raw(`create index job_archive_error on job_archive (queue, finished_at) where last_error is not null`)
  await knex.raw(`create index external_call_provider on external_call (provider, started_at)`)
  await knex.raw(`create index event_request on event (tenant_id, request_id)`)

  // Of a worker: the name that rows know it by, and what it has in hand.
  await knex.raw(
    `alter table worker_heartbeat add column name text not null default '', add column current jsonb not null default '[]'`,
  )

  await openTable(
    knex,
    'queue_total',
    `queue text not null,
     class text not null,
     pending int not null,
     waiting int not null,
     dispatched int not null,
     running int not null,
     dead int not null,
     oldest_at timestamptz,
     measured_at timestamptz not null,
     primary key (queue, class)`,
  )
  await openTable(
    knex,
    'queue_minute',
    `minute timestamptz not null,
     queue text not null,
     done int not null default 0,
     failed int not null default 0,
     pending int not null default 0,
     running int not null default 0,
     dead int not null default 0,
     oldest_seconds int not null default 0,
     primary key (minute, queue)`,
  )
}
