import { webhookLimits as limits } from '../../config/limits.ts'
import { deliverEvents } from '../../jobs/webhooks.ts'
import { contextOf, later, prepared, preparedOne, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { nextWait } from '../jobs/index.ts'
import type { WebhookEndpointRow } from '../rows.ts'
import { eventOfDelivery } from './deliveries.ts'
import { secretsOf } from './endpoints.ts'
import { isRecent } from './feed.ts'
import { isSuccess, judgeFailure, noteFailure, noteSuccess } from './health.ts'
import type { Answer } from './health.ts'
import { bodyOf } from './rules/body.ts'
import { eventOf, isOffered } from './rules/types.ts'

/** One request to an endpoint, to be signed and sent. */
export type Call = { id: string; url: string; body: string; secrets: string[] }

export type Sending = {
  deliveryId: string
  eventAt: Date
  call: Call
  /** Nothing else was due as it was taken: its answer is likely to be the last thing that its sender writes. */
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
 * Takes a slot for a sender: at most 2 of an endpoint, 4 of a tenant and 20 of a host over all tenants send at once. `full` where none is
 * free; `over` where nothing is sent to this endpoint any more. `slotId` is the sender's own: it takes its slot again after a crash.
 */
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
  const host = hostOf(endpoint.url)
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
  if (isFull) return 'full'
  later(
    trx,
    `insert into webhook_slot (id, webhook_endpoint_id, host, until) values (?, ?, ?, clock_timestamp() + make_interval(secs => ?))`,
    [slotId, endpointId, host, limits.leaseSeconds],
  )
  return 'taken'
}

type Due = { id: string; eventId: string; eventAt: Date; type: string }

const isDueNow = `webhook_endpoint_id = :endpointId and status = 'pending' and due_at <= clock_timestamp()
  and (sending_until is null or sending_until < clock_timestamp()) and ${isRecent('event_at')}`

const oldestDue = (replayed: boolean) => `
  with due as (
    select id, event_id, event_at, type from webhook_delivery where ${isDueNow} and replay_id is ${replayed ? 'not ' : ''}null
    order by due_at, sequence limit 1 for update skip locked)
  update webhook_delivery d set sending_until = clock_timestamp() + make_interval(secs => :leaseSeconds)
  from due where d.id = due.id and d.event_at = due.event_at
  returning d.id, d.event_id, d.event_at, d.type`
const oldestLive = oldestDue(false)
const oldestReplayed = oldestDue(true)

/** Replays come second, but for every third request. */
const takeDue = async (trx: Trx, endpointId: string, place: number): Promise<Due | null> => {
  const order = place % 3 === 2 ? [oldestReplayed, oldestLive] : [oldestLive, oldestReplayed]
  for (const text of order) {
    const due = await preparedOne<Due>(trx, text, { endpointId, leaseSeconds: limits.leaseSeconds })
    if (due) return due
  }
  return null
}

const drop = (trx: Trx, { id, eventAt }: Due) =>
  later(trx, `update webhook_delivery set status = 'dropped', sending_until = null where id = ? and event_at = ?`, [
    id,
    eventAt,
  ])

const take = async (trx: Trx, endpoint: Target, place: number): Promise<Sending | null> => {
  for (;;) {
    // One trip: the second statement sees what the first has taken.
    const [due, left] = await Promise.all([takeDue(trx, endpoint.id, place), leftOf(trx, endpoint.id)])
    if (!due) return null
    const declared = eventOf(due.type)
    const event =
      declared && isOffered(declared, endpoint.features) ? await eventOfDelivery(trx, due.eventId, due.eventAt) : null
    if (!event) {
      drop(trx, due)
      continue
    }
    const call = { id: event.id, url: endpoint.url, body: bodyOf(event), secrets: await secretsOf(trx, endpoint) }
    return { deliveryId: due.id, eventAt: due.eventAt, call, isLast: left?.isDue !== true }
  }
}

/** Begins to send to an endpoint: takes a slot and the first delivery that is due, for the time of a lease. */
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
 * Takes the next delivery of an endpoint that is due, for the time of a lease. `place` counts the requests of this start. Null where nothing
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

const waitAfter = (attempts: number, answer: Answer): number | null => {
  const wait = nextWait('webhook', attempts, {
    atLeastMs: Math.min(answer.retryAfterMs ?? 0, limits.longestRetryAfterMs),
  })
  return wait.tier === 'end' ? null : wait.ms
}

/** Writes what became of a request: the attempt, its delivery and the health of the endpoint. */
export const recordAnswer = async (
  trx: Trx,
  endpointId: string,
  { deliveryId, eventAt }: Sending,
  answer: Answer,
): Promise<void> => {
  const isGood = isSuccess(answer)
  // The endpoint before its deliveries, as its commands do; one that may be paused is held for that. The health is written before the
  // delivery: one that pauses has it in hand while it waits for deliveries.
  if (isGood) noteSuccess(trx, endpointId, answer)
  else await sql(trx, `select id from webhook_endpoint where id = ? for no key update`, [endpointId])
  const health = isGood ? null : await noteFailure(trx, endpointId, answer)
  const delivery = await preparedOne<{ status: string; attempts: number; lastNumber: number }>(
    trx,
    `update webhook_delivery set last_number = last_number + 1, last_attempt_at = :at, sending_until = null,
       attempts = case when status = 'pending' then attempts + 1 else attempts end,
       status = case when status in ('pending', 'dropped') and :isGood::boolean then 'delivered' else status end,
       delivered_at = case when status in ('pending', 'dropped') and :isGood::boolean then :at else delivered_at end
     where id = :deliveryId and event_at = :eventAt returning status, attempts, last_number`,
    { deliveryId, eventAt, at: answer.at, isGood },
  )
  if (!delivery) return
  later(
    trx,
    `insert into webhook_attempt (webhook_delivery_id, event_at, number, at, duration_ms, http_status, error, excerpt)
     values (:deliveryId, :eventAt, :number, :at, :durationMs, :httpStatus, :error, :excerpt)`,
    {
      deliveryId,
      eventAt,
      number: delivery.lastNumber,
      at: answer.at,
      durationMs: Math.max(0, Math.round(answer.durationMs)),
      httpStatus: answer.httpStatus,
      error: answer.error,
      excerpt: answer.excerpt,
    },
  )
  if (!isGood && delivery.status === 'pending') {
    const ms = waitAfter(delivery.attempts, answer)
    await sql(
      trx,
      `update webhook_delivery set status = case when :isOver::boolean then 'dead' else 'pending' end,
         due_at = clock_timestamp() + make_interval(secs => :ms / 1000.0)
       where id = :deliveryId and event_at = :eventAt`,
      { deliveryId, eventAt, isOver: ms === null, ms: ms ?? 0 },
    )
  }
  if (!isGood) await judgeFailure(trx, endpointId, answer, health)
}

const bucketMs = 5_000

/** More than senders may have in hand at once, also where some have just died: behind so many of the first ones nothing is due earlier. */
const inHand = 20

const firstOf = (replayed: boolean) => `
  (select due_at, sending_until from webhook_delivery
   where webhook_endpoint_id = :endpointId and status = 'pending' and replay_id is ${replayed ? 'not ' : ''}null and ${isRecent('event_at')}
   order by due_at, sequence limit ${inHand})`

/** When the next delivery of an endpoint is due: a look at the first ones of the index, whatever waits behind them. */
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

/** Holds an endpoint, as the writers of its deliveries do: before its health and its deliveries. */
export const holdEndpoint = async (trx: Trx, endpointId: string): Promise<void> => {
  await isActive(trx, endpointId, 'for no key update')
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
