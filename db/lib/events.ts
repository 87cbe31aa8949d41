import { randomUUID } from 'node:crypto'
import type { Event, Listener } from '../../config/events/event.ts'
import type { Schema, Static } from '../../config/schema.ts'
import { isDay, isUuid } from '../../config/validator.ts'
import type { Job } from '../../jobs/job.ts'
import { consumeKits, consumeMeals } from '../../jobs/inventory.ts'
import { endIssue, openIssue } from '../../jobs/issues.ts'
import { messagesTrigger } from '../../jobs/ocp.ts'
import { contextOf, later } from './connection.ts'
import type { Trx } from './connection.ts'
import { enqueueAll } from './enqueue.ts'

/** A field that a command has changed. Its values are never personal. */
export type ChangedField = { field: string; before: unknown; after: unknown }

/** A change of one record, in the words of an event. */
export type Fact<S extends Schema = Schema> = {
  propertyId: string | null
  /** The record, of the kind that the event's `entity` names. */
  id: string
  /** The record's version after the change; null where it has none. */
  version: number | null
  data: Static<S>
  changed?: readonly ChangedField[]
  /** The stay that its listeners are told of beside the event, which does not name it; null where there is none, and they are told nothing. */
  awaitedBy?: string | null
}

const mostChanged = 50
const longest = 200
const isTold = (value: unknown) =>
  ['number', 'boolean'].includes(typeof value) || (typeof value === 'string' && value.length <= longest)

/** Values go along as scalars alone, and not when they are long: those of other fields are null. */
const told = (changed: readonly ChangedField[] = []): ChangedField[] =>
  changed.slice(0, mostChanged).map(({ field, before, after }) => ({
    field,
    before: isTold(before) ? before : null,
    after: isTold(after) ? after : null,
  }))

/**
 * The fields of a change that were sent. Numbers, days, ids, yes and no go along with their values. Other texts do not: they may be
 * personal.
 */
export const sentFields = (sent: object, before: object = {}): ChangedField[] => {
  const stood = new Map<string, unknown>(Object.entries(before))
  const harmless = (value: unknown) => (typeof value === 'string' && !isDay(value) && !isUuid(value) ? null : value)
  return Object.entries(sent)
    .filter(([, after]) => after !== undefined)
    .map(([field, after]) => ({ field, before: harmless(stood.get(field)), after: harmless(after) }))
}

const jobs: Readonly<Record<Listener, Job>> = {
  ocp: messagesTrigger,
  'ocp plans': messagesTrigger,
  issues: openIssue,
  'issues ended': endIssue,
  kits: consumeKits,
  meals: consumeMeals,
}

const tellListeners = async <S extends Schema>(
  trx: Trx,
  { listeners, isHeard }: Event<S>,
  events: readonly { id: string; data: Static<S>; awaitedBy: string | null | undefined }[],
) => {
  const { tenantId } = contextOf(trx)
  if (tenantId === null) return
  const payloads = events
    .filter(({ data, awaitedBy }) => awaitedBy !== null && isHeard?.(data) !== false)
    .map(({ id, awaitedBy }) => ({ tenantId, eventId: id, ...(awaitedBy ? { reservationId: awaitedBy } : {}) }))
  for (const listener of listeners) await enqueueAll(trx, jobs[listener], payloads)
}

/** Many facts of one kind in one statement, and the jobs of each listener in another; as `emit` writes each. Answers their ids. */
export const emitAll = async <S extends Schema>(
  trx: Trx,
  event: Event<S>,
  facts: readonly Fact<S>[],
): Promise<string[]> => {
  if (facts.length === 0) return []
  const context = contextOf(trx)
  const rows = facts.map(({ propertyId, id, version, data, changed }) => ({
    id: randomUUID(),
    property_id: propertyId,
    entity: { type: event.entity, id, version },
    changed: told(changed),
    data,
  }))
  later(
    trx,
    `insert into event (id, type, property_id, entity, actor, request_id, cause_id, changed, data)
     select e.id, ?, e.property_id, e.entity, ?::jsonb, ?, ?, e.changed, e.data
     from jsonb_to_recordset(?::jsonb) as e (id uuid, property_id uuid, entity jsonb, changed jsonb, data jsonb)`,
    [event.type, JSON.stringify(context.actor), context.requestId, context.causeId, JSON.stringify(rows)],
  )
  await tellListeners(
    trx,
    event,
    rows.map(({ id, data }, place) => ({ id, data, awaitedBy: facts[place]?.awaitedBy })),
  )
  return rows.map((row) => row.id)
}

/** Writes an event in the transaction of the fact, together with the jobs of its listeners. Answers the event's id. */
export const emit = async <S extends Schema>(trx: Trx, event: Event<S>, fact: Fact<S>): Promise<string> => {
  const context = contextOf(trx)
  const id = randomUUID()
  later(
    trx,
    `insert into event (id, type, property_id, entity, actor, request_id, cause_id, changed, data)
     values (:id, :type, :propertyId, :entity::jsonb, :actor::jsonb, :requestId, :causeId, :changed::jsonb, :data::jsonb)`,
    {
      id,
      type: event.type,
      propertyId: fact.propertyId,
      entity: JSON.stringify({ type: event.entity, id: fact.id, version: fact.version }),
      actor: JSON.stringify(context.actor),
      requestId: context.requestId,
      causeId: context.causeId,
      changed: JSON.stringify(told(fact.changed)),
      data: JSON.stringify(fact.data),
    },
  )
  await tellListeners(trx, event, [{ id, data: fact.data, awaitedBy: fact.awaitedBy }])
  return id
}
