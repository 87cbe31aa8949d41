import { randomUUID } from 'node:crypto'
import { reportRunFailed, reportRunSucceeded } from '../../config/events/reports.ts'
import { conflict, notFound, tooMany } from '../../config/errors.ts'
import { reportOf } from '../../config/reports.ts'
import type { ReportFormat, ReportKey, ReportLocale } from '../../config/reports.ts'
import { reportLocaleOf } from '../../config/report-texts.ts'
import { runReport } from '../../jobs/reports.ts'
import { audit } from '../lib/audit.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { emit } from '../lib/events.ts'
import { equal, fromDay, pageOf, untilDay } from '../lib/lists.ts'
import { changeRow, expression, insertRow, readRow } from '../lib/records.ts'
import { unsealBytes, sealBytes } from '../lib/sealing/index.ts'
import type { Asked, Sight } from './reading.ts'
import { checkedParameters } from './check.ts'
import { ReportRun } from './models.ts'
import { countFailure } from './schedule-failures.ts'

/** Runs of a tenant at one time, and on one day. */
const most = { open: 5, aDay: 200 }

export const listRuns = pageOf(ReportRun, {
  order: ['createdAt desc', 'id'],
  filters: {
    report: equal('report'),
    scheduleId: equal('scheduleId'),
    status: equal('status'),
    requestedBy: equal('createdBy'),
    from: fromDay('createdAt'),
    to: untilDay('createdAt'),
  },
  scope: { createdBy: 'createdBy', propertyId: null },
})

export const readRun = (trx: Trx, id: string) => readRow(trx, ReportRun, id)

export type NewRun = {
  report: ReportKey
  parameters: Asked
  format: ReportFormat
  locale?: ReportLocale | undefined
  caller: { id: string; isKey: boolean }
  sight: Sight
  /** The schedule that makes it, and its time: no two runs have both. */
  schedule?: { id: string; slot: string }
}

/** One at a time counts the runs of a tenant. */
const refuseMany = async (trx: Trx): Promise<void> => {
  const { tenantId } = contextOf(trx)
  await sql(trx, `select pg_advisory_xact_lock(hashtextextended('report_run ' || ?, 0))`, [tenantId])
  const counted = await sqlOne<{ open: number; today: number }>(
    trx,
    `select (select count(*) from report_run where tenant_id = :tenantId and status in ('queued', 'running')) as open,
       (select count(*) from report_run where tenant_id = :tenantId and created_at > now() - interval '1 day') as today`,
    { tenantId },
  )
  if ((counted?.open ?? 0) >= most.open)
    throw tooMany('too_many_runs', `${most.open} runs are queued or running; wait until one has ended`, 30)
  if ((counted?.today ?? 0) >= most.aDay)
    throw tooMany('too_many_runs', `${most.aDay} runs were started within a day`, 3_600)
}

/** Queues a run. 429 `too_many_runs` where five are open; else what the endpoint of the report would refuse. */
export const startRun = async (
  trx: Trx,
  { report, parameters, format, locale, caller, sight, schedule }: NewRun,
): Promise<string> => {
  const checked = await checkedParameters(trx, report, parameters, sight)
  await refuseMany(trx)
  const tenant = await sqlOne<{ locale: string }>(trx, `select locale from tenant where id = ?`, [
    contextOf(trx).tenantId,
  ])
  const { formulaVersion } = reportOf(report)
  const { startDate, endDate, asOf, date } = checked as Partial<
    Record<'startDate' | 'endDate' | 'asOf' | 'date', string>
  >
  const run = await insertRow(trx, ReportRun, {
    id: randomUUID(),
    report,
    parameters: checked,
    format,
    locale: locale ?? reportLocaleOf(tenant?.locale ?? 'en'),
    createdBy: caller.id,
    byKey: caller.isKey,
    propertyIds: sight.propertyIds === null ? null : [...sight.propertyIds],
    formulaVersion,
    startsOn: startDate ?? null,
    endsOn: endDate ?? asOf ?? date ?? null,
    ...(schedule ? { scheduleId: schedule.id, slot: schedule.slot } : {}),
  })
  await enqueue(trx, runReport, { tenantId: contextOf(trx).tenantId ?? '', reportRunId: run.id })
  return run.id
}

