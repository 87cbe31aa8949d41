import type { HistoryEntry } from './history.ts'
import { sql, sqlOne } from '../connection.ts'
import type { PlatformTrx } from '../connection.ts'
import { queueNames } from '../../config/queues.ts'

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
  error: { code: string; message: string; stack: string | null; stackHash: string | null; at: string } | null
  history: HistoryEntry[]
}

/** Jobs are counted up to here; more is told as this. */
export const mostCounted = 10_000

const live = ['pending', 'dispatched', 'running', 'dead'] as const
const conditions = {
  kind: `kind = :kind`,
  tenantId: `tenant_id = :tenantId`,
  requestId: `request_id = :requestId`,
  errorCode: `last_error->>'code' = :errorCode`,
  subjectId: `exists (select from jsonb_each_text(payload) where value = :subjectId)`,
  from: `created_at >= :from`,
  to: `created_at < :to`,
} as const

const columns = `id, tenant_id, queue, kind, class, payload, attempts, starts, run_at, created_at, request_id, last_error as error, history`

/**
 * The parts of the list, each newest first by an index of its own: pending, under way and dead ones of the live table, and of the
 * archive each queue, since that is how it is ordered there.
 */
const parts = (filter: JobFilter): string[] => {
  const given = Object.entries(conditions).flatMap(([name, condition]) =>
    filter[name as keyof typeof conditions] === undefined ? [] : [condition],
  )
  const where = (...more: string[]) => [...more, ...given].join(' and ')
  const ofQueue = filter.queue === undefined ? [] : [`queue = :queue`]
  const { status } = filter
  const statuses = live.filter((each) => status === undefined || status === each)
  const fromLive = statuses.map(
    (
      each,
    ) => `select ${columns}, status, created_at as at, null::timestamptz as finished_at, last_error->>'reason' as reason
      from jobs where ${where(`status = '${each}'`, ...ofQueue)} order by created_at desc, id limit :most`,
  )
  if (status !== undefined && statuses.length > 0) return fromLive
  const queues = filter.queue === undefined ? queueNames : queueNames.filter((name) => name === filter.queue)
  const rest = [
    ...(status === undefined ? [] : [`outcome = :status`]),
    // Nothing ends before it was made: whole weeks of the archive need no look.
    ...(filter.from === undefined ? [] : [`finished_at >= :from`]),
  ]
  // Whoever names one of these finds few rows, by an index of its own.
  const few = filter.requestId !== undefined || filter.kind !== undefined || filter.tenantId !== undefined
  const fromArchive = (few ? [null] : queues).map((queue) => {
    const named = queue === null ? ofQueue : [`queue = '${queue}'`]
    return `select ${columns}, outcome as status, finished_at as at, finished_at, reason
      from job_archive where ${where('true', ...named, ...rest)} order by finished_at desc, id limit :most`
  })
  return [...fromLive, ...fromArchive]
}

const united = (filter: JobFilter) =>
  parts(filter)
    .map((part) => `(${part})`)
    .join(' union all ')

/**
 * Live and archived jobs, what happened last first: a live one counts from its making, one that is over from its end. `total` counts
 * up to `mostCounted`.
 */
export const listJobs = async (
  trx: PlatformTrx,
  filter: JobFilter,
  page: number,
  limit: number,
): Promise<{ jobs: ListedJob[]; total: number }> => {
  const text = united(filter)
  const count = await sqlOne<{ total: number }>(
    trx,
    `select count(*) as total from (select 1 from (${text}) as every_part limit :most) as counted`,
    { ...filter, most: mostCounted },
  )
  const most = page * limit
  const jobs = await sql<ListedJob>(
    trx,
    `select * from (${text}) as listed order by at desc, id limit :limit offset :offset`,
    { ...filter, most, limit, offset: most - limit },
  )
  return { jobs, total: count?.total ?? 0 }
}
