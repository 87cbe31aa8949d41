import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { unsealGuests } from '../lib/sealing/index.ts'
import { documentPlace } from './documents/numbers.ts'
import type { DocumentWords } from './documents/numbers.ts'
import { fullName, profilePlace } from './profile.ts'
import type { Address, GuestProfile } from './profile.ts'
import { survivorOf } from './resolve.ts'

/** A guest as a fiscal document names them: with the number and address that are known, also of profiles merged into theirs. */
export type Taxpayer = {
  name: string
  countryCode: string
  document: string | null
  address: Address | null
  email: string | null
}

/** Reads who a guest is for the tax authority; null for one that was erased. A guest without CPF lives where the profile says, else in Brazil. */
export const taxpayerOf = async (trx: Trx, guestId: string): Promise<Taxpayer | null> => {
  const guest = await sqlOne<{
    id: string
    firstName: string
    lastName: string
    residenceCountry: string | null
    nationality: string | null
    sealed: Buffer | null
    status: string
  }>(
    trx,
    `select s.id, s.first_name, s.last_name, s.residence_country, s.nationality, s.sealed, s.status
     from guest g join guest s on s.tenant_id = g.tenant_id and s.id = ${survivorOf('g')} where g.id = ?`,
    [guestId],
  )
  if (!guest || guest.status === 'erased') return null
  const [profile] = await unsealGuests<GuestProfile>(trx, 'profile', [
    { guestId: guest.id, place: profilePlace(guest.id), sealed: guest.sealed },
  ])
  const held = await sql<{ id: string; guestId: string; sealed: Buffer }>(
    trx,
    `select d.id, d.guest_id, d.sealed from guest_document d join guest g on g.tenant_id = d.tenant_id and g.id = d.guest_id
     where d.kind = 'cpf' and (g.id = ? or g.merged_into_id = ?) and d.status <> 'rejected' order by d.status = 'verified' desc, d.created_at limit 1`,
    [guest.id, guest.id],
  )
  const words = await unsealGuests<DocumentWords>(
    trx,
    'profile',
    held.map((one) => ({ guestId: one.guestId, place: documentPlace(one.id), sealed: one.sealed })),
  )
  const number = words[0]?.number.replace(/\D/g, '') ?? null
  const elsewhere = profile?.address?.countryCode ?? guest.residenceCountry ?? guest.nationality
  return {
    name: fullName(guest),
    countryCode: number === null ? (elsewhere ?? 'BR') : 'BR',
    document: number,
    address: profile?.address ?? null,
    email: profile?.email ?? null,
  }
}
