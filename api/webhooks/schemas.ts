import { Anything, Count, Instant, Int, List, MapOf, Nullable, Obj, OneOf, Text, Uuid } from '../../config/schema.ts'

/** A type, `<entity>.*` or `*`. */
export const typePattern = '^(\\*|[a-z][a-z_]*\\.(\\*|[a-z][a-z_]*))$'

export const entityFields = { type: Text(1, 60), id: Text(1, 100), version: Nullable(Count) }
export const eventFields = {
  /** Sent as `webhook-id`: repeated deliveries have the same. */
  id: Uuid,
  type: Text(1, 100),
  typeVersion: Int(1, 1_000),
  /** Place in the feed; null in a ping. */
  sequence: Nullable(Count),
  tenantId: Uuid,
  propertyId: Nullable(Uuid),
  /** `version` of the record after the change: an event that does not exceed the version you know is old. */
  entity: Obj(entityFields),
  occurredAt: Instant,
  actor: Obj({
    type: OneOf(['user', 'api_key', 'guest', 'channel', 'system', 'support']),
    id: Nullable(Text(1, 100)),
  }),
  requestId: Text(1, 200),
  causeId: Nullable(Uuid),
  changed: List(Obj({ field: Text(1, 100), before: Anything, after: Anything }), { max: 50 }),
}
export const Event = Obj({ ...eventFields, data: MapOf(Anything, { max: 100 }) }, { title: 'Event' })