const lockRun = (trx: Trx, id: string) =>
  sqlOne<{ status: string }>(trx, `select status from report_run where tenant_id = ? and id = ? for no key update`, [
    contextOf(trx).tenantId,
    id,
  ])

const dropParts = (trx: Trx, id: string) =>
  sql(trx, `delete from report_file where tenant_id = ? and report_run_id = ?`, [contextOf(trx).tenantId, id])

/** Begins a run, from its first row on whatever an earlier start has written. Null where it has ended. */
export const beginRun = async (trx: Trx, id: string) => {
  const locked = await lockRun(trx, id)
  if (locked?.status !== 'queued' && locked?.status !== 'running') return null
  await dropParts(trx, id)
  await changeRow(trx, ReportRun, id, { status: 'running', startedAt: expression('now()'), rows: 0, bytes: 0 })
  return readRun(trx, id)
}

/**
 * Bounds a run that begins to the properties that its maker had when it was asked for and still has: the file is kept from those who are shown fewer, and what was given
 * to the maker meanwhile is in the next one.
 */
export const narrowRun = async (trx: Trx, run: Awaited<ReturnType<typeof readRun>>, { propertyIds: now }: Sight) => {
  const asked = run.propertyIds
  const left = asked === null ? now : now === null ? asked : asked.filter((id) => now.includes(id))
  if (left === asked || (asked !== null && left?.length === asked.length)) return run
  await changeRow(trx, ReportRun, run.id, { propertyIds: left === null ? null : [...left] })
  return readRun(trx, run.id)
}

const place = (runId: string, part: number) => ({ table: 'report_file', rowId: runId, purpose: `part ${part}` })

/** Keeps a part of the file, at most 1 MiB, and how many rows are written. False where the run has ended meanwhile. */
export const keepPart = async (
  trx: Trx,
  id: string,
  { part, bytes, rows }: { part: number; bytes: Buffer | null; rows: number },
): Promise<boolean> => {
  const locked = await lockRun(trx, id)
  if (locked?.status !== 'running') return false
  if (bytes)
    await sql(trx, `insert into report_file (tenant_id, report_run_id, part, bytes, size) values (?, ?, ?, ?, ?)`, [
      contextOf(trx).tenantId,
      id,
      part,
      await sealBytes(trx, 'tenant', place(id, part), bytes),
      bytes.length,
    ])
  await sql(trx, `update report_run set rows = ? where tenant_id = ? and id = ?`, [rows, contextOf(trx).tenantId, id])
  return true
}

export type RunFacts = {
  rows: number
  bytes: number
  sha256: string
  ledgerSequence: number
  asOf: string
  provisional: boolean
  startDate: string | null
  endDate: string
}

const told = (
  run: { id: string; report: ReportKey; startsOn: string | null; endsOn: string | null; version: number },
  rowCount: number,
) => ({
  propertyId: null,
  id: run.id,
  version: run.version,
  data: { reportRunId: run.id, report: run.report, from: run.startsOn, to: run.endsOn, rowCount },
})

/** Ends a run: its parts become the file. Null where it had ended. */
export const completeRun = async (trx: Trx, id: string, facts: RunFacts) => {
  const locked = await lockRun(trx, id)
  if (locked?.status !== 'running') return null
  const { report, format } = await readRun(trx, id)
  await changeRow(trx, ReportRun, id, {
    status: 'succeeded',
    rows: facts.rows,
    bytes: facts.bytes,
    sha256: facts.sha256,
    fileName: `${report}-${facts.startDate === null ? '' : `${facts.startDate}-`}${facts.endDate}-${id}.${format}`,
    ledgerSequence: facts.ledgerSequence,
    asOf: facts.asOf,
    provisional: facts.provisional,
    finishedAt: expression('now()'),
    expiresAt: expression(`now() + interval '30 days'`),
  })
  const run = await readRun(trx, id)
  await emit(trx, reportRunSucceeded, told(run, facts.rows))
  return run
}

