import { queueNames } from '../../config/queues.ts'
import type { QueueName } from '../../config/queues.ts'
import { jobs as declared } from '../../jobs/all.ts'
import { sql } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'
import { isAlive } from './heartbeat.ts'
import { listPauses } from './pauses.ts'
import type { Pause } from './pauses.ts'
import { totals } from './totals.ts'

/** Age from which a reader counts the totals anew, since no relay runs. */
const mostSeconds = 60

export type QueueState = {
  queue: QueueName
  pauses: Pause[]
  pending: number
  waiting: number
  dispatched: number
  running: number
  dead: number
  oldestPendingSeconds: number
  /** In the last sixty seconds, the minute before this one counted by the share of it. */
  perMinute: { done: number; failed: number }
  workers: number
  concurrency: number
  lastBeatAt: Date | null
  measuredAt: Date | null
}

type Rate = { queue: string; done: number; failed: number }
type Taken = { queue: string; workers: number; concurrency: number; lastBeatAt: Date }

const rates = (trx: PlatformTrx): Promise<Rate[]> =>
  sql<Rate>(
    trx,
    `select queue, round(sum(done * share))::int as done, round(sum(failed * share))::int as failed
     from (select queue, done, failed, case when minute = date_trunc('minute', now()) then 1
         else 1 - extract(epoch from now() - date_trunc('minute', now())) / 60 end as share
       from queue_minute where minute >= date_trunc('minute', now()) - interval '1 minute') as lately
     group by queue`,
  )

const taken = (trx: PlatformTrx): Promise<Taken[]> =>
  sql<Taken>(
    trx,
    `select takes.queue, count(*) filter (where ${isAlive}) as workers,
       coalesce(sum(takes.concurrency::int) filter (where ${isAlive}), 0) as concurrency, max(beat_at) as last_beat_at
     from worker_heartbeat, lateral jsonb_each_text(queues) as takes (queue, concurrency) where process = 'worker' group by takes.queue`,
  )

/** Tells whether a pause holds in a queue. The pause of a poisoned kind names no queue and holds in the kind's own. */
const holdsIn = (pause: Pause, queue: QueueName): boolean =>
  pause.queue === queue ||
  (pause.queue === null &&
    (pause.kind === null || declared.some((job) => job.name === pause.kind && job.queue === queue)))

/** State of every queue: totals, pauses, rates and workers. It reads a few rows however many jobs there are. */
export const queueStates = async (trx: PlatformTrx): Promise<QueueState[]> => {
  const counted = await totals(trx, mostSeconds)
  const [pauses, rated, takers] = [await listPauses(trx), await rates(trx), await taken(trx)]
  return queueNames.map((queue) => {
    const own = counted.filter((row) => row.queue === queue)
    const sum = (of: 'pending' | 'waiting' | 'dispatched' | 'running' | 'dead') =>
      own.reduce((total, row) => total + row[of], 0)
    const rate = rated.find((row) => row.queue === queue)
    const taker = takers.find((row) => row.queue === queue)
    return {
      queue,
      pauses: pauses.filter((pause) => holdsIn(pause, queue)),
      pending: sum('pending'),
      waiting: sum('waiting'),
      dispatched: sum('dispatched'),
      running: sum('running'),
      dead: sum('dead'),
      oldestPendingSeconds: Math.max(0, ...own.map((row) => row.oldestPendingSeconds)),
      perMinute: { done: rate?.done ?? 0, failed: rate?.failed ?? 0 },
      workers: taker?.workers ?? 0,
      concurrency: taker?.concurrency ?? 0,
      lastBeatAt: taker?.lastBeatAt ?? null,
      measuredAt: counted[0]?.measuredAt ?? null,
    }
  })
}

export type Minute = {
  minute: Date
  done: number
  failed: number
  pending: number
  running: number
  oldestSeconds: number
}

/** The last hour, a row per minute, the oldest first: of one queue, or of all together. */
export const lastHour = (trx: PlatformTrx, queue: QueueName | null = null): Promise<Minute[]> =>
  sql<Minute>(
    trx,
    `select each.minute, coalesce(sum(done), 0) as done, coalesce(sum(failed), 0) as failed, coalesce(sum(pending), 0) as pending,
       coalesce(sum(running), 0) as running, coalesce(max(oldest_seconds), 0) as oldest_seconds
     from generate_series(date_trunc('minute', now()) - interval '59 minutes', date_trunc('minute', now()), interval '1 minute') as each (minute)
     left join queue_minute q on q.minute = each.minute and (cast(:queue as text) is null or q.queue = :queue)
     group by each.minute order by each.minute`,
    { queue },
  )

