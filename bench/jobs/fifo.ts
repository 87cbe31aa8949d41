import { prepared } from '../../db/lib/connection.ts'
import type { Candidate, Pick } from '../../db/jobs/dispatch.ts'

/** The unfair choice: whoever came first, whoever it belongs to. For comparison alone; the index jobs_pending_fifo is its. */
export const pickFifo: Pick = async (trx, queue, room) => {
  const jobs = await prepared<Candidate>(
    trx,
    `select id, queue, kind, tenant_id, payload, gate, dispatch_no + 1 as dispatch_no, request_id, traceparent, 0 as delay_ms
     from jobs where queue = ? and status = 'pending' and run_at <= now() order by queue, run_at, seq limit ? for update skip locked`,
    [queue, room.due],
  )
  return { jobs, isHeldBack: false, more: false }
}

export const fifoIndex = `create index jobs_pending_fifo on jobs (queue, run_at, seq) where status = 'pending'`
