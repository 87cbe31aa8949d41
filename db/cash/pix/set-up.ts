import { createPrivateKey, randomBytes, randomUUID, X509Certificate } from 'node:crypto'
import { settings } from '../../../config/env.ts'
import { conflict, forbidden, invalid, unprocessable } from '../../../config/errors.ts'
import { pixConnectionChanged } from '../../../config/events/pix.ts'
import { pixProviders } from '../../../config/pix.ts'
import type { PixAbility, PixKeyType, PixProvider } from '../../../config/pix.ts'
import { connectPixJob } from '../../../jobs/cash.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { changeRow, expression, insertRow, insertRows } from '../../lib/records.ts'
import { seal } from '../../lib/sealing/index.ts'
import { noticeRoles } from '../../ocp/index.ts'
import { accountFacts } from '../facts.ts'
import { CashAccount, PixConnection, PixKey } from '../models.ts'
import type { ConnectionRecord } from '../models.ts'
import { pixKeyOf } from '../../../config/pix-keys.ts'
import { addressOf, connectionOf, credentialsPlace, hashOfHook, hookPlace, tellConnection } from './connection.ts'
import type { PixAddress, PixCredentials } from './connection.ts'

type GivenConnection = { provider: PixProvider; address?: PixAddress | undefined; credentials: PixCredentials }
export type PixSettings = {
  keys: { type: PixKeyType; key: string }[]
  /** Left out, it stays; null ends it. */
  connection?: GivenConnection | null | undefined
}

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

const wrongly = (field: string, message: string) => invalid([{ field: `connection.${field}`, message }])

/** Refuses a provider that is not here, an address where there is none, and a certificate that no bank would take. */
const checkConnection = ({ provider, address, credentials }: GivenConnection): void => {
  if (provider === 'sandbox' && !settings.sandboxPix) throw wrongly('provider', 'is no bank of this installation')
  if (pixProviders[provider].address !== (address !== undefined))
    throw wrongly('address', address ? `is not given for ${provider}` : `is needed for ${provider}`)
  const { certificatePem, privateKeyPem } = credentials
  if ((certificatePem === undefined) !== (privateKeyPem === undefined))
    throw wrongly('credentials.certificatePem', 'stands with privateKeyPem, or not at all')
  if (certificatePem === undefined || privateKeyPem === undefined) return
  const read = <T>(name: string, work: () => T): T => {
    try {
      return work()
    } catch {
      throw wrongly(`credentials.${name}`, 'cannot be read')
    }
  }
  const certificate = read('certificatePem', () => new X509Certificate(certificatePem))
  const key = read('privateKeyPem', () => createPrivateKey(privateKeyPem))
  if (!certificate.checkPrivateKey(key)) throw wrongly('credentials.privateKeyPem', 'is not the key of the certificate')
  if (Date.parse(certificate.validTo) < Date.now()) throw wrongly('credentials.certificatePem', 'is out of date')
}

/** Changes the credentials of the bank that is there, or begins with another in its place, of which nothing may be under way (422 `in_use`). */
const setConnection = async (trx: Trx, cashAccountId: string, given: GivenConnection): Promise<void> => {
  checkConnection(given)
  const { provider, address, credentials } = given
  const known = await connectionOf(trx, cashAccountId)
  if (known && known.provider === provider && known.baseUrl === (address?.baseUrl ?? null)) {
    await changeRow(trx, PixConnection, known.id, {
      credentials: await seal(trx, 'tenant', credentialsPlace(known.id), credentials),
      tokenUrl: address?.tokenUrl ?? null,
      status: 'connecting',
      lastError: null,
      failingSince: null,
    })
    return
  }
  if (known) await endConnection(trx, known)
  const hookKey = randomBytes(24).toString('base64url')
  const id = randomUUID()
  await insertRow(trx, PixConnection, {
    id,
    cashAccountId,
    provider,
    baseUrl: address?.baseUrl ?? null,
    tokenUrl: address?.tokenUrl ?? null,
    credentials: await seal(trx, 'tenant', credentialsPlace(id), credentials),
    hook: await seal(trx, 'tenant', hookPlace(id), hookKey),
    hookHash: hashOfHook(hookKey),
    nextSyncAt: expression(`now() + interval '5 minutes'`),
  })
}

/**
 * Sets the Pix keys of an account and the connection to its bank (R22), which a worker then registers. Owner and finance are mailed at once. For users alone
 * (403 `key_not_allowed`); the caller has proven the identity lately.
 *
 * Raises the version of the account, which it answers: 409 `version_conflict` where `expected` is no longer it.
 *
 * 400; 404; 409 `duplicate_key`; 422 `in_use`, `account_archived`, `currency_mismatch`.
 */
export const setPix = async (
  trx: Trx,
  cashAccountId: string,
  given: PixSettings,
  expected: number | null = null,
): Promise<number> => {
  const { actor } = contextOf(trx)
  if (actor.type !== 'user') throw forbidden('key_not_allowed', 'Pix is set up by a user, never by an API key')
  const wanted = keysOf(given)
  const account = await accountFacts(trx, cashAccountId)
  if (account.kind !== 'bank') throw invalid([{ field: 'cashAccountId', message: 'is no bank' }])
  if (account.currency !== 'BRL') throw unprocessable('currency_mismatch', 'A Pix is in BRL')
  // Others who set it wait here.
  const version = await changeRow(trx, CashAccount, cashAccountId, { code: expression('code') }, expected)
  const before = await connectionOf(trx, cashAccountId)
  await setKeys(trx, cashAccountId, wanted)
  if (given.connection === null && before) await endConnection(trx, before)
  if (given.connection) await setConnection(trx, cashAccountId, given.connection)
  const connection = await connectionOf(trx, cashAccountId)
  // The bank tells of money for keys that it was told of.
  if (connection)
    await enqueue(
      trx,
      connectPixJob,
      { tenantId: contextOf(trx).tenantId ?? '', cashAccountId },
      { uniqueKey: cashAccountId, class: 'urgent' },
    )
  await tellConnection(trx, pixConnectionChanged, { cashAccountId, propertyId: account.propertyId }, connection)
  await noticeRoles(trx, ['owner', 'finance'], {
    kind: 'pix_connection_changed',
    reference: `pix_connection ${cashAccountId} ${contextOf(trx).requestId}`,
    key: account.code,
    own: true,
  })
  return version
}

export type PixShown = {
  keys: { id: string; type: PixKeyType; key: string }[]
  provider: string | null
  address: PixAddress | null
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
    address: connection ? addressOf(connection) : null,
    status: connection?.status ?? null,
    capabilities: connection ? [...pixProviders[connection.provider as PixProvider].abilities] : [],
    lastError: connection?.lastError ?? null,
  }
}
