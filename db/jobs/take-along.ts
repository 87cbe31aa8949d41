import type { Job } from '../../jobs/job.ts'
import { contextOf, later } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { archiveWhere } from './complete.ts'

const most = 500

// The tenant as the unique index of keys has it; a row that a relay is handing over is locked, and runs by itself.
const waiting = `id in (
  select id from jobs
  where coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid) = :tenantId and kind = :kind and unique_key is not null
    and status <> 'dead' and status = 'pending' and run_at <= now() and starts_with(unique_key, :prefix)
  limit ${most} for update skip locked)`

/**
 * Ends due jobs of one kind and of the transaction's tenant whose unique key begins with `prefix` and that were not handed over: the caller's
 * transaction does what they were asked to do. Call it before the work is read, so that a job that is ended here had committed what it was asked for.
 * They are filed as skipped with the reason `taken_along`. At most 500; the others run by themselves.
 */
export const takeAlong = (trx: Trx, kind: Job, prefix: string): void =>
  later(trx, archiveWhere(waiting), {
    tenantId: contextOf(trx).tenantId,
    kind: kind.name,
    prefix,
    outcome: 'skipped',
    reason: 'taken_along',
    worker: null,
    ranMs: 0,
  })
