import { randomUUID } from 'node:crypto'
import { conflict, invalid } from '../../config/errors.ts'
import { guestCreated } from '../../config/events/guests.ts'
import type { Trx } from '../lib/connection.ts'
import { emitAll } from '../lib/events.ts'
import { insertRows } from '../lib/records.ts'
import type { New } from '../lib/records.ts'
import { createGuestKeys, seal } from '../lib/sealing/index.ts'
import type { GuestDocumentRow, GuestRow } from '../rows.ts'
import { documentPlace, holdersOf, isSame, lockNumbers, numberIndex, refuseFalseNumber } from './documents/numbers.ts'
import type { DocumentWords, NewDocument } from './documents/numbers.ts'
import { askForMatch } from './match.ts'
import { Guest, GuestDocument } from './models.ts'
import { checkProfile } from './rules/profiles.ts'
import { emptyProfile, indexesOf, profileKey, sealProfile } from './profile.ts'
import type { GuestProfile } from './profile.ts'

export type NewGuest = {
  firstName: string
  lastName?: string | undefined
  preferredName?: string | undefined
  language?: string | null | undefined
  nationality?: string | null | undefined
  residenceCountry?: string | null | undefined
  tags?: string[] | undefined
  source: GuestRow['source']
  documents?: readonly NewDocument[] | undefined
} & { [Field in keyof GuestProfile]?: GuestProfile[Field] | undefined }

type Made = NewGuest & { id: string }

type Options = {
  /** Makes a profile although another one has the same document. */
  allowDuplicate?: boolean
  /** Beginning of the names of a guest's fields in errors, such as `guests.0.`. */
  fieldOf?: (index: number) => string
}

/** A document to be written, beside the guest that it is for. */
type Paper = { index: number; place: number; guestId: string; numberIndex: Buffer; document: NewDocument }

const papersOf = (trx: Trx, guests: readonly Made[]): Paper[] =>
  guests.flatMap(({ id, documents = [] }, index) =>
    documents.map((document, place) => ({
      index,
      place,
      guestId: id,
      numberIndex: numberIndex(trx, document.number),
      document,
    })),
  )

/** Refuses a document that two profiles would have, of those to be made and those that are there (R4). */
const refuseDuplicates = async (trx: Trx, papers: readonly Paper[], fieldOf: (index: number) => string) => {
  const indexes = papers.map((paper) => paper.numberIndex)
  // Each statement sees what is there when it begins: the second has waited for the first.
  const [, holders] = await Promise.all([lockNumbers(trx, indexes), holdersOf(trx, indexes)])
  const errors = papers.flatMap((paper, at) => {
    const field = `${fieldOf(paper.index)}documents.${paper.place}.number`
    const holder = holders.find((one) => one.numberIndex.equals(paper.numberIndex) && isSame(one, paper.document))
    if (holder) return [{ field, message: `is a document of guest ${holder.guestId}` }]
    const twin = papers
      .slice(0, at)
      .find(
        (other) =>
          other.guestId !== paper.guestId &&
          other.numberIndex.equals(paper.numberIndex) &&
          isSame(other.document, paper.document),
      )
    return twin ? [{ field, message: 'stands with another guest of the request' }] : []
  })
  if (errors.length > 0) throw conflict('duplicate_guest', 'A guest with this document exists', errors)
}

const refuseRepeated = (papers: readonly Paper[], fieldOf: (index: number) => string) => {
  for (const [at, paper] of papers.entries()) {
    refuseFalseNumber(paper.document, `${fieldOf(paper.index)}documents.${paper.place}.number`)
    const isTwice = papers
      .slice(0, at)
      .some(
        (other) =>
          other.guestId === paper.guestId &&
          other.numberIndex.equals(paper.numberIndex) &&
          isSame(other.document, paper.document),
      )
    if (isTwice) throw invalid([{ field: `${fieldOf(paper.index)}documents.${paper.place}`, message: 'stands twice' }])
  }
}

