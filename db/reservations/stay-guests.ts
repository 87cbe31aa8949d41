import { conflict, invalid, notFound, unprocessable } from '../../config/errors.ts'
import { reservationGuestsChanged } from '../../config/events/reservations.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import type { BookingRow, ReservationGuestRow, ReservationRow } from '../rows.ts'
import { closeForms, fillAges, isOfGuest, openForms } from '../guests/index.ts'
import { lockStay } from './lock.ts'
import type { LockedStay } from './lock.ts'
import { barredAmong, nameParty } from './party.ts'
import type { Named } from './party.ts'
import { recordOverride } from './record.ts'
import { refuseBlocked } from './rules/blockers.ts'
import type { Override } from './rules/blockers.ts'
import { isLive } from './rules/states.ts'

type Place = {
  age?: number | null | undefined
  role?: 'primary' | 'companion' | undefined
  responsibleId?: string | null | undefined
  kinship?: string | null | undefined
  authorisationDocumentId?: string | null | undefined
}

const lockLive = async (trx: Trx, reservationId: string, expected: number | null): Promise<LockedStay> => {
  const locked = await lockStay(trx, reservationId, expected)
  if (!isLive(locked.stay.status))
    throw conflict('invalid_transition', 'The guests of a stay that has ended stay as they are')
  return locked
}

const guestsOf = (trx: Trx, reservationId: string) =>
  sql<ReservationGuestRow>(trx, `select * from reservation_guest where reservation_id = ? order by id for update`, [
    reservationId,
  ])

/** The responsible adult of a minor is another guest of the same stay. */
const refuseResponsible = (
  guests: readonly ReservationGuestRow[],
  responsibleId: string | null | undefined,
  ownId?: string,
) => {
  if (!responsibleId) return
  const adult = guests.find((one) => one.id === responsibleId)
  if (!adult || adult.id === ownId)
    throw unprocessable('reference_not_found', 'The responsible adult is another guest of the stay', [
      { field: 'responsibleId', message: 'is not a guest of the stay' },
    ])
  if (adult.age !== null && adult.age < 18) throw invalid([{ field: 'responsibleId', message: 'is a minor' }])
}

/** The document that authorises the stay of a minor is one that the tenant keeps. */
const refuseDocument = async (trx: Trx, documentId: string | null | undefined) => {
  if (!documentId) return
  if (await sqlOne(trx, `select id from guest_document where id = ?`, [documentId])) return
  throw unprocessable('reference_not_found', 'There is no such document', [
    { field: 'authorisationDocumentId', message: 'does not exist' },
  ])
}

type Told = {
  booking: Pick<BookingRow, 'id' | 'number'>
  stay: Pick<ReservationRow, 'id' | 'propertyId' | 'position' | 'status'>
}

/** Counts and tells a change of the guests of a stay, whose main guest is the one who is it by now. */
export const tellGuestsChanged = async (trx: Trx, { booking, stay }: Told): Promise<void> => {
  const written = await sqlOne<ReservationRow>(
    trx,
    `update reservation r set version = version + 1,
       primary_guest_id = coalesce((select g.guest_id from reservation_guest g where g.tenant_id = r.tenant_id and g.reservation_id = r.id and g.role = 'primary'),
         primary_guest_id) where id = ? returning *`,
    [stay.id],
  )
  if (!written) return
  await emit(trx, reservationGuestsChanged, {
    propertyId: stay.propertyId,
    id: stay.id,
    version: written.version,
    data: {
      reservationId: stay.id,
      number: `${booking.number}-${stay.position}`,
      bookingId: booking.id,
      status: stay.status,
    },
  })
}

/** Makes a guest the main one; the one before is a companion from then on. */
const demote = (trx: Trx, reservationId: string, except: string | null) =>
  sql(
    trx,
    `update reservation_guest set role = 'companion', version = version + 1 where reservation_id = ? and role = 'primary' and id is distinct from ?`,
    [reservationId, except],
  )

/**
 * Adds a guest to a live stay: a profile that is there, or one to be made. 409 duplicate; 422 occupancy_exceeded where the party is complete,
 * transition_blocked for one that is barred. Answers the id of the guest within the stay.
 */
