import { createHash } from 'node:crypto'
import { pullPixJob, syncPixJob, expirePixChargeJob, readTransferJob, returnPixJob } from '../../../jobs/cash.ts'
import { byTenant } from '../../lib/by-tenant.ts'
import { contextOf, enterTenant, inPlatform, sql, sqlOne } from '../../lib/connection.ts'
import type { PlatformTrx, Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { accountOfConnection, connectionOf, gateOfPix, hashOfHook } from './connection.ts'
import { returnToRead } from './returns.ts'
import { transferToRead } from './send.ts'

/** A bank's notice of money. Only ids are kept; the bank is asked for the rest. */
export type PixNotice = { endToEndId: string }

/**
 * Keeps the notice of a bank: one job that asks the bank about each id (R25). The same notice while its job waits adds nothing. False where no connection has the
 * key of the address.
 */
export const storePixNotice = (hookKey: string, notices: readonly PixNotice[], requestId: string): Promise<boolean> =>
  inPlatform(
    async (trx) => {
      const found = await sqlOne<{ tenantId: string; id: string }>(
        trx,
        `select tenant_id, id from pix_connection_of(?)`,
        [hashOfHook(hookKey)],
      )
      if (!found) return false
      const endToEndIds = [...new Set(notices.map(({ endToEndId }) => endToEndId))].toSorted()
      if (endToEndIds.length === 0) return true
      const { tenantId } = found
      const tenant = await enterTenant(trx, tenantId)
      const cashAccountId = await accountOfConnection(tenant, found.id)
      const connection = await connectionOf(tenant, cashAccountId)
      const uniqueKey = createHash('sha256').update(endToEndIds.join(' ')).digest('base64url')
      await enqueue(
        tenant,
        pullPixJob,
        { tenantId, cashAccountId, endToEndIds },
        { uniqueKey, class: 'urgent', ...(connection ? { gate: gateOfPix(connection) } : {}) },
      )
      return true
    },
    { requestId },
  )

type Due = { tenantId: string; kind: 'transfer' | 'return' | 'charge' | 'connection'; id: string }

const most = 200

/** The Pix work that is due, by tenant: reads of transfers and returns, ends of charges, and connections with the point to read on from. */
export const pixDue = async (trx: PlatformTrx) =>
  byTenant(await sql<Due>(trx, `select tenant_id, kind, id from pix_due(?)`, [most]))

const gateOfAccount = async (trx: Trx, cashAccountId: string) => {
  const connection = await connectionOf(trx, cashAccountId)
  return connection ? { gate: gateOfPix(connection) } : {}
}

const askFor = async (trx: Trx, tenantId: string, { kind, id }: Due): Promise<void> => {
  const uniqueKey = `sweep-${id}`
  if (kind === 'transfer') {
    const due = await transferToRead(trx, id)
    if (due)
      await enqueue(
        trx,
        readTransferJob,
        { tenantId, cashTransferId: id },
        { uniqueKey, ...(await gateOfAccount(trx, due.cashAccountId)) },
      )
  } else if (kind === 'return') {
    const due = await returnToRead(trx, id)
    if (due)
      await enqueue(
        trx,
        returnPixJob,
        { tenantId, pixReturnId: id },
        { uniqueKey, ...(await gateOfAccount(trx, due.cashAccountId)) },
      )
  } else if (kind === 'charge') {
    const due = await sqlOne<{ cashAccountId: string }>(
      trx,
      `update pix_charge set ends_at = now() + interval '2 minutes' where tenant_id = ? and id = ? and ends_at <= now() returning cash_account_id`,
      [contextOf(trx).tenantId, id],
    )
    if (due)
      await enqueue(
        trx,
        expirePixChargeJob,
        { tenantId, pixChargeId: id },
        { uniqueKey, ...(await gateOfAccount(trx, due.cashAccountId)) },
      )
  } else {
    const due = await sqlOne<{ cashAccountId: string }>(
      trx,
      `update pix_connection set next_sync_at = now() + interval '5 minutes' where tenant_id = ? and id = ? and next_sync_at <= now() returning cash_account_id`,
      [contextOf(trx).tenantId, id],
    )
    if (due) {
      const { cashAccountId } = due
      await enqueue(
        trx,
        syncPixJob,
        { tenantId, cashAccountId },
        { uniqueKey, ...(await gateOfAccount(trx, cashAccountId)) },
      )
    }
  }
}

/** Asks for the jobs of what is due of one tenant. */
export const askForPix = async (trx: Trx, due: readonly Due[]): Promise<void> => {
  const tenantId = contextOf(trx).tenantId ?? ''
  for (const one of due) await askFor(trx, tenantId, one)
}
