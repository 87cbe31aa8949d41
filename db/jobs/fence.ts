import type { QueueName } from '../../config/queues.ts'
import type { AnyTrx } from '../connection.ts'
import { preparedOne } from '../connection.ts'

/** Who may act for a job: the newest pair of dispatch and delivery. A start that finds a newer pair in the row is a ghost. */
export type Fence = { jobId: string; dispatchNo: number; delivery: number }

/** What a start learns of its job. */
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

/**
 * Takes the job for this start, in a transaction of its own; from here the row says running. Null: a ghost. Deliveries that never came
 * so far do not count as starts: nothing of the job had run, so it cannot be what ended their process.
 * @param leaseMs how long the row is believed to be in hand before reconciliation asks BullMQ about it.
 */
export const claim = (trx: AnyTrx, fence: Fence, worker: string, leaseMs: number): Promise<JobStart | null> =>
  preparedOne<JobStart>(
    trx,
    `update jobs set status = 'running', starts = starts + 1, dispatch_no = :dispatchNo, delivery = :delivery,
       leased_until = now() + make_interval(secs => :leaseMs / 1000.0), worker = :worker
     where id = :jobId and ${newer} returning ${columns}`,
    { ...fence, worker, leaseMs },
  )

/**
 * Takes the job inside the transaction that will also finish it: the row is locked, not written. `starts` counts this start.
 * Statements of the transaction end after `timeoutMs`.
 */
export const lockStart = (trx: AnyTrx, fence: Fence, timeoutMs: number): Promise<JobStart | null> =>
  preparedOne<JobStart>(
    trx,
    `select ${columns.replace('starts', `${countedStarts} as starts`)}, set_config('statement_timeout', cast(:timeoutMs as text), true)
     from jobs where id = :jobId and ${newer} for update`,
    { ...fence, timeoutMs },
  )

/** First statement of every effect: locks the row, and throws FenceLost unless this start still owns it. */
export const lockFence = async (trx: AnyTrx, fence: Fence): Promise<void> => {
  const row = await preparedOne(
    trx,
    `select id from jobs where id = :jobId and dispatch_no = :dispatchNo and delivery = :delivery and status = 'running' for update`,
    fence,
  )
  if (!row) throw new FenceLost(fence)
}
