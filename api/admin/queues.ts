import { queueNames } from '../../config/queues.ts'
import { Actor, Count, Instant, List, Matching, Nullable, Obj, OneOf, Opt, Text, Uuid } from '../../config/schema.ts'
import type { PlatformTrx } from '../../db/lib/connection.ts'
import { queueStates, pauseQueue, resumeQueue } from '../../db/jobs/index.ts'
import type { QueueState } from '../../db/jobs/index.ts'
import type { QueueName } from '../../config/queues.ts'
import { notFound } from '../../config/errors.ts'
import { superuser } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { Reason, trimmed } from '../lib/reason.ts'

const QueueParam = Obj({ queue: OneOf(queueNames) })
const Kind = Matching('^[a-z][a-z0-9.-]{2,99}$', 100)
const Provider = Matching('^[a-z][a-z0-9_-]{0,59}$', 60)

const Queue = Obj(
  {
    queue: OneOf(queueNames),
    pauses: List(
      Obj({
        scope: OneOf(['queue', 'kind', 'tenant', 'provider']),
        kind: Nullable(Text(1, 100)),
        tenantId: Nullable(Uuid),
        provider: Nullable(Text(1, 120)),
        reason: Text(1, 500),
        by: Actor,
        since: Instant,
        until: Nullable(Instant),
      }),
      { max: 1000 },
    ),
    pending: Count,
    waiting: Count,
    dispatched: Count,
    running: Count,
    dead: Count,
    oldestPendingSeconds: Count,
    perMinute: Obj({ done: Count, failed: Count }),
    workers: Count,
    concurrency: Count,
    lastBeatAt: Nullable(Instant),
    measuredAt: Nullable(Instant),
  },
  { title: 'Queue' },
)

const shown = (state: QueueState) => ({ ...state, oldestPendingSeconds: Math.round(state.oldestPendingSeconds) })

const stateOf = async (trx: PlatformTrx, queue: QueueName) => {
  const state = (await queueStates(trx)).find((each) => each.queue === queue)
  if (!state) throw notFound()
  return shown(state)
}

const list = route({
  id: 'queues.list',
  method: 'GET',
  path: '/superuser/queues',
  summary: 'List queues with depth, age, rates and workers',
  description:
    'Counts are running totals of at most some seconds ago (`measuredAt`). `pending` is due and not handed over, `waiting` waits for its time.',
  access: superuser('N2', 'read', 'Queue'),
  returns: List(Queue, { max: 50 }),
  handle: async ({ trx }) => (await queueStates(trx)).map(shown),
})

const scope = { kind: Opt(Kind), tenantId: Opt(Uuid), provider: Opt(Provider) }

const pause = route({
  id: 'queues.pause',
  method: 'POST',
  path: '/superuser/queues/:queue/pause',
  summary: 'Pause a queue, with reason',
  description:
    'The whole queue or, within it, one kind, one tenant or one provider. What runs finishes; nothing else starts from the reply on, also after a loss of Redis. The same pause again changes its reason and end.',
  access: superuser('N2', 'operate', 'Queue'),
  params: QueueParam,
  body: Obj({ reason: Reason, ...scope, until: Opt(Nullable(Instant)) }),
  example: { reason: 'The provider is being mended' },
  returns: Queue,
  errors: ['provider_unknown'],
  handle: async ({ trx, params, body: { reason, until, ...rest } }) => {
    await pauseQueue(
      trx,
      { queue: params.queue, ...rest },
      { reason: trimmed(reason), until: until ? new Date(until) : null },
    )
    return stateOf(trx, params.queue)
  },
})

const resume = route({
  id: 'queues.resume',
  method: 'POST',
  path: '/superuser/queues/:queue/resume',
  summary: 'Resume a queue',
  description: 'Ends the pause of just this scope; other pauses stand. What is not paused stays so.',
  access: superuser('N2', 'operate', 'Queue'),
  params: QueueParam,
  body: Obj({ reason: Opt(Reason), ...scope }),
  example: { reason: 'The provider is back' },
  returns: Queue,
  handle: async ({ trx, params, body: { reason, ...rest } }) => {
    await resumeQueue(trx, { queue: params.queue, ...rest }, reason === undefined ? null : trimmed(reason))
    return stateOf(trx, params.queue)
  },
})

export const routes = [list, pause, resume]
