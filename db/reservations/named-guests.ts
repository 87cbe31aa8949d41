import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { createGuest, findByDocumentAndEmail, recordFirstConsents } from '../guests/index.ts'
import type { Booker, GuestName, HeldWords } from '../guests/index.ts'
import type { BookingRow, ReservationRow } from '../rows.ts'
import { plainText } from '../lib/sealing/index.ts'

/** Country of a document without a stated country. */
const unknownCountry = 'ZZ'

const bookerProfile = async (trx: Trx, booker: Booker, language: string): Promise<string> => {
  const { firstName, lastName, email, phone = null, countryCode = null, document } = booker
  const known = document ? await findByDocumentAndEmail(trx, document.number, email) : null
  if (known) return known
  const country = document?.type === 'cpf' ? 'BR' : (countryCode ?? unknownCountry)
  return createGuest(trx, {
    firstName,
    lastName,
    email,
    phone,
    language,
    residenceCountry: countryCode,
    source: 'portal',
    document: document ? { kind: document.type, countryCode: country, number: document.number } : null,
  })
}

/** Locks the profile that a booker will be linked to, for commands that take counters before names. */
export const lockKnownBooker = async (trx: Trx, { booker }: HeldWords): Promise<void> => {
  if (booker.document) await findByDocumentAndEmail(trx, booker.document.number, booker.email)
}

const sameName = (a: GuestName, b: GuestName) =>
  plainText(`${a.firstName} ${a.lastName}`) === plainText(`${b.firstName} ${b.lastName}`)

export type NamedGuests = { bookerGuestId: string; primaryOf: Map<string, string> }

/**
 * Turns the words of a hold into profiles (R5 of guests.md): the booker's is found by document and e-mail or made; each further name
 * gets one of its own. A room without names is the booker's.
 */
export const nameGuests = async (
  trx: Trx,
  booking: BookingRow,
  rooms: readonly ReservationRow[],
  words: HeldWords,
): Promise<NamedGuests> => {
  const bookerGuestId = booking.bookerGuestId ?? (await bookerProfile(trx, words.booker, booking.language))
  const primaryOf = new Map<string, string>()
  const rows: { reservationId: string; guestId: string; role: 'primary' | 'companion' }[] = []
  for (const room of rooms) {
    const guestIds: string[] = []
    for (const name of words.guests[room.position - 1] ?? []) {
      const isBooker = sameName(name, words.booker) && !guestIds.includes(bookerGuestId)
      guestIds.push(
        isBooker ? bookerGuestId : await createGuest(trx, { ...name, language: booking.language, source: 'portal' }),
      )
    }
    if (guestIds.length === 0) guestIds.push(bookerGuestId)
    primaryOf.set(room.id, guestIds[0]!)
    rows.push(
      ...guestIds.map((guestId, index) => ({
        reservationId: room.id,
        guestId,
        role: index === 0 ? ('primary' as const) : ('companion' as const),
      })),
    )
  }
  await sql(
    trx,
    `insert into reservation_guest (reservation_id, guest_id, role)
     select * from unnest(?::uuid[], ?::uuid[], ?::text[]) on conflict (tenant_id, reservation_id, guest_id) do nothing`,
    [rows.map((row) => row.reservationId), rows.map((row) => row.guestId), rows.map((row) => row.role)],
  )
  if (words.marketing && booking.bookerGuestId === null) {
    const consents = Object.entries(words.marketing).map(([channel, granted]) => ({
      purpose: `marketing_${channel as 'email' | 'sms' | 'whatsapp'}` as const,
      decision: granted === true ? ('granted' as const) : ('withdrawn' as const),
      source: 'portal' as const,
      textVersion: words.termsVersion ?? 'none',
    }))
    await recordFirstConsents(trx, bookerGuestId, consents)
  }
  return { bookerGuestId, primaryOf }
}

/** The guests of rooms that the desk has named when it made the hold; a room without names is the booker's. */
export const guestsNamed = async (
  trx: Trx,
  booking: Pick<BookingRow, 'bookerGuestId'>,
  rooms: readonly ReservationRow[],
): Promise<NamedGuests> => {
  const { bookerGuestId } = booking
  if (bookerGuestId === null) throw new Error('a booking without a booker has words to name one')
  const unnamed = rooms.filter((room) => room.primaryGuestId === null)
  if (unnamed.length > 0)
    await sql(
      trx,
      `insert into reservation_guest (reservation_id, guest_id, role) select id, ?::uuid, 'primary' from unnest(?::uuid[]) id
       on conflict (tenant_id, reservation_id, guest_id) do nothing`,
      [bookerGuestId, unnamed.map((room) => room.id)],
    )
  return { bookerGuestId, primaryOf: new Map(rooms.map((room) => [room.id, room.primaryGuestId ?? bookerGuestId])) }
}
