import { List, Matching, Obj, OneOf, Uuid } from '../schema.ts'
import { event } from './event.ts'
import type { Event } from './event.ts'

const endpointData = {
  webhookEndpointId: Uuid,
  /** Types of events, or patterns of them, as they were given. */
  types: List(Matching('^(\\*|[a-z_]+\\.(\\*|[a-z_]+))$', 60), { max: 100 }),
}
const endpoint = { entity: 'webhook_endpoint', subject: 'WebhookEndpoint', data: Obj(endpointData) } as const
export const webhookEndpointCreated = event({ type: 'webhook_endpoint.created', ...endpoint })
export const webhookEndpointChanged = event({ type: 'webhook_endpoint.changed', ...endpoint })
export const webhookEndpointPaused = event({
  type: 'webhook_endpoint.paused',
  ...endpoint,
  data: Obj({ ...endpointData, cause: OneOf(['command', 'gone', 'failing']) }),
  listeners: ['issues'],
  isHeard: ({ cause }) => cause !== 'command',
})
export const webhookEndpointResumed = event({
  type: 'webhook_endpoint.resumed',
  ...endpoint,
  listeners: ['issues ended'],
})
export const webhookEndpointDeleted = event({ type: 'webhook_endpoint.deleted', ...endpoint })

export const webhooksEvents: Event[] = [
  webhookEndpointCreated,
  webhookEndpointChanged,
  webhookEndpointPaused,
  webhookEndpointResumed,
  webhookEndpointDeleted,
]
