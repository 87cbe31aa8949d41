import { randomUUID } from 'node:crypto'
import { conflict, invalid, notFound, unprocessable } from '../../../config/errors.ts'
import {
  guestDocumentAdded,
  guestDocumentDeleted,
  guestDocumentRejected,
  guestDocumentVerified,
} from '../../../config/events/guests.ts'
import { contextOf, prepared, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { lifecycle } from '../../lib/lifecycle.ts'
import { changeRow, insertRow } from '../../lib/records.ts'
import { blobs, seal, unsealGuests } from '../../lib/sealing/index.ts'
import type { GuestDocumentFileRow, GuestDocumentRow } from '../../rows.ts'
import { dayOf } from '../day.ts'
import { lockGuest, refuseStale } from '../lock.ts'
import { askForMatch } from '../match.ts'
import { GuestDocument } from '../models.ts'
import { profileKey } from '../profile.ts'
import { groupOf } from '../resolve.ts'
import { maskNumber } from '../rules/masks.ts'
import { imageLimit } from './image-limit.ts'
import { documentPlace, holdersOf, isSame, lockNumbers, numberIndex, refuseFalseNumber } from './numbers.ts'
import type { DocumentWords, NewDocument } from './numbers.ts'

const moves = lifecycle<GuestDocumentRow['status']>('A document')({
  verified: { from: ['pending', 'rejected'], to: 'verified' },
  rejected: { from: ['pending', 'verified'], to: 'rejected' },
})

/**
 * Adds a document to a guest (D1). 409 `duplicate_document` where the guest has it, 409 `duplicate_guest` where another guest does, unless
 * `allowDuplicate` is set; then the two are listed as probable duplicates.
 */
export const addDocument = async (
  trx: Trx,
  guestId: string,
  { allowDuplicate = false, ...document }: NewDocument & { allowDuplicate?: boolean | undefined },
  expected: number | null = null,
): Promise<string> => {
  refuseFalseNumber(document, 'number')
  const index = numberIndex(trx, document.number)
  const [, , holders] = await Promise.all([
    lockNumbers(trx, [index]),
    lockGuest(trx, guestId, expected),
    holdersOf(trx, [index]),
  ])
  for (const { guestId: holder, ...other } of holders) {
    if (!isSame(other, document)) continue
    if (holder === guestId)
      throw conflict('duplicate_document', 'The guest has this document', [
        { field: 'number', message: `is a document of guest ${guestId}` },
      ])
    if (!allowDuplicate)
      throw conflict('duplicate_guest', 'Another guest has this document', [
        { field: 'number', message: `is a document of guest ${holder}` },
      ])
  }
  const id = randomUUID()
  const words: DocumentWords = { number: document.number.trim(), issuer: document.issuer ?? null }
  await insertRow(trx, GuestDocument, {
    id,
    guestId,
    kind: document.kind,
    countryCode: document.countryCode,
    expiresOn: document.expiresOn ?? null,
    numberIndex: index,
    sealed: await seal(trx, profileKey(guestId), documentPlace(id), words),
  })
  await emit(trx, guestDocumentAdded, {
    propertyId: null,
    id,
    version: 1,
    data: { guestId, documentId: id, kind: document.kind, countryCode: document.countryCode },
  })
  await askForMatch(trx, guestId)
  return id
}

/** Locks a guest and one of its documents, also that of a profile merged into it. 404; 409 `version_conflict` where `expected` is no longer its version. */
export const lockDocument = async (
  trx: Trx,
  guestId: string,
  documentId: string,
  expected: number | null = null,
): Promise<GuestDocumentRow> => {
  await lockGuest(trx, guestId)
  const row = await sqlOne<GuestDocumentRow>(
    trx,
    `select * from guest_document where id = ? and guest_id in (select g.id from guest g where g.id = ? or g.merged_into_id = ?)
     for no key update`,
    [documentId, guestId, guestId],
  )
  if (!row) throw notFound()
  refuseStale(row, expected)
  return row
}

/** Removes the images of documents: rows and content. */
export const removeFiles = async (trx: Trx, documentIds: readonly string[]): Promise<number> => {
  const files = await sql<{ blobId: string }>(
    trx,
    `delete from guest_document_file where document_id = any(?::uuid[]) returning blob_id`,
    [documentIds],
  )
  await blobs.remove(
    trx,
    files.map((file) => file.blobId),
  )
  return files.length
}

/** Deletes a document with its images. It is never edited: a corrected one is added anew. */
export const deleteDocument = async (
  trx: Trx,
  guestId: string,
  documentId: string,
  expected: number | null = null,
): Promise<void> => {
  const document = await lockDocument(trx, guestId, documentId, expected)
  const used = await sqlOne(trx, `select id from reservation_guest where authorisation_document_id = ? limit 1`, [
    documentId,
  ])
  if (used) throw unprocessable('in_use', 'The document authorises the stay of a minor')
  await removeFiles(trx, [documentId])
  await sql(trx, `delete from guest_document where id = ?`, [documentId])
  await emit(trx, guestDocumentDeleted, {
    propertyId: null,
    id: documentId,
    version: document.version,
    data: { guestId, documentId, kind: document.kind, countryCode: document.countryCode },
  })
}

/** Tells whether the houses that expect the guest keep images of documents once these are verified. */
const keepsImages = async (trx: Trx, guestId: string): Promise<boolean> =>
  (await sqlOne(
    trx,
    `select r.id from guest g join reservation_guest n on n.tenant_id = g.tenant_id and n.guest_id = g.id
     join reservation r on r.tenant_id = n.tenant_id and r.id = n.reservation_id and r.status in ('held', 'confirmed', 'checked_in')
     join property p on p.tenant_id = r.tenant_id and p.id = r.property_id and (p.settings -> 'documents' ->> 'keepImagesDays')::int = 0
     where g.id = ? or g.merged_into_id = ? limit 1`,
    [guestId, guestId],
  )) === null

export type Verification = {
  decision: 'verified' | 'rejected'
  method: 'in_person' | 'video' | 'provider'
  reason?: string | undefined
  keepFiles?: boolean | undefined
}

/** A rejected document does not hold its number. Before it counts again, no other guest may have taken it. 409 `duplicate_guest`. */
const lockNumberOf = async (trx: Trx, documentId: string): Promise<void> => {
  const known = await sqlOne<Pick<GuestDocumentRow, 'numberIndex'>>(
    trx,
    `select number_index from guest_document where id = ?`,
    [documentId],
  )
  if (known?.numberIndex) await lockNumbers(trx, [known.numberIndex])
}

const refuseHeldByOther = async (trx: Trx, guestId: string, document: GuestDocumentRow): Promise<void> => {
  if (document.status !== 'rejected' || document.numberIndex === null) return
  const holders = await holdersOf(trx, [document.numberIndex])
  const other = holders.find((one) => one.guestId !== guestId && isSame(one, document))
  if (other)
    throw conflict('duplicate_guest', 'Another guest has this document', [
      { field: 'decision', message: `is a document of guest ${other.guestId}` },
    ])
}

/**
 * Accepts or rejects a document after checking it (D2, D3). 422 `document_expired` for one that is out of date, 409 `duplicate_guest` for a rejected one whose
 * number another guest has now.
 */
export const verifyDocument = async (
  trx: Trx,
  guestId: string,
  documentId: string,
  { decision, method, reason, keepFiles = true }: Verification,
  expected: number | null = null,
): Promise<void> => {
  if (decision === 'rejected' && reason === undefined)
    throw invalid([{ field: 'reason', message: 'is required where a document is rejected' }])
  await lockNumberOf(trx, documentId)
  const document = await lockDocument(trx, guestId, documentId, expected)
  if (!moves.isDue(decision, document.status)) return
  if (decision === 'verified') await refuseHeldByOther(trx, guestId, document)
  if (decision === 'verified' && document.expiresOn !== null && document.expiresOn < (await dayOf(trx)))
    throw unprocessable('document_expired', `The document expired on ${document.expiresOn}`)
  const isVerified = decision === 'verified'
  const version = await changeRow(trx, GuestDocument, documentId, {
    status: decision,
    method,
    verifiedBy: isVerified ? contextOf(trx).actor.id : null,
    verifiedAt: isVerified ? new Date() : null,
    rejectReason: isVerified ? null : (reason ?? null),
  })
  if (isVerified && !(keepFiles && (await keepsImages(trx, guestId)))) await removeFiles(trx, [documentId])
  await emit(trx, isVerified ? guestDocumentVerified : guestDocumentRejected, {
    propertyId: null,
    id: documentId,
    version,
    data: { guestId, documentId, kind: document.kind, countryCode: document.countryCode },
  })
}

type Opened = GuestDocumentRow & { words: DocumentWords | null }

/** Documents of guests with their numbers, which only `reveal` and the export may show whole. */
export const openDocuments = async (trx: Trx, guestIds: readonly string[]): Promise<Opened[]> => {
  const rows = await prepared<GuestDocumentRow>(
    trx,
    `select * from guest_document where guest_id = any(?::uuid[]) order by created_at, id`,
    [guestIds],
  )
  const words = await unsealGuests<DocumentWords>(
    trx,
    'profile',
    rows.map((row) => ({ guestId: row.guestId, place: documentPlace(row.id), sealed: row.sealed })),
  )
  return rows.map((row, index) => ({ ...row, words: words[index] ?? null }))
}

type FileFacts = Pick<GuestDocumentFileRow, 'documentId' | 'side' | 'mediaType' | 'bytes' | 'deleteAfter' | 'createdAt'>

/** Documents of guests as they are shown: numbers masked, images named and never read. */
export const listDocuments = async (trx: Trx, guestIds: readonly string[]) => {
  const [today, documents, files] = await Promise.all([
    dayOf(trx),
    openDocuments(trx, guestIds),
    prepared<FileFacts>(
      trx,
      `select f.document_id, f.side, f.media_type, f.bytes, l.delete_after, f.created_at from guest_document_file f ${imageLimit}
       where f.guest_id = any(?::uuid[]) order by f.document_id, f.side`,
      [guestIds],
    ),
  ])
  return documents.map((row) => ({
    id: row.id,
    guestId: row.guestId,
    kind: row.kind,
    countryCode: row.countryCode,
    number: row.words === null ? null : maskNumber(row.words.number),
    expiresOn: row.expiresOn,
    expired: row.expiresOn !== null && row.expiresOn < today,
    status: row.status,
    method: row.method,
    verifiedBy: row.verifiedBy,
    verifiedAt: row.verifiedAt,
    rejectReason: row.rejectReason,
    files: files.filter((file) => file.documentId === row.id),
    version: row.version,
    createdAt: row.createdAt,
  }))
}

/** One document of a guest as it is shown. 404 where the guest has none of this id. */
export const readDocument = async (trx: Trx, guestId: string, documentId: string) => {
  const found = (await listDocuments(trx, await groupOf(trx, guestId))).find((one) => one.id === documentId)
  if (!found) throw notFound()
  return found
}
