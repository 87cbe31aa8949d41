import { endpointGate } from './gate.ts'
import { webhookLimits as limits } from '../../config/limits.ts'
import { deliverEvents } from '../../jobs/webhooks.ts'
import { contextOf, later, prepared, preparedOne, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueueOnce } from '../lib/enqueue.ts'
import type { WebhookEndpointRow } from '../rows.ts'
import { secretsOf } from './endpoints/secrets.ts'
import { eventColumns } from './feed.ts'
import { inMonths, isRecent, monthsOf } from './months.ts'
import { bodyOf } from './rules/body.ts'
import type { StoredEvent } from './rules/body.ts'
import { eventOf, isOffered } from './rules/types.ts'

/** One request to an endpoint, to be signed and sent. */
export type Call = { id: string; url: string; body: string; secrets: string[] }

export type Delivery = { deliveryId: string; eventAt: Date; call: Call }

export type Sending = {
  /** 1 to `takenAtOnce`, in the order to send them. */
  deliveries: [Delivery, ...Delivery[]]
  /** Fewer were due than are taken at once: their answers are likely to be the last thing that their sender writes. */
  isLast: boolean
}

type Target = Pick<WebhookEndpointRow, 'id' | 'url' | 'status' | 'secret' | 'previousSecret' | 'previousUntil'> & {
  features: string[]
}

const targetOf = (trx: Trx, id: string): Promise<Target | null> =>
  preparedOne<Target>(
    trx,
    `select e.id, e.url, e.status, e.secret, e.previous_secret, e.previous_until, active_features(e.tenant_id) as features
     from webhook_endpoint e where e.id = ?`,
    [id],
  )

const hostOf = (url: string): string => new URL(url).hostname

const insertSlot = `
  insert into webhook_slot (id, webhook_endpoint_id, host, until)
  select :slotId, :endpointId, :host, clock_timestamp() + make_interval(secs => :leaseSeconds)
  from (select count(*) as of_tenant, count(*) filter (where webhook_endpoint_id = :endpointId) as of_endpoint from webhook_slot) as taken
  where of_endpoint < :ofEndpoint::int and of_tenant < :ofTenant::int and (select slots from webhook_slots_taken(:host)) < :ofHost::int
  returning id`

/**
 * Takes a slot for requests to an endpoint: at most 2 of an endpoint, 4 of a tenant and 20 of a host over all tenants are under way at once. False where
 * none is free. `slotId` is the sender's own: it takes its slot again after a crash. Statements that are asked for in the same turn see it.
 */
export const takeSlot = async (trx: Trx, endpoint: Pick<Target, 'id' | 'url'>, slotId: string): Promise<boolean> => {
  const host = hostOf(endpoint.url)
  const { tenantId } = contextOf(trx)
  // One after the other of a tenant, and of a host: what others take is counted once it is committed.
  later(trx, `select pg_advisory_xact_lock(hashtextextended('webhook tenant ' || ?, 0))`, [tenantId])
  later(trx, `select pg_advisory_xact_lock(hashtextextended('webhook host ' || ?, 0))`, [host])
  later(trx, `delete from webhook_slot where until <= clock_timestamp() or id = ?`, [slotId])
  const taken = await prepared(trx, insertSlot, {
    slotId,
    endpointId: endpoint.id,
    host,
    leaseSeconds: limits.leaseSeconds,
    ofEndpoint: limits.atOncePerEndpoint,
    ofTenant: limits.atOncePerTenant,
    ofHost: limits.atOncePerHost,
  })
  return taken.length > 0
}

/** Tells whether anything is sent to an endpoint. Drops what waits where its tenant has no webhooks. */
const isSentTo = async (trx: Trx, endpoint: Target): Promise<boolean> => {
  const endpointId = endpoint.id
  if (endpoint.status !== 'active') return false
  if (endpoint.features.includes('webhooks')) return true
  await sql(trx, `select id from webhook_endpoint where id = ? for no key update`, [endpointId])
  await sql(
    trx,
    `update webhook_delivery set status = 'dropped', sending_until = null where webhook_endpoint_id = ? and status = 'pending'`,
    [endpointId],
  )
  return false
}

