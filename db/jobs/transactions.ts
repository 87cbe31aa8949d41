import { sql } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'

export type OpenTransaction = {
  pid: number
  /** The process that opened it, as it names itself to PostgreSQL. */
  application: string
  state: string
  /** The wait that it is in, such as `Lock transactionid`; null while it works. */
  waitsFor: string | null
  startedAt: Date
}

/** Open transactions of this database that this role may see, the oldest first; the reader's own is left out. */
export const listTransactions = (trx: PlatformTrx, limit: number): Promise<OpenTransaction[]> =>
  sql<OpenTransaction>(
    trx,
    `select pid, application_name as application, coalesce(state, 'unknown') as state,
       case when state = 'active' and wait_event_type is not null then wait_event_type || ' ' || wait_event end as waits_for, xact_start as started_at
     from pg_stat_activity where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()
     order by xact_start limit ?`,
    [limit],
  )
