import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { WebhookEndpointRow } from '../rows.ts'
import { secretsOf } from './endpoints/secrets.ts'
import type { Ping } from './models.ts'
import { bodyOf } from './rules/body.ts'
import { isSuccess } from './health.ts'
import type { Answer } from './health.ts'
import { giveSlot, takeSlot } from './send.ts'
import type { Call } from './send.ts'

/**
 * Begins the ping that was asked for under this number, in a slot like any other request. Null where another one was asked for since, or the endpoint is
 * gone; `full` where no slot is free.
 */
export const beginPing = async (
  trx: Trx,
  endpointId: string,
  { pingNo, slotId }: { pingNo: number; slotId: string },
): Promise<Call | null | 'full'> => {
  const row = await sqlOne<
    Pick<WebhookEndpointRow, 'id' | 'url' | 'version' | 'secret' | 'previousSecret' | 'previousUntil' | 'tenantId'> & {
      now: Date
    }
  >(
    trx,
    `select id, tenant_id, url, version, secret, previous_secret, previous_until, now() from webhook_endpoint
     where id = ? and ping_no = ? and ping->>'status' = 'pending'`,
    [endpointId, pingNo],
  )
  if (!row) return null
  if (!(await takeSlot(trx, row, slotId))) return 'full'
  const { requestId, tenantId } = contextOf(trx)
  const id = `${endpointId.slice(0, 24)}${pingNo.toString(16).padStart(12, '0')}`
  const body = bodyOf({
    id,
    tenantId: tenantId ?? '',
    type: 'webhook.ping',
    typeVersion: 1,
    sequence: null,
    propertyId: null,
    entity: { type: 'webhook_endpoint', id: endpointId, version: row.version },
    occurredAt: row.now,
    actor: { type: 'system', id: null },
    requestId,
    causeId: null,
    changed: [],
    data: { webhookEndpointId: endpointId },
  })
  return { id, url: row.url, body, secrets: await secretsOf(trx, row) }
}

/** Writes the answer to a ping, unless another one was asked for since, and frees its slot. */
export const recordPing = async (
  trx: Trx,
  endpointId: string,
  { pingNo, slotId }: { pingNo: number; slotId: string },
  answer: Answer,
): Promise<void> => {
  giveSlot(trx, slotId)
  const ping: Ping = {
    status: isSuccess(answer) ? 'delivered' : 'failed',
    at: answer.at.toISOString(),
    httpStatus: answer.httpStatus,
    durationMs: Math.max(0, Math.round(answer.durationMs)),
    error: answer.error,
    excerpt: answer.excerpt,
  }
  await sql(trx, `update webhook_endpoint set ping = ? where id = ? and ping_no = ?`, [
    JSON.stringify(ping),
    endpointId,
    pingNo,
  ])
}
