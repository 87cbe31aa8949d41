import { randomUUID } from 'node:crypto'
import { messageTriggers } from '../../config/message-triggers.ts'
import { messagesTrigger } from '../../jobs/ocp.ts'
import { contextOf, later } from './connection.ts'
import type { Trx } from './connection.ts'
import { enqueue } from './enqueue.ts'

export type EventInput = {
  /** `<entity>.<past_participle>` */
  type: string
  propertyId: string | null
  entity: { type: string; id: string; version: number | null }
  /** Ids, numbers, codes, dates and amounts; never names, addresses or free text. */
  data: Record<string, unknown>
  changed?: { field: string; before: unknown; after: unknown }[]
}

/** Many facts of one kind that nobody is sent a message about, in one statement. Answers their ids. */
export const emitAll = async (trx: Trx, events: readonly EventInput[]): Promise<string[]> => {
  if (events.length === 0) return []
  const context = contextOf(trx)
  const rows = events.map((event) => ({
    ...event,
    id: randomUUID(),
    property_id: event.propertyId,
    changed: event.changed ?? [],
  }))
  later(
    trx,
    `insert into event (id, type, property_id, entity, actor, request_id, cause_id, changed, data)
     select e.id, e.type, e.property_id, e.entity, ?::jsonb, ?, ?, e.changed, e.data
     from jsonb_to_recordset(?::jsonb) as e (id uuid, type text, property_id uuid, entity jsonb, changed jsonb, data jsonb)`,
    [JSON.stringify(context.actor), context.requestId, context.causeId, JSON.stringify(rows)],
  )
  return rows.map((row) => row.id)
}

/** The only writer of events beside emitAll: in the transaction of the fact, together with the jobs of those who listen. Answers the event's id. */
export const emit = async (trx: Trx, event: EventInput): Promise<string> => {
  const context = contextOf(trx)
  const id = randomUUID()
  later(
    trx,
    `insert into event (id, type, property_id, entity, actor, request_id, cause_id, changed, data)
     values (?, ?, ?, ?::jsonb, ?::jsonb, ?, ?, ?::jsonb, ?::jsonb)`,
    [
      id,
      event.type,
      event.propertyId,
      JSON.stringify(event.entity),
      JSON.stringify(context.actor),
      context.requestId,
      context.causeId,
      JSON.stringify(event.changed ?? []),
      JSON.stringify(event.data),
    ],
  )
  if (messageTriggers.has(event.type) && context.tenantId)
    await enqueue(trx, messagesTrigger, { tenantId: context.tenantId, eventId: id })
  return id
}