/** A delivery that was taken, with its event; `id` is null where that is not kept any more. */
type Due = Omit<StoredEvent, 'id'> & {
  id: string | null
  deliveryId: string
  eventAt: Date
  told: string
  dueAt: Date
  place: number
}

const isDueNow = () => `webhook_endpoint_id = :endpointId and status = 'pending' and due_at <= clock_timestamp()
  and (sending_until is null or sending_until < clock_timestamp()) and ${isRecent('event_at')}`

// Each event is found by its key: a plan made for small tables would read every month.
const oldestDue = (replayed: boolean) => `
  with due as (
    select id as delivery_id, event_id, event_at, type as told, due_at, sequence as place from webhook_delivery
    where ${isDueNow()} and replay_id is ${replayed ? 'not ' : ''}null and exists (select from webhook_slot where id = :slotId)
    order by due_at, sequence limit ${limits.takenAtOnce} for update skip locked)
  select due.delivery_id, due.event_at, due.told, due.due_at, due.place, e.*
  from due left join lateral (
    select ${eventColumns} from event
    where id = due.event_id and occurred_at >= due.event_at and occurred_at < due.event_at + interval '1 millisecond' and ${isRecent('occurred_at')} limit 1) as e on true
  order by due.due_at, due.place`

/** A sender's own slot, and the turns of this start so far. */
type Place = { slotId: string; place: number }

/** Takes nothing without a slot. Replays come second, but for every third turn. */
const takeDue = async (trx: Trx, endpointId: string, { slotId, place }: Place): Promise<Due[]> => {
  const order = place % 3 === 2 ? [true, false] : [false, true]
  for (const replayed of order) {
    const due = await prepared<Due>(trx, oldestDue(replayed), { endpointId, slotId })
    if (due.length === 0) continue
    later(
      trx,
      `update webhook_delivery d set sending_until = clock_timestamp() + make_interval(secs => :leaseSeconds)
       from unnest(:ids::uuid[], :eventAts::timestamptz[]) as taken (id, event_at)
       where d.id = taken.id and d.event_at = taken.event_at and ${inMonths()}`,
      { ids: due.map(({ deliveryId }) => deliveryId), ...monthsOf(due), leaseSeconds: limits.leaseSeconds },
    )
    return due
  }
  return []
}

const drop = (trx: Trx, { deliveryId, eventAt }: Due) =>
  later(trx, `update webhook_delivery set status = 'dropped', sending_until = null where id = ? and event_at = ?`, [
    deliveryId,
    eventAt,
  ])

/** A delivery with its request; null, and dropped, where its event is not told any more. */
const toSend = (trx: Trx, { url, features }: Target, secrets: string[], due: Due): Delivery | null => {
  const { deliveryId, eventAt, told, dueAt: _, place: __, id, ...event } = due
  const declared = eventOf(told)
  if (id !== null && declared && isOffered(declared, features))
    return { deliveryId, eventAt, call: { id, url, body: bodyOf({ ...event, id }), secrets } }
  drop(trx, due)
  return null
}

const take = async (trx: Trx, endpoint: Target, place: Place): Promise<Sending | null> => {
  for (;;) {
    const due = await takeDue(trx, endpoint.id, place)
    if (due.length === 0) return null
    const secrets = await secretsOf(trx, endpoint)
    const [first, ...others] = due.map((each) => toSend(trx, endpoint, secrets, each)).filter((each) => each !== null)
    if (first) return { deliveries: [first, ...others], isLast: due.length < limits.takenAtOnce }
  }
}