/** Ends a run without a file. One that has ended stays as it is. */
export const failRun = async (
  trx: Trx,
  id: string,
  { code, message }: { code: string; message: string },
): Promise<void> => {
  const locked = await lockRun(trx, id)
  if (locked?.status !== 'queued' && locked?.status !== 'running') return
  await dropParts(trx, id)
  await changeRow(trx, ReportRun, id, {
    status: 'failed',
    errorCode: code.slice(0, 60),
    errorMessage: message.slice(0, 500),
    finishedAt: expression('now()'),
  })
  const run = await readRun(trx, id)
  await emit(trx, reportRunFailed, told(run, 0))
  if (run.scheduleId !== null) await countFailure(trx, run.scheduleId, code)
}

export type RunFile = { fileName: string; format: ReportFormat; bytes: number; sha256: string; parts: number }

/**
 * The file of a run, which is written to the audit trail. 409 `run_not_finished`; 404 where it failed or has expired, and where the reader sees fewer
 * properties than the file was made with.
 */
export const openRunFile = async (trx: Trx, id: string, sight: Sight): Promise<RunFile> => {
  const run = await readRun(trx, id)
  if (run.status === 'queued' || run.status === 'running')
    throw conflict('run_not_finished', 'The run has not ended yet; read it with waitSeconds')
  const isOver = run.status !== 'succeeded' || run.expiresAt === null || run.expiresAt.getTime() <= Date.now()
  if (isOver || run.fileName === null || run.sha256 === null) throw notFound('The run has no file')
  const seen = sight.propertyIds
  if (seen !== null && (run.propertyIds === null || run.propertyIds.some((one) => !seen.includes(one))))
    throw notFound('The run has no file')
  const counted = await sqlOne<{ parts: number }>(
    trx,
    `select count(*) as parts from report_file where tenant_id = ? and report_run_id = ?`,
    [contextOf(trx).tenantId, id],
  )
  await audit(trx, {
    action: 'reportRuns.file',
    subjectType: 'ReportRun',
    subjectId: id,
    changes: [{ field: 'rows', after: run.rows }],
  })
  const { fileName, format, bytes, sha256 } = run
  return { fileName, format, bytes, sha256, parts: counted?.parts ?? 0 }
}

/** One part of a file, opened. */
export const readPart = async (trx: Trx, id: string, part: number): Promise<Buffer> => {
  const row = await sqlOne<{ bytes: Buffer }>(
    trx,
    `select bytes from report_file where tenant_id = ? and report_run_id = ? and part = ?`,
    [contextOf(trx).tenantId, id, part],
  )
  if (!row) throw notFound('The file is gone')
  return unsealBytes(trx, 'tenant', place(id, part), row.bytes)
}

/** Tenants with runs to expire, to delete or to end. */
export const tenantsWithRunsDue = async (trx: Parameters<typeof sql>[0]): Promise<string[]> =>
  (await sql<{ tenantId: string }>(trx, `select tenant_id from report_runs_due()`)).map(({ tenantId }) => tenantId)

/** Expires files, ends runs whose worker was lost, and deletes runs of more than a year ago. Answers how many it changed. */
export const expireRuns = async (trx: Trx): Promise<number> => {
  const { tenantId } = contextOf(trx)
  const expired = await sql<{ id: string }>(
    trx,
    `update report_run set status = 'expired', version = version + 1 where tenant_id = ? and id in (
       select id from report_run where tenant_id = ? and status = 'succeeded' and expires_at <= now() order by id limit 100 for no key update)
     returning id`,
    [tenantId, tenantId],
  )
  for (const { id } of expired) await dropParts(trx, id)
  const lost = await sql<{ id: string }>(
    trx,
    `select id from report_run where tenant_id = ? and (status = 'running' and started_at < now() - interval '30 minutes'
       or status = 'queued' and created_at < now() - interval '1 day') order by id limit 100`,
    [tenantId],
  )
  for (const { id } of lost)
    await failRun(trx, id, { code: 'interrupted', message: 'The run did not end in time; start it again' })
  const old = await sql(
    trx,
    `delete from report_run where tenant_id = ? and created_at < now() - interval '1 year' and status in ('failed', 'expired') returning id`,
    [tenantId],
  )
  return expired.length + lost.length + old.length
}
