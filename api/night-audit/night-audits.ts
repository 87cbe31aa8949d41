import { sampleDay, sampleId } from '../../config/samples.ts'
import {
  AnyOf,
  Bool,
  Count,
  Day,
  Instant,
  Int,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  PageQuery,
  Text,
  Uuid,
  pageMeta,
} from '../../config/schema.ts'
import {
  auditSteps,
  listNightAudits,
  readNightAudit,
  readNightAuditSteps,
  previewNightAudit,
  requestNightAudit,
} from '../../db/night-audit/index.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { Reply, route } from '../lib/route.ts'
import { stamps } from '../properties/schemas.ts'

const Status = OneOf(['queued', 'running', 'succeeded', 'failed'])
const Step = OneOf([...auditSteps])
const shownExceptions = 1_000
const Found = List(Obj({ code: Text(1, 60), reservationId: Nullable(Uuid), message: Text(1, 500) }), {
  max: shownExceptions,
})

const fields = {
  id: Uuid,
  propertyId: Uuid,
  businessDate: Day,
  status: Status,
  /** The one that it is at, or ended with; null before the first. */
  step: Nullable(Step),
  /** Reservations of the step that it is through with, of as many. */
  done: Count,
  total: Count,
  exceptionCount: Count,
  /** Null where the clock started it. */
  startedBy: Nullable(Uuid),
  startedAt: Nullable(Instant),
  finishedAt: Nullable(Instant),
  error: Nullable(Text(1, 500)),
  ...stamps,
}
const NightAudit = Obj(fields, { title: 'NightAudit' })
const NightAuditSteps = Obj(
  {
    ...fields,
    exceptions: Found,
    /** Page of the exceptions. */
    meta: Obj({ page: Int(1, 100_000), limit: Int(1, shownExceptions), total: Count, totalPages: Count }),
    steps: List(Obj({ step: Step, done: Count, finishedAt: Nullable(Instant) }), { max: auditSteps.length }),
  },
  { title: 'NightAuditSteps' },
)
const Preview = Obj(
  {
    dryRun: Bool,
    businessDate: Day,
    exceptions: Found,
    exceptionCount: Count,
    noShows: Count,
    charges: Obj({ nights: Int(0, 100_000_000), extras: Int(0, 100_000_000) }),
  },
  { title: 'NightAuditPreview' },
)

const path = '/api/tenants/:tenantId/night-audits'

const list = paged({
  id: 'nightAudits.list',
  path,
  summary: 'List night audits',
  access: can('read', 'NightAudit'),
  query: { propertyId: Opt(Uuid), status: Opt(Status), from: Opt(Day), to: Opt(Day) },
  of: NightAudit,
  find: ({ trx, query, admission }) => listNightAudits(trx, { ...query, scope: admission.scope('read', 'NightAudit') }),
})

const run = route({
  id: 'nightAudits.run',
  method: 'POST',
  path,
  summary: 'Preview, run or resume the close of a business date',
  description:
    'Only the open business date can be closed, once it is over in the zone of the property; a worker does it. For a date that was asked for before, the audit that stands is answered with 200, and one that had failed goes on where it stopped. `dryRun` answers 200 with what would be found and charged, and stores nothing.',
  access: can('close', 'NightAudit'),
  status: 201,
  ok: 'What a dry run found, or the audit that stands for the date',
  errors: ['wrong_business_date', 'business_date_not_over', 'not_found'],
  body: Obj({ propertyId: Uuid, businessDate: Day, dryRun: Opt(Bool) }),
  example: { propertyId: sampleId('propertyId'), businessDate: sampleDay(0), dryRun: true },
  returns: AnyOf([NightAudit, Preview]),
  handle: async ({ trx, body: { dryRun, ...request } }) => {
    if (dryRun) return new Reply({ dryRun: true, ...(await previewNightAudit(trx, request)) }, { status: 200 })
    const { id, isNew } = await requestNightAudit(trx, request)
    return new Reply(await readNightAudit(trx, id), { status: isNew ? 201 : 200 })
  },
})

const read = route({
  id: 'nightAudits.read',
  method: 'GET',
  path: `${path}/:nightAuditId`,
  summary: 'Read a night audit with steps and exceptions',
  description:
    'All exceptions, page by page. Those of the day itself (what was waived, who left owing) come with its close, when nothing can be dated by it any more.',
  access: can('read', 'NightAudit'),
  query: Obj({ page: PageQuery.page, limit: Opt(Int(1, shownExceptions, { default: shownExceptions })) }),
  returns: NightAuditSteps,
  handle: async ({ trx, params, query: { page = 1, limit = shownExceptions }, admission }) => {
    const scope = admission.scope('read', 'NightAudit')
    const audit = await readNightAuditSteps(trx, params.nightAuditId, scope, { page, limit })
    return { ...audit, meta: pageMeta(page, limit, audit.exceptionCount) }
  },
})

export const routes = [list, run, read]
