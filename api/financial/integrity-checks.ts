import { sampleId } from '../../config/samples.ts'
import { Anything, Count, Instant, List, MapOf, Nullable, Obj, OneOf, Opt, Text, Uuid } from '../../config/schema.ts'
import { askForChecks, readChecks } from '../../db/financial/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { waitable } from '../lib/waitable.ts'

const result = {
  check: Text(1, 60),
  status: OneOf(['passed', 'failed']),
  count: Count,
  findings: List(MapOf(Anything, { max: 50 }), { max: 100 }),
}
const Run = Obj(
  {
    id: Uuid,
    bookId: Uuid,
    status: OneOf(['queued', 'running', 'passed', 'failed']),
    requestedAt: Instant,
    startedAt: Nullable(Instant),
    finishedAt: Nullable(Instant),
  },
  { title: 'IntegrityRun' },
)
const path = '/api/tenants/:tenantId/financial/integrity-checks'

const read = waitable({
  id: 'integrityChecks.list',
  path,
  summary: 'List the checks with their last results and findings',
  description:
    '`run` is the last that was asked for; `data` are the results of the last that ended, each with at most 100 findings. `waitSeconds` waits until no run is under way.',
  access: can('read', 'IntegrityCheck'),
  query: { bookId: Opt(Uuid) },
  returns: Obj({ run: Nullable(Run), data: List(Obj({ ...result, at: Nullable(Instant) }), { max: 50 }) }),
  errors: ['not_found'],
  read: async ({ trx, query }) => (await readChecks(trx, query.bookId)).run?.status ?? 'passed',
  isEnough: (status) => status !== 'queued' && status !== 'running',
  find: ({ trx, query }) => readChecks(trx, query.bookId),
})

const run = route({
  id: 'integrityChecks.run',
  method: 'POST',
  path: `${path}/run`,
  summary: 'Run the integrity checks of a book now',
  description: 'While a run is under way no other begins: `errors` names it.',
  access: can('create', 'IntegrityCheck'),
  status: 201,
  body: Obj({ bookId: Opt(Uuid) }),
  example: { bookId: sampleId('bookId') },
  returns: Run,
  errors: ['not_found', 'run_in_progress'],
  handle: ({ trx, body }) => askForChecks(trx, body.bookId),
})

export const routes = [read, run]
