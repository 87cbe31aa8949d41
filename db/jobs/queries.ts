import type { QueueName } from '../../config/queues.ts'
import { sql } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'

export type Backlog = {
  queue: QueueName
  class: string
  pending: number
  /** Wait for their time. */
  waiting: number
  dispatched: number
  running: number
  dead: number
  /** Age of the oldest job that is due and not begun. */
  oldestPendingSeconds: number
}

/** Backlog of each queue by class. Jobs that wait for their time are not counted as pending. */
export const backlog = (trx: PlatformTrx): Promise<Backlog[]> =>
  sql<Backlog>(
    trx,
    `select queue, class, count(*) filter (where status = 'pending' and run_at <= now()) as pending,
       count(*) filter (where status = 'pending' and run_at > now()) as waiting,
       count(*) filter (where status = 'dispatched') as dispatched, count(*) filter (where status = 'running') as running,
       count(*) filter (where status = 'dead') as dead,
       coalesce(extract(epoch from now() - min(run_at) filter (where status in ('pending', 'dispatched') and run_at <= now())), 0)::float8
         as oldest_pending_seconds
     from jobs group by queue, class`,
  )

export type Unfinished = {
  id: string
  kind: string
  status: string
  runAt: Date
  lastError: { code: string; message: string } | null
}

/** Live jobs that are under way, or due within `withinMs`. */
export const unfinished = (trx: PlatformTrx, withinMs: number, limit = 20): Promise<Unfinished[]> =>
  sql<Unfinished>(
    trx,
    `select id, kind, status, run_at, last_error from jobs
     where status = 'running' or (status in ('pending', 'dispatched') and run_at <= now() + make_interval(secs => :withinMs / 1000.0))
     order by run_at, seq limit :limit`,
    { withinMs, limit },
  )
