import { randomUUID } from 'node:crypto'
import type { QueueName } from '../../config/queues.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'
import { dispatchLeaseMs } from './dispatch.ts'
import { takeBackWhere } from './take-back.ts'

/**
 * Redis was lost whole: what was dispatched becomes pending, in one statement, and a new epoch begins. `publish` writes it to Redis
 * before the commit; when that fails the transaction does, and the next cycle begins again. Running jobs stay with their workers, those
 * too that hold their row in one transaction. Answers how many rows went back, or null when another relay was first.
 */
export const beginEpoch = async (
  trx: PlatformTrx,
  seen: string,
  publish: (epoch: string) => Promise<void>,
): Promise<number | null> => {
  const row = await sqlOne(trx, `select epoch from dispatch_epoch where epoch = ? for update`, [seen])
  if (!row) return null
  const back = await sqlOne<{ count: number }>(
    trx,
    `with back as (${takeBackWhere(`status = 'dispatched'`)} returning 1) select count(*) as count from back`,
  )
  const epoch = randomUUID()
  await sql(trx, `update dispatch_epoch set epoch = ?, changed_at = now()`, [epoch])
  await publish(epoch)
  return back?.count ?? 0
}

export type Overdue = { id: string; queue: QueueName; dispatchNo: number; status: 'dispatched' | 'running' }

/** Rows past their lease: BullMQ is asked whether it still has them. */
export const overdue = (trx: PlatformTrx, limit: number): Promise<Overdue[]> =>
  sql<Overdue>(
    trx,
    `select id, queue, dispatch_no, status from jobs where status in ('dispatched', 'running') and leased_until < now()
     order by leased_until limit ?`,
    [limit],
  )

/** Renews leases of jobs that BullMQ still has. Locked rows are being worked on and are skipped. */
export const renewLeases = (trx: PlatformTrx, rows: readonly Overdue[]) =>
  sql(
    trx,
    `update jobs set leased_until = now() + make_interval(secs => :dispatchLeaseMs / 1000.0)
     where id in (select id from jobs where id = any(:ids) and status in ('dispatched', 'running') and leased_until < now()
       for update skip locked)`,
    { ids: rows.map((row) => row.id), dispatchLeaseMs },
  )

/** BullMQ does not have them any more: they go back, if they are as they were seen. Answers how many did. */
export const dispatchAgain = async (trx: PlatformTrx, rows: readonly Overdue[]): Promise<number> => {
  const back = await sql(
    trx,
    `${takeBackWhere(`status in ('dispatched', 'running') and leased_until < now()
       and (id, dispatch_no) in (select unnest(cast(:ids as uuid[])), unnest(cast(:numbers as int[])))`)} returning id`,
    { ids: rows.map((row) => row.id), numbers: rows.map((row) => row.dispatchNo) },
  )
  return back.length
}

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
