import type { Trx } from '../lib/connection.ts'
import { changeRow, fieldsOf } from '../lib/records.ts'
import type { GuestRow } from '../rows.ts'
import { lockGuest, openProfile } from './lock.ts'
import { Guest } from './models.ts'
import { indexesOf, sealProfile } from './profile.ts'
import type { GuestProfile, Names } from './profile.ts'
import { checkProfile } from './rules/profiles.ts'
import { askForMatch } from './match.ts'
import { tellChanged } from './tell.ts'

/** Fields of a profile that are changed; null clears one that may be empty. Tags, preferences and address are replaced as wholes (R7). */
export type GuestChange = {
  [Field in keyof Names | 'tags' | 'language' | 'nationality' | 'residenceCountry']?: GuestRow[Field] | undefined
} & { [Field in keyof GuestProfile]?: GuestProfile[Field] | undefined }

const sealedFields = ['email', 'phone', 'otherPhone', 'birthDate', 'gender', 'address', 'preferences'] as const

const given = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T

/** Writes fields of a locked profile, with all that it is found by, and tells of their names. */
export const writeProfile = async (
  trx: Trx,
  row: GuestRow,
  profile: GuestProfile,
  change: GuestChange,
): Promise<void> => {
  const fields = fieldsOf(change)
  if (fields.length === 0) return
  const names = { firstName: row.firstName, lastName: row.lastName, preferredName: row.preferredName }
  const { firstName, lastName, preferredName, tags, language, nationality, residenceCountry, ...sealed } = change
  const named = { ...names, ...given({ firstName, lastName, preferredName }) } as Names
  const next = { ...profile, ...given(sealed) } as GuestProfile
  const version = await changeRow(trx, Guest, row.id, {
    ...named,
    tags,
    language,
    nationality,
    residenceCountry,
    ...(sealedFields.some((field) => change[field] !== undefined)
      ? { sealed: await sealProfile(trx, row.id, next) }
      : {}),
    ...indexesOf(trx, named, next),
  })
  await tellChanged(trx, { ...row, version }, fields)
  await askForMatch(trx, row.id)
}

type Follow = (trx: Trx, guestId: string, email: string | null) => Promise<void>
let follow: Follow | null = null
/** A higher module follows the e-mail of a guest in records of its own. They are locked before guests, so it is called before the guest is. */
export const registerEmailChange = (followedBy: Follow): void => {
  follow = followedBy
}

/** Tells the higher module of an e-mail that a change sends. */
export const announceEmail = async (trx: Trx, guestId: string, { email }: GuestChange): Promise<void> => {
  if (email !== undefined) await follow?.(trx, guestId, email)
}

/** Changes a profile (P2). 409 `guest_merged`, `guest_erased`. */
export const updateGuest = async (
  trx: Trx,
  guestId: string,
  change: GuestChange,
  expected: number | null = null,
): Promise<void> => {
  checkProfile(change)
  await announceEmail(trx, guestId, change)
  const row = await lockGuest(trx, guestId, expected)
  await writeProfile(trx, row, await openProfile(trx, row), change)
}
