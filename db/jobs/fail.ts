import type { AnyTrx } from '../lib/connection.ts'
import { prepared, preparedOne, sql, sqlOne } from '../lib/connection.ts'
import type { Job } from '../../jobs/job.ts'
import { archiveWhere } from './complete.ts'
import { countedStarts } from './fence.ts'
import type { Fence } from './fence.ts'
import { pausedIn } from './gates.ts'
import { historyAnd } from './history.ts'
import type { HistoryEntry } from './history.ts'
import { nextAfterContention, nextWait } from './rules/retry.ts'
import type { Wait } from './rules/retry.ts'
import { takeBackWhere } from './take-back.ts'

/** The stored part of an error: enough for an operator, at most 2,000 characters of stack. */
export type KeptError = { code: string; message: string; stack: string | null; stackHash: string | null; at: string }

// Also a start that never wrote its claim (it worked in one transaction) may record how it ended; a ghost may not.
const mine = `id = :jobId and status <> 'dead' and (
  dispatch_no < :dispatchNo or (dispatch_no = :dispatchNo and delivery <= :delivery and status in ('dispatched', 'running')))`

/** So many jobs of a queue may wait in Redis for their next try; more of them wait in PostgreSQL, as many as may fail. */
const mostWaiting = 500

type Failure = {
  kind: Pick<Job, 'retry' | 'tries'>
  error: KeptError
  atLeastMs?: number
  /** Another change of the same records came first. It stands in the history, and neither the start nor the failure counts. */
  isContended?: boolean
  worker: string
  ranMs: number
  leaseMs: number
}

/**
 * Counts a failed start and says what follows, in one transaction: a wait in Redis (the row stays dispatched, under a lease),
 * a wait in PostgreSQL, or the end that the kind's class names. Null: a ghost, nothing was written.
 */
export const recordFailure = async (trx: AnyTrx, fence: Fence, failure: Failure): Promise<Wait | null> => {
  const row = await preparedOne<{ attempts: number; contended: number; paused: boolean; full: boolean }>(
    trx,
    `select attempts, (select count(*)::int from jsonb_array_elements(history) entry where entry->>'code' = :code) as contended, ${pausedIn({ queue: 'jobs.queue', kind: 'jobs.kind', tenantId: 'jobs.tenant_id', gate: 'jobs.gate' })} as paused,
       (select count(*) from (select from jobs other where other.queue = jobs.queue and other.status in ('dispatched', 'running')
         and other.run_at > now() limit :mostWaiting) as waiting) >= :mostWaiting as full
     from jobs where ${mine} for update`,
    { ...fence, mostWaiting, code: failure.error.code },
  )
  if (!row) return null
  const { retry, tries } = failure.kind
  const isCounted = !failure.isContended || retry === 'tick'
  const attempts = row.attempts + (isCounted ? 1 : 0)
  const asked = { atLeastMs: failure.atLeastMs ?? 0 }
  const next = isCounted
    ? nextWait(retry, attempts, { tries, ...asked })
    : nextAfterContention(row.contended + 1, asked)
  // A job that waits in Redis starts by itself; one that is paused meanwhile must not.
  const wait: Wait = next.tier === 'redis' && (row.paused || row.full) ? { tier: 'postgres', ms: next.ms } : next
  await writeEnd(trx, fence, {
    status: wait.tier === 'redis' ? 'dispatched' : wait.tier === 'postgres' ? 'pending' : 'dead',
    attempts,
    isCounted,
    waitMs: wait.tier === 'end' ? 0 : wait.ms,
    leaseMs: failure.leaseMs,
    worker: failure.worker,
    error: failure.error,
  })
  if (wait.tier === 'end' && wait.outcome !== 'dead')
    await sql(trx, archiveWhere('id = :jobId'), {
      jobId: fence.jobId,
      outcome: wait.outcome,
      reason: failure.error.code,
      worker: failure.worker,
      ranMs: failure.ranMs,
    })
  return wait
}

type Row = {
  status: 'dispatched' | 'pending' | 'dead'
  attempts: number
  /** A start that does not count leaves the job no nearer to being taken for poison. */
  isCounted: boolean
  waitMs: number
  leaseMs: number
  worker: string | null
  error: KeptError
}

