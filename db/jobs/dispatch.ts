import { queueNames, queues } from '../../config/queues.ts'
import type { JobClass, QueueName } from '../../config/queues.ts'
import { lastly, prepared } from '../lib/connection.ts'
import type { PlatformTrx, Statement } from '../lib/connection.ts'
import { isAlive } from './heartbeat.ts'

/** The part of a job that BullMQ holds. The row stays the truth: a start reads its payload there. */
export type Candidate = {
  id: string
  queue: QueueName
  kind: string
  tenantId: string | null
  payload: Record<string, unknown>
  /** The account that it will call; empty where it calls none. */
  gate: string
  dispatchNo: number
  requestId: string
  traceparent: string | null
  delayMs: number
}

/** Rows due later than this stay in PostgreSQL. */
export const nearMs = 60_000
/** The time that a dispatched row may go without a start before reconciliation asks BullMQ about it. */
export const dispatchLeaseMs = 30_000

/** Jobs without a tenant take their turn as one. The expression is that of the index jobs_turn. */
export const noTenant = '00000000-0000-0000-0000-000000000000'
export const tenantKey = `(case when tenant_id is null then '${noTenant}'::uuid else tenant_id end)`

// In an order, so that the first step in the index answers: EXISTS may as well read the table from its beginning.
const anyReady = (queue: string, condition = 'true') => `
  (select true from jobs where queue = ${queue} and ${condition} and status = 'pending' and ready order by queue, class, ${tenantKey} limit 1)`
const anyNear = (queue: string) => `
  (select run_at from jobs where queue = ${queue} and status = 'pending' and not ready
     and run_at <= now() + make_interval(secs => :nearMs / 1000.0) order by run_at limit 1)`

/**
 * Statements of the relay walk indexes whatever the table held when they were planned: a plan of a time when it was empty reads all of a
 * flood, again for each lane. Settings of a transaction that looks for work.
 */
export const walkIndexes = { enable_seqscan: 'off', enable_bitmapscan: 'off', enable_sort: 'off' }

/** The epoch that Redis should hold, and the queues that have something to hand over, now or within a minute, and are not paused. */
export type Work = { epoch: string; queues: QueueName[] }

export const lookForWork: Statement = {
  text: `
    select epoch, array(select name from unnest(cast(:names as text[])) as name
      where (${anyReady('name')} is not null or ${anyNear('name')} is not null)
        and not exists (select from queue_control c where c.scope = 'queue' and c.queue = name
          and c.paused and (c.until is null or c.until > now()))) as queues
    from dispatch_epoch`,
  bindings: { nearMs, names: queueNames },
}

/**
 * Of a transaction that fills a queue: one which stopped in its middle is ended by PostgreSQL, so that another relay can go on within
 * two seconds.
 */
export const filling = { idle_in_transaction_session_timeout: '1500', ...walkIndexes }

/** Jobs of a queue that may be in Redis at once: twice what its live workers run, at least 50, at most 500. */
export const windowOf = (concurrency: number): number => Math.min(500, Math.max(50, 2 * concurrency))

/** A queue as the relay finds it. */
export type Look = {
  /** Jobs that all live workers together may run at once. */
  concurrency: number
  window: number
  /** The number of jobs of one tenant that a window holds while others wait. */
  share: number
  /** Jobs in Redis that could run, by tenant and by class; and those that wait there for their moment. */
  held: number
  heldByTenant: Map<string, number>
  heldByClass: Map<JobClass, number>
  heldWaiting: number
  readyClasses: JobClass[]
  /** Something falls due within a minute. */
  hasNear: boolean
}

type LookRow = {
  concurrency: number
  heldWaiting: number
  held: { class: JobClass; tenant: string; count: number }[]
  readyClasses: JobClass[]
  hasNear: boolean
  isLate: boolean
}

/** One relay fills a queue at a time, until its transaction ends: false where another does. */
const lead = async (trx: PlatformTrx, queue: QueueName): Promise<boolean> => {
  const text = `select 1 as led where pg_try_advisory_xact_lock(hashtextextended('relay:' || ?, 0))`
  return (await prepared(trx, text, [queue])).length > 0
}

