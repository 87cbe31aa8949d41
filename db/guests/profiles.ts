import { randomUUID } from 'node:crypto'
import { guestCreated } from '../../config/events/guests.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { insertRow } from '../lib/records.ts'
import type { GuestRow } from '../rows.ts'
import { blindIndex, createGuestKeys, plainText, seal, unsealGuests } from '../lib/sealing/index.ts'
import { Guest } from './models.ts'

/** Data of a guest that the profile key seals. */
export type GuestProfile = {
  email: string | null
  phone: string | null
  otherPhone: string | null
  birthDate: string | null
  gender: string | null
  address: Record<string, string> | null
  preferences: { category: string; text: string }[]
}

export const profilePlace = (guestId: string) => ({ table: 'guest', rowId: guestId, purpose: 'profile' })
const documentPlace = (documentId: string) => ({ table: 'guest_document', rowId: documentId, purpose: 'document' })

export type NewGuest = {
  firstName: string
  lastName: string
  language: string | null
  source: GuestRow['source']
  email?: string | null
  phone?: string | null
  residenceCountry?: string | null
  document?: { kind: 'cpf' | 'passport' | 'other'; countryCode: string; number: string } | null
}

/** Makes a profile with its keys (P1). Whether there is one already is for the caller to know. */
export const createGuest = async (trx: Trx, guest: NewGuest): Promise<string> => {
  const id = randomUUID()
  await createGuestKeys(trx, id)
  const email = guest.email ?? null
  const phone = guest.phone ?? null
  const profile: GuestProfile = {
    email,
    phone,
    otherPhone: null,
    birthDate: null,
    gender: null,
    address: null,
    preferences: [],
  }
  const name = `${guest.firstName} ${guest.lastName}`.trim()
  await insertRow(trx, Guest, {
    id,
    firstName: guest.firstName,
    lastName: guest.lastName,
    language: guest.language,
    residenceCountry: guest.residenceCountry,
    sealed: await seal(trx, { guestId: id, purpose: 'profile' }, profilePlace(id), profile),
    emailIndex: email === null ? null : blindIndex(trx, 'email', email),
    phoneIndex: phone === null ? null : blindIndex(trx, 'phone', phone),
    phoneTailIndex: phone === null ? null : blindIndex(trx, 'phone_tail', phone),
    nameIndex: blindIndex(trx, 'name', name),
    nameSearch: plainText(name),
    source: guest.source,
  })
  if (guest.document) {
    const documentId = randomUUID()
    const { kind, countryCode, number } = guest.document
    await sql(
      trx,
      `insert into guest_document (id, guest_id, kind, country_code, sealed, number_index) values (?, ?, ?, ?, ?, ?)`,
      [
        documentId,
        id,
        kind,
        countryCode,
        await seal(trx, { guestId: id, purpose: 'profile' }, documentPlace(documentId), { number, issuer: null }),
        blindIndex(trx, 'document', number),
      ],
    )
  }
  await emit(trx, guestCreated, {
    propertyId: null,
    id,
    version: 1,
    data: { guestId: id, source: guest.source },
  })
  return id
}

/**
 * The profile that a booking from outside may be linked to: document and e-mail both match exactly (R5); of a merged one, its
 * survivor. It is locked against erasure, and never shown or changed.
 */
export const findByDocumentAndEmail = async (
  trx: Trx,
  documentNumber: string,
  email: string,
): Promise<string | null> => {
  const found = await sqlOne<{ id: string }>(
    trx,
    `select coalesce(g.merged_into_id, g.id) as id from guest g
     join guest_document d on d.tenant_id = g.tenant_id and d.guest_id = g.id and d.number_index = ? and d.status <> 'rejected'
     where g.email_index = ? and g.status <> 'erased' order by g.created_at, g.id limit 1`,
    [blindIndex(trx, 'document', documentNumber), blindIndex(trx, 'email', email)],
  )
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