/** Writes profiles with their keys and documents, one or many in the same number of statements. Checks nothing. */
const writeGuests = async (trx: Trx, made: readonly Made[], papers: readonly Paper[]): Promise<string[]> => {
  createGuestKeys(trx, ...made.map(({ id }) => id))
  const [rows, documents] = await Promise.all([
    Promise.all(made.map((guest) => rowOf(trx, guest))),
    Promise.all(papers.map((paper) => documentRowOf(trx, paper))),
  ])
  await Promise.all([insertRows(trx, Guest, rows), insertRows(trx, GuestDocument, documents)])
  await emitAll(
    trx,
    guestCreated,
    made.map(({ id, source }) => ({ propertyId: null, id, version: 1, data: { guestId: id, source } })),
  )
  await Promise.all(made.map(({ id }) => askForMatch(trx, id)))
  return made.map(({ id }) => id)
}

/**
 * Makes profiles with their documents (P1), one or many in the same number of statements. Answers their ids, in the order given. A document that
 * another profile has is 409 `duplicate_guest`, unless `allowDuplicate` is set. Locks the numbers of the documents, as guests are
 * locked: after reservations, before pool nights.
 */
export const createGuests = async (
  trx: Trx,
  guests: readonly NewGuest[],
  { allowDuplicate = false, fieldOf = (index) => (guests.length === 1 ? '' : `guests.${index}.`) }: Options = {},
): Promise<string[]> => {
  const made = guests.map((guest) => ({ ...guest, id: randomUUID() }))
  for (const [index, guest] of made.entries()) checkProfile(guest, fieldOf(index))
  const papers = papersOf(trx, made)
  refuseRepeated(papers, fieldOf)
  if (!allowDuplicate && papers.length > 0) await refuseDuplicates(trx, papers, fieldOf)
  return made.length === 0 ? [] : writeGuests(trx, made, papers)
}

/**
 * Makes one profile of what a booking from outside says (R5): although another one may have the same document, and as it came, since no desk is
 * there to correct it.
 */
export const createGuest = async (
  trx: Trx,
  { document, ...guest }: NewGuest & { document?: NewDocument | null },
): Promise<string> => {
  const made = { ...guest, documents: document ? [document] : [], id: randomUUID() }
  await writeGuests(trx, [made], papersOf(trx, [made]))
  return made.id
}

const rowOf = async (trx: Trx, guest: Made): Promise<New<'guest', GuestRow>> => {
  const { id, firstName, lastName = '', preferredName = '' } = guest
  const profile: GuestProfile = {
    email: guest.email ?? emptyProfile.email,
    phone: guest.phone ?? emptyProfile.phone,
    otherPhone: guest.otherPhone ?? emptyProfile.otherPhone,
    birthDate: guest.birthDate ?? emptyProfile.birthDate,
    gender: guest.gender ?? emptyProfile.gender,
    address: guest.address ?? emptyProfile.address,
    preferences: guest.preferences ?? emptyProfile.preferences,
  }
  return {
    id,
    firstName,
    lastName,
    preferredName,
    language: guest.language ?? null,
    nationality: guest.nationality ?? null,
    residenceCountry: guest.residenceCountry ?? null,
    tags: guest.tags ?? [],
    source: guest.source,
    sealed: await sealProfile(trx, id, profile),
    ...indexesOf(trx, { firstName, lastName, preferredName }, profile),
  }
}

const documentRowOf = async (
  trx: Trx,
  { guestId, numberIndex: index, document }: Pick<Paper, 'guestId' | 'numberIndex' | 'document'>,
): Promise<New<'guest_document', GuestDocumentRow>> => {
  const id = randomUUID()
  const words: DocumentWords = { number: document.number.trim(), issuer: document.issuer ?? null }
  return {
    id,
    guestId,
    kind: document.kind,
    countryCode: document.countryCode,
    expiresOn: document.expiresOn ?? null,
    numberIndex: index,
    sealed: await seal(trx, profileKey(guestId), documentPlace(id), words),
  }
}
