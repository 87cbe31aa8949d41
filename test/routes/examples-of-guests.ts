import fc from 'fast-check'
import { sql } from '../../db/lib/connection.ts'
import { addDocument } from '../../db/guests/documents/documents.ts'
import {
  addNote,
  approveRequest,
  blockGuest,
  createCompany,
  createGuests,
  makeExport,
  matchGuests,
  mergeGuests,
  registerRequest,
} from '../../db/guests/index.ts'
import { inTenant } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { makeUser } from '../auth/support.ts'
import { makeHold } from '../support/stay.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import type { Known } from './inputs.ts'

/** Guests with all that is kept beside them, one merged, one to be deleted, and firms in each state. */
export const ofGuests = async (
  house: House,
): Promise<{
  known: Known
  ofPublic: Known
  examples: Record<string, unknown[]>
  records: Record<string, string>
}> => {
  const { userId } = await makeUser({ [house.tenantId]: 'manager' })
  const asManager = <T>(work: (trx: Trx) => Promise<T>) =>
    inTenant(house.tenantId, work, { actor: { type: 'user', id: userId } })
  const person = { lastName: 'Fuzz', source: 'staff' as const }
  const made = await asManager(async (trx) => {
    const guests = await createGuests(
      trx,
      Array.from({ length: 12 }, (_, index) => ({ ...person, firstName: `Guest ${index}`, email: 'fuzz@example.com' })),
    )
    const [guestId = '', merged = '', lonely = '', spare = ''] = guests
    const documentId = await addDocument(trx, guestId, { kind: 'passport', countryCode: 'PE', number: 'FZ 1' })
    const goneDocument = await addDocument(trx, guestId, { kind: 'passport', countryCode: 'PE', number: 'FZ 2' })
    const notes: string[] = []
    for (let index = 0; index < 20; index += 1)
      notes.push((await addNote(trx, guestId, { text: `note ${index}`, audience: 'all' })).id)
    const guestBlockId = await blockGuest(trx, guestId, { level: 'warn', reason: 'for the fuzz' })
    await mergeGuests(trx, guestId, { mergedGuestId: merged, reason: 'for the fuzz' })
    await matchGuests(trx, spare)
    const [pair] = await sql<{ id: string }>(trx, `select id from guest_duplicate order by id limit 1`)
    const requests: string[] = []
    for (const guest of guests.slice(3, 7))
      requests.push(
        await registerRequest(trx, {
          guestId: guest,
          kind: 'correction',
          channel: 'email',
          correction: { tags: ['x'] },
        }),
      )
    const access = await registerRequest(trx, { guestId: lonely, kind: 'access', channel: 'email' })
    await approveRequest(trx, access, { identityMethod: 'document' })
    await makeExport(trx, access)
    const companyId = await createCompany(trx, { kind: 'company', legalName: 'Fuzz Ltda' })
    return {
      guestId,
      merged,
      lonely,
      spare,
      documentId,
      goneDocument,
      notes,
      guestBlockId,
      pair,
      companyId,
      guests,
      requests,
      access,
    }
  })
  // Nothing is asked for before arrival there.
  const inn = await makeHouse({ tenantId: house.tenantId, deposit: null })
  const formOf = async (from: number, fields = '', values = ''): Promise<string> => {
    const bookingId = await makeHold(inn, { from })
    return inn.inHouse(async (trx) => {
      await confirmBooking(trx, bookingId)
      const [row] = await sql<{ id: string }>(
        trx,
        `insert into guest_registration (reservation_guest_id, reservation_id, guest_id, property_id ${fields})
         select n.id, r.id, n.guest_id, r.property_id ${values} from reservation r join reservation_guest n on n.reservation_id = r.id
         where r.booking_id = ? limit 1 returning id`,
        [bookingId],
      )
      return row?.id ?? ''
    })
  }
  const form = await formOf(70)
  const submitted = await formOf(71, ', status, signed_at, signed_via', `, 'submitted', now(), 'paper'`)
  const linked = await formOf(72, ', link_valid_from', `, date_trunc('second', now())`)
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  const known: Known = {
    guestId: one(made.guestId),
    'guests.delete guestId': one(...made.guests.slice(7)),
    'guests.unmerge guestId': one(made.merged),
    mergedGuestId: one(made.spare, made.lonely),
    documentId: one(made.documentId),
    'guestDocuments.delete documentId': one(made.goneDocument),
    noteId: one(...made.notes),
    guestBlockId: one(made.guestBlockId),
    duplicateId: one(made.pair?.id ?? ''),
    companyId: one(made.companyId),
    privacyRequestId: one(...made.requests.slice(0, 2)),
    'privacyRequests.refuse privacyRequestId': one(...made.requests.slice(2)),
    'privacyRequests.export privacyRequestId': one(made.access),
    guestRegistrationId: one(form),
    'guestRegistrations.submit guestRegistrationId': one(submitted),
    side: one('front', 'back', 'portrait'),
  }
  return {
    known,
    ofPublic: { guestRegistrationId: one(linked) },
    examples: {
      'guests.list': [{}, { q: 'fuzz' }, { tag: 'vip', blocked: 'warn' }],
      'guests.stays': [{}, { status: 'confirmed' }],
      'guestDuplicates.list': [{}, { status: 'dismissed', minScore: 60 }],
      'guestDocuments.create': Array.from({ length: 20 }, (_, index) => ({
        kind: 'passport',
        countryCode: 'CL',
        number: `NEW ${index}`,
      })),
      'guestBlocks.create': [{ level: 'refuse', reason: 'of one house', propertyId: house.propertyId }],
      'privacyRequests.create': made.guests.slice(7).flatMap((guestId) => [
        { guestId, kind: 'erasure', channel: 'letter' },
        { guestId, kind: 'correction', channel: 'email', correction: { tags: ['y'] } },
      ]),
      'privacyRequests.approve': [{ identityMethod: 'document' }],
      'privacyRequests.refuse': [{ legalBasis: 'LGPD, article 16', reason: 'An invoice is open' }],
      'companies.create': Array.from({ length: 20 }, (_, index) => ({ kind: 'organiser', legalName: `Firm ${index}` })),
    },
    records: { guestId: made.spare, mergedGuestId: made.spare },
  }
}
