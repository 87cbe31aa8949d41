import { conflict, forbidden, notFound, unprocessable } from '../../config/errors.ts'
import type { QueueName } from '../../config/queues.ts'
import { jobs as declared } from '../../jobs/all.ts'
import { audit } from '../lib/audit.ts'
import { contextOf, nativeError, sql, sqlOne, wakeAfterCommit } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'
import { archiveWhere, moneyQueues } from './complete.ts'
import { noTenant } from './dispatch.ts'
import { historyAnd } from './history.ts'
import type { HistoryEntry } from './history.ts'

export type DeadFilter = {
  queue: QueueName
  kind?: string | undefined
  errorCode?: string | undefined
  /** Instant of creation: from (inclusive) to (exclusive). */
  from?: string | undefined
  to?: string | undefined
}
export type Selection = { jobIds: string[] } | { filter: DeadFilter; limit: number }

export type Replay = {
  selection: Selection
  reason: string
  /** So many come due in a minute; all at once when left out. */
  perMinute?: number | undefined
  dryRun?: boolean | undefined
}
export type Replayed = {
  /** Jobs that come back. */
  count: number
  /** Dead jobs that stay, because a live job has their unique key, or a newer dead one that comes back. */
  kept: number
}

/** Done jobs of these kinds may run again: what they do is read anew from the other side. */
const replayableKinds = declared.filter((job) => job.replayable).map((job) => job.name)

const isN1 = async (trx: PlatformTrx): Promise<boolean> =>
  (await sqlOne(trx, `select 1 from superuser_account where user_id = ? and ended_at is null and level = 'N1'`, [
    contextOf(trx).actor.id,
  ])) !== null

const requireN1 = async (trx: PlatformTrx) => {
  if (!(await isN1(trx))) throw forbidden('level_required', 'Insufficient permissions: this needs level N1')
}

type Named = { id: string; place: number; state: string | null; kind: string | null; queue: QueueName | null }

/** Outcome of each named job: its live status, or how it ended. 404 that names unknown ones. */
const named = async (trx: PlatformTrx, jobIds: string[]): Promise<Named[]> => {
  const rows = await sql<Named>(
    trx,
    `select given.id, given.place - 1 as place, coalesce(j.status, a.outcome) as state, coalesce(j.kind, a.kind) as kind,
       coalesce(j.queue, a.queue) as queue
     from unnest(cast(:jobIds as uuid[])) with ordinality as given (id, place) left join jobs j on j.id = given.id
     left join lateral (select outcome, kind, queue from job_archive where id = given.id and j.id is null limit 1) a on true`,
    { jobIds },
  )
  const unknown = rows.filter((row) => row.state === null)
  if (unknown.length > 0)
    throw notFound(
      `There is no job ${unknown[0]?.id ?? ''}${unknown.length > 1 ? `, nor ${unknown.length - 1} more` : ''}`,
    )
  return rows
}

const fieldsOf = (rows: Named[], message: (row: Named) => string) =>
  rows.slice(0, 50).map((row) => ({ field: `jobIds[${row.place}]`, message: message(row) }))

const chosen = (selection: Selection) =>
  'jobIds' in selection
    ? { where: `id = any(:jobIds)`, bindings: { jobIds: selection.jobIds, most: selection.jobIds.length } }
    : {
        where: `queue = :queue${selection.filter.kind === undefined ? '' : ` and kind = :kind`}${
          selection.filter.errorCode === undefined ? '' : ` and last_error->>'code' = :errorCode`
        }${selection.filter.from === undefined ? '' : ` and created_at >= :from`}${
          selection.filter.to === undefined ? '' : ` and created_at < :to`
        }`,
        bindings: { ...selection.filter, most: selection.limit },
      }

// As the index on unique keys writes it.
const nobody = `'${noTenant}'::uuid`