/** Begins to send to an endpoint: takes a slot and the first deliveries that are due, for the time of a lease. */
export const beginSending = async (
  trx: Trx,
  endpointId: string,
  slotId: string,
): Promise<Sending | null | 'full' | 'over'> => {
  const endpoint = await targetOf(trx, endpointId)
  if (!endpoint || !(await isSentTo(trx, endpoint))) return 'over'
  const [isTaken, sending] = await Promise.all([
    takeSlot(trx, endpoint, slotId),
    take(trx, endpoint, { slotId, place: 0 }),
  ])
  return isTaken ? sending : 'full'
}

/**
 * Takes the next deliveries of an endpoint that are due, for the time of a lease. `place` counts the turns of this start. Null where nothing
 * is due, or nothing is sent any more.
 */
export const nextSending = async (trx: Trx, endpointId: string, { slotId, place }: Place): Promise<Sending | null> => {
  const endpoint = await targetOf(trx, endpointId)
  if (endpoint?.status !== 'active' || !endpoint.features.includes('webhooks')) return null
  later(trx, `update webhook_slot set until = clock_timestamp() + make_interval(secs => ?) where id = ?`, [
    limits.leaseSeconds,
    slotId,
  ])
  return take(trx, endpoint, { slotId, place })
}

const bucketMs = 5_000

/** More than senders may have in hand at once, also where some have just died: behind so many of the first ones nothing is due earlier. */
const inHand = 6 * limits.takenAtOnce

const firstOf = (replayed: boolean) => `
  (select due_at, sending_until from webhook_delivery
   where webhook_endpoint_id = :endpointId and status = 'pending' and replay_id is ${replayed ? 'not ' : ''}null and ${isRecent('event_at')}
   order by due_at, sequence limit ${inHand})`

/** The moment at which the next delivery of an endpoint is due. Reads the first rows of the index alone. */
const leftOf = (trx: Trx, endpointId: string) =>
  preparedOne<{ dueAt: Date | null; isDue: boolean | null }>(
    trx,
    `select min(greatest(due_at, coalesce(sending_until, due_at))) as due_at,
       bool_or(due_at <= clock_timestamp() and (sending_until is null or sending_until < clock_timestamp())) as is_due
     from (${firstOf(false)} union all ${firstOf(true)}) as first`,
    { endpointId },
  )

const isActive = async (trx: Trx, endpointId: string, lock = ''): Promise<boolean> => {
  const row = await preparedOne<{ status: string }>(trx, `select status from webhook_endpoint where id = ? ${lock}`, [
    endpointId,
  ])
  return row?.status === 'active'
}

/** Frees the slot of a sender. */
export const giveSlot = (trx: Trx, slotId: string): void =>
  later(trx, `delete from webhook_slot where id = ?`, [slotId])

/** Frees the slot of a sender. Answers whether nothing is due to its endpoint now. */
export const freeSlot = async (trx: Trx, endpointId: string, slotId: string): Promise<boolean> => {
  giveSlot(trx, slotId)
  const [isListening, left] = await Promise.all([isActive(trx, endpointId), leftOf(trx, endpointId)])
  return !isListening || left?.isDue !== true
}

/**
 * Ends a sender, and has another one come when the next delivery is due. False where one is due by now: the sender goes on, and nothing is written.
 * Writers of deliveries hold the endpoint as this does, so that none is passed over.
 */
export const endSending = async (trx: Trx, endpointId: string): Promise<boolean> => {
  const [isListening, left] = await Promise.all([
    isActive(trx, endpointId, 'for no key update'),
    leftOf(trx, endpointId),
  ])
  if (!isListening) return true
  if (left?.isDue) return false
  if (left?.dueAt) {
    const at = new Date(Math.ceil((left.dueAt.getTime() + 1) / bucketMs) * bucketMs)
    enqueueOnce(
      trx,
      deliverEvents,
      { tenantId: contextOf(trx).tenantId ?? '', webhookEndpointId: endpointId },
      { at, uniqueKey: `${endpointId} ${at.toISOString()}`, gate: endpointGate(endpointId) },
    )
  }
  return true
}
