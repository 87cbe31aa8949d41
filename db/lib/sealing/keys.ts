import type { Knex } from 'knex'
import { LRUCache } from 'lru-cache'
import { contextOf, database, later, onCommit, prepared, sql, sqlOne } from '../connection.ts'
import type { AnyTrx, PlatformTrx, Trx } from '../connection.ts'
import { indexKeyPlace } from '../moved-in.ts'
import { makeKey, newestMasterKey, unwrap, wrap } from './master.ts'
import type { WrappedKey } from './master.ts'

export type GuestKeyPurpose = 'profile' | 'retention'

/** The key of this guest was destroyed, or never was: what it sealed cannot be read any more. */
export class KeyDestroyed extends Error {
  constructor(guestId: string, purpose: GuestKeyPurpose) {
    super(`the ${purpose} key of guest ${guestId} is gone`)
    this.name = 'KeyDestroyed'
  }
}

const mostTenants = 1_000
/** Tenants' keys that this process has opened, per database. Guests' keys are not kept: a destroyed one must be gone everywhere at once. */
const opened = new WeakMap<Knex, LRUCache<string, Buffer>>()
/** Keys opened in this transaction; those that it made must not outlive it unless it commits. */
const inTransaction = new WeakMap<AnyTrx, Map<string, Buffer>>()

const remembered = <Owner extends object, Keys>(of: WeakMap<Owner, Keys>, owner: Owner, make: () => Keys): Keys => {
  const found = of.get(owner)
  if (found) return found
  const made = make()
  of.set(owner, made)
  return made
}
const openedHere = () => remembered(opened, database(), () => new LRUCache<string, Buffer>({ max: mostTenants }))
const openedIn = (trx: AnyTrx) => remembered(inTransaction, trx, () => new Map<string, Buffer>())

export const tenantOf = (trx: Trx): string => {
  const { tenantId } = contextOf(trx)
  if (!tenantId) throw new Error('sealing needs a transaction of a tenant')
  return tenantId
}

export const tenantPlace = (tenantId: string) => `${tenantId}|tenant_key`
export const guestPlace = (tenantId: string, guestId: string, purpose: GuestKeyPurpose) =>
  `${tenantId}|guest_key|${guestId}|${purpose}`

/** The tenant's key; the first use makes it. */
export const tenantKey = async (trx: Trx): Promise<Buffer> => {
  const tenantId = tenantOf(trx)
  const own = openedIn(trx)
  const known = own.get(tenantId) ?? openedHere().get(tenantId)
  if (known) return known
  const read = () => sqlOne<WrappedKey>(trx, `select wrapped_key, master_key_id from tenant_key`)
  let row = await read()
  if (!row) {
    const made = wrap(makeKey(), tenantPlace(tenantId))
    // Where another transaction makes it at the same moment, this waits for it and reads that one.
    await sql(trx, `insert into tenant_key (wrapped_key, master_key_id) values (?, ?) on conflict do nothing`, [
      made.wrappedKey,
      made.masterKeyId,
    ])
    row = await read()
    if (!row) throw new Error('the key of the tenant could not be read')
  }
  const key = unwrap(row, tenantPlace(tenantId))
  own.set(tenantId, key)
  onCommit(trx, () => openedHere().set(tenantId, key))
  return key
}

/**
 * Makes the two keys of each guest, written with the next statement. Call it before the first `seal` for them; the foreign key to guest is deferred,
 * so the guests' rows may follow in the same transaction.
 */
export const createGuestKeys = (trx: Trx, ...guestIds: readonly string[]): void => {
  const tenantId = tenantOf(trx)
  const own = openedIn(trx)
  const made = guestIds.flatMap((guestId) =>
    (['profile', 'retention'] as const).map((purpose) => {
      const key = makeKey()
      own.set(`${guestId} ${purpose}`, key)
      return { guestId, purpose, ...wrap(key, guestPlace(tenantId, guestId, purpose)) }
    }),
  )
  later(
    trx,
    `insert into guest_key (guest_id, purpose, wrapped_key, master_key_id)
     select * from unnest(?::uuid[], ?::text[], ?::bytea[], ?::text[])`,
    [
      made.map((one) => one.guestId),
      made.map((one) => one.purpose),
      made.map((one) => one.wrappedKey),
      made.map((one) => one.masterKeyId),
    ],
  )
}

/** Destroys a key for good; what it sealed stays unreadable, in backups too. Answers whether there was one. */
export const destroyGuestKey = async (trx: Trx, guestId: string, purpose: GuestKeyPurpose): Promise<boolean> => {
  openedIn(trx).delete(`${guestId} ${purpose}`)
  const rows = await sql(
    trx,
    `update guest_key set wrapped_key = null, destroyed_at = now() where guest_id = ? and purpose = ? and wrapped_key is not null returning guest_id`,
    [guestId, purpose],
  )
  return rows.length > 0
}

