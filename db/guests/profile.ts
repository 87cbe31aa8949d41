import type { Trx } from '../lib/connection.ts'
import { blindIndex, plainText, seal } from '../lib/sealing/index.ts'

/** A postal address as a profile keeps it: parts that were not told are missing. */
export type Address = {
  line1?: string
  line2?: string
  district?: string
  city?: string
  region?: string
  postalCode?: string
  countryCode?: string
}
export const preferenceCategories = ['room', 'bed', 'food', 'accessibility', 'communication', 'other'] as const
export type Preference = { category: (typeof preferenceCategories)[number]; text: string }

/** Data of a guest that the profile key seals. */
export type GuestProfile = {
  email: string | null
  phone: string | null
  otherPhone: string | null
  birthDate: string | null
  gender: string | null
  address: Address | null
  preferences: Preference[]
}
export const emptyProfile: GuestProfile = {
  email: null,
  phone: null,
  otherPhone: null,
  birthDate: null,
  gender: null,
  address: null,
  preferences: [],
}

export type Names = { firstName: string; lastName: string; preferredName: string }

export const profilePlace = (guestId: string) => ({ table: 'guest', rowId: guestId, purpose: 'profile' })
export const profileKey = (guestId: string) => ({ guestId, purpose: 'profile' as const })

/** The whole name, as documents and forms have it. */
export const fullName = ({ firstName, lastName }: Pick<Names, 'firstName' | 'lastName'>): string =>
  `${firstName} ${lastName}`.trim()

/** Keys that a guest is found by: names in clear, all else as blind indexes. */
export const indexesOf = (trx: Trx, names: Names, { email, phone, birthDate }: GuestProfile) => ({
  emailIndex: email === null ? null : blindIndex(trx, 'email', email),
  phoneIndex: phone === null ? null : blindIndex(trx, 'phone', phone),
  phoneTailIndex: phone === null ? null : blindIndex(trx, 'phone_tail', phone),
  birthIndex: birthDate === null ? null : blindIndex(trx, 'birth', birthDate),
  nameIndex: blindIndex(trx, 'name', fullName(names)),
  nameSearch: plainText(`${fullName(names)} ${names.preferredName}`),
})

export const sealProfile = (trx: Trx, guestId: string, profile: GuestProfile): Promise<Buffer> =>
  seal(trx, profileKey(guestId), profilePlace(guestId), profile)
