import { Readable } from 'node:stream'
import { reportFormats, reportLocales, reportOf } from '../../config/reports.ts'
import { forbidden } from '../../config/errors.ts'
import {
  AnyOf,
  Anything,
  Bool,
  Count,
  Day,
  Instant,
  Int,
  List,
  MapOf,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Text,
  Uuid,
} from '../../config/schema.ts'
import { sampleId } from '../../config/samples.ts'
import { subjectFacts } from '../../config/subjects.ts'
import { listRuns, openRunFile, readPart, readRun, runStatuses, startRun } from '../../db/reports/index.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { can } from '../lib/access/kinds.ts'
import type { Admission, Caller } from '../lib/caller.ts'
import { Bytes } from '../lib/bytes.ts'
import { asJudged } from '../lib/record.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { waitable } from '../lib/waitable.ts'
import { ReportKeys } from './schemas.ts'

const Format = OneOf([...reportFormats])
const Locale = OneOf([...reportLocales])
const Status = OneOf([...runStatuses])

/** The values that parameters may have; each report says which ones it takes. */
export const Parameters = MapOf(AnyOf([Text(0, 100), Bool, Int(0, 1_000_000), List(Text(1, 100), { max: 100 })]), {
  max: 20,
  pattern: '^[A-Za-z]{1,30}$',
})

const ReportRun = Obj(
  {
    id: Uuid,
    report: ReportKeys,
    parameters: MapOf(Anything, { max: 20 }),
    format: Format,
    locale: Locale,
    status: Status,
    requestedBy: Uuid,
    ledgerSequence: Nullable(Count),
    asOf: Nullable(Instant),
    provisional: Nullable(Bool),
    formulaVersion: Int(1, 1000),
    rows: Count,
    bytes: Count,
    sha256: Nullable(Matching('^[0-9a-f]{64}$', 64)),
    fileName: Nullable(Text(1, 200)),
    /** The schedule that made it. */
    scheduleId: Nullable(Uuid),
    /** Members who were told of it, and recipients who may not read it. */
    sharedWith: List(Uuid, { max: 20 }),
    withheld: Count,
    error: Nullable(Obj({ code: Text(1, 60), message: Text(1, 500) })),
    startsOn: Nullable(Day),
    endsOn: Nullable(Day),
    startedAt: Nullable(Instant),
    finishedAt: Nullable(Instant),
    expiresAt: Nullable(Instant),
    version: Int(1, 2_147_483_647),
    createdAt: Instant,
    updatedAt: Instant,
  },
  { title: 'ReportRun' },
)

type Run = Awaited<ReturnType<typeof readRun>>
const show = ({ createdBy, errorCode, errorMessage, ...run }: Run) => ({
  ...run,
  requestedBy: createdBy,
  error: errorCode === null ? null : { code: errorCode, message: errorMessage ?? '' },
})

const runs = resource({
  name: 'reportRuns',
  subject: 'ReportRun',
  table: 'report_run',
  path: '/api/tenants/:tenantId/reports/runs',
  param: 'reportRunId',
  record: ReportRun,
  read: readRun,
  show,
})

const callerOf = (caller: Caller): { id: string; isKey: boolean } => {
  if (caller.kind === 'user') return { id: caller.userId, isKey: false }
  if (caller.kind === 'api_key') return { id: caller.apiKeyId, isKey: true }
  throw forbidden()
}

const list = runs.list({
  summary: 'List report runs by report, status and date',
  description:
    'The latest first; `from` and `to` are days in UTC. Members see runs of their own; owners, admins and auditors those of all.',
  query: {
    report: Opt(ReportKeys),
    status: Opt(Status),
    scheduleId: Opt(Uuid),
    requestedBy: Opt(Uuid),
    from: Opt(Day),
    to: Opt(Day),
  },
  example: { status: 'succeeded' },
  find: ({ trx, filter }) => listRuns(trx, filter),
})

/** Refuses reports that the caller could not read at once. */
export const refuseReport = (admission: Admission, subject: string) => {
  const { feature } = subjectFacts(subject)
  if (!admission.can('read', subject)) throw forbidden()
  if (feature !== null && !admission.features.includes(feature))
    throw forbidden('feature_not_enabled', 'The feature is not active for this tenant', [
      { field: 'feature', message: feature },
    ])
}

