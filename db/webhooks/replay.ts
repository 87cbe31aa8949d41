import { randomUUID } from 'node:crypto'
import { boundTenant } from '../lib/bound-tenant.ts'
import { conflict, notFound, unprocessable } from '../../config/errors.ts'
import { webhookLimits } from '../../config/limits.ts'
import { replayEvents } from '../../jobs/webhooks.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import type { WebhookEndpointRow, WebhookReplayRow } from '../rows.ts'
import { headOf } from './feed.ts'
import { isRecent } from './months.ts'
import { askForSender, writeReplayed } from './sequence.ts'
import { matchesAny, typesChosen } from './rules/types.ts'

export type ReplayAsked = {
  fromSequence?: number | undefined
  toSequence?: number | undefined
  from?: string | undefined
  to?: string | undefined
  types?: string[] | undefined
  /** True for the events that an endpoint missed while it was paused. Events that are not kept any more are passed over. */
  isMissed?: boolean
}

const boundOf = async (trx: Trx, at: string, side: '>=' | '<='): Promise<number | null> => {
  const row = await sqlOne<{ sequence: number }>(
    trx,
    `select ${side === '>=' ? 'min' : 'max'}(sequence) as sequence from event
     where sequence is not null and occurred_at ${side} ?::timestamptz and ${isRecent('occurred_at')}`,
    [at],
  )
  return row?.sequence ?? null
}

const featuresOf = async (trx: Trx): Promise<string[]> =>
  (
    await sqlOne<{ features: string[] }>(
      trx,
      `select active_features(id) as features from tenant where id = ${boundTenant}`,
    )
  )?.features ?? []

const endpointOf = async (trx: Trx, id: string) => {
  const row = await sqlOne<Pick<WebhookEndpointRow, 'id' | 'types' | 'subjects' | 'propertyIds' | 'status'>>(
    trx,
    `select id, types, subjects, property_ids, status from webhook_endpoint where id = ? for no key update`,
    [id],
  )
  if (!row) throw notFound()
  return row
}

/** Types that a replay sends: those of the endpoint, and of these the ones that were asked for. */
const typesOf = async (
  trx: Trx,
  endpoint: Pick<WebhookEndpointRow, 'types' | 'subjects'>,
  wanted: readonly string[] | null,
): Promise<string[]> => {
  const own = typesChosen(endpoint, await featuresOf(trx))
  return wanted === null ? own : own.filter((type) => matchesAny(wanted, type))
}

const within = () => `sequence between :from::bigint and :to::bigint and type = any(:types::text[])
  and (property_id is null or :all::boolean or property_id = any(:propertyIds::uuid[])) and ${isRecent('occurred_at')}`

/**
 * Begins to send past events of a span to an endpoint again. Answers its id and how many there are. 422 `endpoint_not_active`, `event_expired` and
 * `replay_too_large`; 409 `replay_running`.
 */
export const beginReplay = async (
  trx: Trx,
  endpointId: string,
  asked: ReplayAsked,
): Promise<{ replayId: string; events: number }> => {
  const endpoint = await endpointOf(trx, endpointId)
  if (endpoint.status !== 'active') throw unprocessable('endpoint_not_active', 'Resume the endpoint first')
  const { last, oldest } = await headOf(trx)
  const wantedFrom =
    asked.fromSequence ?? (asked.from === undefined ? oldest : ((await boundOf(trx, asked.from, '>=')) ?? last + 1))
  if (wantedFrom < oldest && !asked.isMissed)
    throw unprocessable('event_expired', `Events before ${oldest} are not kept any more`, [
      { field: 'fromSequence', message: `must be ${oldest} or more` },
    ])
  const from = Math.max(wantedFrom, oldest)
  const wantedTo = asked.toSequence ?? (asked.to === undefined ? last : ((await boundOf(trx, asked.to, '<=')) ?? 0))
  const to = Math.max(from - 1, Math.min(wantedTo, last))
  const span = {
    from,
    to,
    types: await typesOf(trx, endpoint, asked.types ?? null),
    all: endpoint.propertyIds.length === 0,
    propertyIds: endpoint.propertyIds,
  }
  const counted = await sqlOne<{ count: number }>(
    trx,
    `select count(*) as count from (select from event where ${within()} limit ${webhookLimits.mostReplayed + 1}) as found`,
    span,
  )
  const events = counted?.count ?? 0
  if (events > webhookLimits.mostReplayed)
    throw unprocessable(
      'replay_too_large',
      `A replay sends at most ${webhookLimits.mostReplayed} events; choose a smaller span`,
    )
  const replayId = randomUUID()
  const { tenantId, actor } = contextOf(trx)
  const made = await sql(
    trx,
    `insert into webhook_replay (id, webhook_endpoint_id, from_sequence, to_sequence, types, cursor, status, events, is_missed, created_by)
     values (:replayId, :endpointId, :from, :to, :types, :from::bigint - 1, :status, :events, :isMissed, :by)
     on conflict (tenant_id, webhook_endpoint_id) where status = 'running' do nothing returning id`,
    {
      replayId,
      endpointId,
      from,
      to,
      types: asked.types ?? null,
      status: events === 0 ? 'done' : 'running',
      events,
      isMissed: asked.isMissed ?? false,
      by: actor.type === 'user' ? actor.id : null,
    },
  )
  if (made.length === 0) throw conflict('replay_running', 'A replay to this endpoint is under way; wait for its end')
  if (events > 0) await enqueue(trx, replayEvents, { tenantId: tenantId ?? '', webhookReplayId: replayId })
  return { replayId, events }
}

const replayedAtOnce = 500

/** Writes the next deliveries of a replay. Answers whether there are more. */
export const stepReplay = async (trx: Trx, replayId: string): Promise<boolean> => {
  const seen = await sqlOne<Pick<WebhookReplayRow, 'webhookEndpointId'>>(
    trx,
    `select webhook_endpoint_id from webhook_replay where id = ? and status = 'running'`,
    [replayId],
  )
  if (!seen) return false
  // The endpoint before its replay, as its commands do. One that was deleted has cancelled it.
  const endpoint = await endpointOf(trx, seen.webhookEndpointId).catch(() => null)
  const replay = await sqlOne<WebhookReplayRow>(
    trx,
    `select * from webhook_replay where id = ? and status = 'running' for no key update`,
    [replayId],
  )
  if (!endpoint || !replay) return false
  const types = await typesOf(trx, endpoint, replay.types)
  const events = await sql<{ id: string; sequence: number; type: string; propertyId: string | null; occurredAt: Date }>(
    trx,
    `select id, sequence, type, property_id, occurred_at from event where ${within()} order by sequence limit ${replayedAtOnce}`,
    {
      from: replay.cursor + 1,
      to: replay.toSequence,
      types,
      all: endpoint.propertyIds.length === 0,
      propertyIds: endpoint.propertyIds,
    },
  )
  if (events.length > 0) {
    writeReplayed(trx, endpoint, replayId, events)
    askForSender(trx, endpoint.id, events.length)
  }
  const hasMore = events.length === replayedAtOnce
  await sql(trx, `update webhook_replay set cursor = ?, status = ? where id = ?`, [
    hasMore ? (events.at(-1)?.sequence ?? replay.toSequence) : replay.toSequence,
    hasMore ? 'running' : 'done',
    replayId,
  ])
  return hasMore
}
