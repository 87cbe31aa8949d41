import { notFound } from '../../config/errors.ts'
import { sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { model } from '../lib/models.ts'
import { unsealGuests } from '../lib/sealing/index.ts'
import type { GuestRegistrationRow, GuestRow } from '../rows.ts'
import { openDocuments } from './documents/documents.ts'
import { openProfile } from './lock.ts'
import { fullName } from './profile.ts'
import { groupOf, survivorOf } from './resolve.ts'
import type { RegistrationForm } from './rules/registration.ts'

export const GuestRegistration = model('guest_registration')

/** `image`: what was drawn, a PNG as base64. */
export type Signature = { name: string; image?: string }
/** The part of a registration that the retention key of the guest seals. */
export type Sealed = { form: RegistrationForm; signature: Signature | null }

export const formPlace = (id: string) => ({ table: 'guest_registration', rowId: id, purpose: 'form' })
export const formKey = (guestId: string) => ({ guestId, purpose: 'retention' as const })

export const factOf = (row: GuestRegistrationRow, version: number) => ({
  propertyId: row.propertyId,
  id: row.id,
  version,
  data: {
    guestRegistrationId: row.id,
    reservationId: row.reservationId,
    guestId: row.guestId,
    externalId: row.externalId,
  },
})

/** The values that the profile gives for a form's fields. */
export const knownOf = async (trx: Trx, guest: GuestRow): Promise<RegistrationForm> => {
  if (guest.status === 'erased') return {}
  const profile = await openProfile(trx, guest)
  const documents = await openDocuments(trx, await groupOf(trx, guest.id))
  const document = documents.find((one) => one.status !== 'rejected' && one.words !== null)
  const { city, region, countryCode = guest.residenceCountry ?? undefined } = profile.address ?? {}
  return {
    name: fullName(guest),
    ...(document?.words
      ? { document: { kind: document.kind, countryCode: document.countryCode, number: document.words.number } }
      : {}),
    ...(profile.birthDate === null ? {} : { birthDate: profile.birthDate }),
    ...(guest.nationality === null ? {} : { nationality: guest.nationality }),
    ...(city === undefined && countryCode === undefined
      ? {}
      : {
          residence: {
            ...(city === undefined ? {} : { city }),
            ...(region === undefined ? {} : { region }),
            ...(countryCode === undefined ? {} : { countryCode }),
          },
        }),
  }
}

export const openForm = async (trx: Trx, row: GuestRegistrationRow): Promise<Sealed> => {
  const [sealed] = await unsealGuests<Sealed>(trx, 'retention', [
    { guestId: row.guestId, place: formPlace(row.id), sealed: row.sealed },
  ])
  return sealed ?? { form: {}, signature: null }
}

/** The guest of a form: of a merged profile, its survivor. */
export const ownerOf = async (trx: Trx, guestId: string, lock = ''): Promise<GuestRow> => {
  const row = await sqlOne<GuestRow>(
    trx,
    `select s.* from guest g join guest s on s.tenant_id = g.tenant_id and s.id = ${survivorOf('g')} where g.id = ? ${lock}`,
    [guestId],
  )
  if (!row) throw notFound()
  return row
}
