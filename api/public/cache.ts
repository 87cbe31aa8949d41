import { notFound } from '../../config/errors.ts'
import { preparedOne } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { localeOf } from '../../db/properties/index.ts'
import { quickly } from '../lib/redis.ts'

/** Key of a cached reply. A change of the property raises `publicVersion`, so it shows at once. */
export type Place = { propertyId: string; publicVersion: number; locale: string }

/** One read by primary key. */
export const placeOf = async (trx: Trx, propertyId: string, asked: string | undefined): Promise<Place> => {
  const row = await preparedOne<{ publicVersion: number; locales: string[] }>(
    trx,
    `select d.public_version, p.locales from property_directory d join property p on p.tenant_id = d.tenant_id and p.id = d.property_id where d.property_id = ?`,
    [propertyId],
  )
  if (!row) throw notFound('There is no such property here', 'property_not_found')
  return { propertyId, publicVersion: row.publicVersion, locale: localeOf(row, asked) }
}

const running = new Map<string, Promise<unknown>>()

/**
 * A reply kept in Redis for some seconds, computed by one request at a time in each process. Without Redis it is computed.
 * Failures are never kept.
 */
export const cached = async <T>(place: Place, what: string, seconds: number, compute: () => Promise<T>): Promise<T> => {
  const key = `public:${place.propertyId}:${place.publicVersion}:${place.locale}:${what}`
  const kept = await quickly((redis) => redis.get(key))
  if (kept) return JSON.parse(kept) as T
  const other = running.get(key)
  if (other) return other as Promise<T>
  const mine = compute()
  running.set(key, mine)
  try {
    const value = await mine
    await quickly((redis) => redis.set(key, JSON.stringify(value), 'EX', seconds))
    return value
  } finally {
    running.delete(key)
  }
}
