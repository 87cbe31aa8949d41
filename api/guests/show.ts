import type { Trx } from '../../db/lib/connection.ts'
import { audiencesOf, readGuest } from '../../db/guests/index.ts'
import type { Viewer } from '../../db/guests/index.ts'
import { statisticsOf } from '../../db/reservations/index.ts'
import type { Admission } from '../lib/caller.ts'

/** Tells whether the caller sees contact of people whole: by a role that may reveal it. An API key never does. */
export const seesContact = (admission: Admission): boolean =>
  admission.role !== null && admission.can('reveal', 'Guest') && !admission.isMasked('Guest')

/**
 * The parts of a guest that a caller may see (R9, R12, R17). Contact is for roles that may reveal, and so is decided by one permission. An API key sees contact
 * masked, whatever its scopes. To see it in full, the key reveals it and says why.
 */
export const viewerOf = (admission: Admission): Viewer => ({
  scope: admission.scope('read', 'Guest'),
  audiences: audiencesOf(admission.role, admission.can('read', 'Guest')),
  seesContact: seesContact(admission),
  seesReasons: admission.role !== null && admission.can('update', 'GuestBlock'),
})

/** A guest as the caller may see it. */
export const shownGuest = async (trx: Trx, guestId: string, admission: Admission) => {
  const guest = await readGuest(trx, guestId, viewerOf(admission))
  const group = [guest.id, ...guest.mergedGuests.map((one) => one.id)]
  return { ...guest, statistics: await statisticsOf(trx, group, admission.scope('read', 'Guest')) }
}
