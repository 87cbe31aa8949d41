import { randomUUID } from 'node:crypto'
import { conflict, notFound, overtaken, unprocessable } from '../../config/errors.ts'
import { guestMerged as mergedEvent } from '../../config/events/guests.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { changeRow, insertRow } from '../lib/records.ts'
import { seal } from '../lib/sealing/index.ts'
import type { GuestRow } from '../rows.ts'
import { openProfile, refusePassive, refuseStale } from './lock.ts'
import { askForMatch } from './match.ts'
import { Guest, GuestMerge } from './models.ts'
import { indexesOf, profileKey, sealProfile } from './profile.ts'
import type { GuestProfile } from './profile.ts'

export const mergeFields = [
  'firstName',
  'lastName',
  'preferredName',
  'language',
  'nationality',
  'residenceCountry',
  'email',
  'phone',
  'otherPhone',
  'birthDate',
  'gender',
  'address',
  'preferences',
  'tags',
] as const
export type MergeField = (typeof mergeFields)[number]
type Values = Partial<Record<MergeField, unknown>>
/** The survivor's values before a merge, and the values that it took over. */
export type Kept = { before: Values; after: Values }

export const mergePlace = (id: string) => ({ table: 'guest_merge', rowId: id, purpose: 'before' })
export const isEmpty = (value: unknown) =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
export const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/**
 * Locks guests with all profiles that are merged into them, in the order of ids. A profile that joins a group in between makes the request run once
 * more.
 */
export const lockGroups = async (trx: Trx, guestIds: readonly string[]): Promise<GuestRow[]> => {
  const members = `select id from guest where id = any(:guestIds::uuid[]) or merged_into_id = any(:guestIds::uuid[])`
  const ids = (await sql<{ id: string }>(trx, members, { guestIds })).map((row) => row.id)
  const rows = await sql<GuestRow>(trx, `select * from guest where id = any(?::uuid[]) order by id for no key update`, [
    ids,
  ])
  const now = await sql<{ id: string }>(trx, members, { guestIds })
  if (now.some(({ id }) => !ids.includes(id))) throw overtaken()
  return rows
}

const refuseOpenRequests = async (trx: Trx, guestIds: readonly string[]) => {
  const open = await sqlOne<{ id: string; guestId: string }>(
    trx,
    `select id, guest_id from privacy_request where guest_id = any(?::uuid[]) and status in ('received', 'running') limit 1`,
    [guestIds],
  )
  if (open)
    throw conflict('privacy_request_open', 'A privacy request of one of the two is open; decide it first', [
      { field: 'guestId', message: `${open.guestId} has the open request ${open.id}` },
    ])
}

export const valuesOf = (row: GuestRow, profile: GuestProfile): Record<MergeField, unknown> => ({
  firstName: row.firstName,
  lastName: row.lastName,
  preferredName: row.preferredName,
  language: row.language,
  nationality: row.nationality,
  residenceCountry: row.residenceCountry,
  tags: row.tags,
  email: profile.email,
  phone: profile.phone,
  otherPhone: profile.otherPhone,
  birthDate: profile.birthDate,
  gender: profile.gender,
  address: profile.address,
  preferences: profile.preferences,
})

/** Writes values into a locked profile, with all that it is found by. Answers the new version. */
export const writeValues = async (trx: Trx, row: GuestRow, all: Record<MergeField, unknown>): Promise<number> => {
  const { email, phone, otherPhone, birthDate, gender, address, preferences, ...clear } =
    all as unknown as GuestProfile &
      Pick<
        GuestRow,
        'firstName' | 'lastName' | 'preferredName' | 'language' | 'nationality' | 'residenceCountry' | 'tags'
      >
  const profile: GuestProfile = { email, phone, otherPhone, birthDate, gender, address, preferences }
  return changeRow(trx, Guest, row.id, {
    ...clear,
    sealed: await sealProfile(trx, row.id, profile),
    ...indexesOf(trx, clear, profile),
  })
}

export type Merging = { mergedGuestId: string; take?: readonly MergeField[] | undefined; reason: string }

/**
 * Merges a profile into another one, which survives (P3). No reference moves: stays, documents, notes, consents and blocks of a guest are those of
 * the survivor and of all profiles that point at it (R14). Fields of `take` are copied; empty ones of the survivor are filled.
 */
export const mergeGuests = async (
  trx: Trx,
  survivorId: string,
  { mergedGuestId, take = [], reason }: Merging,
  expected: number | null = null,
): Promise<void> => {
  if (survivorId === mergedGuestId)
    throw unprocessable('merge_not_possible', 'A profile is not merged into itself', [
      { field: 'mergedGuestId', message: 'is the guest of the path' },
    ])
  const rows = await lockGroups(trx, [survivorId, mergedGuestId])
  const survivor = rows.find((row) => row.id === survivorId)
  const merged = rows.find((row) => row.id === mergedGuestId)
  if (!survivor) throw notFound()
  refuseStale(survivor, expected)
  if (!merged)
    throw unprocessable('reference_not_found', 'There is no such guest', [
      { field: 'mergedGuestId', message: 'does not exist' },
    ])
  if (merged.mergedIntoId === survivorId) return
  refusePassive(survivor)
  refusePassive(merged)
  await refuseOpenRequests(
    trx,
    rows.map((row) => row.id),
  )
  const [own, other] = [
    valuesOf(survivor, await openProfile(trx, survivor)),
    valuesOf(merged, await openProfile(trx, merged)),
  ]
  const fields = mergeFields.filter(
    (field) =>
      !same(own[field], other[field]) && (take.includes(field) || isEmpty(own[field])) && !isEmpty(other[field]),
  )
  const picked = (of: Values): Values => Object.fromEntries(fields.map((field) => [field, of[field]]))
  const repointed = await sql<{ id: string }>(
    trx,
    `update guest set merged_into_id = ?, version = version + 1 where merged_into_id = ? returning id`,
    [survivorId, mergedGuestId],
  )
  await sql(trx, `update guest set status = 'merged', merged_into_id = ?, version = version + 1 where id = ?`, [
    survivorId,
    mergedGuestId,
  ])
  if (fields.length > 0) await writeValues(trx, survivor, { ...own, ...picked(other) })
  const id = randomUUID()
  const kept: Kept = { before: picked(own), after: picked(other) }
  await insertRow(trx, GuestMerge, {
    id,
    survivorId,
    mergedId: mergedGuestId,
    repointedIds: repointed.map((row) => row.id).toSorted(),
    fields: [...fields],
    sealed: await seal(trx, profileKey(survivorId), mergePlace(id), kept),
    reason,
    mergedBy: contextOf(trx).actor,
  })
  await sql(
    trx,
    `update guest_duplicate set status = 'merged', decided_by = ?, decided_at = now(), version = version + 1
     where status <> 'merged' and guest_a = least(?::uuid, ?::uuid) and guest_b = greatest(?::uuid, ?::uuid)`,
    [contextOf(trx).actor.id, survivorId, mergedGuestId, survivorId, mergedGuestId],
  )
  await emit(trx, mergedEvent, {
    propertyId: null,
    id: mergedGuestId,
    version: merged.version + 1,
    data: { guestId: mergedGuestId, survivorId },
  })
  await askForMatch(trx, survivorId)
}
