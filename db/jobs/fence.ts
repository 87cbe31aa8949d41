import type { QueueName } from '../../config/queues.ts'
import type { AnyTrx, Statement } from '../lib/connection.ts'
import { preparedOne } from '../lib/connection.ts'

/** The right to act for a job: the newest pair of dispatch and delivery. A start that finds a newer pair in the row is a ghost. */
export type Fence = { jobId: string; dispatchNo: number; delivery: number }

/** Facts of a job at its start. */
export type JobStart = {
  id: string
  tenantId: string | null
  queue: QueueName
  kind: string
  version: number
  payload: Record<string, unknown>
  class: 'urgent' | 'normal' | 'bulk'
  runAt: Date
  attempts: number
  starts: number
  /** The account that it calls; empty where it calls none. */
  gate: string
  requestId: string
  traceparent: string | null
  createdAt: Date
}

/** Thrown where a start may not act any more, because a newer one owns the job or the job is over. Nothing may be committed. */
export class FenceLost extends Error {
  constructor(fence: Fence) {
    super(`job ${fence.jobId} is not of dispatch ${fence.dispatchNo}, delivery ${fence.delivery} any more`)
    this.name = 'FenceLost'
  }
}

const columns = `id, tenant_id, queue, kind, version, payload, class, run_at, attempts, starts, gate, request_id, traceparent, created_at`

// A row that went back to PostgreSQL (long wait, returned at a shutdown) is started by its next dispatch alone; a higher dispatch
// number on a pending row is a hand-over whose relay died before it could commit.
const newer = `status <> 'dead' and (
  dispatch_no < :dispatchNo or (dispatch_no = :dispatchNo and delivery < :delivery and status in ('dispatched', 'running')))`

/** Deliveries that the row has not heard of were starts too: their process died before it could write. */
export const countedStarts = `starts + case when dispatch_no = :dispatchNo then :delivery - delivery else :delivery end`

/** Earlier starts that neither ended nor came back: `begun` were claimed; of those that were not, `unseen` is at most one. */
export type Lost = { begun: number; unseen: number }

/**
 * Counts deliveries of a job that were lost before this start. Unrecorded ones may never have reached a process; of a job on the
 * database the first counts, since it may have died in its one transaction.
 */
export const lostStarts = async (trx: AnyTrx, fence: Fence, style: 'outside' | 'database'): Promise<Lost> => {
  const row = await preparedOne<Lost>(
    trx,
    `select greatest(0, starts - attempts) as begun,
       case when cast(:counts as boolean) and starts <= attempts then least(1, greatest(0, ${countedStarts} - starts - 1)) else 0 end as unseen
     from jobs where id = :jobId and ${newer}`,
    { ...fence, counts: style === 'database' },
  )
  return row ?? { begun: 0, unseen: 0 }
}

/**
 * Takes the job for this start, in a transaction of its own; from here the row says running. No row: a ghost. Deliveries that never came
 * so far do not count as starts, but for those that `unseen` says: nothing of the job had run, so it cannot be what ended their process.
 * @param leaseMs how long the row is believed to be in hand before reconciliation asks BullMQ about it.
 * @param more columns that are answered beside those of the start.
 */
export const claim = (fence: Fence, worker: string, leaseMs: number, unseen = 0, more = ''): Statement => ({
  text: `update jobs set status = 'running', starts = starts + 1 + cast(:unseen as int), dispatch_no = :dispatchNo, delivery = :delivery,
       leased_until = now() + make_interval(secs => :leaseMs / 1000.0), worker = :worker
     where id = :jobId and ${newer} returning ${columns}${more}`,
  bindings: { ...fence, worker, leaseMs, unseen },
})

/**
 * Takes the job inside the transaction that will also finish it: the row is locked, not written. `starts` counts this start.
 * Statements of the transaction end after `timeoutMs`. No row: a ghost.
 */
export const lockStart = (fence: Fence, timeoutMs: number): Statement => ({
  text: `select ${columns.replace('starts', `${countedStarts} as starts`)}, set_config('statement_timeout', cast(:timeoutMs as text), true)
     from jobs where id = :jobId and ${newer} for update`,
  bindings: { ...fence, timeoutMs },
})

// The status is compared past the planner, so that it finds the row by its key. While few jobs run, the whole index of those that do seems shorter to it than a look into
// the index of keys, and such a plan stays in use when thousands run.
const owned = `from jobs where id = :jobId and dispatch_no = :dispatchNo and delivery = :delivery and coalesce(status = 'running', false) for update`

export type Locked = { id: string; tenantStatus: string | null }

/** First statement of every effect: locks the row, and answers how its tenant stands. No row: this start does not own it any more, see mustOwn. */
export const lockFence = (fence: Fence): Statement => ({
  text: `select id, (select t.status from tenant t where t.id = jobs.tenant_id) as tenant_status ${owned}`,
  bindings: fence,
})

/** Locks the job of a start that claimed it earlier; statements of the transaction end after `timeoutMs`. */
export const lockClaimed = (fence: Fence, timeoutMs: number): Statement => ({
  text: `select id, set_config('statement_timeout', cast(:timeoutMs as text), true) ${owned}`,
  bindings: { ...fence, timeoutMs },
})

/** Throws FenceLost unless the statement that locked the row under its fence answered it. */
export const mustOwn = (fence: Fence, rows: readonly unknown[]): void => {
  if (rows.length === 0) throw new FenceLost(fence)
}
