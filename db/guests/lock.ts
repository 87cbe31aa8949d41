import { conflict, notFound, versionConflict } from '../../config/errors.ts'
import { sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { unsealGuests } from '../lib/sealing/index.ts'
import type { GuestRow } from '../rows.ts'
import { emptyProfile, profilePlace } from './profile.ts'
import type { GuestProfile } from './profile.ts'
import { guestErased } from './resolve.ts'

export const guestMerged = ({ id, mergedIntoId }: Pick<GuestRow, 'id' | 'mergedIntoId'>) =>
  conflict('guest_merged', 'The profile was merged into another one; change that one', [
    { field: 'guestId', message: `${id} was merged into ${mergedIntoId ?? 'another profile'}` },
  ])

/** Refuses a command by one who read another version of the row than the one that it has locked. */
export const refuseStale = ({ version }: { version: number }, expected: number | null): void => {
  if (expected !== null && version !== expected) throw versionConflict(version)
}

/** Refuses a guest whose profile does not change any more. */
export const refusePassive = (guest: Pick<GuestRow, 'id' | 'status' | 'mergedIntoId'>): void => {
  if (guest.status === 'erased') throw guestErased(guest.id)
  if (guest.status === 'merged') throw guestMerged(guest)
}

/**
 * Locks a guest for a change: 404 where there is none, 409 `guest_merged` or `guest_erased` where it does not change any more, 409 `version_conflict`
 * where `expected` is no longer its version.
 */
export const lockGuest = async (trx: Trx, guestId: string, expected: number | null = null): Promise<GuestRow> => {
  const row = await sqlOne<GuestRow>(trx, `select * from guest where id = ? for no key update`, [guestId])
  if (!row) throw notFound()
  refusePassive(row)
  refuseStale(row, expected)
  return row
}

/** The sealed data of a guest, opened; empty where nothing is sealed, or where the key is gone. */
export const openProfile = async (trx: Trx, { id, sealed }: Pick<GuestRow, 'id' | 'sealed'>): Promise<GuestProfile> => {
  const [profile] = await unsealGuests<GuestProfile>(trx, 'profile', [{ guestId: id, place: profilePlace(id), sealed }])
  return profile ?? emptyProfile
}
