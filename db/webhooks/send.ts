import { webhookLimits as limits } from '../../config/limits.ts'
import { deliverEvents } from '../../jobs/webhooks.ts'
import { contextOf, later, prepared, preparedOne, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { nextWait } from '../jobs/index.ts'
import { mailUser } from '../ocp/index.ts'
import type { WebhookEndpointRow } from '../rows.ts'
import { eventOfDelivery } from './deliveries.ts'
import { secretsOf, stopEndpoint } from './endpoints.ts'
import { isRecent } from './feed.ts'
import { bodyOf } from './rules/body.ts'
import { eventOf, isOffered } from './rules/types.ts'

/** One request to an endpoint, to be signed and sent. */
export type Call = { id: string; url: string; body: string; secrets: string[] }

/** The outcome of a request. `error` is null where an answer came, of whatever status. */
export type Answer = {
  at: Date
  durationMs: number
  httpStatus: number | null
  error: 'connect_failed' | 'tls_failed' | 'timeout' | 'redirect' | 'address_refused' | 'too_large' | null
  /** The beginning of the answer, printable. */
  excerpt: string | null
  /** How long the receiver asked to be left alone. */
  retryAfterMs: number | null
}

export type Sending = { deliveryId: string; eventAt: Date; call: Call }

/** Whether an answer is 2xx. */
export const isSuccess = ({ httpStatus, error }: Answer) =>
  error === null && httpStatus !== null && httpStatus >= 200 && httpStatus < 300

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
export const takeSlot = async (trx: Trx, endpointId: string, slotId: string): Promise<'taken' | 'full' | 'over'> => {
  const endpoint = await targetOf(trx, endpointId)
  if (endpoint?.status !== 'active') return 'over'
  if (!endpoint.features.includes('webhooks')) {
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
  for (;;) {
    const due = await takeDue(trx, endpointId, place)
    if (!due) return null
    const declared = eventOf(due.type)
    const event =
      declared && isOffered(declared, endpoint.features) ? await eventOfDelivery(trx, due.eventId, due.eventAt) : null
    if (!event) {
      drop(trx, due)
      continue
    }
    const call = { id: event.id, url: endpoint.url, body: bodyOf(event), secrets: await secretsOf(trx, endpoint) }
    return { deliveryId: due.id, eventAt: due.eventAt, call }
  }
}

/** Tells owner and admins, once for each time that an endpoint fails. */
const warn = async (trx: Trx, endpointId: string, kind: 'failing' | 'paused', since: Date): Promise<void> => {
  const warning = await sqlOne<{ id: string }>(
    trx,
    `insert into webhook_warning (tenant_id, webhook_endpoint_id, host, kind, since)
     select e.tenant_id, e.id, substring(e.url from '^[a-z]+://([^/]+)'), ?, ? from webhook_endpoint e where e.id = ?
     on conflict (tenant_id, webhook_endpoint_id, kind, since) do nothing returning id`,
    [kind, since, endpointId],
  )
  if (!warning) return
  const people = await sql<{ userId: string }>(
    trx,
    `select user_id from membership where status = 'active' and role in ('owner', 'admin') order by user_id`,
  )
  const mail = kind === 'paused' ? 'webhook_paused' : 'webhook_failing'
  for (const { userId } of people) await mailUser(trx, userId, mail, warning.id)
}

/** Writes the health of an endpoint after an answer; an endpoint that is gone, or has failed for long, is paused. */
const judge = async (trx: Trx, endpointId: string, answer: Answer): Promise<void> => {
  if (isSuccess(answer)) {
    later(
      trx,
      `update webhook_health set failures = 0, failing_since = null, warned_at = null, last_success_at = :at, last_status = :status, last_error = null
       where id = :endpointId and (failures > 0 or last_status is distinct from :status::int or last_success_at is null
         or last_success_at < :at::timestamptz - interval '1 second')`,
      { endpointId, at: answer.at, status: answer.httpStatus },
    )
    return
  }
  const health = await preparedOne<{ failures: number; failingSince: Date; isOver: boolean; isLong: boolean }>(
    trx,
    `update webhook_health set failures = failures + 1, failing_since = coalesce(failing_since, :at), last_status = :status, last_error = :error
     where id = :endpointId returning failures, failing_since,
       failing_since <= clock_timestamp() - make_interval(days => :days::int) and failures >= :most::int as is_over,
       failing_since <= clock_timestamp() - make_interval(hours => :hours::int) as is_long`,
    {
      endpointId,
      at: answer.at,
      status: answer.httpStatus,
      error: answer.error,
      days: limits.pausedAfterDays,
      most: limits.pausedAfterFailures,
      hours: limits.warnedAfterHours,
    },
  )
  if (!health) return
  if (answer.httpStatus === 410) return stopEndpoint(trx, endpointId, { cause: 'gone' })
  if (health.isOver) {
    await stopEndpoint(trx, endpointId, { cause: 'failing' })
    return warn(trx, endpointId, 'paused', health.failingSince)
  }
  if (health.isLong) await warn(trx, endpointId, 'failing', health.failingSince)
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
  // The endpoint before its deliveries, as its commands do; one that may be paused is held for that.
  if (!isGood) await sql(trx, `select id from webhook_endpoint where id = ? for no key update`, [endpointId])
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
  await judge(trx, endpointId, answer)
}

const bucketMs = 5_000

const leftOf = (trx: Trx, endpointId: string) =>
  preparedOne<{ dueAt: Date | null; isDue: boolean | null }>(
    trx,
    `select min(greatest(due_at, coalesce(sending_until, due_at))) as due_at, bool_or(${isDueNow}) as is_due from webhook_delivery
     where webhook_endpoint_id = :endpointId and status = 'pending' and ${isRecent('event_at')}`,
    { endpointId },
  )

const isActive = async (trx: Trx, endpointId: string, lock = ''): Promise<boolean> => {
  const row = await preparedOne<{ status: string }>(trx, `select status from webhook_endpoint where id = ? ${lock}`, [
    endpointId,
  ])
  return row?.status === 'active'
}

/** Frees the slot of a sender. Answers whether nothing is due to its endpoint now. */
export const freeSlot = async (trx: Trx, endpointId: string, slotId: string): Promise<boolean> => {
  later(trx, `delete from webhook_slot where id = ?`, [slotId])
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
