import { dunningRunStatuses, noticeStatuses, reminderChannels, skipReasons } from '../../config/dunning.ts'
import { sampleId } from '../../config/samples.ts'
import {
  Amount,
  Bool,
  Count,
  Day,
  Instant,
  Int,
  List,
  MapOf,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Text,
  Uuid,
} from '../../config/schema.ts'
import { listNotices, listRuns, previewDunning, readRun, startDunning } from '../../db/accounts-receivable/index.ts'
import { bookOf } from '../../db/documents/index.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { Reply, route } from '../lib/route.ts'

const path = '/api/tenants/:tenantId/accounts-receivable'

const DunningRun = Obj(
  {
    id: Uuid,
    bookId: Uuid,
    runOn: Day,
    status: OneOf([...dunningRunStatuses]),
    /** Notices that were asked for as `notices`, and those that were skipped, by the reason. */
    counts: MapOf(Count, { max: 20, pattern: '^[a-z_]{1,40}$' }),
    startedBy: Nullable(Uuid),
    finishedAt: Nullable(Instant),
    version: Int(1, 2_147_483_647),
    createdAt: Instant,
    updatedAt: Instant,
  },
  { title: 'DunningRun' },
)
const about = {
  customerId: Uuid,
  receivableId: Uuid,
  installmentId: Uuid,
  number: Nullable(Text(1, 40)),
  level: Int(1, 8),
  channels: List(OneOf([...reminderChannels]), { max: 2 }),
  stopCredit: Bool,
  amount: Amount,
  dueOn: Day,
}
const PlannedNotice = Obj(
  { ...about, skipReason: Nullable(OneOf([...skipReasons])) },
  { title: 'PlannedDunningNotice' },
)
const DunningNotice = Obj(
  {
    id: Uuid,
    dunningRunId: Uuid,
    runOn: Day,
    ...about,
    status: OneOf([...noticeStatuses]),
    skipReason: Nullable(Text(1, 60)),
    messageIds: List(Uuid, { max: 30 }),
    version: Int(1, 2_147_483_647),
    createdAt: Instant,
    updatedAt: Instant,
  },
  { title: 'DunningNotice' },
)

const runs = paged({
  id: 'dunningRuns.list',
  path: `${path}/dunning-runs`,
  summary: 'List dunning runs with their counts',
  access: can('read', 'DunningRun'),
  query: { bookId: Opt(Uuid) },
  of: DunningRun,
  find: ({ trx, query }) => listRuns(trx, query) as never,
})

const start = route({
  id: 'dunningRuns.create',
  method: 'POST',
  path: `${path}/dunning-runs`,
  status: 201,
  ok: 'A dry run, or the run that there is for today',
  summary: 'Preview or start the dunning of a day',
  description:
    'Once for each book and day, of what is open and has reached a step of the settings. With `dryRun` nothing is stored: `planned` are up to 1,000 notices, those that would be skipped with the reason.',
  access: can('send', 'DunningRun'),
  body: Obj({ bookId: Opt(Uuid), dryRun: Opt(Bool) }),
  example: { bookId: sampleId('bookId'), dryRun: true },
  returns: Obj(
    { run: Nullable(DunningRun), runOn: Day, planned: List(PlannedNotice, { max: 1_000 }) },
    { title: 'DunningStart' },
  ),
  errors: ['reference_not_found', 'invalid_transition'],
  handle: async ({ trx, body, caller }) => {
    const book = await bookOf(trx, body)
    if (body.dryRun) return new Reply({ run: null, ...(await previewDunning(trx, book)) } as never, { status: 200 })
    const { id, made } = await startDunning(trx, book, caller.kind === 'user' ? caller.userId : null)
    const run = await readRun(trx, id)
    return new Reply({ run, runOn: run.runOn, planned: [] } as never, { status: made ? 201 : 200 })
  },
})

const notices = paged({
  id: 'dunningNotices.list',
  path: `${path}/dunning-notices`,
  summary: 'List reminders by run, customer or receivable',
  description:
    'One for each installment and level. A skipped one is looked at again by the next run; `settled` was paid between run and sending.',
  access: can('read', 'DunningRun'),
  query: {
    runId: Opt(Uuid),
    customerId: Opt(Uuid),
    receivableId: Opt(Uuid),
    status: Opt(OneOf([...noticeStatuses])),
  },
  of: DunningNotice,
  find: ({ trx, query }) => listNotices(trx, query) as never,
})

export const routes = [runs, start, notices]
