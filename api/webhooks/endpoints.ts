import { invalid } from '../../config/errors.ts'
import { webhookLimits } from '../../config/limits.ts'
import {
  Count,
  Instant,
  Int,
  List,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Text,
  Uuid,
  Words,
  Bool,
} from '../../config/schema.ts'
import {
  beginReplay,
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  listEndpoints,
  pauseEndpoint,
  readEndpoint,
  resumeEndpoint,
  rotateSecret,
  testEndpoint,
} from '../../db/webhooks/index.ts'
import { can } from '../lib/access/kinds.ts'
import { resource } from '../lib/resource.ts'
import { rangesOf, reversedIn } from '../lib/ranges.ts'
import { route } from '../lib/route.ts'
import { waitable } from '../lib/waitable.ts'
import { stamps } from '../properties/schemas.ts'
import { requireCallable } from '../lib/callable.ts'
import { hooks } from './hooks.ts'
import { typePattern } from './schemas.ts'
import { judgeKept, judgeTypes, reachOf, subjectsAfter } from './saving.ts'
import { subjectsOf } from './sight.ts'

const Types = List(Matching(typePattern, 60), { min: 1, max: 100 }, { uniqueItems: true })
const PropertyIds = List(Uuid, { max: 200 }, { uniqueItems: true })
/** Judged by the rules of outgoing calls. */
const Url = Matching('^[^\\s\\u0000-\\u001f\\u007f-\\u009f]+$', 2_000, { cardNumber: 'exempt' })
const Description = Matching('^[^\\u0000-\\u001f\\u007f-\\u009f]*$', 200)
const pingStatuses = ['pending', 'delivered', 'failed'] as const
const Ping = Obj(
  {
    status: OneOf([...pingStatuses]),
    at: Nullable(Instant),
    httpStatus: Nullable(Int(100, 999)),
    durationMs: Nullable(Count),
    error: Nullable(Text(1, 40)),
    /** The beginning of the answer. */
    excerpt: Nullable(Text(0, 200)),
  },
  { title: 'WebhookPing' },
)
const fields = {
  id: Uuid,
  url: Url,
  description: Text(0, 200),
  types: List(Text(1, 60), { max: 100 }),
  /** Empty: events of all properties. Events without a property always come. */
  propertyIds: List(Uuid, { max: 200 }),
  /** `failing`: active, and its last request failed. */
  status: OneOf(['active', 'failing', 'paused']),
  /** Until when the secret before the present one signs, too. */
  previousUntil: Nullable(Instant),
  pausedCause: Nullable(OneOf(['command', 'gone', 'failing'])),
  pausedBy: Nullable(Uuid),
  pausedReason: Nullable(Text(0, 500)),
  /** Events up to this number were delivered before the pause. */
  pausedAfterSequence: Nullable(Count),
  /** Failed requests in a row. */
  failures: Count,
  failingSince: Nullable(Instant),
  lastSuccessAt: Nullable(Instant),
  lastStatus: Nullable(Int(100, 999)),
  lastError: Nullable(Text(1, 40)),
  lastPing: Nullable(Ping),
  createdBy: Nullable(Uuid),
  ...stamps,
}
const WebhookEndpoint = Obj(fields, { title: 'WebhookEndpoint' })
/** With the secret, this once: a repeated request is answered without it. */
const NewWebhookEndpoint = Obj({ ...fields, secret: Nullable(Text(1, 100)) }, { title: 'NewWebhookEndpoint' })

const path = '/api/tenants/:tenantId/webhooks/endpoints'
const endpoints = resource({
  name: 'webhookEndpoints',
  subject: 'WebhookEndpoint',
  table: 'webhook_endpoint',
  path,
  param: 'webhookEndpointId',
  record: WebhookEndpoint,
  read: readEndpoint,
})

const list = endpoints.list({
  summary: 'List endpoints with their health',
  query: { status: Opt(OneOf(['active', 'failing', 'paused'])) },
  example: { status: 'active' },
  find: ({ trx, filter }) => listEndpoints(trx, filter),
})

const create = route({
  id: 'webhookEndpoints.create',
  method: 'POST',
  path,
  summary: 'Create an endpoint, its secret shown once',
  description:
    'The secret is in this reply alone. `types` holds types, `<entity>.*` or `*`; the last two mean what you may read. A ping is sent at once: read the endpoint with `waitSeconds` for its answer.',
  status: 201,
  access: can('create', 'WebhookEndpoint'),
  errors: ['type_unknown', 'address_refused', 'endpoint_limit', 'reference_not_found'],
  body: Obj({
    url: Url,
    description: Opt(Description),
    types: Types,
    propertyIds: Opt(PropertyIds),
  }),
  example: { url: 'https://hooks.example.com/pousada', types: ['reservation.*', 'payment.captured'] },
  returns: NewWebhookEndpoint,
  hooks,
  keep: (made) => ({ ...made, secret: null }),
  handle: async ({ trx, admission, body }) => {
    judgeTypes(admission, body.types)
    requireCallable(body.url)
    const { id, secret } = await createEndpoint(trx, {
      ...body,
      propertyIds: reachOf(admission, body.propertyIds ?? []),
      subjects: subjectsOf(admission),
    })
    return { ...(await readEndpoint(trx, id)), secret }
  },
})