const find = (trx: PlatformTrx, queue: QueueName): Promise<LookRow[]> =>
  prepared<LookRow>(
    trx,
    `select
       (select coalesce(sum((queues->>:queue)::int), 0) from worker_heartbeat
        where process = 'worker' and ${isAlive}) as concurrency,
       (select count(*) from jobs where queue = :queue and status in ('dispatched', 'running') and run_at > now()) as held_waiting,
       (select coalesce(json_agg(json_build_object('class', class, 'tenant', tenant, 'count', count)), '[]') from (
          select class, ${tenantKey} as tenant, count(*) as count from jobs
          where queue = :queue and status in ('dispatched', 'running') and run_at <= now() group by 1, 2) as here) as held,
       array(select c.class from (values ('urgent'), ('normal'), ('bulk')) as c (class)
         where ${anyReady(':queue', 'class = c.class')} is not null) as ready_classes,
       ${anyNear(':queue')} is not null as has_near,
       coalesce(${anyNear(':queue')} <= now(), false) as is_late`,
    { queue, nearMs },
  )

const lookOf = async (trx: PlatformTrx, queue: QueueName, [row]: LookRow[]): Promise<Look> => {
  if (!row) throw new Error('a look answers one row')
  if (row.isLate) {
    // A job that found no room in Redis before its time had come takes its turn like everything that is due.
    const rows = await prepared(
      trx,
      `update jobs set ready = true where id in (
         select id from jobs where queue = ? and status = 'pending' and not ready and run_at <= now()
         order by run_at, seq limit 1000 for update skip locked) returning id`,
      [queue],
    )
    if (rows.length > 0) return lookAt(trx, queue)
  }
  const window = windowOf(row.concurrency)
  const [heldByTenant, heldByClass] = [new Map<string, number>(), new Map<JobClass, number>()]
  for (const { class: jobClass, tenant, count } of row.held) {
    heldByTenant.set(tenant, (heldByTenant.get(tenant) ?? 0) + count)
    heldByClass.set(jobClass, (heldByClass.get(jobClass) ?? 0) + count)
  }
  return {
    concurrency: row.concurrency,
    window,
    share: Math.max(1, Math.floor(window * queues[queue].tenantShare)),
    held: row.held.reduce((sum, each) => sum + each.count, 0),
    heldByTenant,
    heldByClass,
    heldWaiting: row.heldWaiting,
    readyClasses: row.readyClasses,
    hasNear: row.hasNear,
  }
}

/** Looks at the queue: its jobs in Redis, its workers, and what waits. */
export const lookAt = async (trx: PlatformTrx, queue: QueueName): Promise<Look> =>
  lookOf(trx, queue, await find(trx, queue))

/** Takes the lead of a queue and looks at what is due; null if another relay leads it. */
export const leadQueue = async (trx: PlatformTrx, queue: QueueName): Promise<Look | null> => {
  const [isLed, rows] = await Promise.all([lead(trx, queue), find(trx, queue)])
  return isLed ? lookOf(trx, queue, rows) : null
}

/** The number of jobs that the queue still takes: due ones, and those whose moment is near. */
export type Room = Look & {
  due: number
  waiting: number
  /** The part of the window that tenants may fill together when their shares do not: less than all of it where it drains slowly. */
  depth: number
}

export type Picked = {
  jobs: Candidate[]
  /** A tenant has more than its share let through. */
  isHeldBack: boolean
  /** There was room for more than one look fetched. */
  more: boolean
}

/** Chooses what a queue gets next, and locks it. */
export type Pick = (trx: PlatformTrx, queue: QueueName, room: Room) => Promise<Picked>

/** Marks rows as handed over, under the dispatch number that their BullMQ ids carry; goes with the commit. */
export const markDispatched = (trx: PlatformTrx, ids: string[]): void =>
  lastly(trx, {
    text: `update jobs set status = 'dispatched', dispatch_no = dispatch_no + 1, delivery = 0, worker = null,
       leased_until = greatest(run_at, now()) + make_interval(secs => :dispatchLeaseMs / 1000.0)
     where id = any(:ids)`,
    bindings: { ids, dispatchLeaseMs },
  })