// Of several dead jobs of one unique key the newest comes back, where no live one has the key.
const returning = (where: string, lock: string) => `
  locked as (
    select id, seq, kind, tenant_id, unique_key from jobs where status = 'dead' and ${where} order by seq limit :most ${lock}),
  single as (
    select distinct on (kind, tenant_id, coalesce(unique_key, id::text)) id, seq from locked
    where unique_key is null or not exists (select from jobs live where live.status <> 'dead' and live.kind = locked.kind
      and live.unique_key = locked.unique_key and coalesce(live.tenant_id, ${nobody}) = coalesce(locked.tenant_id, ${nobody}))
    order by kind, tenant_id, coalesce(unique_key, id::text), seq desc),
  placed as (select id, row_number() over (order by seq) - 1 as place from single)`

const entryOf = (trx: PlatformTrx, reason: string): HistoryEntry => {
  const { actor, requestId } = contextOf(trx)
  return { at: new Date().toISOString(), what: 'replayed', by: actor, reason, requestId, of: null }
}

const untwinned = (error: unknown): never => {
  const native = nativeError(error)
  if (native instanceof Error && 'constraint' in native && native.constraint === 'jobs_unique_key')
    throw conflict('duplicate_key', 'Another job with the key of one of these has just begun; repeat the request')
  throw error
}

/**
 * Brings dead jobs back in one statement, the oldest first, released one by one at `perMinute`: their tries begin again, their
 * payload, error and history stay. Their effects do not repeat, since processors check the record.
 */
const replayDead = async (trx: PlatformTrx, { selection, reason, perMinute }: Replay): Promise<Replayed> => {
  const { where, bindings } = chosen(selection)
  const row = await sqlOne<Replayed>(
    trx,
    `with ${returning(where, 'for update')},
       back as (
         update jobs set status = 'pending', attempts = 0, starts = 0, leased_until = null, worker = null,
           run_at = now() + make_interval(secs => placed.place * cast(:apartSeconds as float8)),
           history = ${historyAnd('cast(:entry as jsonb)')}
         from placed where jobs.id = placed.id returning 1)
     select (select count(*) from back) as count, (select count(*) from locked) - (select count(*) from placed) as kept`,
    {
      ...bindings,
      apartSeconds: perMinute === undefined ? 0 : 60 / perMinute,
      entry: JSON.stringify(entryOf(trx, reason)),
    },
  ).catch(untwinned)
  return row ?? { count: 0, kept: 0 }
}

/** Previews a replay of dead jobs. Changes nothing, and leaves no trace. */
export const previewReplay = async (trx: PlatformTrx, selection: Selection): Promise<Replayed> => {
  const { where, bindings } = chosen(selection)
  const row = await sqlOne<Replayed>(
    trx,
    `with ${returning(where, '')}
     select (select count(*) from placed) as count, (select count(*) from locked) - (select count(*) from placed) as kept`,
    bindings,
  )
  return row ?? { count: 0, kept: 0 }
}

/** Done jobs come back as new ones, after the dead ones. Their old record stays as it is. */
const replayDone = async (
  trx: PlatformTrx,
  jobIds: string[],
  { reason, perMinute, after }: Pick<Replay, 'reason' | 'perMinute'> & { after: number },
): Promise<number> => {
  const rows = await sql(
    trx,
    `insert into jobs (id, tenant_id, queue, kind, version, payload, class, run_at, unique_key, request_id, traceparent, actor, history)
     select gen_random_uuid(), tenant_id, queue, kind, version, payload, class,
       now() + make_interval(secs => (:after + row_number() over (order by finished_at, id) - 1) * cast(:apartSeconds as float8)),
       unique_key, request_id, traceparent, cast(:actor as jsonb),
       ${historyAnd(`(cast(:entry as jsonb) || jsonb_build_object('of', id))`)}
     from job_archive where id = any(:jobIds) and outcome = 'done' and kind = any(:replayableKinds)
     on conflict do nothing returning id`,
    {
      jobIds,
      replayableKinds,
      after,
      apartSeconds: perMinute === undefined ? 0 : 60 / perMinute,
      actor: JSON.stringify(contextOf(trx).actor),
      entry: JSON.stringify(entryOf(trx, reason)),
    },
  )
  return rows.length
}

