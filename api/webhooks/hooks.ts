import { Literal, Obj, Uuid } from '../../config/schema.ts'
import { eventTypes } from '../../db/webhooks/index.ts'
import type { Hook } from '../lib/route.ts'
import { describeType } from './event-types.ts'
import { eventFields } from './schemas.ts'

const { type: _type, ...envelope } = eventFields
const EventEnvelope = Obj(envelope, { title: 'EventEnvelope', additionalProperties: true })

const of = (type: string, summary: string, data: Hook['body']): Hook => ({
  name: type,
  summary,
  body: { allOf: [EventEnvelope, Obj({ type: Literal(type), data }, { additionalProperties: true })] },
})

/** Every request that endpoints of a tenant may get, for the document. */
export const hooks: readonly Hook[] = [
  ...eventTypes.map(({ type, data }) => of(type, describeType(type), data)),
  of('webhook.ping', 'A ping, sent when an endpoint is made or tested', Obj({ webhookEndpointId: Uuid })),
]
