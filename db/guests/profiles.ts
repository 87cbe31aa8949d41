import { sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { GuestRow } from '../rows.ts'
import { blindIndex, unsealGuests } from '../lib/sealing/index.ts'
import { lockNumbers, numberIndex } from './documents/numbers.ts'
import { profilePlace } from './profile.ts'
import type { GuestProfile } from './profile.ts'
import { survivorOf } from './resolve.ts'

/**
 * The profile that a booking from outside may be linked to: document and e-mail both match exactly (R5), those of any profiles that are one with it (R14). Of
 * a merged one it is the survivor. It is locked against erasure, and never shown or changed.
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
    `select ${survivorOf('h')} as id from guest_document d
     join guest h on h.tenant_id = d.tenant_id and h.id = d.guest_id and h.status <> 'erased'
     cross join lateral (
       select s.email_index from guest s where s.tenant_id = h.tenant_id and s.id = ${survivorOf('h')}
       union all select s.email_index from guest s where s.tenant_id = h.tenant_id and s.merged_into_id = ${survivorOf('h')}) m
     where d.number_index = ? and d.status <> 'rejected' and m.email_index = ? order by h.created_at, h.id limit 1`,
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

/** Name and addresses of a guest, opened, of a merged profile those of its survivor; null once the guest is erased. */
export const readContact = async (trx: Trx, guestId: string): Promise<Contact | null> => {
  const guest = await sqlOne<Pick<GuestRow, 'id' | 'firstName' | 'lastName' | 'sealed' | 'status'>>(
    trx,
    `select s.id, s.first_name, s.last_name, s.sealed, s.status
     from guest g join guest s on s.tenant_id = g.tenant_id and s.id = ${survivorOf('g')} where g.id = ?`,
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
