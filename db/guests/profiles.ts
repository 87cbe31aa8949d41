import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { GuestRow } from '../rows.ts'
import { blindIndex, unsealGuests } from '../lib/sealing/index.ts'
import { lockNumbers, numberIndex } from './documents/numbers.ts'
import { profilePlace } from './profile.ts'
import type { GuestProfile } from './profile.ts'

/**
 * The profile that a booking from outside may be linked to: document and e-mail both match exactly (R5); of a merged one, its
 * survivor. It is locked against erasure, and never shown or changed.
 */
export const findByDocumentAndEmail = async (
  trx: Trx,
  documentNumber: string,
  email: string,
): Promise<string | null> => {
  const index = numberIndex(trx, documentNumber)
  // Two bookings of one person at once link to one profile: the second waits, and finds what the first has made.
  const locking = lockNumbers(trx, [index])
  const finding = sqlOne<{ id: string }>(
    trx,
    `select coalesce(g.merged_into_id, g.id) as id from guest g
     join guest_document d on d.tenant_id = g.tenant_id and d.guest_id = g.id and d.number_index = ? and d.status <> 'rejected'
     where g.email_index = ? and g.status <> 'erased' order by g.created_at, g.id limit 1`,
    [index, blindIndex(trx, 'email', email)],
  )
  const [, found] = await Promise.all([locking, finding])
  if (!found) return null
  const locked = await sqlOne<{ id: string }>(
    trx,
    `select id from guest where id = ? and status = 'active' for share`,
    [found.id],
  )
  return locked?.id ?? null
}

export type Contact = { firstName: string; lastName: string; email: string | null; phone: string | null }

/** Name and addresses of a guest, opened; null once the guest is erased. */
export const readContact = async (trx: Trx, guestId: string): Promise<Contact | null> => {
  const guest = await sqlOne<Pick<GuestRow, 'id' | 'firstName' | 'lastName' | 'sealed' | 'status'>>(
    trx,
    `select id, first_name, last_name, sealed, status from guest where id = ?`,
    [guestId],
  )
  if (!guest || guest.status === 'erased') return null
  const [profile] = await unsealGuests<GuestProfile>(trx, 'profile', [
    { guestId: guest.id, place: profilePlace(guest.id), sealed: guest.sealed },
  ])
  return {
    firstName: guest.firstName,
    lastName: guest.lastName,
    email: profile?.email ?? null,
    phone: profile?.phone ?? null,
  }
}

export type Consent = { purpose: 'marketing_email' | 'marketing_sms' | 'marketing_whatsapp'; granted: boolean }

/** Writes what a guest decided about marketing; the latest word of a purpose counts. */
export const recordConsents = async (
  trx: Trx,
  guestId: string,
  consents: readonly Consent[],
  textVersion: string,
): Promise<void> => {
  if (consents.length === 0) return
  await sql(
    trx,
    `insert into guest_consent (guest_id, purpose, decision, source, text_version, by)
     select ?, c.purpose, c.decision, 'portal', ?, ?::jsonb from unnest(?::text[], ?::text[]) as c(purpose, decision)`,
    [
      guestId,
      textVersion,
      JSON.stringify(contextOf(trx).actor),
      consents.map((one) => one.purpose),
      consents.map((one) => (one.granted ? 'granted' : 'withdrawn')),
    ],
  )
}
