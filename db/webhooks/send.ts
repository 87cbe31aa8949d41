import { webhookLimits as limits } from '../../config/limits.ts'
import { deliverEvents } from '../../jobs/webhooks.ts'
import { contextOf, later, prepared, preparedOne, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import type { WebhookEndpointRow } from '../rows.ts'
import { eventOfDelivery } from './deliveries.ts'
import { secretsOf } from './endpoints/secrets.ts'
import { isRecent } from './feed.ts'
import { bodyOf } from './rules/body.ts'
import { eventOf, isOffered } from './rules/types.ts'

/** One request to an endpoint, to be signed and sent. */
export type Call = { id: string; url: string; body: string; secrets: string[] }

export type Delivery = { deliveryId: string; eventAt: Date; call: Call }

export type Sending = {
  /** 1 to `takenAtOnce`, in the order to send them. */
  deliveries: [Delivery, ...Delivery[]]
  /** Nothing else was due as they were taken: their answers are likely to be the last thing that their sender writes. */
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

/**
 * Takes a slot for requests to an endpoint: at most 2 of an endpoint, 4 of a tenant and 20 of a host over all tenants are under way at once. False where
 * none is free. `slotId` is the sender's own: it takes its slot again after a crash.
 */
export const takeSlot = async (trx: Trx, endpoint: Pick<Target, 'id' | 'url'>, slotId: string): Promise<boolean> => {
  const endpointId = endpoint.id
  const host = hostOf(endpoint.url)
  const { tenantId } = contextOf(trx)
  // One after the other of a tenant, and of a host: what others take is counted once it is committed.
  await prepared(trx, `select pg_advisory_xact_lock(hashtextextended('webhook tenant ' || ?, 0))`, [tenantId])
  await prepared(trx, `select pg_advisory_xact_lock(hashtextextended('webhook host ' || ?, 0))`, [host])
  later(trx, `delete from webhook_slot where until <= clock_timestamp() or id = ?`, [slotId])
  const taken = await preparedOne<{ ofTenant: number; ofEndpoint: number; ofHost: number }>(
    trx,
    `select count(*)::int as of_tenant, (count(*) filter (where webhook_endpoint_id = ?))::int as of_endpoint,
       (select slots from webhook_slots_taken(?)) as of_host from webhook_slot`,
    [endpointId, host],
  )
  const isFull =
    !taken ||
    taken.ofEndpoint >= limits.atOncePerEndpoint ||
    taken.ofTenant >= limits.atOncePerTenant ||
    taken.ofHost >= limits.atOncePerHost
  if (isFull) return false
  later(
    trx,
    `insert into webhook_slot (id, webhook_endpoint_id, host, until) values (?, ?, ?, clock_timestamp() + make_interval(secs => ?))`,
    [slotId, endpointId, host, limits.leaseSeconds],
  )
  return true
}

/** Takes a slot for deliveries. `full` where none is free; `over` where nothing is sent to this endpoint any more. */
const takeSlotOf = async (trx: Trx, endpoint: Target, slotId: string): Promise<'taken' | 'full' | 'over'> => {
  const endpointId = endpoint.id
  if (endpoint.status !== 'active') return 'over'
  if (!endpoint.features.includes('webhooks')) {
    await sql(trx, `select id from webhook_endpoint where id = ? for no key update`, [endpointId])
    await sql(
      trx,
      `update webhook_delivery set status = 'dropped', sending_until = null where webhook_endpoint_id = ? and status = 'pending'`,
      [endpointId],
    )
    return 'over'
  }
  return (await takeSlot(trx, endpoint, slotId)) ? 'taken' : 'full'
}

type Due = { id: string; eventId: string; eventAt: Date; type: string; dueAt: Date; sequence: string }

const isDueNow = `webhook_endpoint_id = :endpointId and status = 'pending' and due_at <= clock_timestamp()
  and (sending_until is null or sending_until < clock_timestamp()) and ${isRecent('event_at')}`

const oldestDue = (replayed: boolean) => `
  with due as (
    select id, event_id, event_at, type from webhook_delivery where ${isDueNow} and replay_id is ${replayed ? 'not ' : ''}null
    order by due_at, sequence limit ${limits.takenAtOnce} for update skip locked)
  update webhook_delivery d set sending_until = clock_timestamp() + make_interval(secs => :leaseSeconds)
  from due where d.id = due.id and d.event_at = due.event_at
  returning d.id, d.event_id, d.event_at, d.type, d.due_at, d.sequence`
const oldestLive = oldestDue(false)
const oldestReplayed = oldestDue(true)

const inOrder = (a: Due, b: Due) =>
  a.dueAt.getTime() - b.dueAt.getTime() || Number(BigInt(a.sequence) - BigInt(b.sequence))

/** Replays come second, but for every third turn. */
const takeDue = async (trx: Trx, endpointId: string, place: number): Promise<Due[]> => {
  const order = place % 3 === 2 ? [oldestReplayed, oldestLive] : [oldestLive, oldestReplayed]
  for (const text of order) {
    const due = await prepared<Due>(trx, text, { endpointId, leaseSeconds: limits.leaseSeconds })
    if (due.length > 0) return due.toSorted(inOrder)
  }
  return []
}

const drop = (trx: Trx, { id, eventAt }: Due) =>
  later(trx, `update webhook_delivery set status = 'dropped', sending_until = null where id = ? and event_at = ?`, [
    id,
    eventAt,
  ])

/** A delivery with its request; null, and dropped, where its event is not told any more. */
const toSend = async (trx: Trx, { url, features }: Target, secrets: string[], due: Due): Promise<Delivery | null> => {
  const declared = eventOf(due.type)
  const event = declared && isOffered(declared, features) ? await eventOfDelivery(trx, due.eventId, due.eventAt) : null
  if (event)
    return { deliveryId: due.id, eventAt: due.eventAt, call: { id: event.id, url, body: bodyOf(event), secrets } }
  drop(trx, due)
  return null
}

const take = async (trx: Trx, endpoint: Target, place: number): Promise<Sending | null> => {
  for (;;) {
    // One trip: the second statement sees what the first has taken.
    const [due, left] = await Promise.all([takeDue(trx, endpoint.id, place), leftOf(trx, endpoint.id)])
    if (due.length === 0) return null
    const secrets = await secretsOf(trx, endpoint)
    const found = await Promise.all(due.map((each) => toSend(trx, endpoint, secrets, each)))
    const [first, ...others] = found.filter((each) => each !== null)
    if (first) return { deliveries: [first, ...others], isLast: left?.isDue !== true }
  }
}

/** Begins to send to an endpoint: takes a slot and the first deliveries that are due, for the time of a lease. */
export const beginSending = async (
  trx: Trx,
  endpointId: string,
  slotId: string,
): Promise<Sending | null | 'full' | 'over'> => {
  const endpoint = await targetOf(trx, endpointId)
  if (!endpoint) return 'over'
  const slot = await takeSlotOf(trx, endpoint, slotId)
  return slot === 'taken' ? take(trx, endpoint, 0) : slot
}

/**
 * Takes the next deliveries of an endpoint that are due, for the time of a lease. `place` counts the turns of this start. Null where nothing
 * is due, or nothing is sent any more.
 */
export const nextSending = async (
  trx: Trx,
  endpointId: string,
  { slotId, place }: { slotId: string; place: number },
): Promise<Sending | null> => {
  const endpoint = await targetOf(trx, endpointId)
  if (endpoint?.status !== 'active' || !endpoint.features.includes('webhooks')) return null
  later(trx, `update webhook_slot set until = clock_timestamp() + make_interval(secs => ?) where id = ?`, [
    limits.leaseSeconds,
    slotId,
  ])
  return take(trx, endpoint, place)
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
  return !(await isActive(trx, endpointId)) || (await leftOf(trx, endpointId))?.isDue !== true
}

/**
 * Ends a sender, and has another one come when the next delivery is due. False where one is due by now: the sender goes on, and nothing is written.
 * Writers of deliveries hold the endpoint as this does, so that none is passed over.
 */
export const endSending = async (trx: Trx, endpointId: string): Promise<boolean> => {
  if (!(await isActive(trx, endpointId, 'for no key update'))) return true
  const left = await leftOf(trx, endpointId)
  if (left?.isDue) return false
  if (left?.dueAt) {
    const at = new Date(Math.ceil((left.dueAt.getTime() + 1) / bucketMs) * bucketMs)
    await enqueue(
      trx,
      deliverEvents,
      { tenantId: contextOf(trx).tenantId ?? '', webhookEndpointId: endpointId },
      { at, uniqueKey: `${endpointId} ${at.toISOString()}`, gate: `webhook:${endpointId}` },
    )
  }
  return true
}