/** A new key for the forms to come of a guest whose old forms are gone with theirs. One who was erased gets none (PL010); one who has a key keeps it. */
export const renewRetentionKey = async (trx: Trx, guestId: string): Promise<void> => {
  const { wrappedKey, masterKeyId } = wrap(makeKey(), guestPlace(tenantOf(trx), guestId, 'retention'))
  await sql(
    trx,
    `update guest_key set wrapped_key = ?, master_key_id = ?, destroyed_at = null, destroy_after = null
     where guest_id = ? and purpose = 'retention' and destroyed_at is not null`,
    [wrappedKey, masterKeyId, guestId],
  )
}

/** Opens the keys of several guests in one query; destroyed ones are absent from the answer. */
export const guestKeys = async (
  trx: Trx,
  guestIds: readonly string[],
  purpose: GuestKeyPurpose,
): Promise<Map<string, Buffer>> => {
  const tenantId = tenantOf(trx)
  const own = openedIn(trx)
  const missing = [...new Set(guestIds)].filter((id) => !own.has(`${id} ${purpose}`))
  if (missing.length > 0) {
    const rows = await prepared<WrappedKey & { guestId: string }>(
      trx,
      `select guest_id, wrapped_key, master_key_id from guest_key where guest_id = any(?) and purpose = ? and wrapped_key is not null`,
      [missing, purpose],
    )
    for (const row of rows)
      own.set(`${row.guestId} ${purpose}`, unwrap(row, guestPlace(tenantId, row.guestId, purpose)))
  }
  const found = new Map<string, Buffer>()
  for (const id of guestIds) {
    const key = own.get(`${id} ${purpose}`)
    if (key) found.set(id, key)
  }
  return found
}

/** Tenants that have keys under older master keys. */
export const tenantsToRewrap = async (trx: PlatformTrx): Promise<string[]> =>
  (await sql<{ tenantId: string }>(trx, `select tenant_id from tenants_to_rewrap(?)`, [newestMasterKey().id])).map(
    (row) => row.tenantId,
  )

/**
 * Wraps up to `limit` of the tenant's keys again under the newest master key. Answers how many are left under older ones.
 * Writes may go on: the keys themselves do not change.
 */
export const rewrapKeys = async (trx: Trx, limit = 500): Promise<number> => {
  const tenantId = tenantOf(trx)
  const newest = newestMasterKey().id
  const [tenantRow] = await sql<WrappedKey>(
    trx,
    `select wrapped_key, master_key_id from tenant_key where master_key_id <> ? for update`,
    [newest],
  )
  if (tenantRow) {
    const { wrappedKey, masterKeyId } = wrap(unwrap(tenantRow, tenantPlace(tenantId)), tenantPlace(tenantId))
    await sql(trx, `update tenant_key set wrapped_key = ?, master_key_id = ?`, [wrappedKey, masterKeyId])
  }
  const [indexRow] = await sql<WrappedKey>(
    trx,
    `select index_key as wrapped_key, master_key_id from tenant_move where tenant_id = ? and master_key_id <> ? for update`,
    [tenantId, newest],
  )
  if (indexRow) {
    const { wrappedKey, masterKeyId } = wrap(unwrap(indexRow, indexKeyPlace(tenantId)), indexKeyPlace(tenantId))
    await sql(trx, `update tenant_move set index_key = ?, master_key_id = ? where tenant_id = ?`, [
      wrappedKey,
      masterKeyId,
      tenantId,
    ])
  }
  const rows = await sql<WrappedKey & { guestId: string; purpose: GuestKeyPurpose }>(
    trx,
    `select guest_id, purpose, wrapped_key, master_key_id from guest_key
     where wrapped_key is not null and master_key_id <> ? order by guest_id, purpose limit ? for update`,
    [newest, limit],
  )
  for (const row of rows) {
    const place = guestPlace(tenantId, row.guestId, row.purpose)
    const { wrappedKey, masterKeyId } = wrap(unwrap(row, place), place)
    await sql(trx, `update guest_key set wrapped_key = ?, master_key_id = ? where guest_id = ? and purpose = ?`, [
      wrappedKey,
      masterKeyId,
      row.guestId,
      row.purpose,
    ])
  }
  const left = await sqlOne<{ count: number }>(
    trx,
    `select count(*) as count from guest_key where wrapped_key is not null and master_key_id <> ?`,
    [newest],
  )
  return left?.count ?? 0
}
