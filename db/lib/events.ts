import { randomUUID } from 'node:crypto'
import type { Event, Listener } from '../../config/events/event.ts'
import type { Schema, Static } from '../../config/schema.ts'
import { isDay, isUuid } from '../../config/validator.ts'
import type { Job } from '../../jobs/job.ts'
import { consumeKits, consumeMeals } from '../../jobs/inventory.ts'
import { endIssue, openIssue } from '../../jobs/issues.ts'
import { messagesTrigger } from '../../jobs/ocp.ts'
import { contextOf, gather } from './connection.ts'
import type { Trx } from './connection.ts'
import { enqueueAll } from './enqueue.ts'
import type { Gathering } from './outbox.ts'

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

/**
 * Events are written with the commit, all of a transaction in one statement: each a microsecond later than the one before it, since those of one record keep
 * their order.
 */
const events: Gathering = {
  text: `
    insert into event (id, type, property_id, entity, occurred_at, actor, request_id, cause_id, changed, data)
    select e.id, e.type, e.property_id, e.entity, clock_timestamp() + e.place * interval '1 microsecond', e.actor, e.request_id, e.cause_id, e.changed, e.data
    from rows from (jsonb_to_recordset(?::jsonb) as (id uuid, type text, property_id uuid, entity jsonb, actor jsonb, request_id text, cause_id uuid, changed jsonb,
      data jsonb)) with ordinality as e (id, type, property_id, entity, actor, request_id, cause_id, changed, data, place)`,
  read: /\b(from|join|update|into) "?event\b/,
}

const write = <S extends Schema>(
  trx: Trx,
  event: Event<S>,
  { propertyId, id: of, version, data, changed }: Fact<S>,
): string => {
  const { actor, requestId, causeId } = contextOf(trx)
  const id = randomUUID()
  gather(trx, events, {
    id,
    type: event.type,
    property_id: propertyId,
    entity: { type: event.entity, id: of, version },
    actor,
    request_id: requestId,
    cause_id: causeId,
    changed: told(changed),
    data,
  })
  return id
}

/** Many facts of one kind, and the jobs of each listener in one statement; as `emit` writes each. Answers their ids. */
export const emitAll = async <S extends Schema>(
  trx: Trx,
  event: Event<S>,
  facts: readonly Fact<S>[],
): Promise<string[]> => {
  if (facts.length === 0) return []
  const ids = facts.map((fact) => write(trx, event, fact))
  await tellListeners(
    trx,
    event,
    facts.map(({ data, awaitedBy }, place) => ({ id: ids[place] ?? '', data, awaitedBy })),
  )
  return ids
}

/** Writes an event in the transaction of the fact, together with the jobs of its listeners. Answers the event's id. */
export const emit = async <S extends Schema>(trx: Trx, event: Event<S>, fact: Fact<S>): Promise<string> => {
  const id = write(trx, event, fact)
  await tellListeners(trx, event, [{ id, data: fact.data, awaitedBy: fact.awaitedBy }])
  return id
}
