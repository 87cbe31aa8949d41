import type { ChannelRevision, ChannelRoom } from '../../config/channels.ts'
import { isCountry } from '../../config/countries.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { createGuest } from '../guests/index.ts'
import type { BookingRow, ReservationRow } from '../rows.ts'
import { plainText } from '../lib/sealing/index.ts'
import type { NamedGuests } from './named-guests.ts'

type Booker = NonNullable<ChannelRevision['booker']>

/** A whole name in two parts: channels send one. */
export const nameParts = (name: string): { firstName: string; lastName: string } => {
  const words = name.trim().split(/\s+/)
  const firstName = words.length > 1 ? words.slice(0, -1).join(' ') : words[0] || 'Guest'
  return { firstName: firstName.slice(0, 80), lastName: (words.length > 1 ? (words.at(-1) ?? '') : '').slice(0, 80) }
}

/** A profile for the booker that a channel names (R5 of guests.md): none that stands is linked or changed. */
export const createBooker = (trx: Trx, language: string | null, booker: Booker | undefined): Promise<string> =>
  createGuest(trx, {
    ...nameParts(booker?.name ?? ''),
    language,
    source: 'channel',
    email: booker?.email ?? null,
    phone: booker?.phone ?? null,
    residenceCountry: booker?.countryCode && isCountry(booker.countryCode) ? booker.countryCode : null,
  })

/**
 * Profiles for guests that a channel names (R5 of guests.md): it sends no documents, so none is linked to an existing profile, and none is
 * changed. A booking keeps the booker that it has. A room without names is the booker's.
 */
export const nameChannelGuests = async (
  trx: Trx,
  booking: BookingRow,
  reservations: readonly ReservationRow[],
  booker: Booker | undefined,
  rooms: readonly ChannelRoom[],
): Promise<NamedGuests> => {
  const common = { language: booking.language, source: 'channel' as const }
  const bookerGuestId = booking.bookerGuestId ?? (await createBooker(trx, booking.language, booker))
  const primaryOf = new Map<string, string>()
  const rows: { reservationId: string; guestId: string; role: 'primary' | 'companion' }[] = []
  for (const [index, reservation] of reservations.entries()) {
    const guestIds: string[] = []
    for (const name of rooms[index]?.guestNames ?? []) {
      const isBooker = plainText(name) === plainText(booker?.name ?? '') && !guestIds.includes(bookerGuestId)
      guestIds.push(isBooker ? bookerGuestId : await createGuest(trx, { ...nameParts(name), ...common }))
    }
    if (guestIds.length === 0) guestIds.push(bookerGuestId)
    primaryOf.set(reservation.id, guestIds[0]!)
    rows.push(
      ...guestIds.map((guestId, place) => ({
        reservationId: reservation.id,
        guestId,
        role: place === 0 ? ('primary' as const) : ('companion' as const),
      })),
    )
  }
  await sql(
    trx,
    `insert into reservation_guest (reservation_id, guest_id, role) select * from unnest(?::uuid[], ?::uuid[], ?::text[])`,
    [rows.map((row) => row.reservationId), rows.map((row) => row.guestId), rows.map((row) => row.role)],
  )
  return { bookerGuestId, primaryOf }
}
