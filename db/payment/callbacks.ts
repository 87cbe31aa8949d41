import { createHash, randomUUID } from 'node:crypto'
import { processCallback, readAccount, readDispute, readMethod, readPayment, readRefund } from '../../jobs/payment.ts'
import { enterTenant, inPlatform, sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { insertIfNew } from '../lib/records.ts'
import type { GatewayAccountRow, GatewayCallbackRow } from '../rows.ts'
import { sealForService } from '../lib/sealing/index.ts'
import { gateOfAccount } from './accounts.ts'
import { requestImport } from './balance/import.ts'
import { accountWithdrawn } from './gateway-accounts/snapshot.ts'
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

type Account = { tenantId: string; id: string; provider: GatewayAccountRow['provider'] }

const tables = {
  charge: 'payment',
  link: 'payment',
  refund: 'refund',
  method: 'payment_method',
  dispute: 'dispute',
} as const

const recordOf = async (
  trx: Trx,
  { objectType, objectRef, ourId }: GatewayCallbackRow,
  { id }: Account,
): Promise<string | null> => {
  const table = tables[objectType as keyof typeof tables]
  const other = objectType === 'link' ? 'link_id' : objectType === 'method' ? 'setup_id' : 'external_id'
  const row = await sqlOne<{ id: string }>(
    trx,
    `select id from ?? where gateway_account_id = ? and (external_id = ? or ?? = ? or id = ?)`,
    [table, id, objectRef, other, objectRef, ourId],
  )
  return row?.id ?? null
}

/** Asks for the reading of what a callback names. False where there is no such record of the account. */
const askFor = async (trx: Trx, callback: GatewayCallbackRow, account: Account): Promise<boolean> => {
  const { tenantId, id: gatewayAccountId } = account
  const gate = await gateOfAccount(trx, gatewayAccountId)
  // The subject of the callback has moved the balance, or is about to.
  await requestImport(trx, account, new Date(Date.now() + 10_000))
  switch (callback.objectType) {
    case 'account':
      if (callback.eventType.includes('deauthorized')) await accountWithdrawn(trx, gatewayAccountId)
      else
        await enqueue(trx, readAccount, { tenantId, gatewayAccountId }, { gate, uniqueKey: `told-${gatewayAccountId}` })
      return true
    case 'payout':
      return true
    case 'other':
      return false
    case 'dispute':
      await enqueue(trx, readDispute, { tenantId, gatewayAccountId, reference: callback.objectRef }, { gate })
      return true
    default: {
      const id = await recordOf(trx, callback, account)
      if (id === null) return false
      if (callback.objectType === 'refund') await enqueue(trx, readRefund, { tenantId, refundId: id }, { gate })
      else if (callback.objectType === 'method')
        await enqueue(trx, readMethod, { tenantId, paymentMethodId: id }, { gate })
      else await enqueue(trx, readPayment, { tenantId, paymentId: id, cause: 'callback' }, { class: 'urgent', gate })
      return true
    }
  }
}

type PlatformCallback = (
  trx: PlatformTrx,
  callback: Pick<GatewayCallbackRow, 'provider' | 'objectRef' | 'ourId'>,
) => Promise<string | null>
let ofPlatform: PlatformCallback = () => Promise.resolve(null)

/** Callbacks of the platform's own account are about what tenants pay for the service. */
export const registerPlatformCallback = (resolve: PlatformCallback): void => {
  ofPlatform = resolve
}

/**
 * Finds whose object a callback names and asks for its reading; what the callback says of it decides nothing (R5). May be repeated
 * at any time. An object of our id that is not the account's own is `failed`, for an operator to look at.
 */
export const resolveCallback = async (trx: PlatformTrx, callbackId: string): Promise<Resolved | null> => {
  const callback = await sqlOne<GatewayCallbackRow>(trx, `select * from gateway_callback where id = ? for update`, [
    callbackId,
  ])
  if (!callback) return null
  const found = await sqlOne<Pick<Account, 'tenantId' | 'id'>>(
    trx,
    `select tenant_id, id from gateway_account_of(?, ?)`,
    [callback.provider, callback.accountRef],
  )
  if (!found && callback.accountRef === 'platform') {
    const tenantId = await ofPlatform(trx, callback)
    const own: Resolved =
      tenantId === null ? { status: 'ignored', error: 'object_unknown' } : { status: 'processed', error: null }
    await end(trx, callbackId, own, tenantId)
    return own
  }
  if (!found) {
    const ignored: Resolved = { status: 'ignored', error: 'account_unknown' }
    await end(trx, callbackId, ignored, null)
    return ignored
  }
  const account: Account = { ...found, provider: callback.provider === 'stripe' ? 'stripe' : 'sandbox' }
  const tenant = await enterTenant(trx, account.tenantId)
  const isKnown = await askFor(tenant, callback, account)
  const missing: Resolved = callback.ourId
    ? { status: 'failed', error: 'not_of_this_account' }
    : { status: 'ignored', error: 'object_unknown' }
  const resolved: Resolved = isKnown ? { status: 'processed', error: null } : missing
  await end(trx, callbackId, resolved, account.tenantId)
  return resolved
}
