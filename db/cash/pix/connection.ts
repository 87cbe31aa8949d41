import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { settings } from '../../../config/env.ts'
import { conflict, forbidden, invalid, notFound, unprocessable } from '../../../config/errors.ts'
import { pixConnectionChanged, pixConnectionFailed, pixConnectionRecovered } from '../../../config/events/pix.ts'
import { pixProviders } from '../../../config/pix.ts'
import type { PixAbility, PixKeyType, PixProvider } from '../../../config/pix.ts'
import { connectPixJob } from '../../../jobs/cash.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { emit } from '../../lib/events.ts'
import { changeRow, expression, findRow, insertRow, insertRows } from '../../lib/records.ts'
import { seal, unseal } from '../../lib/sealing/index.ts'
import { noticeRoles } from '../../ocp/index.ts'
import { accountFacts } from '../facts.ts'
import { PixConnection, PixKey } from '../models.ts'
import type { ConnectionRecord } from '../models.ts'
import { pixKeyOf } from '../rules/pix-keys.ts'

/** The credentials of the house at the bank. Written, never read back. */
export type PixCredentials = {
  clientId: string
  clientSecret: string
  certificatePem?: string | undefined
  privateKeyPem?: string | undefined
}
export type PixSettings = {
  keys: { type: PixKeyType; key: string }[]
  /** Left out, it stays; null ends it. */
  connection?: { provider: PixProvider; credentials: PixCredentials } | null | undefined
}

const credentialsPlace = (rowId: string) => ({ table: 'pix_connection', rowId, purpose: 'credentials' })
const hookPlace = (rowId: string) => ({ table: 'pix_connection', rowId, purpose: 'hook' })
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