/** The done ones among the named, once it is sure that all that are over may run again and that the caller may ask for it. */
const doneOnes = async (trx: PlatformTrx, jobIds: string[]): Promise<string[]> => {
  const rows = await named(trx, jobIds)
  const over = rows.filter(({ state }) => !['dead', 'pending', 'dispatched', 'running'].includes(state ?? ''))
  const refused = over.filter((row) => row.state !== 'done' || !replayableKinds.includes(row.kind ?? ''))
  if (refused.length > 0)
    throw unprocessable(
      'not_replayable',
      'Only dead jobs come back, and done ones of kinds that say so',
      fieldsOf(refused, (row) => `is ${row.state ?? ''}: a job of ${row.kind ?? ''} that is over does not run again`),
    )
  if (over.length > 0) await requireN1(trx)
  return over.map((row) => row.id)
}

/**
 * Replays dead jobs, named or filtered, and done ones that are named, by N1, where their kind says `replayable` (422
 * `not_replayable`). What is live already is left alone. With `dryRun` nothing changes. Audited either way.
 */
export const replayJobs = async (trx: PlatformTrx, replay: Replay): Promise<Replayed> => {
  const { selection, reason, perMinute, dryRun = false } = replay
  const done = 'jobIds' in selection ? await doneOnes(trx, selection.jobIds) : []
  const dead = await (dryRun ? previewReplay(trx, selection) : replayDead(trx, replay))
  const again =
    dryRun || done.length === 0 ? done.length : await replayDone(trx, done, { ...replay, after: dead.count })
  const count = dead.count + again
  await audit(trx, {
    action: 'job.replay',
    subjectType: 'Job',
    subjectId: 'jobIds' in selection && selection.jobIds.length === 1 ? (selection.jobIds[0] ?? null) : null,
    reason,
    changes: [
      { field: 'dryRun', after: dryRun },
      { field: 'count', after: count },
      'jobIds' in selection
        ? { field: 'jobIds', after: selection.jobIds }
        : { field: 'filter', after: { ...selection.filter, limit: selection.limit } },
      ...(perMinute === undefined ? [] : [{ field: 'perMinute', after: perMinute }]),
    ],
  })
  if (!dryRun && count > 0) wakeAfterCommit(trx)
  return { count, kept: dead.kept + (dryRun ? 0 : done.length - again) }
}

/**
 * Puts dead jobs away for good, as discarded. Those of money queues need N1 (403 `level_required`); a job that is not dead is 409
 * `invalid_transition`, one that was discarded before is passed over. Answers how many.
 */
export const discardJobs = async (trx: PlatformTrx, jobIds: string[], reason: string): Promise<number> => {
  const rows = await named(trx, jobIds)
  const other = rows.filter((row) => row.state !== 'dead' && row.state !== 'discarded')
  if (rows.some((row) => row.queue !== null && moneyQueues.includes(row.queue))) await requireN1(trx)
  if (other.length > 0)
    throw conflict(
      'invalid_transition',
      'Only dead jobs can be discarded',
      fieldsOf(other, (row) => `is ${row.state ?? ''}`),
    )
  const gone = await sql(trx, archiveWhere(`status = 'dead' and id = any(:jobIds)`), {
    jobIds,
    outcome: 'discarded',
    reason,
    worker: null,
    ranMs: 0,
  })
  await audit(trx, {
    action: 'job.discard',
    subjectType: 'Job',
    subjectId: jobIds.length === 1 ? (jobIds[0] ?? null) : null,
    reason,
    changes: [
      { field: 'count', after: gone.length },
      { field: 'jobIds', after: jobIds },
    ],
  })
  return gone.length
}

/** Creates partitions ahead, drops expired weeks of the archive and months of the feed, and removes gates of accounts without calls. */
export const rollPartitions = async (trx: PlatformTrx): Promise<void> => {
  await sql(trx, `delete from provider_gate where rate_per_second is null and updated_at < now() - interval '30 days'`)
  await sql(
    trx,
    `select ensure_month_partitions(14), ensure_job_archive_partitions(5), drop_job_archive_partitions(), drop_event_partitions()`,
  )
}
