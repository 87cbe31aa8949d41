import { createHash, randomUUID } from 'node:crypto'
import { processCallback, readPayment, readRefund } from '../../jobs/payment.ts'
import { enterTenant, inPlatform, sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { insertIfNew } from '../lib/records.ts'
import type { GatewayCallbackRow } from '../rows.ts'
import { sealForService } from '../lib/sealing/index.ts'
import { gateOf } from './accounts.ts'
import { GatewayCallback } from './models.ts'
import type { Callback } from './signatures.ts'

/** Keeps a genuine callback and asks for its processing: one insert. A known event adds nothing. */
export const storeCallback = (
  provider: string,
  callback: Callback,
  { rawBody, headers }: { rawBody: Buffer; headers: Record<string, string> },
  requestId: string,
): Promise<void> =>
  inPlatform(
    async (trx) => {
      const id = randomUUID()
      const place = { table: 'gateway_callback', rowId: id, purpose: 'raw_body' }
      const row = await insertIfNew(
        trx,
        GatewayCallback,
        {
          id,
          provider,
          accountRef: callback.accountRef,
          eventId: callback.eventId,
          rawBody: sealForService(place, rawBody.toString('base64')),
          headers,
          bodyHash: createHash('sha256').update(rawBody).digest(),
          eventType: callback.eventType,
          objectType: callback.objectType,
          objectRef: callback.objectRef,
          ourId: callback.ourId,
        },
        ['provider', 'accountRef', 'eventId'],
      )
      if (row) await enqueue(trx, processCallback, { callbackId: id })
    },
    { requestId },
  )

export type Resolved = { status: 'processed' | 'ignored' | 'failed'; error: string | null }

const end = (trx: PlatformTrx, id: string, { status, error }: Resolved, tenantId: string | null) =>
  sql(trx, `update gateway_callback set status = ?, error = ?, tenant_id = ?, processed_at = now() where id = ?`, [
    status,
    error,
    tenantId,
    id,
  ])

/**
 * Finds whose object a callback names and asks for its reading; what the callback says of it decides nothing (R5). May be repeated
 * at any time. An object of our id that is not the account's own is `failed`, for an operator to look at.
 */
export const resolveCallback = async (trx: PlatformTrx, callbackId: string): Promise<Resolved | null> => {
  const callback = await sqlOne<GatewayCallbackRow>(trx, `select * from gateway_callback where id = ? for update`, [
    callbackId,
  ])
  if (!callback) return null
  const account = await sqlOne<{ tenantId: string; id: string }>(
    trx,
    `select tenant_id, id from gateway_account_of(?, ?)`,
    [callback.provider, callback.accountRef],
  )
  if (!account) {
    const ignored: Resolved = { status: 'ignored', error: 'account_unknown' }
    await end(trx, callbackId, ignored, null)
    return ignored
  }
  const tenant = await enterTenant(trx, account.tenantId)
  const table = callback.objectType === 'refund' ? 'refund' : 'payment'
  const found = await sqlOne<{ id: string }>(
    tenant,
    `select id from ?? where gateway_account_id = ? and (external_id = ? or id = ?)`,
    [table, account.id, callback.objectRef, callback.ourId],
  )
  const { tenantId } = account
  const gate = gateOf({ provider: callback.provider, id: account.id })
  if (found && table === 'payment')
    await enqueue(tenant, readPayment, { tenantId, paymentId: found.id }, { class: 'urgent', gate })
  if (found && table === 'refund') await enqueue(tenant, readRefund, { tenantId, refundId: found.id }, { gate })
  const missing: Resolved = callback.ourId
    ? { status: 'failed', error: 'not_of_this_account' }
    : { status: 'ignored', error: 'object_unknown' }
  const resolved: Resolved = found ? { status: 'processed', error: null } : missing
  await end(trx, callbackId, resolved, account.tenantId)
  return resolved
}