export const addStayGuest = async (
  trx: Trx,
  reservationId: string,
  person: Named,
  { role = 'companion', age = null, responsibleId = null, kinship = null, authorisationDocumentId = null }: Place,
  {
    override = null,
    source = 'staff',
    expectedVersion = null,
  }: { override?: Override | null; source?: 'staff' | 'api'; expectedVersion?: number | null } = {},
): Promise<string> => {
  const locked = await lockLive(trx, reservationId, expectedVersion)
  const { booking, stay } = locked
  const guests = await guestsOf(trx, stay.id)
  if (guests.length >= stay.adults + stay.childrenAges.length)
    throw unprocessable('occupancy_exceeded', 'The stay is booked for no more guests; amend the party first')
  refuseResponsible(guests, responsibleId)
  await refuseDocument(trx, authorisationDocumentId)
  const party = await nameParty(trx, {
    source,
    booker: person,
    bookerAt: '',
    rooms: [],
    language: booking.language,
  })
  const guestId = party.bookerGuestId
  // The stay may name a profile that was merged into this one since.
  const named = await sqlOne(
    trx,
    `select n.id from reservation_guest n where n.reservation_id = ? and ${isOfGuest('n.guest_id')} limit 1`,
    [stay.id, guestId],
  )
  if (named) throw conflict('duplicate', 'The guest is named already')
  const used = refuseBlocked((await barredAmong(trx, stay.propertyId, [guestId])).blockers, override)
  recordOverride(trx, { stay, command: 'add_guest', override: used, businessDate: locked.businessDate })
  if (role === 'primary') await demote(trx, stay.id, null)
  const added = await sqlOne<{ id: string }>(
    trx,
    `insert into reservation_guest (reservation_id, guest_id, role, age, responsible_id, kinship, authorisation_document_id)
     values (?, ?, ?, ?, ?, ?, ?) returning id`,
    [stay.id, guestId, role, age, responsibleId, kinship, authorisationDocumentId],
  )
  await fillAges(trx, [stay.id])
  openForms(trx, [stay.id])
  await tellGuestsChanged(trx, locked)
  return added?.id ?? ''
}

/** Changes what is said of a guest within a stay. The main guest becomes a companion by another one that becomes the main guest. */
export const changeStayGuest = async (
  trx: Trx,
  reservationId: string,
  id: string,
  change: Place,
  expected: number | null = null,
): Promise<void> => {
  const locked = await lockLive(trx, reservationId, expected)
  const guests = await guestsOf(trx, reservationId)
  const guest = guests.find((one) => one.id === id)
  if (!guest) throw notFound()
  if (change.role === 'companion' && guest.role === 'primary')
    throw unprocessable('rule_violated', 'Name another guest as the main one instead', [
      { field: 'role', message: 'a stay has a main guest' },
    ])
  refuseResponsible(guests, change.responsibleId, id)
  await refuseDocument(trx, change.authorisationDocumentId)
  if (change.role === 'primary') await demote(trx, reservationId, id)
  const kept = <V>(given: V | undefined, present: V): V => (given === undefined ? present : given)
  await sql(
    trx,
    `update reservation_guest set role = ?, age = ?, responsible_id = ?, kinship = ?, authorisation_document_id = ?, version = version + 1 where id = ?`,
    [
      change.role ?? guest.role,
      kept(change.age, guest.age),
      kept(change.responsibleId, guest.responsibleId),
      kept(change.kinship, guest.kinship),
      kept(change.authorisationDocumentId, guest.authorisationDocumentId),
      id,
    ],
  )
  await tellGuestsChanged(trx, locked)
}

/** Takes a companion off a live stay; the main guest stays until another one is. */
export const removeStayGuest = async (
  trx: Trx,
  reservationId: string,
  id: string,
  expected: number | null = null,
): Promise<void> => {
  const locked = await lockLive(trx, reservationId, expected)
  const guest = (await guestsOf(trx, reservationId)).find((one) => one.id === id)
  if (!guest) throw notFound()
  if (guest.role === 'primary')
    throw unprocessable('rule_violated', 'The main guest stays until another one is', [
      { field: 'role', message: 'name another main guest first' },
    ])
  await sql(trx, `update reservation_guest set responsible_id = null, version = version + 1 where responsible_id = ?`, [
    id,
  ])
  await sql(trx, `delete from reservation_guest where id = ?`, [id])
  await closeForms(trx, [reservationId])
  await tellGuestsChanged(trx, locked)
}
