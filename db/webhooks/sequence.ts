import { endpointGate } from './gate.ts'
import { deliverEvents } from '../../jobs/webhooks.ts'
import { boundTenant } from '../lib/bound-tenant.ts'
import { contextOf, later, prepared } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { enqueueOnce } from '../lib/enqueue.ts'
import { holdHead } from './feed.ts'
import { isRecent } from './months.ts'
import { isChosen, isOffered, eventOf } from './rules/types.ts'

/** Tenants with events that have no number yet, by id. */
export const unnumberedTenants = (trx: PlatformTrx, after: string, most: number): Promise<{ tenantId: string }[]> =>
  prepared(trx, `select tenant_id from tenants_with_unnumbered_events(?, ?)`, [after, most])

/** Events that one transaction numbers. */
export const numberedAtOnce = 1_000
/** From so many deliveries on, a second sender helps the first. */
const manyDeliveries = 10

type Numbered = {
  id: string
  sequence: number
  type: string
  propertyId: string | null
  occurredAt: Date
}
type Listening = { id: string; types: string[]; subjects: string[]; propertyIds: string[] }

const unnumbered = () => `
  select id, type, property_id, occurred_at from event where sequence is null and ${isRecent('occurred_at')} order by occurred_at, id limit ${numberedAtOnce}`

/**
 * Times are known to the millisecond here. The bounds leave one month of the table, or two, to be opened. Where one of the events did not get its number the head
 * divides by zero, and nothing is numbered: a gap could not be told from a number that comes later.
 */
const numbering = () => `
  with numbered as (
    update event e set sequence = n.sequence
    from unnest(:ids::uuid[], :ats::timestamptz[], :sequences::bigint[]) as n (id, at, sequence)
    where e.id = n.id and e.occurred_at >= n.at and e.occurred_at < n.at + interval '1 millisecond' and e.sequence is null
      and e.occurred_at >= :first::timestamptz and e.occurred_at < :last::timestamptz + interval '1 millisecond'
      and ${isRecent('e.occurred_at')}
    returning 1)
  update event_head set last_sequence = :newest::bigint / (select (count(*) = cardinality(:ids::uuid[]))::int from numbered)`

/**
 * Asks for a sender of an endpoint, whose row the caller holds: a sender looks for what is due under the same lock before it ends, so
 * that one of them always comes.
 */
export const askForSender = (trx: Trx, endpointId: string, deliveries = 1): void => {
  const { tenantId } = contextOf(trx)
  const senders = deliveries > manyDeliveries ? [1, 2] : [1]
  for (const sender of senders)
    enqueueOnce(
      trx,
      deliverEvents,
      { tenantId: tenantId ?? '', webhookEndpointId: endpointId },
      { uniqueKey: `${endpointId} ${sender}`, gate: endpointGate(endpointId) },
    )
}

const writeDeliveries = (
  trx: Trx,
  {
    events,
    endpoints,
    replayId = null,
  }: { events: readonly Numbered[]; endpoints: readonly Listening[]; replayId?: string | null },
): Map<string, number> => {
  const rows = endpoints.flatMap((endpoint) =>
    events
      .filter((event) => isChosen(endpoint, event))
      .map((event) => ({
        webhook_endpoint_id: endpoint.id,
        event_id: event.id,
        event_at: event.occurredAt,
        sequence: event.sequence,
        type: event.type,
        property_id: event.propertyId,
      })),
  )
  if (rows.length > 0)
    later(
      trx,
      `insert into webhook_delivery (webhook_endpoint_id, event_id, event_at, sequence, type, property_id, replay_id)
       select d.webhook_endpoint_id, d.event_id, d.event_at, d.sequence, d.type, d.property_id, ?
       from jsonb_to_recordset(?::jsonb) as d (webhook_endpoint_id uuid, event_id uuid, event_at timestamptz, sequence bigint, type text, property_id uuid)
       on conflict do nothing`,
      [replayId, JSON.stringify(rows)],
    )
  return new Map(endpoints.map(({ id }) => [id, rows.filter((row) => row.webhook_endpoint_id === id).length] as const))
}

/** Writes the deliveries of a replay: `events` are of its types already. */
export const writeReplayed = (trx: Trx, endpoint: Listening, replayId: string, events: readonly Numbered[]): void => {
  writeDeliveries(trx, { events, endpoints: [endpoint], replayId })
}

/**
 * Gives the tenant's committed events their numbers, in the order of their time, without gaps, and writes their deliveries. Answers
 * how many there were; there may be more where it is `numberedAtOnce`.
 */
export const numberEvents = async (trx: Trx): Promise<number> => {
  // The pieces to be updated are found by their keys; a plan made for a small table would read every month.
  later(
    trx,
    `select set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('enable_seqscan', 'off', true)`,
  )
  // One after the other in one trip: the events are looked for once the head is held, so that none is numbered twice.
  const [head, endpoints, [tenant], found] = await Promise.all([
    holdHead(trx),
    prepared<Listening>(
      trx,
      `select id, types, subjects, property_ids from webhook_endpoint where status = 'active' order by id for no key update`,
    ),
    prepared<{ features: string[] }>(
      trx,
      `select active_features(id) as features from tenant where id = ${boundTenant} and status <> 'deleted'`,
    ),
    prepared<Omit<Numbered, 'sequence'>>(trx, unnumbered()),
  ])
  const events = found.map((event, place) => ({ ...event, sequence: head + 1 + place }))
  const [first, last] = [events[0], events.at(-1)]
  if (!first || !last) return 0
  later(trx, numbering(), {
    ids: events.map(({ id }) => id),
    ats: events.map(({ occurredAt }) => occurredAt),
    sequences: events.map(({ sequence }) => sequence),
    first: first.occurredAt,
    last: last.occurredAt,
    newest: last.sequence,
  })
  const features = tenant?.features ?? []
  if (endpoints.length === 0 || !features.includes('webhooks')) return events.length
  const offered = events.filter(({ type }) => {
    const event = eventOf(type)
    return event !== undefined && isOffered(event, features)
  })
  const written = writeDeliveries(trx, { events: offered, endpoints })
  for (const [endpointId, count] of written) if (count > 0) askForSender(trx, endpointId, count)
  return events.length
}
