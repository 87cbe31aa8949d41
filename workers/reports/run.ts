import { createHash } from 'node:crypto'
import { ApiError } from '../../config/errors.ts'
import { inRuns, reportOf } from '../../config/reports.ts'
import type { ReportFormat } from '../../config/reports.ts'
import { retryClasses } from '../../config/queues.ts'
import { inTenant } from '../../db/lib/connection.ts'
import {
  announceRun,
  beginRun,
  completeRun,
  failRun,
  keepPart,
  markRates,
  narrowRun,
  report as reportFor,
  rightsOf,
} from '../../db/reports/index.ts'
import type { FileRow, Meta, Reading } from '../../db/reports/index.ts'
import { runReport } from '../../jobs/reports.ts'
import { processor } from '../lib/processor.ts'
import type { JobContext } from '../lib/processor.ts'
import { headOf } from './source.ts'
import type { Source, Writer } from './source.ts'

type Payload = { tenantId: string; reportRunId: string }
type Run = NonNullable<Awaited<ReturnType<typeof beginRun>>>

/** Loaded when the first file of its form is written: few processes write any, and their libraries take tens of megabytes. */
const writers: Record<Exclude<ReportFormat, 'json'>, () => Promise<Writer>> = {
  csv: async () => (await import('./csv.ts')).csvFile,
  xlsx: async () => (await import('./xlsx.ts')).xlsxFile,
  pdf: async () => (await import('./pdf.ts')).pdfFile,
}
const partSize = 1024 * 1024
const progressMs = 2_000

/** Readings that this process has open: each holds a connection, and asks for another one to keep what it has written. */
const mostReadings = 4
let readings = 0
const waiting: (() => void)[] = []
const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
  if (readings >= mostReadings) await new Promise<void>((resolve) => waiting.push(resolve))
  else readings += 1
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else readings -= 1
  }
}

const tooMuch = (what: string) => new ApiError('report_too_large', `The file would have more than ${what}`)

/** JSON as the endpoint answers it, row by row. */
async function* jsonFile(reading: Reading, count: (rows: number) => void): AsyncGenerator<string> {
  yield `{"meta":${JSON.stringify(reading.meta)},"data":[`
  let isFirst = true
  for await (const row of reading.rows) {
    // Marks of the general ledger stand in the totals here.
    if ('mark' in row) continue
    count(1)
    yield `${isFirst ? '' : ','}\n${JSON.stringify(row)}`
    isFirst = false
  }
  yield `\n],"totals":${JSON.stringify(reading.totals())}}\n`
}

const fileOf = async (
  run: Run,
  reading: Reading,
  count: (rows: number) => void,
): Promise<AsyncIterable<Buffer | string>> => {
  const { meta } = reading
  if (run.format === 'json') return jsonFile(reading, count)
  const rows = async function* (): AsyncGenerator<FileRow> {
    for await (const row of reading.rows)
      for (const flat of reading.flat(row)) {
        count(1)
        yield flat
      }
    for (const flat of reading.tail?.() ?? []) {
      count(1)
      yield flat
    }
  }
  const source: Source = {
    title: reportOf(run.report).name[run.locale],
    house: [meta.bookName, [meta.startDate, meta.endDate].filter(Boolean).join(' – ')].join(' · '),
    head: headOf(run.report, meta, { locale: run.locale, parameters: run.parameters, madeAt: meta.asOf }),
    columns: reading.columns,
    charts: reading.charts ?? [],
    rows: rows(),
    foot: reading.foot,
    currency: meta.currency,
    locale: run.locale,
  }
  return (await writers[run.format]())(source)
}

type Kept = { rows: number; bytes: number; sha256: string; meta: Meta; usedRates: readonly string[] }
type Effect = JobContext<Payload>['effect']

