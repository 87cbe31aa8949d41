import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { required, settings } from '../../config/env.ts'
import type { Knex } from 'knex'
import { sql, sqlOne } from '../lib/connection.ts'
import { changesOf, keptSeconds, overlapSeconds } from './rules/changes.ts'
import type { Changes } from './rules/changes.ts'

const base32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const form = /^pou_(live|test)_([0-9A-HJKMNP-TV-Z]{8})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

const inBase62 = (value: bigint, length: number): string => {
  let rest = value
  let text = ''
  for (let i = 0; i < length; i += 1) {
    text = (base62[Number(rest % 62n)] ?? '') + text
    rest /= 62n
  }
  return text
}

const checksum = (text: string) => inBase62(BigInt(crc32(text)), 6)

const pepper = (id?: string) =>
  required(
    id === undefined ? settings.peppers[0] : settings.peppers.find((candidate) => candidate.id === id),
    'PEPPERS',
  )

const digest = (key: string, pepperKey: Buffer) => createHmac('sha256', pepperKey).update(key).digest()

/** The id of a well-formed key, found without any query; null for everything else. */
export const keyIdOf = (key: string): string | null => {
  const parts = form.exec(key)
  if (!parts || parts[1] !== (settings.production ? 'live' : 'test')) return null
  return checksum(key.slice(0, -6)) === parts[4] ? (parts[2] ?? null) : null
}

/** Hashes of a key for each pepper in use: the stored hash is among them if the key is right. */
export const keyHashes = (key: string): string[] =>
  settings.peppers.map(({ key: pepperKey }) => digest(key, pepperKey).toString('base64'))

export type KeyRecord = {
  id: string
  tenantId: string
  keyId: string
  hash: string
  pepperId: string
  scopes: string[]
  cidrs: string[]
  propertyIds: string[] | null
  expiresAt: string
  revokedAt: string | null
  version: number
}

export const keyRecord = (knex: Knex, keyId: string): Promise<KeyRecord | null> =>
  sqlOne<KeyRecord>(
    knex,
    `select id, tenant_id, key_id, encode(hash, 'base64') as hash, pepper_id, scopes, cidrs, property_ids, expires_at::text as expires_at, revoked_at::text as revoked_at, version
     from api_key_of(?)`,
    [keyId],
  )

/** The keys, by their public ids, that changed since `since`; null: within what caches remember. */
export const changedKeys = async (knex: Knex, since: Date | null): Promise<Changes> =>
  changesOf(
    await sql(
      knex,
      `select c.key_id as id, c.version, clock.at from (select clock_timestamp() as at) clock
         left join lateral api_keys_changed(coalesce(?::timestamptz - make_interval(secs => ?), clock.at - make_interval(secs => ?))) c on true`,
      [since, overlapSeconds, keptSeconds + overlapSeconds],
    ),
  )

/** Tells whether the key is the one of the record and live at `now`. In constant time. */
export const keyMatches = (key: string, record: KeyRecord, now: Date): boolean => {
  const same = timingSafeEqual(digest(key, pepper(record.pepperId).key), Buffer.from(record.hash, 'base64'))
  return same && record.revokedAt === null && new Date(record.expiresAt) > now
}

/** A whole key from its two parts. `secret` has 32 bytes. */
export const composeKey = (keyId: string, secret: Buffer): string => {
  const body = `pou_${settings.production ? 'live' : 'test'}_${keyId}_${inBase62(BigInt(`0x${secret.toString('hex')}`), 43)}`
  return body + checksum(body)
}

/** The eight characters that bytes stand for in a key. */
export const keyIdFrom = (bytes: Buffer): string =>
  Array.from(bytes.subarray(0, 8), (byte) => base32[byte % 32]).join('')

/** Stored part of a key: its id, the shown prefix, and its hash under the pepper in use. */
export const storedKey = (key: string) => {
  const keyId = keyIdOf(key)
  if (keyId === null) throw new Error('the key has not the form of one')
  const { id: pepperId, key: pepperKey } = pepper()
  return { keyId, hint: `${key.slice(0, 17)}…${key.slice(-4)}`, hash: digest(key, pepperKey), pepperId }
}

/** A new random key. */
export const newKey = (): string => composeKey(keyIdFrom(randomBytes(8)), randomBytes(32))
