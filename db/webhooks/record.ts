import { webhookLimits as limits } from '../../config/limits.ts'
import { nextWait } from '../jobs/index.ts'
import { later, preparedOne, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { isSuccess, judgeFailure, noteFailure, noteSuccess } from './health.ts'
import type { Answer } from './health.ts'
import { inMonths, monthsOf } from './months.ts'
import type { Delivery, Sending } from './send.ts'

/** Holds an endpoint, as the writers of its deliveries do: before its health and its deliveries. */
export const holdEndpoint = (trx: Trx, endpointId: string): void =>
  later(trx, `select id from webhook_endpoint where id = ? for no key update`, [endpointId])

const waitAfter = (attempts: number, answer: Answer): number | null => {
  const wait = nextWait('webhook', attempts, {
    atLeastMs: Math.min(answer.retryAfterMs ?? 0, limits.longestRetryAfterMs),
  })
  return wait.tier === 'end' ? null : wait.ms
}

type Sent = { delivery: Delivery; answer: Answer }

/** Writes successes: each delivery with its attempt, in one statement. */
const recordSuccesses = (trx: Trx, sent: readonly Sent[]): void =>
  later(
    trx,
    `with answered as (
       select * from unnest(:ids::uuid[], :eventAts::timestamptz[], :ats::timestamptz[], :durations::int[], :statuses::int[], :excerpts::text[])
         as answered (id, event_at, at, duration_ms, http_status, excerpt)),
     changed as (
       update webhook_delivery d set last_number = last_number + 1, last_attempt_at = a.at, sending_until = null,
         attempts = case when status = 'pending' then attempts + 1 else attempts end,
         status = case when status in ('pending', 'dropped') then 'delivered' else status end,
         delivered_at = case when status in ('pending', 'dropped') then a.at else delivered_at end
       from answered a where d.id = a.id and d.event_at = a.event_at and ${inMonths()} returning d.id, d.event_at, d.last_number)
     insert into webhook_attempt (webhook_delivery_id, event_at, number, at, duration_ms, http_status, excerpt)
     select a.id, a.event_at, c.last_number, a.at, a.duration_ms, a.http_status, a.excerpt
     from answered a join changed c on c.id = a.id and c.event_at = a.event_at`,
    {
      ids: sent.map(({ delivery }) => delivery.deliveryId),
      ...monthsOf(sent.map(({ delivery }) => delivery)),
      ats: sent.map(({ answer }) => answer.at),
      durations: sent.map(({ answer }) => Math.max(0, Math.round(answer.durationMs))),
      statuses: sent.map(({ answer }) => answer.httpStatus),
      excerpts: sent.map(({ answer }) => answer.excerpt),
    },
  )

const recordFailure = async (trx: Trx, { delivery: { deliveryId, eventAt }, answer }: Sent): Promise<void> => {
  const delivery = await preparedOne<{ status: string; attempts: number; lastNumber: number }>(
    trx,
    `update webhook_delivery set last_number = last_number + 1, last_attempt_at = :at, sending_until = null,
       attempts = case when status = 'pending' then attempts + 1 else attempts end
     where id = :deliveryId and event_at = :eventAt returning status, attempts, last_number`,
    { deliveryId, eventAt, at: answer.at },
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
  if (delivery.status !== 'pending') return
  const ms = waitAfter(delivery.attempts, answer)
  await sql(
    trx,
    `update webhook_delivery set status = case when :isOver::boolean then 'dead' else 'pending' end,
       due_at = clock_timestamp() + make_interval(secs => :ms / 1000.0)
     where id = :deliveryId and event_at = :eventAt`,
    { deliveryId, eventAt, isOver: ms === null, ms: ms ?? 0 },
  )
}

/** Puts back deliveries that were taken and not sent. */
const putBack = (trx: Trx, unsent: readonly Delivery[]): void =>
  later(
    trx,
    `update webhook_delivery d set sending_until = null
     from unnest(:ids::uuid[], :eventAts::timestamptz[]) as unsent (id, event_at)
     where d.id = unsent.id and d.event_at = unsent.event_at and ${inMonths()}`,
    { ids: unsent.map(({ deliveryId }) => deliveryId), ...monthsOf(unsent) },
  )

/**
 * Writes what became of a turn: attempts, deliveries and the health of the endpoint. Of the requests at most the last one failed; deliveries without an
 * answer are due again at once.
 */
export const recordAnswers = async (
  trx: Trx,
  endpointId: string,
  { deliveries }: Sending,
  answers: readonly Answer[],
): Promise<void> => {
  const sent = deliveries.flatMap((delivery, place) => {
    const answer = answers[place]
    return answer ? [{ delivery, answer }] : []
  })
  const failed = sent.find(({ answer }) => !isSuccess(answer))
  const succeeded = sent.filter((each) => each !== failed)
  const unsent = deliveries.slice(sent.length)
  // The endpoint before its deliveries, as its commands do; one that may be paused is held for that. The health is written before the
  // deliveries: one that pauses has it in hand while it waits for them.
  if (failed) holdEndpoint(trx, endpointId)
  const last = succeeded.at(-1)
  if (last) noteSuccess(trx, endpointId, last.answer)
  const health = failed ? await noteFailure(trx, endpointId, failed.answer) : null
  if (succeeded.length > 0) recordSuccesses(trx, succeeded)
  if (unsent.length > 0) putBack(trx, unsent)
  if (!failed) return
  await recordFailure(trx, failed)
  await judgeFailure(trx, endpointId, failed.answer, health)
}