export type TenantBacklog = {
  tenantId: string | null
  name: string | null
  pending: number
  dead: number
  oldestAt: Date | null
  queues: { queue: QueueName; pending: number; dead: number }[]
}

/** The tenants with most to do, or with dead jobs; what belongs to none is one row. */
export const backlogByTenant = (trx: PlatformTrx, limit: number): Promise<TenantBacklog[]> =>
  sql<TenantBacklog>(
    trx,
    `with counted as (
       select tenant_id, queue, count(*) filter (where status = 'pending') as pending, count(*) filter (where status = 'dead') as dead,
         min(run_at) filter (where status = 'pending') as oldest_at
       from jobs where (status = 'pending' and run_at <= now()) or status = 'dead' group by tenant_id, queue),
     summed as (
       select tenant_id, sum(pending) as pending, sum(dead) as dead, min(oldest_at) as oldest_at,
         jsonb_agg(jsonb_build_object('queue', queue, 'pending', pending, 'dead', dead) order by pending desc, queue) as queues
       from counted group by tenant_id order by sum(pending) desc, sum(dead) desc, tenant_id limit :limit)
     select summed.tenant_id, tenant.name, pending::int8 as pending, dead::int8 as dead, oldest_at, queues
     from summed left join tenant on tenant.id = summed.tenant_id order by summed.pending desc, summed.dead desc, summed.tenant_id`,
    { limit },
  )

export type DeadGroup = {
  queue: QueueName
  kind: string
  errorCode: string | null
  count: number
  tenants: number
  firstAt: Date
  lastAt: Date
  /** Of the newest. */
  message: string | null
  stackHashes: number
}

/** Dead jobs by kind and error, the largest group first. */
export const deadGroups = (trx: PlatformTrx, limit: number): Promise<DeadGroup[]> =>
  sql<DeadGroup>(
    trx,
    `select queue, kind, last_error->>'code' as error_code, count(*) as count, count(distinct tenant_id) as tenants,
       min(coalesce((last_error->>'at')::timestamptz, created_at)) as first_at, max(coalesce((last_error->>'at')::timestamptz, created_at)) as last_at,
       (array_agg(last_error->>'message' order by seq desc))[1] as message, count(distinct last_error->>'stackHash') as stack_hashes
     from jobs where status = 'dead' group by queue, kind, last_error->>'code' order by count(*) desc, queue, kind, error_code limit :limit`,
    { limit },
  )

export type ScheduleRow = {
  kind: string
  everySeconds: number | null
  cron: string | null
  timeZone: string
  backfill: string
  nextAt: Date
  lastAt: Date | null
  misses: number
  isLate: boolean
}

export const listSchedules = (trx: PlatformTrx): Promise<ScheduleRow[]> =>
  sql<ScheduleRow>(
    trx,
    `select kind, every_seconds, cron, time_zone, backfill, next_at, last_at, misses, next_at < now() - interval '60 seconds' as is_late
     from schedule order by kind`,
  )

export type ProviderCalls = {
  provider: string
  calls: number
  succeeded: number
  failed: number
  unknown: number
  open: number
}

/** `named`: the providers with a call in the journal, each found by one step in an index. For `with recursive`. */
export const calledProviders = `named as (
       (select provider from external_call order by provider limit 1)
       union all
       select (select c.provider from external_call c where c.provider > named.provider order by c.provider limit 1)
       from named where named.provider is not null)`

/** Calls of the last hour by provider. */
export const callsOfLastHour = (trx: PlatformTrx): Promise<ProviderCalls[]> =>
  sql<ProviderCalls>(
    trx,
    `with recursive ${calledProviders}
     select named.provider, count(c.id) as calls, count(*) filter (where state = 'succeeded') as succeeded,
       count(*) filter (where state in ('failed', 'not_sent')) as failed, count(*) filter (where state = 'unknown') as unknown,
       count(*) filter (where state = 'started') as open
     from named left join external_call c on c.provider = named.provider and c.started_at > now() - interval '1 hour'
     where named.provider is not null group by named.provider order by named.provider`,
  )

export type ProcessRow = {
  id: string
  process: 'worker' | 'relay' | 'scheduler'
  name: string
  host: string
  pid: number
  version: string
  queues: Record<string, number>
  running: number
  loopLagMs: number
  current: { jobId: string; kind: string }[]
  startedAt: Date
  beatAt: Date
  isAlive: boolean
}

/** Processes that gave a sign of life within the hour, relays and schedulers first. */
export const listProcesses = (trx: PlatformTrx): Promise<ProcessRow[]> =>
  sql<ProcessRow>(
    trx,
    `select id, process, name, host, pid, version, queues, running, loop_lag_ms, current, started_at, beat_at, ${isAlive} as is_alive
     from worker_heartbeat order by process, host, pid, id limit 500`,
  )
