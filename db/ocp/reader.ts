import { profilePlace, readBooker, survivorOf } from '../guests/index.ts'
import type { GuestProfile } from '../guests/index.ts'
import { preparedOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { GuestRow, MessageRow } from '../rows.ts'
import { unseal, unsealGuests } from '../lib/sealing/index.ts'
import { recipientPlace } from './queue.ts'
import type { Recipient } from './queue.ts'

/** The recipient of a message, as stored at this moment. */
export type Reader = {
  guestId: string | null
  firstName: string
  lastName: string
  email: string | null
  phone: string | null
  language: string | null
}

type Addressed = Pick<MessageRow, 'id' | 'recipient' | 'guestId' | 'reservationId' | 'paymentId'>

const guestReader = async (trx: Trx, guestId: string): Promise<Reader | null> => {
  const guest = await preparedOne<
    Pick<GuestRow, 'id' | 'firstName' | 'lastName' | 'preferredName' | 'language' | 'sealed' | 'status'>
  >(
    trx,
    `select s.id, s.first_name, s.last_name, s.preferred_name, s.language, s.sealed, s.status
     from guest g join guest s on s.tenant_id = g.tenant_id and s.id = ${survivorOf('g')} where g.id = ?`,
    [guestId],
  )
  if (!guest || guest.status === 'erased') return null
  const [profile] = await unsealGuests<GuestProfile>(trx, 'profile', [
    { guestId: guest.id, place: profilePlace(guest.id), sealed: guest.sealed },
  ])
  return {
    guestId: guest.id,
    firstName: guest.preferredName || guest.firstName,
    lastName: guest.lastName,
    email: profile?.email ?? null,
    phone: profile?.phone ?? null,
    language: guest.language,
  }
}

/** The booking that a message is about, if any. */
export const bookingOf = async (
  trx: Trx,
  message: Pick<MessageRow, 'reservationId' | 'paymentId'>,
): Promise<{ bookingId: string; guestId: string | null } | null> => {
  if (message.reservationId)
    return preparedOne(trx, `select booking_id, primary_guest_id as guest_id from reservation where id = ?`, [
      message.reservationId,
    ])
  if (!message.paymentId) return null
  return preparedOne(
    trx,
    `select coalesce(b.id, r.booking_id) as booking_id, r.primary_guest_id as guest_id from payment p
     left join booking b on b.tenant_id = p.tenant_id and p.target_type = 'booking' and b.id = p.target_id
     left join folio f on f.tenant_id = p.tenant_id and p.target_type = 'folio' and f.id = p.target_id
     left join reservation r on r.tenant_id = p.tenant_id and r.id = case p.target_type when 'reservation' then p.target_id else f.reservation_id end
     where p.id = ? and (b.id is not null or r.id is not null)`,
    [message.paymentId],
  )
}

/** Reads the recipient of a message; null if there is none left, such as after an erasure. */
export const readReader = async (trx: Trx, message: Addressed): Promise<Reader | null> => {
  if (message.recipient) {
    const given = await unseal<Recipient>(trx, 'tenant', recipientPlace(message.id), message.recipient)
    return {
      guestId: message.guestId,
      firstName: given.name,
      lastName: '',
      email: given.email ?? null,
      phone: given.phone ?? null,
      language: given.language ?? null,
    }
  }
  // A message for a guest who is erased does not go to the booker in their place.
  if (message.guestId) return guestReader(trx, message.guestId)
  const booking = await bookingOf(trx, message)
  if (!booking) return null
  const ofStay = booking.guestId ? await guestReader(trx, booking.guestId) : null
  if (ofStay) return ofStay
  const booker = await readBooker(trx, booking.bookingId)
  return booker?.guestId ? guestReader(trx, booker.guestId) : booker
}
