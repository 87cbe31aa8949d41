import { Count, Instant, Int, List, Nullable, Obj, OneOf, Opt, Text, Uuid } from '../../config/schema.ts'
import { listDeliveries, readDelivery, redeliver } from '../../db/webhooks/index.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import { sightOf } from './sight.ts'

const Status = OneOf(['pending', 'delivered', 'dead', 'dropped'])
const fields = {
  id: Uuid,
  webhookEndpointId: Uuid,
  eventId: Uuid,
  sequence: Count,
  type: Text(1, 100),
  propertyId: Nullable(Uuid),
  replayId: Nullable(Uuid),
  /** `dead`: ten attempts failed. `dropped`: the endpoint was paused or deleted, or the feature ended. */
  status: Status,
  attempts: Count,
  lastAttemptAt: Nullable(Instant),
  nextAttemptAt: Nullable(Instant),
  deliveredAt: Nullable(Instant),
  createdAt: Instant,
}
const WebhookDelivery = Obj(fields, { title: 'WebhookDelivery' })
const Attempt = Obj({
  number: Int(1, 2_147_483_647),
  at: Instant,
  durationMs: Count,
  httpStatus: Nullable(Int(100, 999)),
  error: Nullable(OneOf(['connect_failed', 'tls_failed', 'timeout', 'redirect', 'address_refused', 'too_large'])),
  /** The beginning of the answer. */
  excerpt: Nullable(Text(0, 200)),
})
const WebhookDeliveryDetail = Obj(
  {
    ...fields,
    /** The body as it is sent, byte for byte; null once the event is not kept any more. */
    body: Nullable(Text(0, 40_000)),
    /** Attempts, the newest first. */
    log: List(Attempt, { max: 100 }),
  },
  { title: 'WebhookDeliveryDetail' },
)

const path = '/api/tenants/:tenantId/webhooks/deliveries'
const one = `${path}/:webhookDeliveryId` as const

const list = paged({
  id: 'webhookDeliveries.list',
  path,
  summary: 'List deliveries by endpoint, state and type',
  access: can('read', 'WebhookDelivery'),
  query: {
    webhookEndpointId: Opt(Uuid),
    status: Opt(Status),
    type: Opt(Text(1, 100)),
    eventId: Opt(Uuid),
    from: Opt(Instant),
    to: Opt(Instant),
  },
  of: WebhookDelivery,
  find: ({ trx, query, admission }) =>
    listDeliveries(trx, { ...query, scope: admission.scope('read', 'WebhookDelivery'), sight: sightOf(admission) }),
})

const read = route({
  id: 'webhookDeliveries.read',
  method: 'GET',
  path: one,
  summary: 'Read a delivery with its body and attempts',
  access: can('read', 'WebhookDelivery'),
  returns: WebhookDeliveryDetail,
  handle: ({ trx, params, admission }) => {
    admission.scope('read', 'WebhookDelivery')
    return readDelivery(trx, params.webhookDeliveryId, sightOf(admission))
  },
})

const again = route({
  id: 'webhookDeliveries.redeliver',
  method: 'POST',
  path: `${one}/redeliver`,
  summary: 'Send one delivery again now',
  description: 'It gets ten attempts of its own, under the same `webhook-id`. One that waits stays as it is.',
  access: can('redeliver', 'WebhookDelivery'),
  errors: ['endpoint_not_active', 'event_expired'],
  returns: WebhookDeliveryDetail,
  handle: ({ trx, params, admission }) => {
    admission.scope('redeliver', 'WebhookDelivery')
    return redeliver(trx, params.webhookDeliveryId, sightOf(admission))
  },
})

export const routes = [list, read, again]
