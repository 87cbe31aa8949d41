import { sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { BookingRow } from '../rows.ts'
import { seal, unseal } from '../lib/sealing/index.ts'
import { readContact } from './profiles.ts'

export type Booker = {
  firstName: string
  lastName: string
  email: string
  phone?: string | undefined
  countryCode?: string | undefined
  document?: { type: 'cpf' | 'passport' | 'other'; number: string } | undefined
}
export type GuestName = { firstName: string; lastName: string }
export type Marketing = { email?: boolean | undefined; sms?: boolean | undefined; whatsapp?: boolean | undefined }

/** Personal data given with a hold; sealed until the hold is confirmed or its time is over. */
export type HeldWords = {
  booker: Booker
  /** Per room; the first is its main guest. */
  guests: GuestName[][]
  requests: string | null
  marketing: Marketing | null
  termsVersion: string | null
}

const place = (bookingId: string) => ({ table: 'booking', rowId: bookingId, purpose: 'hold' })

export const sealWords = (trx: Trx, bookingId: string, words: HeldWords) => seal(trx, 'tenant', place(bookingId), words)
export const readWords = async (trx: Trx, booking: Pick<BookingRow, 'id' | 'sealed'>): Promise<HeldWords | null> =>
  booking.sealed ? unseal<HeldWords>(trx, 'tenant', place(booking.id), booking.sealed) : null

export type BookerContact = {
  guestId: string | null
  firstName: string
  lastName: string
  email: string | null
  phone: string | null
  language: string
}

/** The booker, from the hold or from the guest's profile. Null if erased. */
export const readBooker = async (trx: Trx, bookingId: string): Promise<BookerContact | null> => {
  const booking = await sqlOne<Pick<BookingRow, 'id' | 'sealed' | 'bookerGuestId' | 'language'>>(
    trx,
    `select id, sealed, booker_guest_id, language from booking where id = ?`,
    [bookingId],
  )
  if (!booking) return null
  return bookerOf(trx, booking)
}

export const bookerOf = async (
  trx: Trx,
  booking: Pick<BookingRow, 'id' | 'sealed' | 'bookerGuestId' | 'language'>,
): Promise<BookerContact | null> => {
  if (booking.bookerGuestId) {
    const contact = await readContact(trx, booking.bookerGuestId)
    return contact && { ...contact, guestId: booking.bookerGuestId, language: booking.language }
  }
  const words = await readWords(trx, booking)
  if (!words) return null
  const { firstName, lastName, email, phone } = words.booker
  return { guestId: null, firstName, lastName, email, phone: phone ?? null, language: booking.language }
}