const create = runs.create({
  summary: 'Start a report run that makes a file',
  description:
    '`parameters` are those of the endpoint of the report, whole: days that are left out are filled in now. At most 10 years, 100,000 rows (a general ledger or journal 1,000,000) and 100 MiB. Five runs of a tenant may be open at once, 200 be started in a day.',
  body: Obj({ report: ReportKeys, parameters: Opt(Parameters), format: Format, locale: Opt(Locale) }),
  example: { report: 'trial_balance', parameters: { bookId: sampleId('bookId') }, format: 'csv' },
  errors: ['not_found', 'range_invalid', 'report_too_large', 'too_many_runs'],
  command: ({ trx, body, admission, caller }) => {
    refuseReport(admission, reportOf(body.report).subject)
    const maker = callerOf(caller)
    admission.check('create', 'ReportRun', { createdBy: maker.id, propertyId: null })
    const { propertyIds } = admission
    const { report, parameters = {}, format, locale } = body
    return startRun(trx, { report, parameters, format, locale, caller: maker, sight: { propertyIds } })
  },
})

/** Tells whether the run of a schedule was announced to the caller, who may still read the report. */
const isShared = ({ sharedWith, report }: Run, admission: Admission, caller: Caller): boolean => {
  admission.scope('read', 'ReportRun')
  return caller.kind === 'user' && sharedWith.includes(caller.userId) && admission.can('read', reportOf(report).subject)
}

const judged = async (
  trx: Trx,
  id: string,
  { admission, caller }: { admission: Admission; caller: Caller },
): Promise<Run> => {
  const run = await readRun(trx, id)
  if (!isShared(run, admission, caller))
    admission.check('read', 'ReportRun', asJudged('report_run', id, { ...run, propertyId: null }))
  return run
}

const read = waitable({
  id: 'reportRuns.read',
  path: runs.one,
  summary: 'Show a run with status, parameters and file facts',
  description: 'While it is running `rows` counts what is written. `waitSeconds` waits until it has ended.',
  access: can('read', 'ReportRun'),
  part: { resource: 'reportRuns', verb: 'read' },
  returns: ReportRun,
  isEnough: ({ status }: Run) => status !== 'queued' && status !== 'running',
  read: ({ trx, params, ...of }) => judged(trx, params.reportRunId, of),
  find: async ({ trx, params, ...of }) => show(await judged(trx, params.reportRunId, of)),
})

const mediaTypes = {
  csv: 'text/csv',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pdf: 'application/pdf',
  json: 'application/json',
} as const

const file = route({
  id: 'reportRuns.file',
  method: 'GET',
  path: `${runs.one}/file`,
  summary: 'Download the file of a finished run',
  description: 'Kept for 30 days. Each download is in the audit trail.',
  access: can('export', 'ReportRun'),
  transaction: 'none',
  returns: Bytes([mediaTypes.csv, mediaTypes.xlsx, mediaTypes.pdf, mediaTypes.json]),
  errors: ['run_not_finished'],
  handle: async ({ open, params: { reportRunId }, admission, caller }) => {
    const { fileName, format, bytes, sha256, parts } = await open(async (trx) => {
      const run = await judged(trx, reportRunId, { admission, caller })
      admission.scope('export', 'ReportRun')
      if (!isShared(run, admission, caller))
        admission.check('export', 'ReportRun', asJudged('report_run', reportRunId, { ...run, propertyId: null }))
      refuseReport(admission, reportOf(run.report).subject)
      return openRunFile(trx, reportRunId, { propertyIds: admission.propertyIds })
    })
    const content = async function* () {
      for (let part = 1; part <= parts; part += 1) yield await open((trx) => readPart(trx, reportRunId, part))
    }
    return {
      mediaType: mediaTypes[format],
      bytes: Readable.from(content(), { objectMode: false }),
      length: bytes,
      tag: sha256,
      fileName,
    }
  },
})

export const routes = [list, create, read, file]
