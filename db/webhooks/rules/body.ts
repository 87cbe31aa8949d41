import { shownActor } from '../../../config/shown-actor.ts'

type Actor = { type: 'user' | 'superuser' | 'support' | 'api_key' | 'guest' | 'channel' | 'system'; id: string | null }

/** An event as it is stored. */
export type StoredEvent = {
  id: string
  tenantId: string
  type: string
  typeVersion: number
  sequence: number | null
  propertyId: string | null
  entity: { type: string; id: string; version: number | null }
  occurredAt: Date
  actor: Actor
  requestId: string
  causeId: string | null
  changed: { field: string; before: unknown; after: unknown }[]
  data: Record<string, unknown>
}

/** Earlier releases spelt some entities as subjects, such as `ApiKey`. */
const snake = (entity: string) => entity.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()

/** An event as readers get it, in the feed and in deliveries: one order of keys, so that its JSON is the same each time. */
export const shownEvent = (row: StoredEvent) => ({
  id: row.id,
  type: row.type,
  typeVersion: row.typeVersion,
  sequence: row.sequence,
  tenantId: row.tenantId,
  propertyId: row.propertyId,
  entity: { type: snake(row.entity.type), id: row.entity.id, version: row.entity.version },
  occurredAt: row.occurredAt.toISOString(),
  actor: shownActor(row.actor),
  requestId: row.requestId,
  causeId: row.causeId,
  changed: row.changed.map(({ field, before, after }) => ({ field, before: before ?? null, after: after ?? null })),
  data: row.data,
})

/** The bytes of a delivery, the same on every attempt. */
export const bodyOf = (row: StoredEvent): string => JSON.stringify(shownEvent(row))
