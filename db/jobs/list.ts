import type { HistoryEntry } from './history.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'
import type { Page, Paging } from '../lib/paging.ts'
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
  /** Of several; any of the ids in the payload is enough. */
  subjectIds?: readonly string[] | undefined
  kindPrefix?: string | undefined
  /** A part of the error's code or message, in any case. */
  errorText?: string | undefined
  /** Ids from and to, for the short form that tables show. */
  idFrom?: string | undefined
  idTo?: string | undefined
  /** Kinds to be left out. */
  without?: readonly string[] | undefined
  from?: string | undefined
  to?: string | undefined
}

export type ListedJob = {
  id: string
  tenantId: string | null
  queue: string
  kind: string
  status: (typeof jobStatuses)[number]
  class: string
  payload: Record<string, unknown>
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

/** Without a narrower filter, so far back is the archive searched for what no index knows. */
const searchedDays = 7

/** So many waiting jobs, the newest, are searched for a subject alone: no index knows what stands in a payload. */
const searchedPending = 20_000

const live = ['pending', 'dispatched', 'running', 'dead'] as const
const over = ['done', 'skipped', 'cancelled', 'discarded', 'expired', 'failed', 'missed'] as const
export const jobStatuses = [...live, ...over] as const

const conditions = {
  kind: `kind = :kind`,
  tenantId: `tenant_id = :tenantId`,
  requestId: `request_id = :requestId`,
  errorCode: `last_error is not null and last_error->>'code' = :errorCode`,
  subjectId: `jsonb_path_exists(payload, '$.* \\? (@ == $id)', (select jsonb_build_object('id', cast(:subjectId as text))))`,
  subjectIds: `exists (select from jsonb_each_text(payload) as field where field.value = any(cast(:subjectIds as text[])))`,
  kindPrefix: `starts_with(kind, :kindPrefix)`,
  errorText: `last_error is not null and strpos(lower(concat(last_error->>'code', ' ', last_error->>'message')), lower(:errorText)) > 0`,
  idFrom: `id >= cast(:idFrom as uuid)`,
  idTo: `id <= cast(:idTo as uuid)`,
  without: `kind <> all(cast(:without as text[]))`,
  from: `created_at >= :from`,
  to: `created_at < :to`,
} as const

const columns = `id, tenant_id, queue, kind, class, payload, attempts, starts, run_at, created_at, request_id, last_error as error, history`

type Part = { select: string; from: string; where: string; order: string }

/**
 * The parts of the list, each newest first by an index of its own: every status of the live table, and of the archive each queue,
 * since that is how it is ordered there.
 */
const parts = (filter: JobFilter): Part[] => {
  const { status, queue } = filter
  const given = Object.entries(conditions).flatMap(([name, condition]) =>
    filter[name as keyof typeof conditions] === undefined ? [] : [condition],
  )
  const where = (...more: string[]) => [...more, ...given].join(' and ')
  const ofQueue = queue === undefined ? [] : [`queue = :queue`]
  const statuses = live.filter((each) => status === undefined || status === each)
  // Each of these filters finds few rows by an index of its own; kinds of live jobs have none.
  const isOfFew = filter.requestId !== undefined || filter.tenantId !== undefined
  const isNarrow = isOfFew || filter.kind !== undefined
  const isById = filter.idFrom !== undefined
  const hasSubject = filter.subjectId !== undefined || filter.subjectIds !== undefined
  const isSubject = hasSubject && filter.from === undefined
  const isSlow = filter.kindPrefix !== undefined || filter.errorText !== undefined || filter.without !== undefined
  const isSearch = (isSubject || (isSlow && filter.from === undefined)) && !isNarrow && !isById
  const ofKind = filter.kind === undefined ? '' : ` and ${conditions.kind}`
  const newest = `from (select * from jobs where status = 'pending'${ofKind} order by created_at desc, id limit ${searchedPending}) as jobs`
  const fromLive = statuses.map((each) => ({
    select: `select ${columns}, status, created_at as at, null::timestamptz as finished_at, last_error->>'reason' as reason`,
    from: isSubject && !isOfFew && each === 'pending' ? newest : 'from jobs',
    where: where(`status = '${each}'`, ...ofQueue),
    order: 'order by created_at desc, id',
  }))
  if (status !== undefined && statuses.length > 0) return fromLive
  const rest = [
    ...(status === undefined ? [] : [`outcome = :status`]),
    // Jobs that did not simply end well are few, and have an index.
    ...(status === undefined || status === 'done' ? [] : [`outcome <> 'done'`]),
    // Nothing ends before it was made: whole weeks of the archive need no look.
    ...(filter.from === undefined ? [] : [`finished_at >= :from`]),
    ...(isSearch ? [`finished_at > now() - interval '${searchedDays} days'`] : []),
  ]
  const queues = queueNames.filter((name) => queue === undefined || name === queue)
  const fromArchive = (isNarrow ? [ofQueue] : queues.map((name) => [`queue = '${name}'`])).map((named) => ({
    select: `select ${columns}, outcome as status, finished_at as at, finished_at, reason`,
    from: 'from job_archive',
    where: where('true', ...named, ...rest),
    order: 'order by finished_at desc, id',
  }))
  return [...fromLive, ...fromArchive]
}

const listed = (filter: JobFilter) =>
  parts(filter)
    .map((part) => `(${part.select} ${part.from} where ${part.where} ${part.order} limit :most)`)
    .join(' union all ')

const counted = (filter: JobFilter) =>
  parts(filter)
    .map((part) => `(select 1 ${part.from} where ${part.where} limit :most)`)
    .join(' union all ')

/**
 * Live and archived jobs, what happened last first: a live one counts from its making, one that is over from its end. `total` counts
 * up to `mostCounted`. A search for a subject alone goes back a week in the archive, and over the newest waiting jobs alone (of a kind
 * where one is named).
 */
export const listJobs = async (
  trx: PlatformTrx,
  { page, limit, ...filter }: JobFilter & Paging,
): Promise<Page<ListedJob>> => {
  const most = page * limit
  const before = most - limit
  const rows = await sql<ListedJob>(
    trx,
    `select * from (${listed(filter)}) as listed order by at desc, id limit :limit offset :before`,
    { ...filter, most, limit, before },
  )
  // A search that finds little has read all there is; to count it would be to read all of that again.
  const isLast = rows.length < limit && (rows.length > 0 || page === 1)
  if (isLast) return { total: Math.min(before + rows.length, mostCounted), rows }
  const count = await sqlOne<{ total: number }>(
    trx,
    `select count(*) as total from (select 1 from (${counted(filter)}) as each limit :most) as counted`,
    { ...filter, most: mostCounted },
  )
  return { total: count?.total ?? 0, rows }
}
