import { sql, sqlOne } from '../connection.ts'
import type { PlatformTrx } from '../connection.ts'

export type JobFilter = {
  queue?: string | undefined
  kind?: string | undefined
  status?: string | undefined
  tenantId?: string | undefined
  requestId?: string | undefined
  /** Any id that stands in the payload. */
  subjectId?: string | undefined
  errorCode?: string | undefined
  from?: string | undefined
  to?: string | undefined
}

export type ListedJob = {
  id: string
  tenantId: string | null
  queue: string
  kind: string
  status: string
  class: string
  payload: unknown
  attempts: number
  starts: number
  runAt: Date
  createdAt: Date
  finishedAt: Date | null
  requestId: string
  reason: string | null
  error: { code: string; message: string } | null
}

const live = ['pending', 'dispatched', 'running', 'dead']

// Both halves take the same bindings, so that one list shows what waits and what is over.
const both = `
  (select id, tenant_id, queue, kind, status, class, payload, attempts, starts, run_at, created_at, null::timestamptz as finished_at, request_id,
     last_error->>'reason' as reason, last_error as error
   from jobs where :live and (:kind::text is null or kind = :kind) and (:queue::text is null or queue = :queue) and (:status::text is null or status = :status)
     and (:tenantId::uuid is null or tenant_id = :tenantId) and (:requestId::text is null or request_id = :requestId)
     and (:errorCode::text is null or last_error->>'code' = :errorCode)
     and (:subjectId::text is null or exists (select 1 from jsonb_each_text(payload) where value = :subjectId))
     and (:from::timestamptz is null or created_at >= :from) and (:to::timestamptz is null or created_at < :to)
   union all
   select id, tenant_id, queue, kind, outcome, class, payload, attempts, starts, run_at, created_at, finished_at, request_id, reason, last_error
   from job_archive where :archived and (:kind::text is null or kind = :kind) and (:queue::text is null or queue = :queue) and (:status::text is null or outcome = :status)
     and (:tenantId::uuid is null or tenant_id = :tenantId) and (:requestId::text is null or request_id = :requestId)
     and (:errorCode::text is null or last_error->>'code' = :errorCode)
     and (:subjectId::text is null or exists (select 1 from jsonb_each_text(payload) where value = :subjectId))
     and (:from::timestamptz is null or created_at >= :from) and (:to::timestamptz is null or created_at < :to)) as listed`

const named = ['queue', 'kind', 'status', 'tenantId', 'requestId', 'subjectId', 'errorCode', 'from', 'to'] as const

/** Live and archived jobs, newest first, with how many there are. */
export const listJobs = async (
  trx: PlatformTrx,
  filter: JobFilter,
  page: number,
  limit: number,
): Promise<{ jobs: ListedJob[]; total: number }> => {
  const bindings = {
    ...Object.fromEntries(named.map((name) => [name, filter[name] ?? null])),
    live: filter.status === undefined || live.includes(filter.status),
    archived: filter.status === undefined || !live.includes(filter.status),
    limit,
    offset: (page - 1) * limit,
  }
  const count = await sqlOne<{ total: number }>(trx, `select count(*) as total from ${both}`, bindings)
  const jobs = await sql<ListedJob>(
    trx,
    `select * from ${both} order by created_at desc, id limit :limit offset :offset`,
    bindings,
  )
  return { jobs, total: count?.total ?? 0 }
}
