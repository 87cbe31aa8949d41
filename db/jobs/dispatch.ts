import type { QueueName } from '../../config/queues.ts'
import { sql, sqlOne } from '../connection.ts'
import type { PlatformTrx } from '../connection.ts'

/** What BullMQ is told of a job. The row stays the truth: a start reads its payload there. */
export type Candidate = {
  id: string
  queue: QueueName
  kind: string
  tenantId: string | null
  payload: Record<string, unknown>
  dispatchNo: number
  requestId: string
  traceparent: string | null
  delayMs: number
}

/** Rows due later than this stay in PostgreSQL. */
const nearMs = 60_000
/** How long a dispatched row may go without a start before reconciliation asks BullMQ about it. */
export const dispatchLeaseMs = 30_000

const unpaused = `not exists (
  select from queue_control c where c.paused and (c.until is null or c.until > now()) and (
    (c.scope = 'queue' and c.queue = jobs.queue) or (c.scope = 'kind' and c.kind = jobs.kind)
    or (c.scope = 'tenant' and c.tenant_id = jobs.tenant_id and (c.queue is null or c.queue = jobs.queue))))`

/** Queues that have something to hand over, now or within a minute. */
export const queuesWithWork = async (trx: PlatformTrx): Promise<QueueName[]> => {
  const rows = await sql<{ queue: QueueName }>(
    trx,
    `with recursive found as (
       (select queue from jobs where status = 'pending' order by queue limit 1)
       union all
       select (select j.queue from jobs j where j.status = 'pending' and j.queue > found.queue order by j.queue limit 1)
       from found where found.queue is not null)
     select queue from found where queue is not null and exists (
       select from (values ('urgent'), ('normal'), ('bulk')) as c (class), lateral (
         select from jobs j where j.status = 'pending' and j.queue = found.queue and j.class = c.class
           and j.run_at <= now() + make_interval(secs => :nearMs / 1000.0) limit 1) as due)`,
    { nearMs },
  )
  return rows.map((row) => row.queue)
}

/** One relay fills a queue at a time; held until the transaction ends. */
export const leadQueue = async (trx: PlatformTrx, queue: QueueName): Promise<boolean> => {
  const row = await sqlOne<{ led: boolean }>(
    trx,
    `select pg_try_advisory_xact_lock(hashtextextended('relay:' || ?, 0)) as led`,
    [queue],
  )
  return row?.led ?? false
}

export type Room = { due: number; waiting: number }

/** How many jobs of the queue Redis holds now: those that could run, and those that wait for their moment. */
export const held = async (trx: PlatformTrx, queue: QueueName): Promise<Room> => {
  const row = await sqlOne<Room>(
    trx,
    `select count(*) filter (where run_at <= now()) as due, count(*) filter (where run_at > now()) as waiting
     from jobs where queue = ? and status in ('dispatched', 'running')`,
    [queue],
  )
  return row ?? { due: 0, waiting: 0 }
}

/** Chooses what a queue gets next, and locks it. The place where fairness between tenants belongs. */
export type Pick = (trx: PlatformTrx, queue: QueueName, room: Room) => Promise<Candidate[]>

/** Urgent before normal before bulk, each by its time; then what falls due within a minute. */
export const pickByClass: Pick = async (trx, queue, room) => {
  const rows = await sql<Candidate & { near: boolean }>(
    trx,
    `select picked.*, part.near
     from (values ('urgent', false, 1), ('normal', false, 2), ('bulk', false, 3), ('urgent', true, 4), ('normal', true, 5), ('bulk', true, 6))
       as part (class, near, rank)
     cross join lateral (
       select id, queue, kind, tenant_id, payload, dispatch_no + 1 as dispatch_no, request_id, traceparent, run_at, seq,
         greatest(0, ceil(extract(epoch from run_at - clock_timestamp()) * 1000))::int as delay_ms
       from jobs
       where queue = :queue and class = part.class and status = 'pending'
         and run_at > case when part.near then now() else '-infinity' end
         and run_at <= case when part.near then now() + make_interval(secs => :nearMs / 1000.0) else now() end
         and ${unpaused}
       order by run_at, seq limit :most for update skip locked) as picked
     order by part.rank, picked.run_at, picked.seq`,
    { queue, nearMs, most: Math.max(0, room.due, room.waiting) },
  )
  const take = (near: boolean, count: number) => rows.filter((row) => row.near === near).slice(0, Math.max(0, count))
  return [...take(false, room.due), ...take(true, room.waiting)]
}

/** Marks rows as handed over, under the dispatch number that their BullMQ ids carry. */
export const markDispatched = (trx: PlatformTrx, ids: string[]) =>
  sql(
    trx,
    `update jobs set status = 'dispatched', dispatch_no = dispatch_no + 1, delivery = 0, worker = null,
       leased_until = greatest(run_at, now()) + make_interval(secs => :dispatchLeaseMs / 1000.0)
     where id = any(:ids)`,
    { ids, dispatchLeaseMs },
  )
