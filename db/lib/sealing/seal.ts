import type { Trx } from '../connection.ts'
import { decrypt, encrypt } from './cipher.ts'
import { guestKeys, KeyDestroyed, tenantKey, tenantOf } from './keys.ts'
import type { GuestKeyPurpose } from './keys.ts'

/** The key to seal with: the tenant's, or one of a guest's two. */
export type SealingKey = 'tenant' | { guestId: string; purpose: GuestKeyPurpose }

/** The row to which a sealed value belongs. Moved to another row, table or tenant it does not open. `purpose` tells columns of one row apart. */
export type Place = { table: string; rowId: string; purpose: string }

const boundTo = (trx: Trx, { table, rowId, purpose }: Place) => `${tenantOf(trx)}|${table}|${rowId}|${purpose}`

const keyFor = async (trx: Trx, key: SealingKey): Promise<Buffer> => {
  if (key === 'tenant') return tenantKey(trx)
  const found = (await guestKeys(trx, [key.guestId], key.purpose)).get(key.guestId)
  if (!found) throw new KeyDestroyed(key.guestId, key.purpose)
  return found
}

/** Seals any JSON value for a bytea column. Throws KeyDestroyed where the guest's key is gone. */
export const seal = async (trx: Trx, key: SealingKey, place: Place, value: unknown): Promise<Buffer> =>
  encrypt(await keyFor(trx, key), boundTo(trx, place), Buffer.from(JSON.stringify(value)))

/** Opens a sealed value. The caller vouches for the type, since it sealed the row itself. */
export const unseal = async <T>(trx: Trx, key: SealingKey, place: Place, sealed: Buffer): Promise<T> =>
  JSON.parse(decrypt(await keyFor(trx, key), boundTo(trx, place), sealed).toString('utf8')) as T

/** Seals the content of a file, as it is. */
export const sealBytes = async (trx: Trx, key: SealingKey, place: Place, bytes: Buffer): Promise<Buffer> =>
  encrypt(await keyFor(trx, key), boundTo(trx, place), bytes)

/** Opens the content of a file. */
export const unsealBytes = async (trx: Trx, key: SealingKey, place: Place, sealed: Buffer): Promise<Buffer> =>
  decrypt(await keyFor(trx, key), boundTo(trx, place), sealed)

/** Opens one sealed column of many guests with a single query for the keys. Null where the key is gone or nothing is sealed. */
export const unsealGuests = async <T>(
  trx: Trx,
  purpose: GuestKeyPurpose,
  rows: readonly { guestId: string; place: Place; sealed: Buffer | null }[],
): Promise<(T | null)[]> => {
  const keys = await guestKeys(
    trx,
    rows.map((row) => row.guestId),
    purpose,
  )
  return rows.map((row) => {
    const key = keys.get(row.guestId)
    return key && row.sealed
      ? (JSON.parse(decrypt(key, boundTo(trx, row.place), row.sealed).toString('utf8')) as T)
      : null
  })
}
