import { notFound } from '../../config/errors.ts'
import { inTenant, sql, sqlOne } from '../lib/connection.ts'
import type { Actor, PlatformTrx } from '../lib/connection.ts'
import type { HistoryEntry } from './history.ts'

export type JobRecord = {
  id: string
  tenantId: string | null
  tenantName: string | null
  queue: string
  kind: string
  version: number
  payload: unknown
  status: string
  class: string
  runAt: Date
  uniqueKey: string | null
  attempts: number
  starts: number
  /** The number of times that it was handed to BullMQ. */
  dispatchNo: number
  delivery: number
  leasedUntil: Date | null
  worker: string | null
  lastError: { code: string; message: string; stack: string | null; stackHash: string | null; at: string } | null
  history: HistoryEntry[]
  requestId: string
  traceparent: string | null
  actor: Actor
  createdAt: Date
  startedAt: Date | null
  finishedAt: Date | null
  reason: string | null
}

export type CallRecord = {
  id: string
  provider: string
  operation: string
  state: string
  tries: number
  code: string | null
  httpStatus: number | null
  answerReference: string | null
  firstStartedAt: Date
  startedAt: Date
  finishedAt: Date | null
}
export type AuditRecord = {
  at: Date
  action: string
  subjectType: string
  subjectId: string | null
  reason: string | null
}
export type EventRecord = { at: Date; type: string; entity: { type: string; id: string } }
export type RelatedJob = { id: string; kind: string; status: string; createdAt: Date; finishedAt: Date | null }

export type Timeline = {
  job: JobRecord
  calls: CallRecord[]
  audits: AuditRecord[]
  /** Other jobs of the request. */
  related: RelatedJob[]
}

const most = 200

const columns = `id, tenant_id, queue, kind, version, payload, class, run_at, unique_key, attempts, starts, dispatch_no, worker, last_error, history,
  request_id, traceparent, actor, created_at`

/** Reads a job, live or over, with its entries in the journals. 404. */
export const readTimeline = async (trx: PlatformTrx, jobId: string): Promise<Timeline> => {
  const job = await sqlOne<JobRecord>(
    trx,
    `select found.*, tenant.name as tenant_name from (
       select ${columns}, status, delivery, leased_until, null::timestamptz as started_at, null::timestamptz as finished_at, null::text as reason
       from jobs where id = :jobId
       union all
       select ${columns}, outcome, 0, null, started_at, finished_at, reason from job_archive where id = :jobId) as found
     left join tenant on tenant.id = found.tenant_id limit 1`,
    { jobId },
  )
  if (!job) throw notFound('There is no such job')
  const bindings = { jobId, requestId: job.requestId, most }
  const calls = await sql<CallRecord>(
    trx,
    `select id, provider, operation, state, tries, code, http_status, answer_reference, first_started_at, started_at, finished_at
     from external_call where job_id = :jobId order by first_started_at, id limit :most`,
    bindings,
  )
  const audits = await sql<AuditRecord>(
    trx,
    `select at, action, subject_type, subject_id, reason from audit_entry where request_id = :requestId
     union
     select at, action, subject_type, subject_id, reason from audit_entry where chain = 'platform' and subject_type = 'Job' and subject_id = :jobId::text
     order by at limit :most`,
    bindings,
  )
  const related = await sql<RelatedJob>(
    trx,
    `select id, kind, status, created_at, null::timestamptz as finished_at from jobs
     where request_id = :requestId and status in ('pending', 'dead') and id <> :jobId
     union all
     select id, kind, status, created_at, null from jobs where request_id = :requestId and status in ('dispatched', 'running') and id <> :jobId
     union all
     select id, kind, outcome, created_at, finished_at from job_archive where request_id = :requestId and id <> :jobId
     order by created_at limit :most`,
    bindings,
  )
  return { job, calls, audits, related }
}

/** Events of a request in the tenant's feed. */
export const eventsOfRequest = (tenantId: string, requestId: string): Promise<EventRecord[]> =>
  inTenant(
    tenantId,
    (trx) =>
      sql<EventRecord>(
        trx,
        `select occurred_at as at, type, entity from event where tenant_id = ? and request_id = ? order by occurred_at, id limit ?`,
        [tenantId, requestId, most],
      ),
    {},
    { readOnly: true },
  )