const read = waitable({
  id: 'webhookEndpoints.read',
  path: endpoints.one,
  summary: 'Read an endpoint, or wait for its ping',
  description: 'With `since=pending` it waits up to `waitSeconds` for the answer to the last ping.',
  access: can('read', 'WebhookEndpoint'),
  part: { resource: 'webhookEndpoints', verb: 'read' },
  since: pingStatuses,
  returns: WebhookEndpoint,
  read: async ({ trx, params }) => (await readEndpoint(trx, params.webhookEndpointId)).lastPing?.status ?? 'pending',
  find: async ({ trx, params, admission }) => {
    const found = await readEndpoint(trx, params.webhookEndpointId)
    admission.check('read', 'WebhookEndpoint', { propertyId: null, ...found })
    return found
  },
})

const change = endpoints.change({
  summary: 'Change address, event types or properties of an endpoint',
  description:
    'New patterns mean what you may read, and you must be able to read the types that stay. What waits for the endpoint goes to its new address, which is told nothing that you may not read.',
  errors: ['type_unknown', 'address_refused', 'reference_not_found'],
  body: Obj({
    url: Opt(Url),
    description: Opt(Description),
    types: Opt(Types),
    propertyIds: Opt(PropertyIds),
  }),
  example: { description: 'The channel manager', types: ['*'] },
  command: async ({ trx, id, admission, body }) => {
    if (body.types) judgeTypes(admission, body.types)
    const kept = await readEndpoint(trx, id)
    judgeKept(admission, kept, body)
    if (body.url !== undefined) requireCallable(body.url)
    await changeEndpoint(trx, id, {
      ...body,
      propertyIds: reachOf(admission, body.propertyIds),
      subjects: subjectsAfter(admission, kept, body),
    })
  },
})

const remove = endpoints.remove({
  summary: 'Delete an endpoint and its pending deliveries',
  description: 'Its secrets are erased; the log of its deliveries stays for 90 days.',
  command: ({ trx, id }) => deleteEndpoint(trx, id),
})

const rotate = route({
  id: 'webhookEndpoints.rotateSecret',
  method: 'POST',
  path: `${endpoints.one}/rotate-secret`,
  summary: 'Replace the secret, the old one signing on',
  description:
    'Requests carry both signatures for `overlapHours`, 24 unless said. The new secret is in this reply alone.',
  access: can('update', 'WebhookEndpoint'),
  record: endpoints.lock,
  body: Obj({ overlapHours: Opt(Int(0, webhookLimits.longestOverlapHours)) }),
  example: { overlapHours: 48 },
  returns: NewWebhookEndpoint,
  keep: (made) => ({ ...made, secret: null }),
  handle: async ({ trx, params, body }) => {
    const secret = await rotateSecret(trx, params.webhookEndpointId, body.overlapHours)
    return { ...(await readEndpoint(trx, params.webhookEndpointId)), secret }
  },
})

const test = endpoints.act('test', {
  summary: 'Send a ping and keep its answer',
  description: 'The answer is `lastPing` of the endpoint: read it with `since=pending&waitSeconds=20`.',
  action: 'update',
  command: ({ trx, id }) => testEndpoint(trx, id),
})

const pause = endpoints.act('pause', {
  summary: 'Stop sending to an endpoint',
  description: 'What waits is dropped; `resume` can send it again.',
  action: 'update',
  errors: ['invalid_transition'],
  body: Obj({ reason: Opt(Words(1, 500)) }),
  example: { reason: 'The receiver is being moved' },
  command: ({ trx, id, body }) => pauseEndpoint(trx, id, body.reason),
})

const resume = endpoints.act('resume', {
  summary: 'Send again, with what was missed if asked',
  action: 'update',
  errors: ['invalid_transition', 'replay_too_large', 'replay_running', 'endpoint_not_active', 'event_expired'],
  body: Obj({ replayMissed: Opt(Bool) }),
  example: { replayMissed: true },
  command: ({ trx, id, body }) => resumeEndpoint(trx, id, body.replayMissed ?? false),
})

const Sequence = Int(1, 999_999_999_999_999)
const replay = route({
  id: 'webhookEndpoints.replay',
  method: 'POST',
  path: `${endpoints.one}/replay`,
  summary: 'Send past events of a span again',
  description:
    'By number or by time, both ends included; `types` narrows what the endpoint takes. At most 100,000 events of the last 90 days; live deliveries go first.',
  access: can('update', 'WebhookEndpoint'),
  record: endpoints.lock,
  errors: ['type_unknown', 'replay_running', 'replay_too_large', 'event_expired', 'endpoint_not_active'],
  body: Obj({
    fromSequence: Opt(Sequence),
    toSequence: Opt(Sequence),
    from: Opt(Instant),
    to: Opt(Instant),
    types: Opt(Types),
  }),
  example: { fromSequence: 1, types: ['reservation.*'] },
  returns: Obj({ replayId: Uuid, events: Count }, { title: 'WebhookReplay' }),
  handle: ({ trx, params, body, admission }) => {
    if ((body.fromSequence === undefined) === (body.from === undefined))
      throw invalid([{ field: 'fromSequence', message: 'give either fromSequence or from' }])
    if (body.toSequence !== undefined && body.to !== undefined)
      throw invalid([{ field: 'toSequence', message: 'give either toSequence or to' }])
    const problems = reversedIn([...rangesOf(['from', 'to']), { first: 'fromSequence', last: 'toSequence' }], body)
    if (problems.length > 0) throw invalid(problems)
    if (body.types) judgeTypes(admission, body.types)
    return beginReplay(trx, params.webhookEndpointId, body)
  },
})

export const routes = [list, create, read, change, remove, rotate, test, pause, resume, replay]
