import {
  webhookEndpointDeleted,
  webhookEndpointPaused,
  webhookEndpointResumed,
} from '../../../config/events/webhooks.ts'
import { openGate } from '../../jobs/index.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { notFound } from '../../../config/errors.ts'
import { lifecycle } from '../../lib/lifecycle.ts'
import { holdHead } from '../feed.ts'
import { endpointGate } from '../gate.ts'
import { beginReplay } from '../replay.ts'
import { readEndpoint } from './read.ts'
import type { EndpointRecord } from './read.ts'
import { tell, userOf } from './tell.ts'

export const endpointLifecycle = lifecycle<'active' | 'paused'>('A webhook endpoint')({
  paused: { from: ['active'], to: 'paused' },
  resumed: { from: ['paused'], to: 'active' },
})

/** Ends what waits for an endpoint: its deliveries are dropped, its replay is cancelled. */
const dropPending = async (trx: Trx, id: string): Promise<void> => {
  await sql(
    trx,
    `update webhook_delivery set status = 'dropped', sending_until = null where webhook_endpoint_id = ? and status = 'pending'`,
    [id],
  )
  await sql(
    trx,
    `update webhook_replay set status = 'cancelled' where webhook_endpoint_id = ? and status = 'running'`,
    [id],
  )
}

/**
 * SQL for the number after which something was not told: one below the oldest that waits, be it for the first time, or as a part of what the endpoint had missed in
 * an earlier pause. What a replay repeats beside that was told once.
 */
const untoldAfter = `least(
  coalesce(
    (select min(d.sequence) - 1 from webhook_delivery d where d.webhook_endpoint_id = :id and d.status = 'pending' and d.replay_id is null),
    (select last_sequence from event_head), 0),
  (select min(d.sequence) - 1 from webhook_delivery d join webhook_replay r on r.tenant_id = d.tenant_id and r.id = d.replay_id and r.is_missed
   where d.webhook_endpoint_id = :id and d.status = 'pending' and d.replay_id is not null),
  (select r.cursor from webhook_replay r where r.webhook_endpoint_id = :id and r.status = 'running' and r.is_missed))`

/** Stops an active endpoint, whose row the caller holds, and keeps the place from which nothing was told. */
export const stopEndpoint = async (
  trx: Trx,
  id: string,
  { cause, reason = null }: { cause: 'command' | 'gone' | 'failing'; reason?: string | null },
): Promise<void> => {
  await sql(
    trx,
    `update webhook_endpoint set status = 'paused', paused_cause = :cause, paused_by = :by, paused_reason = :reason, version = version + 1,
       paused_after_sequence = ${untoldAfter}
     where id = :id`,
    { id, cause, reason, by: cause === 'command' ? userOf(trx) : null },
  )
  await dropPending(trx, id)
  const { types, version } = await readEndpoint(trx, id)
  await emit(trx, webhookEndpointPaused, {
    propertyId: null,
    id,
    version,
    data: { webhookEndpointId: id, types, cause },
  })
}

const isDue = async (trx: Trx, id: string, move: 'paused' | 'resumed'): Promise<boolean> => {
  const row = await sqlOne<{ status: 'active' | 'paused' }>(trx, `select status from webhook_endpoint where id = ?`, [
    id,
  ])
  if (!row) throw notFound()
  return endpointLifecycle.isDue(move, row.status)
}

export const pauseEndpoint = async (trx: Trx, id: string, reason?: string): Promise<void> => {
  if (await isDue(trx, id, 'paused')) await stopEndpoint(trx, id, { cause: 'command', reason: reason ?? null })
}

/** Sends again from now on, with what was missed if asked for. 422 `replay_too_large`. */
export const resumeEndpoint = async (trx: Trx, id: string, replayMissed: boolean): Promise<void> => {
  if (!(await isDue(trx, id, 'resumed'))) return
  await holdHead(trx)
  const { pausedAfterSequence } = await readEndpoint(trx, id)
  await sql(
    trx,
    `update webhook_endpoint set status = 'active', paused_cause = null, paused_by = null, paused_reason = null, paused_after_sequence = null,
       version = version + 1 where id = ?`,
    [id],
  )
  await sql(
    trx,
    `update webhook_health set failures = 0, failing_since = null, warned_at = null, last_error = null where id = ?`,
    [id],
  )
  await openGate(trx, endpointGate(id))
  if (replayMissed) await beginReplay(trx, id, { fromSequence: (pausedAfterSequence ?? 0) + 1, isMissed: true })
  await tell(trx, id, webhookEndpointResumed)
}

/** Deletes an endpoint, whose row the caller holds, with its secrets; the log of its deliveries stays. Answers it as it was. */
export const deleteEndpoint = async (trx: Trx, id: string): Promise<EndpointRecord> => {
  const before = await readEndpoint(trx, id)
  await dropPending(trx, id)
  await emit(trx, webhookEndpointDeleted, {
    propertyId: null,
    id,
    version: before.version,
    data: { webhookEndpointId: id, types: before.types },
  })
  await sql(trx, `delete from webhook_endpoint where id = ?`, [id])
  return before
}
