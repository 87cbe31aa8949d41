import { conflict } from '../../config/errors.ts'
import { guestDeleted } from '../../config/events/guests.ts'
import { nativeError, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { removeFiles } from './documents/documents.ts'
import { lockGuest } from './lock.ts'

const referring = (error: unknown): string | null => {
  const native = nativeError(error)
  if (!(native instanceof Error) || !('code' in native) || native.code !== '23503') return null
  return 'table' in native && typeof native.table === 'string' ? native.table : 'another record'
}

/** Tables whose rows go with a profile. Their rows mean nothing without the guest. */
const parts = ['guest_document', 'guest_note', 'guest_consent', 'guest_key'] as const

/**
 * Deletes a profile that nothing refers to (P6, R8). 409 `guest_in_use` where a stay, a folio, a message, a registration, a block, a merge or a privacy
 * request does: foreign keys say so, whatever module it belongs to.
 */
export const deleteGuest = async (trx: Trx, guestId: string, expected: number | null): Promise<void> => {
  const guest = await lockGuest(trx, guestId, expected)
  try {
    const documents = await sql<{ id: string }>(trx, `select id from guest_document where guest_id = ?`, [guestId])
    await removeFiles(
      trx,
      documents.map((row) => row.id),
    )
    for (const table of parts) await sql(trx, `delete from ${table} where guest_id = ?`, [guestId])
    await sql(trx, `delete from guest_duplicate where guest_a = ? or guest_b = ?`, [guestId, guestId])
    await sql(trx, `delete from guest where id = ?`, [guestId])
  } catch (error) {
    const table = referring(error)
    if (table === null) throw error
    throw conflict('guest_in_use', 'Records refer to this profile; register an erasure request instead', [
      { field: 'guestId', message: `is in use by ${table.replaceAll('_', ' ')}` },
    ])
  }
  await emit(trx, guestDeleted, {
    propertyId: null,
    id: guestId,
    version: guest.version,
    data: { guestId, source: guest.source },
  })
}
