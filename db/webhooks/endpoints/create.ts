import { randomUUID } from 'node:crypto'
import { unprocessable } from '../../../config/errors.ts'
import { webhookEndpointCreated } from '../../../config/events/webhooks.ts'
import { webhookLimits } from '../../../config/limits.ts'
import { pingEndpoint } from '../../../jobs/webhooks.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { insertRow } from '../../lib/records.ts'
import { seal } from '../../lib/sealing/index.ts'
import { WebhookEndpoint, WebhookHealth } from '../models.ts'
import type { Ping } from '../models.ts'
import { holdHead } from '../feed.ts'
import { newSecret } from '../rules/secrets.ts'
import { place } from './secrets.ts'
import { tell, userOf } from './tell.ts'
import { refuseUnknownProperties } from './change.ts'

const pending: Ping = { status: 'pending', at: null, httpStatus: null, durationMs: null, error: null, excerpt: null }

const askForPing = async (trx: Trx, id: string): Promise<void> => {
  const row = await sqlOne<{ pingNo: number }>(
    trx,
    `update webhook_endpoint set ping_no = ping_no + 1, ping = ? where id = ? returning ping_no`,
    [JSON.stringify(pending), id],
  )
  await enqueue(trx, pingEndpoint, {
    tenantId: contextOf(trx).tenantId ?? '',
    webhookEndpointId: id,
    pingNo: row?.pingNo ?? 1,
  })
}

export type NewEndpoint = {
  /** Judged by the caller: a command resolves no names. */
  url: string
  description?: string | undefined
  types: string[]
  /** Subjects that the endpoint may tell of: those that its author may read. */
  subjects: string[]
  propertyIds?: string[] | undefined
}

/** Makes an endpoint, and has it pinged. Answers its id and the secret, which is told this once. */
export const createEndpoint = async (
  trx: Trx,
  { url, description = '', types, subjects, propertyIds = [] }: NewEndpoint,
): Promise<{ id: string; secret: string }> => {
  const { tenantId } = contextOf(trx)
  await sql(trx, `select pg_advisory_xact_lock(hashtextextended('webhook endpoints ' || ?, 0))`, [tenantId])
  const counted = await sqlOne<{ count: number }>(trx, `select count(*) as count from webhook_endpoint`)
  if ((counted?.count ?? 0) >= webhookLimits.endpointsPerTenant)
    throw unprocessable('endpoint_limit', `A tenant has at most ${webhookLimits.endpointsPerTenant} endpoints`)
  await refuseUnknownProperties(trx, propertyIds)
  await holdHead(trx)
  const id = randomUUID()
  const secret = newSecret()
  await insertRow(trx, WebhookEndpoint, {
    id,
    url,
    description,
    types,
    subjects,
    propertyIds,
    secret: await seal(trx, 'tenant', place(id, 'secret'), secret),
    createdBy: userOf(trx),
  })
  await insertRow(trx, WebhookHealth, { id })
  await askForPing(trx, id)
  await tell(trx, id, webhookEndpointCreated)
  return { id, secret }
}

/** Sends a ping, paused or not. The caller holds the row. */
export const testEndpoint = (trx: Trx, id: string): Promise<void> => askForPing(trx, id)
