import { timingSafeEqual } from 'node:crypto'
import { guestAccessCode } from '../../config/derived-secrets.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { queueMessage } from '../ocp/index.ts'
import { blindIndex } from '../lib/sealing/index.ts'
import { bookerOf, isOfGuest } from '../guests/index.ts'
import type { BookingRow } from '../rows.ts'
import { hashAddress } from './limits.ts'
import { readBookingNumber } from './rules/number.ts'

const codesPerHour = 3
const codesPerAddressAndHour = 10
const triesPerCode = 5

const findBooking = (trx: Trx, propertyId: string, typed: string) => {
  const number = readBookingNumber(typed)
  return number === null
    ? Promise.resolve(null)
    : sqlOne<BookingRow>(trx, `select * from booking where number = ? and property_id = ? for no key update`, [
        number,
        propertyId,
      ])
}

/**
 * Sends a code to the e-mail of a booking, if number and e-mail belong together; says nothing about whether they do (R18). A new code
 * ends the one before; three an hour of a booking, and ten an hour for one `client`. The mail is in `locale`, else in the language of the booking.
 */
export const sendAccessCode = async (
  trx: Trx,
  {
    propertyId,
    number,
    email,
    locale,
    client,
  }: {
    propertyId: string
    number: string
    email: string
    locale?: string | undefined
    /** Address of the client, whose hash alone is kept. */
    client: string
  },
): Promise<void> => {
  const booking = await findBooking(trx, propertyId, number)
  const booker = booking && (await bookerOf(trx, booking))
  if (!booking || !booker?.email) return
  const typed = blindIndex(trx, 'email', email)
  // An address that was corrected since stands in the profile of the booker alone. The code goes there, whichever of the two was typed.
  if (!booking.emailIndex?.equals(typed) && !blindIndex(trx, 'email', booker.email).equals(typed)) return
  const addressHash = hashAddress(trx, client)
  await sql(trx, `select pg_advisory_xact_lock(hashtextextended('access codes ' || ?, 0))`, [
    addressHash.toString('hex'),
  ])
  const recent = await sqlOne<{ ofBooking: number; ofClient: number }>(
    trx,
    `select (select count(*) from guest_access_code where booking_id = :bookingId and created_at > now() - interval '1 hour') as of_booking,
       (select count(*) from guest_access_code where address_hash = :addressHash and created_at > now() - interval '1 hour') as of_client`,
    { bookingId: booking.id, addressHash },
  )
  if (!recent || recent.ofBooking >= codesPerHour || recent.ofClient >= codesPerAddressAndHour) return
  await sql(
    trx,
    `update guest_access_code set ended_at = now() where booking_id = ? and used_at is null and ended_at is null`,
    [booking.id],
  )
  const code = await sqlOne<{ id: string }>(
    trx,
    `insert into guest_access_code (booking_id, expires_at, address_hash) values (?, now() + interval '10 minutes', ?) returning id`,
    [booking.id, addressHash],
  )
  const first = await sqlOne<{ id: string }>(
    trx,
    `select id from reservation where booking_id = ? order by position limit 1`,
    [booking.id],
  )
  if (!code || !first) return
  await queueMessage(trx, {
    propertyId,
    templateKey: 'booking-access-code',
    dedupeKey: `code-${code.id}`,
    ...(booker.guestId ? { guestId: booker.guestId } : {}),
    recipient: {
      name: `${booker.firstName} ${booker.lastName}`.trim(),
      email: booker.email,
      language: locale ?? booker.language,
    },
    reservationId: first.id,
    data: { guestAccessCodeId: code.id },
    plan: [{ channel: 'email', waitMinutes: 10 }],
    validMinutes: 10,
  })
}

/** The booking that a code opens, once; null for a wrong, ended or unknown one alike (R19). The caller commits: a wrong try counts. */
export const useAccessCode = async (
  trx: Trx,
  { propertyId, number, code }: { propertyId: string; number: string; code: string },
): Promise<string | null> => {
  const booking = await findBooking(trx, propertyId, number)
  if (!booking) return null
  const live = await sqlOne<{ id: string; attempts: number }>(
    trx,
    `select id, attempts from guest_access_code where booking_id = ? and used_at is null and ended_at is null and expires_at > now() for update`,
    [booking.id],
  )
  if (!live || live.attempts >= triesPerCode) return null
  const right = timingSafeEqual(Buffer.from(guestAccessCode(live.id)), Buffer.from(code.padEnd(6, ' ').slice(0, 6)))
  await sql(
    trx,
    `update guest_access_code set attempts = attempts + 1, used_at = case when ?::boolean then now() end,
       ended_at = case when not ?::boolean and attempts + 1 >= ? then now() end where id = ?`,
    [right, right, triesPerCode, live.id],
  )
  return right ? booking.id : null
}

/**
 * Gives the bookings of a guest that still stand, and are known by the e-mail of the profile, the one that it gets. Tokens that were sent to the former
 * end. Bookings are locked before guests.
 */
export const followEmail = async (trx: Trx, guestId: string, email: string | null): Promise<void> => {
  const emailIndex = email === null ? null : blindIndex(trx, 'email', email)
  await sql(
    trx,
    `update booking set email_index = :emailIndex, guest_tokens_valid_from = now(), version = version + 1 where id in (
       select b.id from guest own join booking b on b.tenant_id = own.tenant_id and b.email_index = own.email_index
         and ${isOfGuest('b.booker_guest_id', 'own.id')}
       where own.id = :guestId and own.email_index is distinct from cast(:emailIndex as bytea) and exists (
         select from reservation r where r.tenant_id = b.tenant_id and r.booking_id = b.id and r.status in ('held', 'confirmed', 'checked_in'))
       order by b.id for no key update of b)`,
    { guestId, emailIndex },
  )
}

/** Tells whether the booking has another booker by now, or none: links sent to its first one open it no more. */
export const tokensCalledBack = async (trx: Trx, bookingId: string): Promise<boolean> =>
  (await sqlOne(trx, `select id from booking where id = ? and guest_tokens_valid_from is null`, [bookingId])) === null

/** False for a token made before the booker's e-mail changed or the guest's data were erased, and where the booking is gone. */
export const isGuestTokenLive = async (trx: Trx, bookingId: string, issuedAt: Date): Promise<boolean> => {
  const row = await sqlOne<{ live: boolean }>(
    trx,
    `select guest_tokens_valid_from is null or date_trunc('second', guest_tokens_valid_from) <= ?::timestamptz as live from booking where id = ?`,
    [issuedAt.toISOString(), bookingId],
  )
  return row?.live ?? false
}