const entryOf = (fence: Fence, { status, attempts, waitMs, worker, error }: Row): HistoryEntry => ({
  at: error.at,
  what: status === 'dead' ? 'died' : 'failed',
  dispatchNo: fence.dispatchNo,
  delivery: fence.delivery,
  attempts,
  worker,
  code: error.code,
  message: error.message.slice(0, 200),
  stackHash: error.stackHash,
  waitMs: status === 'dead' ? null : waitMs,
})

const writeEnd = (trx: AnyTrx, fence: Fence, row: Row) => {
  const { status, attempts, isCounted, waitMs, leaseMs, error } = row
  return prepared(
    trx,
    `update jobs set status = :status, attempts = :attempts, starts = greatest(0, ${countedStarts} - cast(:uncounted as int)), dispatch_no = :dispatchNo, delivery = :delivery,
       run_at = case when cast(:leaveRunAt as boolean) then run_at else now() + make_interval(secs => :waitMs / 1000.0) end,
       leased_until = now() + make_interval(secs => cast(:leasedMs as float8) / 1000.0),
       worker = null, last_error = :error, history = ${historyAnd('cast(:entry as jsonb)')}
     where id = :jobId`,
    {
      ...fence,
      status,
      attempts,
      uncounted: isCounted ? 0 : 1,
      waitMs,
      leaveRunAt: status === 'dead',
      leasedMs: status === 'dispatched' ? waitMs + leaseMs : null,
      error: JSON.stringify(error),
      entry: JSON.stringify(entryOf(fence, row)),
    },
  )
}

/** Gives the job up at once, kept for an operator. Null: a ghost. */
export const recordDeath = async (trx: AnyTrx, fence: Fence, error: KeptError): Promise<Wait | null> => {
  const row = await preparedOne<{ attempts: number; worker: string | null }>(
    trx,
    `select attempts, worker from jobs where ${mine} for update`,
    fence,
  )
  if (!row) return null
  await writeEnd(trx, fence, {
    status: 'dead',
    attempts: row.attempts + 1,
    isCounted: true,
    waitMs: 0,
    leaseMs: 0,
    worker: row.worker,
    error,
  })
  return { tier: 'end', outcome: 'dead' }
}

/** Puts a job back that was taken and not run (shutdown, a payload newer than this code); the start does not count. */
export const putBack = async (trx: AnyTrx, fence: Fence, afterMs: number): Promise<boolean> => {
  const rows = await sql(
    trx,
    `with mine as (select id from jobs where ${mine} for update skip locked)
     update jobs set status = 'pending', starts = greatest(0, ${countedStarts} - 1), dispatch_no = :dispatchNo, delivery = :delivery,
       run_at = greatest(run_at, now() + make_interval(secs => :afterMs / 1000.0)), leased_until = null, worker = null
     from mine where jobs.id = mine.id returning jobs.id`,
    { ...fence, afterMs },
  )
  return rows.length > 0
}

/**
 * Ten poisoned jobs of one kind in ten minutes pause the kind, until an operator resumes it; those of it that Redis has come back.
 * True when it did.
 */
export const pausePoisoned = async (
  trx: AnyTrx,
  { name: kind, queue }: Pick<Job, 'name' | 'queue'>,
): Promise<boolean> => {
  const rows = await sql(
    trx,
    `insert into queue_control (scope, kind, reason, actor)
     select 'kind', :kind, 'poison: ten jobs of this kind ended their process within ten minutes', '{"type": "system", "id": null}'
     where (select count(*) from jobs where queue = :queue and kind = :kind and status = 'dead' and last_error->>'code' = 'poison'
       and (last_error->>'at')::timestamptz > now() - interval '10 minutes') >= 10
     on conflict (scope, coalesce(queue, ''), coalesce(kind, ''), coalesce(tenant_id::text, ''), coalesce(provider, ''))
     do update set paused = true, until = null, reason = excluded.reason, actor = excluded.actor, created_at = now()
       where not queue_control.paused or queue_control.until <= now()
     returning id`,
    { kind, queue },
  )
  if (rows.length === 0) return false
  await sql(trx, takeBackWhere(`queue = :queue and kind = :kind and status = 'dispatched'`), { kind, queue })
  return true
}

/** Ends a job that found nothing to do. False: a ghost. */
export const recordSkip = async (
  trx: AnyTrx,
  fence: Fence,
  end: { reason: string; worker: string; ranMs: number },
): Promise<boolean> => (await sqlOne(trx, archiveWhere(mine), { ...fence, ...end, outcome: 'skipped' })) !== null
