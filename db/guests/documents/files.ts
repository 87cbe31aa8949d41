import { createHash, randomUUID } from 'node:crypto'
import { notFound } from '../../../config/errors.ts'
import type { documentTypes } from '../../../config/file-kinds.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { insertRow, readRow } from '../../lib/records.ts'
import { blobs, sealBytes, unsealBytes } from '../../lib/sealing/index.ts'
import type { GuestDocumentFileRow } from '../../rows.ts'
import { Guest, GuestDocumentFile } from '../models.ts'
import { profileKey } from '../profile.ts'
import { tellChanged } from '../tell.ts'
import { lockDocument } from './documents.ts'

export const sides = ['front', 'back', 'portrait'] as const
export type Side = (typeof sides)[number]

const filePlace = (id: string) => ({ table: 'guest_document_file', rowId: id, purpose: 'image' })

/** Stores the image of one side of a document; one that was there is replaced, and gone. */
export const storeFile = async (
  trx: Trx,
  guestId: string,
  documentId: string,
  side: Side,
  { mediaType, bytes }: { mediaType: (typeof documentTypes)[number]; bytes: Buffer },
  expected: number | null = null,
): Promise<void> => {
  const { guestId: ownerId } = await lockDocument(trx, guestId, documentId, expected)
  const [before] = await sql<{ blobId: string }>(
    trx,
    `delete from guest_document_file where document_id = ? and side = ? returning blob_id`,
    [documentId, side],
  )
  if (before) await blobs.remove(trx, [before.blobId])
  const id = randomUUID()
  const blobId = await blobs.put(trx, await sealBytes(trx, profileKey(ownerId), filePlace(id), bytes))
  await insertRow(trx, GuestDocumentFile, {
    id,
    guestId: ownerId,
    documentId,
    side,
    mediaType,
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest(),
    blobId,
    createdBy: contextOf(trx).actor.id,
  })
  await sql(trx, `update guest_document set version = version + 1 where id = ?`, [documentId])
  await tellChanged(trx, await readRow(trx, Guest, guestId, ['id', 'source', 'version']), ['documents'])
}

/** The image of one side of a document, opened. 404 where there is none. */
export const openFile = async (trx: Trx, guestIds: readonly string[], documentId: string, side: Side) => {
  const file = await sqlOne<GuestDocumentFileRow>(
    trx,
    `select * from guest_document_file where document_id = ? and side = ? and guest_id = any(?::uuid[])`,
    [documentId, side, guestIds],
  )
  const sealed = file && (await blobs.get(trx, file.blobId))
  if (!file || !sealed) throw notFound('There is no such image')
  return {
    mediaType: file.mediaType,
    bytes: await unsealBytes(trx, profileKey(file.guestId), filePlace(file.id), sealed),
  }
}
