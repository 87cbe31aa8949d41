import { createHash } from 'node:crypto'
import { settings } from '../../../config/env.ts'
import { notFound, unprocessable } from '../../../config/errors.ts'
import { pixConnectionFailed, pixConnectionRecovered } from '../../../config/events/pix.ts'
import type { pixConnectionChanged } from '../../../config/events/pix.ts'
import { pixProviders } from '../../../config/pix.ts'
import type { PixAbility, PixProvider } from '../../../config/pix.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { findRow } from '../../lib/records.ts'
import { unseal } from '../../lib/sealing/index.ts'
import { PixConnection } from '../models.ts'
import type { ConnectionRecord } from '../models.ts'

/** The credentials of the house at the bank. Written, never read back. */
export type PixCredentials = {
  clientId: string
  clientSecret: string
  certificatePem?: string | undefined
  privateKeyPem?: string | undefined
}
/** Address of a bank: the base of its paths, and the place that gives out tokens. */
export type PixAddress = { baseUrl: string; tokenUrl: string }
export const credentialsPlace = (rowId: string) => ({ table: 'pix_connection', rowId, purpose: 'credentials' })
export const hookPlace = (rowId: string) => ({ table: 'pix_connection', rowId, purpose: 'hook' })
export const hashOfHook = (hookKey: string): Buffer => createHash('sha256').update(hookKey).digest()

/** The gate of the calls of a connection. */
export const gateOfPix = ({ provider, id }: Pick<ConnectionRecord, 'provider' | 'id'>): string =>
  `${pixProviders[provider as PixProvider].gate}:${id}`

export const connectionOf = (trx: Trx, cashAccountId: string): Promise<ConnectionRecord | null> =>
  findRow(trx, PixConnection, { cashAccountId })

export const can = ({ provider }: Pick<ConnectionRecord, 'provider'>, ability: PixAbility): boolean =>
  (pixProviders[provider as PixProvider].abilities as readonly PixAbility[]).includes(ability)

/** A connection that takes new charges and sends; 422 `pix_not_ready`. */
export const readyConnection = async (trx: Trx, cashAccountId: string): Promise<ConnectionRecord> => {
  const connection = await connectionOf(trx, cashAccountId)
  if (connection?.status !== 'active')
    throw unprocessable('pix_not_ready', 'The Pix connection of the account is not ready', [
      { field: 'cashAccountId', message: connection ? `its connection is ${connection.status}` : 'has no connection' },
    ])
  return connection
}

export const tellConnection = (
  trx: Trx,
  event: typeof pixConnectionChanged,
  { cashAccountId, propertyId }: { cashAccountId: string; propertyId: string | null },
  connection: { id: string; version: number } | null,
) =>
  emit(trx, event, {
    propertyId,
    id: connection?.id ?? cashAccountId,
    version: connection?.version ?? null,
    data: { pixConnectionId: connection?.id ?? null, cashAccountId },
  })

export const addressOf = ({ baseUrl, tokenUrl }: Pick<ConnectionRecord, 'baseUrl' | 'tokenUrl'>): PixAddress | null =>
  baseUrl !== null && tokenUrl !== null ? { baseUrl, tokenUrl } : null

/** The facts that a worker needs to call the bank of an account. */
export type PixLine = {
  connectionId: string
  cashAccountId: string
  provider: PixProvider
  gateProvider: string
  /** Null where the provider itself says it. */
  address: PixAddress | null
  credentials: PixCredentials
  hookUrl: string
  keys: string[]
  lastSyncedAt: Date | null
  createdAt: Date
}

/** The connection of an account with its credentials; null where it has ended. */
export const pixLine = async (trx: Trx, cashAccountId: string): Promise<PixLine | null> => {
  const connection = await connectionOf(trx, cashAccountId)
  if (!connection) return null
  const { id, provider, credentials, hook, lastSyncedAt, createdAt } = connection
  const address = addressOf(connection)
  const hookKey = await unseal<string>(trx, 'tenant', hookPlace(id), hook)
  const keys = await sql<{ value: string }>(
    trx,
    `select value from pix_key where tenant_id = ? and cash_account_id = ? order by value`,
    [contextOf(trx).tenantId, cashAccountId],
  )
  return {
    connectionId: id,
    cashAccountId,
    provider: provider as PixProvider,
    gateProvider: pixProviders[provider as PixProvider].gate,
    address,
    credentials: await unseal<PixCredentials>(trx, 'tenant', credentialsPlace(id), credentials),
    hookUrl: `${settings.publicBaseUrl}/api/callbacks/pix/${hookKey}`,
    keys: keys.map(({ value }) => value),
    lastSyncedAt,
    createdAt,
  }
}

/** For so long a bank may refuse before its connection is failing (R29). */
const patience = `interval '15 minutes'`

/** Notes that the bank works, or why it does not: a new connection fails at once, a standing one after a quarter of an hour. */
export const noteConnection = async (trx: Trx, cashAccountId: string, error: string | null): Promise<void> => {
  const before = await connectionOf(trx, cashAccountId)
  if (!before) return
  const [after] = await sql<{ id: string; status: string; version: number; propertyId: string | null }>(
    trx,
    error === null
      ? `update pix_connection c set status = 'active', last_error = null, failing_since = null, version = c.version + (c.status <> 'active')::int
         from cash_account a where a.tenant_id = c.tenant_id and a.id = c.cash_account_id and c.tenant_id = :tenantId and c.id = :id
         returning c.id, c.status, c.version, a.property_id`
      : `update pix_connection c set last_error = :error, failing_since = coalesce(c.failing_since, now()), version = c.version + 1,
           status = case when c.status = 'connecting' or c.failing_since < now() - ${patience} then 'failing' else c.status end
         from cash_account a where a.tenant_id = c.tenant_id and a.id = c.cash_account_id and c.tenant_id = :tenantId and c.id = :id
         returning c.id, c.status, c.version, a.property_id`,
    { tenantId: contextOf(trx).tenantId, id: before.id, ...(error === null ? {} : { error: error.slice(0, 300) }) },
  )
  if (!after || after.status === before.status) return
  const place = { cashAccountId, propertyId: after.propertyId }
  if (after.status === 'failing') await tellConnection(trx, pixConnectionFailed, place, after)
  else if (before.status === 'failing') await tellConnection(trx, pixConnectionRecovered, place, after)
}

/** All money up to then was read. */
export const noteSynced = async (trx: Trx, cashAccountId: string, until: Date): Promise<void> => {
  await sql(trx, `update pix_connection set last_synced_at = ? where tenant_id = ? and cash_account_id = ?`, [
    until,
    contextOf(trx).tenantId,
    cashAccountId,
  ])
}

/** The account of a connection; 404. */
export const accountOfConnection = async (trx: Trx, id: string): Promise<string> => {
  const row = await findRow(trx, PixConnection, id, ['cashAccountId'])
  if (!row) throw notFound()
  return row.cashAccountId
}
