import type { QueueName } from '../../config/queues.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'

export type Total = Backlog & { measuredAt: Date }

const stored = (trx: PlatformTrx): Promise<Total[]> =>
  sql<Total>(
    trx,
    `select queue, class, pending, waiting, dispatched, running, dead, measured_at,
       coalesce(greatest(0, extract(epoch from now() - oldest_at)), 0)::float8 as oldest_pending_seconds
     from queue_total order by queue, class`,
  )

const store = async (trx: PlatformTrx, rows: Backlog[]): Promise<void> => {
  const given = { rows: JSON.stringify(rows) }
  await sql(
    trx,
    `with now_given as (select * from jsonb_to_recordset(cast(:rows as jsonb)) as r (queue text, class text, pending int, waiting int,
         dispatched int, running int, dead int, "oldestPendingSeconds" float8)),
       gone as (delete from queue_total where (queue, class) not in (select queue, class from now_given))
     insert into queue_total (queue, class, pending, waiting, dispatched, running, dead, oldest_at, measured_at)
     select queue, class, pending, waiting, dispatched, running, dead,
       case when pending + dispatched > 0 then now() - make_interval(secs => "oldestPendingSeconds") end, now() from now_given
     on conflict (queue, class) do update set pending = excluded.pending, waiting = excluded.waiting, dispatched = excluded.dispatched,
       running = excluded.running, dead = excluded.dead, oldest_at = excluded.oldest_at, measured_at = now()`,
    given,
  )
  await sql(
    trx,
    `insert into queue_minute (minute, queue, pending, running, dead, oldest_seconds)
     select date_trunc('minute', now()), queue, sum(pending), sum(running), sum(dead), max(round("oldestPendingSeconds"))
     from jsonb_to_recordset(cast(:rows as jsonb)) as r (queue text, pending int, running int, dead int, "oldestPendingSeconds" float8)
     group by queue order by queue
     on conflict (minute, queue) do update set pending = excluded.pending, running = excluded.running, dead = excluded.dead,
       oldest_seconds = greatest(queue_minute.oldest_seconds, excluded.oldest_seconds)`,
    given,
  )
  await sql(trx, `delete from queue_minute where minute < now() - interval '1 day'`)
}

/**
 * Backlog of each queue by class, at most `mostSeconds` old unless another process is counting: the live rows are counted once
 * for all readers, who read a few rows however many jobs there are.
 */
export const totals = async (trx: PlatformTrx, mostSeconds: number): Promise<Total[]> => {
  const known = await stored(trx)
  const age = await sqlOne<{ fresh: boolean }>(
    trx,
    `select coalesce(max(measured_at) > now() - make_interval(secs => ?), false) as fresh from queue_total`,
    [mostSeconds],
  )
  if (age?.fresh) return known
  const turn = await sqlOne<{ mine: boolean }>(
    trx,
    `select pg_try_advisory_xact_lock(hashtextextended('queue_total', 0)) as mine`,
  )
  if (!turn?.mine) return known
  // Measuring takes no more processor than that of its own connection.
  await sql(trx, `set local max_parallel_workers_per_gather = 0`)
  await store(trx, await backlog(trx))
  return stored(trx)
}

export type Tally = { queue: QueueName; done: number; failed: number }

/** Adds what a process has finished since it last said so. */
export const addTallies = (trx: PlatformTrx, tallies: Tally[]) =>
  sql(
    trx,
    `insert into queue_minute (minute, queue, done, failed)
     select date_trunc('minute', now()), queue, done, failed
     from jsonb_to_recordset(cast(? as jsonb)) as r (queue text, done int, failed int) order by queue
     on conflict (minute, queue) do update set done = queue_minute.done + excluded.done, failed = queue_minute.failed + excluded.failed`,
    [JSON.stringify(tallies)],
  )

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
