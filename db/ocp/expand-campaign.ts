import { campaignCompleted, messageCancelled, messageQueued } from '../../config/events/ocp.ts'
import { messagesDeliver } from '../../jobs/ocp.ts'
import { audit } from '../lib/audit.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueueAll } from '../lib/enqueue.ts'
import { emitAll } from '../lib/events.ts'
import { hasFeature } from '../lib/features.ts'
import type { RowOf } from '../lib/models.ts'
import type { MessageRow } from '../rows.ts'
import { standsOnSent } from './attempts.ts'
import { countAudience, nextAudience } from './audience.ts'
import { cancelCampaign, mostRecipients, tellCampaign } from './campaigns.ts'
import { factsOf, gateOfNext } from './queue.ts'
import type { PlanStep } from './rules/plan.ts'
import type { Segment } from './rules/segment.ts'

type Row = RowOf<'campaign', { segment: Segment; plan: PlanStep[]; excluded: Record<string, number> }>

const atOnce = 500
/** Beyond so many messages that wait, no more are made. */
const mostWaiting = 1_000
const days = 3

const lockCampaign = (trx: Trx, id: string): Promise<Row | null> =>
  sqlOne<Row>(trx, `select * from campaign where id = ? for no key update`, [id])

const make = async (trx: Trx, row: Row, guestIds: readonly string[]): Promise<void> => {
  const made = await sql<{ id: string }>(
    trx,
    `insert into message (origin, property_id, guest_id, campaign_id, template_id, template_number, purpose, urgency, plan, status, dedupe_key,
       scheduled_for, expires_at, created_by)
     select 'campaign', :propertyId, g.id, :campaignId, :templateId, :templateNumber, 'marketing', 'normal', :plan::jsonb, 'queued',
       'camp:' || :campaignId || ':' || g.id, clock_timestamp(), clock_timestamp() + make_interval(days => ${days}), :launchedBy
     from unnest(:guestIds::uuid[]) as g (id)
     on conflict (tenant_id, dedupe_key) do nothing returning id`,
    {
      propertyId: row.propertyId,
      campaignId: row.id,
      templateId: row.templateId,
      templateNumber: row.templateNumber,
      plan: JSON.stringify(row.plan),
      launchedBy: row.launchedBy,
      guestIds,
    },
  )
  const ids = made.map(({ id }) => id)
  const { tenantId } = contextOf(trx)
  await enqueueAll(
    trx,
    messagesDeliver,
    ids.map((messageId) => ({ tenantId: tenantId ?? '', messageId, turn: 0 })),
    { class: 'bulk', gate: ids[0] ? await gateOfNext(trx, ids[0]) : '' },
  )
  await emitAll(trx, messageQueued, await factsOf(trx, 'queued', ids))
}

/** Counts the audience of a scheduled campaign anew when its time has come; one that has grown beyond the limit meanwhile is cancelled. */
const isStillWithin = async (trx: Trx, { id, propertyId, segment, plan }: Row): Promise<boolean> => {
  const { audience, excluded } = await countAudience(trx, propertyId, segment, plan)
  await sql(trx, `update campaign set audience = ?, excluded = ?::jsonb where id = ?`, [
    audience,
    JSON.stringify(excluded),
    id,
  ])
  if (audience <= mostRecipients) return true
  await audit(trx, { action: 'campaign.cancel', subjectType: 'Campaign', subjectId: id, reason: 'audience_too_large' })
  await cancelCampaign(trx, id)
  return false
}

/**
 * Makes the next messages of a campaign: each guest has one, whatever is repeated, since the cursor moves in the transaction that makes them. `wait` while
 * enough of them wait to leave.
 */
export const expandCampaign = async (trx: Trx, id: string): Promise<'more' | 'wait' | 'done'> => {
  const row = await lockCampaign(trx, id)
  if (!row || (row.status !== 'running' && row.status !== 'scheduled')) return 'done'
  if (!(await hasFeature(trx, 'ocp'))) {
    // Nobody may send or cancel by now: it ends, rather than going on by itself in a month.
    await cancelCampaign(trx, id)
    return 'done'
  }
  if (row.status === 'scheduled' && !(await isStillWithin(trx, row))) return 'done'
  const waiting = await sqlOne<{ count: number }>(
    trx,
    `select count(*) as count from message where campaign_id = ? and status in ('queued', 'scheduled')`,
    [id],
  )
  if ((waiting?.count ?? 0) > mostWaiting - atOnce) return 'wait'
  const guestIds = await nextAudience(trx, row.propertyId, row.segment, row.plan, { after: row.cursor, limit: atOnce })
  await make(trx, row, guestIds)
  const isLast = guestIds.length < atOnce
  await sql(
    trx,
    `update campaign set status = ?, cursor = coalesce(?::uuid, cursor), expanded_at = case when ? then clock_timestamp() end,
       ended_at = case when ? then clock_timestamp() end, version = version + 1 where id = ?`,
    [isLast ? 'completed' : 'running', guestIds.at(-1) ?? null, isLast, isLast, id],
  )
  if (!isLast) return 'more'
  await tellCampaign(trx, campaignCompleted, id)
  return 'done'
}

/** Cancels some unsent messages of a cancelled campaign; one that waits for its next channel stands on what was sent. False when none is left. */
export const stopCampaign = async (trx: Trx, id: string): Promise<boolean> => {
  const row = await sqlOne<{ status: string }>(trx, `select status from campaign where id = ?`, [id])
  if (row?.status !== 'cancelled') return false
  const waiting = await sql<MessageRow>(
    trx,
    `select * from message where campaign_id = ? and status in ('scheduled', 'queued') order by id limit ? for no key update`,
    [id, atOnce],
  )
  const ids: string[] = []
  for (const message of waiting) if (!(await standsOnSent(trx, message))) ids.push(message.id)
  await sql(
    trx,
    `update message set status = 'cancelled', reason = 'campaign_cancelled', turn = turn + 1, version = version + 1 where id = any(?::uuid[])`,
    [ids],
  )
  await emitAll(trx, messageCancelled, await factsOf(trx, 'cancelled', ids, 'campaign_cancelled'))
  return waiting.length === atOnce
}
