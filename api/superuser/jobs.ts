import {
  Anything,
  Count,
  Instant,
  Nullable,
  Obj,
  OneOf,
  Opt,
  PageOf,
  PageQuery,
  Text,
  Uuid,
  pageMeta,
} from '../../config/schema.ts'
import { queueNames } from '../../config/queues.ts'
import { listJobs } from '../../db/jobs/list.ts'
import { superuser } from '../lib/access.ts'
import { route } from '../lib/route.ts'

const Job = Obj(
  {
    id: Uuid,
    tenantId: Nullable(Uuid),
    queue: Text(1, 40),
    kind: Text(1, 100),
    status: Text(1, 20),
    class: Text(1, 10),
    payload: Anything,
    attempts: Count,
    starts: Count,
    runAt: Instant,
    createdAt: Instant,
    finishedAt: Nullable(Instant),
    requestId: Text(1, 100),
    reason: Nullable(Text(0, 500)),
    error: Nullable(Obj({ code: Nullable(Text(0, 100)), message: Nullable(Text(0, 2000)) })),
  },
  { title: 'Job' },
)

const listed = route({
  id: 'jobs.list',
  method: 'GET',
  path: '/superuser/jobs',
  summary: 'List jobs and dead letters with payload, attempts and error',
  access: superuser('N2', 'read', 'Job'),
  query: Obj({
    ...PageQuery,
    queue: Opt(OneOf(queueNames)),
    kind: Opt(Text(1, 100)),
    status: Opt(
      OneOf([
        'pending',
        'dispatched',
        'running',
        'dead',
        'done',
        'skipped',
        'cancelled',
        'discarded',
        'expired',
        'failed',
        'missed',
      ]),
    ),
    tenantId: Opt(Uuid),
    requestId: Opt(Text(8, 64)),
    subjectId: Opt(Uuid),
    errorCode: Opt(Text(1, 100)),
    from: Opt(Instant),
    to: Opt(Instant),
  }),
  returns: PageOf(Job),
  handle: async ({ trx, query }) => {
    const { page = 1, limit = 20, ...filter } = query
    const { jobs, total } = await listJobs(trx, filter, page, limit)
    return {
      data: jobs.map((job) => ({
        ...job,
        error: job.error && { code: job.error.code ?? null, message: job.error.message ?? null },
      })),
      meta: pageMeta(page, limit, total),
    }
  },
})

export const routes = [listed]
