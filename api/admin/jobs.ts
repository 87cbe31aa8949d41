import { invalid } from '../../config/errors.ts'
import { sampleId } from '../../config/samples.ts'
import {
  Anything,
  Bool,
  Count,
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
import type { Static } from '../../config/schema.ts'
import { queueNames } from '../../config/queues.ts'
import { jobStatuses, listJobs, mostCounted, discardJobs, replayJobs } from '../../db/jobs/index.ts'
import type { Selection } from '../../db/jobs/index.ts'
import { superuser } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import { rangesOf, reversedIn } from '../lib/ranges.ts'
import { Reason, trimmed } from '../lib/reason.ts'

const Job = Obj(
  {
    id: Uuid,
    tenantId: Nullable(Uuid),
    queue: Text(1, 40),
    kind: Text(1, 100),
    status: OneOf([...jobStatuses]),
    class: Text(1, 10),
    payload: MapOf(Anything, { max: 100 }),
    attempts: Count,
    starts: Count,
    runAt: Instant,
    createdAt: Instant,
    finishedAt: Nullable(Instant),
    requestId: Text(1, 100),
    reason: Nullable(Text(0, 500)),
    error: Nullable(
      Obj({
        code: Nullable(Text(0, 200)),
        message: Nullable(Text(0, 2_000)),
        stack: Nullable(Text(0, 2_000)),
        stackHash: Nullable(Text(0, 64)),
        at: Nullable(Instant),
      }),
    ),
    // Earlier tries and replays, with operator and reason; the newest 50.
    history: List(MapOf(Anything, { max: 20 }), { max: 50 }),
  },
  { title: 'Job' },
)

const listed = paged({
  id: 'jobs.list',
  path: '/superuser/jobs',
  summary: 'List jobs and dead letters with payload, attempts and error',
  description: `Live and archived jobs, what happened last first. \`subjectId\` is any id in the payload; without \`kind\`, \`tenantId\`, \`requestId\` or \`from\` the archive is searched for it a week back. \`total\` counts up to ${mostCounted}.`,
  access: superuser('N2', 'read', 'Job'),
  query: {
    queue: Opt(OneOf(queueNames)),
    kind: Opt(Text(1, 100)),
    status: Opt(OneOf([...jobStatuses])),
    tenantId: Opt(Uuid),
    requestId: Opt(Text(8, 64)),
    subjectId: Opt(Uuid),
    errorCode: Opt(Text(1, 100)),
    from: Opt(Instant),
    to: Opt(Instant),
  },
  of: Job,
  find: async ({ trx, query }) => {
    const { total, rows } = await listJobs(trx, query)
    return {
      total,
      rows: rows.map((job) => ({
        ...job,
        error: job.error && {
          code: job.error.code ?? null,
          message: job.error.message ?? null,
          stack: job.error.stack ?? null,
          stackHash: job.error.stackHash ?? null,
          at: job.error.at ?? null,
        },
      })),
    }
  },
})

const Ids = List(Uuid, { min: 1, max: 1_000 }, { uniqueItems: true })

const Replay = Obj({
  reason: Reason,
  jobIds: Opt(Ids),
  filter: Opt(
    Obj({
      queue: OneOf(queueNames),
      kind: Opt(Text(1, 100)),
      errorCode: Opt(Text(1, 200)),
      from: Opt(Instant),
      to: Opt(Instant),
    }),
  ),
  limit: Opt(Int(1, 10_000)),
  perMinute: Opt(Int(1, 100_000)),
  dryRun: Opt(Bool),
})

const filterRanges = rangesOf(['from', 'to'])

/** Named jobs, or a filter with its limit: one of the two. */
const selectionOf = ({ jobIds, filter, limit }: Static<typeof Replay>): Selection => {
  if (jobIds !== undefined && filter === undefined && limit === undefined) return { jobIds }
  if (filter !== undefined && jobIds === undefined && limit !== undefined) {
    const problems = reversedIn(filterRanges, filter, 'filter.')
    if (problems.length > 0) throw invalid(problems)
    return { filter, limit }
  }
  throw invalid([{ field: 'jobIds', message: 'give either jobIds, or filter with limit' }])
}

const replayed = route({
  id: 'jobs.replay',
  method: 'POST',
  path: '/superuser/jobs/replay',
  summary: 'Replay dead or done jobs, named or filtered',
  description:
    'Dead jobs come back, the oldest first, released at `perMinute`; their payload, error and history stay, and no effect is repeated. Done jobs come back as new ones, by N1, where their kind allows it. `kept` counts those that stay because another job has their key. With `dryRun` nothing changes.',
  access: superuser('N2', 'operate', 'Job'),
  errors: ['not_replayable', 'duplicate_key', 'level_required', 'not_found'],
  body: Replay,
  example: { reason: 'The provider is back', filter: { queue: 'reports' }, limit: 100, perMinute: 60, dryRun: true },
  returns: Obj({ count: Count, kept: Count }),
  handle: ({ trx, body }) =>
    replayJobs(trx, {
      selection: selectionOf(body),
      reason: trimmed(body.reason),
      perMinute: body.perMinute,
      dryRun: body.dryRun,
    }),
})

const discarded = route({
  id: 'jobs.discard',
  method: 'POST',
  path: '/superuser/jobs/discard',
  summary: 'Give up dead jobs for good, with reason',
  description: 'Those of money queues need N1.',
  access: superuser('N2', 'operate', 'Job'),
  errors: ['invalid_transition', 'level_required', 'not_found'],
  body: Obj({ jobIds: Ids, reason: Reason }),
  example: { jobIds: [sampleId('jobId')], reason: 'The booking was cancelled by hand' },
  returns: Obj({ count: Count }, { title: 'Counted' }),
  handle: async ({ trx, body }) => ({ count: await discardJobs(trx, body.jobIds, trimmed(body.reason)) }),
})

export const routes = [listed, replayed, discarded]
