import { sql } from '../connection.ts'
import type { PlatformTrx } from '../connection.ts'
import { archiveWhere, moneyQueues } from './complete.ts'

/**
 * Brings dead jobs back, in one statement: their counters begin again, their effects do not, since processors check the record.
 * A job whose unique key another live one has meanwhile stays dead. Answers the ids that came back.
 */
export const replay = async (trx: PlatformTrx, jobIds: string[]): Promise<string[]> => {
  const rows = await sql<{ id: string }>(
    trx,
    `update jobs set status = 'pending', attempts = 0, starts = 0, run_at = now(), leased_until = null, worker = null
     where id = any(?) and status = 'dead' and (unique_key is null or not exists (
       select from jobs live where live.status <> 'dead' and live.kind = jobs.kind and live.unique_key = jobs.unique_key
         and live.tenant_id is not distinct from jobs.tenant_id))
       and (unique_key is null or seq = (
         select max(twin.seq) from jobs twin where twin.status = 'dead' and twin.id = any(?) and twin.kind = jobs.kind
           and twin.unique_key = jobs.unique_key and twin.tenant_id is not distinct from jobs.tenant_id))
     returning id`,
    [jobIds, jobIds],
  )
  return rows.map((row) => row.id)
}

/** Puts dead jobs away for good. Answers how many. */
export const discard = async (trx: PlatformTrx, jobIds: string[], reason: string): Promise<number> => {
  const rows = await sql(trx, archiveWhere(`status = 'dead' and id = any(:jobIds)`), {
    jobIds,
    moneyQueues,
    outcome: 'discarded',
    reason,
    worker: null,
    ranMs: 0,
  })
  return rows.length
}

/** Makes partitions ahead; drops the weeks of the archive whose time is over. */
export const rollPartitions = async (trx: PlatformTrx): Promise<void> => {
  await sql(trx, `select ensure_month_partitions(14), ensure_job_archive_partitions(5), drop_job_archive_partitions()`)
}
