import { queueNames, queues } from '../../config/queues.ts'
import type { AnyTrx } from '../lib/connection.ts'
import { lastly } from '../lib/connection.ts'
import { FenceLost } from './fence.ts'
import type { Fence } from './fence.ts'

export type Outcome = 'done' | 'skipped' | 'cancelled' | 'discarded' | 'expired' | 'failed' | 'missed'

export const moneyQueues = queueNames.filter((name) => queues[name].money)

const moved = (condition: string) => `
  gone as (delete from jobs where ${condition} returning *),
  filed as (insert into job_archive (id, money, tenant_id, queue, kind, version, payload, outcome, reason, class, run_at, unique_key, attempts, starts,
    dispatch_no, worker, progress, last_error, history, request_id, traceparent, actor, created_at, started_at, finished_at)
  select id, queue in (${moneyQueues.map((name) => `'${name}'`).join(', ')}), tenant_id, queue, kind, version, payload, :outcome, :reason, class, run_at, unique_key, attempts, starts,
    dispatch_no, coalesce(:worker, worker), progress, last_error, history, request_id, traceparent, actor, created_at,
    clock_timestamp() - make_interval(secs => :ranMs / 1000.0), clock_timestamp()
  from gone returning id)`

/** Moves live rows into the archive, and answers their ids. `condition` picks them and speaks of `jobs`. */
export const archiveWhere = (condition: string) => `with ${moved(condition)} select id from filed`

// Divides by zero where the row is not there.
const archiveOne = `with ${moved('id = :jobId')} select 1 / count(*) as filed from filed`

type End = { outcome: Outcome; reason?: string | null; worker: string; ranMs: number }

const bindingsOf = ({ outcome, reason = null, worker, ranMs }: End) => ({
  outcome,
  reason,
  worker,
  ranMs: Math.max(0, ranMs),
})

/**
 * Ends the job with the commit of its effect: what is written after this call still commits with it. The caller holds its row, as
 * lockStart or lockFence does; were it gone all the same, the transaction fails with FenceLost.
 */
export const completeJob = (trx: AnyTrx, fence: Fence, end: End): void =>
  lastly(trx, {
    text: archiveOne,
    bindings: { jobId: fence.jobId, ...bindingsOf(end) },
    refused: () => new FenceLost(fence),
  })
