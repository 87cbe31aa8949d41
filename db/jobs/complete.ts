import { queueNames, queues } from '../../config/queues.ts'
import type { AnyTrx } from '../connection.ts'
import { preparedOne } from '../connection.ts'
import { FenceLost } from './fence.ts'
import type { Fence } from './fence.ts'

export type Outcome = 'done' | 'skipped' | 'cancelled' | 'discarded' | 'expired' | 'failed' | 'missed'

export const moneyQueues = queueNames.filter((name) => queues[name].money)

/** Moves live rows into the archive. `condition` picks them and speaks of `jobs`. */
export const archiveWhere = (condition: string) => `
  with gone as (delete from jobs where ${condition} returning *)
  insert into job_archive (id, money, tenant_id, queue, kind, version, payload, outcome, reason, class, run_at, unique_key, attempts, starts,
    dispatch_no, worker, progress, last_error, history, request_id, traceparent, actor, created_at, started_at, finished_at)
  select id, queue = any(:moneyQueues), tenant_id, queue, kind, version, payload, :outcome, :reason, class, run_at, unique_key, attempts, starts,
    dispatch_no, coalesce(:worker, worker), progress, last_error, history, request_id, traceparent, actor, created_at,
    clock_timestamp() - make_interval(secs => :ranMs / 1000.0), clock_timestamp()
  from gone returning id`

type End = { outcome: Outcome; reason?: string | null; worker: string; ranMs: number }

const bindingsOf = ({ outcome, reason = null, worker, ranMs }: End) => ({
  moneyQueues,
  outcome,
  reason,
  worker,
  ranMs: Math.max(0, ranMs),
})

/** Ends the job in the transaction of its effect. The caller holds its row, by lockFence or lockStart. */
export const completeJob = async (trx: AnyTrx, fence: Fence, end: End): Promise<void> => {
  const row = await preparedOne(trx, archiveWhere('id = :jobId'), { jobId: fence.jobId, ...bindingsOf(end) })
  if (!row) throw new FenceLost(fence)
}