const tell = (
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

const keysOf = ({ keys }: PixSettings): { type: PixKeyType; value: string }[] => {
  const read = keys.map(({ type, key }, index) => ({ index, type, value: pixKeyOf(type, key) }))
  const wrong = read.filter(({ value }) => value === null)
  if (wrong.length > 0)
    throw invalid(
      wrong.map(({ index, type }) => ({ field: `keys.${index}.key`, message: `is no key of type ${type}` })),
    )
  const given = read.map(({ type, value }) => ({ type, value: value ?? '' }))
  const twice = given.findIndex(({ value }, index) => given.findIndex((one) => one.value === value) !== index)
  if (twice >= 0) throw invalid([{ field: `keys.${twice}.key`, message: 'stands twice' }])
  return given
}

const live = `('creating', 'active', 'cancelling')`

/** Keys as they are to be: new ones are added, others go unless a live charge has them (422 `in_use`). */
const setKeys = async (trx: Trx, cashAccountId: string, wanted: { type: PixKeyType; value: string }[]) => {
  const { tenantId } = contextOf(trx)
  const now = await sql<{ id: string; value: string; used: boolean }>(
    trx,
    `select k.id, k.value, exists (select from pix_charge c where c.tenant_id = k.tenant_id and c.cash_account_id = k.cash_account_id and c.pix_key_id = k.id
       and c.status in ${live}) as used from pix_key k where k.tenant_id = ? and k.cash_account_id = ? order by k.id for update`,
    [tenantId, cashAccountId],
  )
  const gone = now.filter(({ value }) => !wanted.some((one) => one.value === value))
  const used = gone.find((one) => one.used)
  if (used)
    throw unprocessable('in_use', 'A live charge has the key', [
      { field: 'keys', message: `${used.id} has live charges` },
    ])
  await sql(trx, `delete from pix_key where tenant_id = ? and id = any(?::uuid[])`, [
    tenantId,
    gone.map(({ id }) => id),
  ])
  const fresh = wanted.filter(({ value }) => !now.some((one) => one.value === value))
  const taken = await sqlOne<{ value: string }>(
    trx,
    `select value from pix_key where tenant_id = ? and value = any(?)`,
    [tenantId, fresh.map(({ value }) => value)],
  )
  if (taken)
    throw conflict('duplicate_key', 'Another account has this key', [
      { field: `keys.${wanted.findIndex(({ value }) => value === taken.value)}.key`, message: 'is of another account' },
    ])
  if (fresh.length > 0)
    await insertRows(
      trx,
      PixKey,
      fresh.map(({ type, value }) => ({ cashAccountId, type, value })),
    )
}

const underWay = `select 1 from pix_charge c where c.tenant_id = :tenantId and c.cash_account_id = :id and c.kind <> 'static' and c.status in ${live}
  union all select 1 from cash_transfer t where t.tenant_id = :tenantId and t.from_account_id = :id and t.method = 'pix' and t.status in ('approved', 'sending', 'unknown')
  union all select 1 from pix_return r join pix_receipt p on p.tenant_id = r.tenant_id and p.id = r.pix_receipt_id
    where r.tenant_id = :tenantId and p.cash_account_id = :id and r.status in ('requested', 'sending') limit 1`

/** Ends a connection of which nothing is under way; 422 `in_use`. */
const endConnection = async (trx: Trx, connection: ConnectionRecord): Promise<void> => {
  const { tenantId } = contextOf(trx)
  if (await sqlOne(trx, underWay, { tenantId, id: connection.cashAccountId }))
    throw unprocessable('in_use', 'Charges, transfers or returns of the connection are under way', [
      { field: 'connection', message: 'is in use' },
    ])
  await sql(trx, `delete from pix_connection where tenant_id = ? and id = ?`, [tenantId, connection.id])
}

const setConnection = async (
  trx: Trx,
  cashAccountId: string,
  { provider, credentials }: { provider: PixProvider; credentials: PixCredentials },
): Promise<void> => {
  if (provider === 'sandbox' && !settings.sandboxPix)
    throw invalid([{ field: 'connection.provider', message: 'is no bank of this installation' }])
  const known = await connectionOf(trx, cashAccountId)
  const id = known?.id ?? randomUUID()
  const sealed = await seal(trx, 'tenant', credentialsPlace(id), credentials)
  if (known && known.provider === provider)
    await changeRow(trx, PixConnection, id, {
      credentials: sealed,
      status: 'connecting',
      lastError: null,
      failingSince: null,
    })
  else {
    if (known) await endConnection(trx, known)
    const hookKey = randomBytes(24).toString('base64url')
    const fresh = known ? randomUUID() : id
    await insertRow(trx, PixConnection, {
      id: fresh,
      cashAccountId,
      provider,
      credentials: known ? await seal(trx, 'tenant', credentialsPlace(fresh), credentials) : sealed,
      hook: await seal(trx, 'tenant', hookPlace(fresh), hookKey),
      hookHash: hashOfHook(hookKey),
      nextSyncAt: expression(`now() + interval '5 minutes'`),
    })
  }
  const tenantId = contextOf(trx).tenantId ?? ''
  await enqueue(trx, connectPixJob, { tenantId, cashAccountId }, { uniqueKey: cashAccountId, class: 'urgent' })
}

/**
 * Sets the Pix keys of an account and the connection to its bank (R22), which a worker then registers. Owner and finance are mailed at once. For users alone
 * (403 `key_not_allowed`); the caller has proven the identity lately.
 *
 * 400; 404; 409 `duplicate_key`; 422 `in_use`, `account_archived`, `currency_mismatch`.
 */
export const setPix = async (trx: Trx, cashAccountId: string, given: PixSettings): Promise<void> => {
  const { actor } = contextOf(trx)
  if (actor.type !== 'user') throw forbidden('key_not_allowed', 'Pix is set up by a user, never by an API key')
  const wanted = keysOf(given)
  const account = await accountFacts(trx, cashAccountId)
  if (account.kind !== 'bank') throw invalid([{ field: 'cashAccountId', message: 'is no bank' }])
  if (account.currency !== 'BRL') throw unprocessable('currency_mismatch', 'A Pix is in BRL')
  await sqlOne(trx, `select pg_advisory_xact_lock(hashtextextended(?, 37))`, [cashAccountId])
  const before = await connectionOf(trx, cashAccountId)
  await setKeys(trx, cashAccountId, wanted)
  if (given.connection === null && before) await endConnection(trx, before)
  if (given.connection) await setConnection(trx, cashAccountId, given.connection)
  await tell(
    trx,
    pixConnectionChanged,
    { cashAccountId, propertyId: account.propertyId },
    await connectionOf(trx, cashAccountId),
  )
  await noticeRoles(trx, ['owner', 'finance'], {
    kind: 'pix_connection_changed',
    reference: `pix_connection ${cashAccountId} ${contextOf(trx).requestId}`,
    key: account.code,
    own: true,
  })
}

export type PixShown = {
  keys: { id: string; type: PixKeyType; key: string }[]
  provider: string | null
  status: ConnectionRecord['status'] | null
  capabilities: PixAbility[]
  lastError: string | null
}

/** Keys and connection of an account; keys of persons are masked unless `reveals`. */
export const readPix = async (trx: Trx, cashAccountId: string, reveals: boolean): Promise<PixShown> => {
  const [keys, connection] = await Promise.all([
    sql<{ id: string; type: PixKeyType; value: string }>(
      trx,
      `select id, type, value from pix_key where tenant_id = ? and cash_account_id = ? order by created_at, id`,
      [contextOf(trx).tenantId, cashAccountId],
    ),
    connectionOf(trx, cashAccountId),
  ])
  const isOfPerson = (type: PixKeyType) => type === 'cpf' || type === 'email' || type === 'phone'
  return {
    keys: keys.map(({ id, type, value }) => ({
      id,
      type,
      key: isOfPerson(type) && !reveals ? `***${value.slice(-2)}` : value,
    })),
    provider: connection?.provider ?? null,
    status: connection?.status ?? null,
    capabilities: connection ? [...pixProviders[connection.provider as PixProvider].abilities] : [],
    lastError: connection?.lastError ?? null,
  }
}

/** The facts that a worker needs to call the bank of an account. */
export type PixLine = {
  connectionId: string
  cashAccountId: string
  provider: PixProvider
  gateProvider: string
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
  if (after.status === 'failing') await tell(trx, pixConnectionFailed, place, after)
  else if (before.status === 'failing') await tell(trx, pixConnectionRecovered, place, after)
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