/** Reads a report in one state of the ledger and keeps its file in parts. Null where the run was ended by another start. */
const write = async (
  run: Run,
  { payload, effect, signal }: Pick<JobContext<Payload>, 'payload' | 'effect' | 'signal'>,
): Promise<Kept | null> => {
  const { tenantId } = payload
  const sight = { propertyIds: run.propertyIds, locale: run.locale }
  return inTenant(
    tenantId,
    async (trx) => {
      const reading = await reportFor(run.report).open(trx, run.parameters, sight, null)
      return keep(run, reading, effect, signal)
    },
    {},
    { isolation: 'repeatable read', readOnly: true, local: { statement_timeout: `${inRuns.seconds}s` } },
  )
}

const keep = async (run: Run, reading: Reading, effect: Effect, signal: AbortSignal): Promise<Kept | null> => {
  const hash = createHash('sha256')
  const most = reportOf(run.report).mostRows ?? inRuns.rows
  let rows = 0
  let bytes = 0
  let part = 0
  let pieces: Buffer[] = []
  let size = 0
  let keptAt = Date.now()
  const flush = async (piece: Buffer | null): Promise<boolean> => {
    if (piece) part += 1
    keptAt = Date.now()
    return effect((trx) => keepPart(trx, run.id, { part, bytes: piece, rows }))
  }
  const count = (more: number) => {
    rows += more
    if (rows > most) throw tooMuch(`${most} rows`)
  }
  for await (const chunk of await fileOf(run, reading, count)) {
    signal.throwIfAborted()
    const piece = Buffer.from(chunk)
    hash.update(piece)
    bytes += piece.length
    if (bytes > inRuns.bytes) throw tooMuch(`${inRuns.bytes} bytes`)
    pieces.push(piece)
    size += piece.length
    while (size >= partSize) {
      const all = Buffer.concat(pieces)
      if (!(await flush(all.subarray(0, partSize)))) return null
      pieces = [all.subarray(partSize)]
      size = all.length - partSize
    }
    if (Date.now() - keptAt > progressMs && !(await flush(null))) return null
  }
  if (size > 0 && !(await flush(Buffer.concat(pieces)))) return null
  return { rows, bytes, sha256: hash.digest('hex'), meta: reading.meta, usedRates: reading.usedRates ?? [] }
}

const refusals = {
  forbidden: 'The role of the requester does not allow this report any more',
  feature_not_enabled: 'The feature of the report is not active any more',
} as const

/** Errors that another start would meet again. */
const isFinal = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status < 500 && error.status !== 409

/**
 * Makes the file of a run: claims it, reads in one snapshot, keeps parts, and ends with the run in one transaction. A start that follows a lost one begins
 * from the first row. What the endpoint would refuse ends the run as failed.
 */
export const runReportProcessor = processor(runReport, async ({ payload, effect, finish, signal, attempt }) => {
  const { reportRunId } = payload
  const begun = await effect(async (trx) => {
    const run = await beginRun(trx, reportRunId)
    if (!run) return null
    const { subject } = reportOf(run.report)
    const { sight, refusal } = await rightsOf(trx, { callerId: run.createdBy, byKey: run.byKey, subject })
    if (refusal === null) return narrowRun(trx, run, sight)
    await failRun(trx, reportRunId, { code: refusal, message: refusals[refusal] })
    return null
  })
  if (!begun) return finish()
  try {
    const kept = await inTurn(() => write(begun, { payload, effect, signal }))
    await finish(async (trx) => {
      if (!kept) return
      const { ledgerSequence, asOf, provisional, startDate, endDate } = kept.meta
      const run = await completeRun(trx, reportRunId, {
        ...kept,
        ledgerSequence,
        asOf,
        provisional,
        startDate,
        endDate,
      })
      if (run) await announceRun(trx, run)
      await markRates(trx, kept.usedRates)
    })
  } catch (error) {
    if (isFinal(error)) {
      const { code, message } = error
      return finish((trx) => failRun(trx, reportRunId, { code, message }))
    }
    if (!signal.aborted && attempt >= retryClasses.report.tries)
      await effect((trx) => failRun(trx, reportRunId, { code: 'internal', message: 'The file could not be made' }))
    throw error
  }
  return undefined
})
