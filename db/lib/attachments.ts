import { createHash, randomUUID } from 'node:crypto'
import { notFound, unprocessable } from '../../config/errors.ts'
import type { attachmentTypes } from '../../config/file-kinds.ts'
import { authorOf } from './authors.ts'
import { contextOf, sql, sqlOne } from './connection.ts'
import type { Trx } from './connection.ts'
import { model } from './models.ts'
import { changeRow, expression, findRow, insertRow } from './records.ts'
import { blobs, sealBytes, unsealBytes } from './sealing/index.ts'

/** The record that a file belongs to: `type` is one of its module's, such as `entry`. */
export type Attached = { module: string; type: string; id: string }
export type AttachmentType = (typeof attachmentTypes)[number]
/** A file beside its record, without content. `sha256` in hexadecimal; `createdBy` is null where no person sent it. */
export type AttachmentHead = {
  id: string
  fileName: string
  mediaType: AttachmentType
  bytes: number
  sha256: string
  createdBy: string | null
  createdAt: Date
}

const Attachment = model<'attachment', { mediaType: AttachmentType }>('attachment')

const most = 20
const place = (id: string) => ({ table: 'attachment', rowId: id, purpose: 'content' })

/** The person behind the transaction; null for the service itself. */
const personOf = async (trx: Trx) => (contextOf(trx).actor.id === null ? null : authorOf(trx))

/** The files shown of records, oldest first, without content: those of a record that has none are an empty list. */
export const attachmentsOf = async (
  trx: Trx,
  module: string,
  type: string,
  ids: readonly string[],
): Promise<Map<string, AttachmentHead[]>> => {
  const rows = await sql<AttachmentHead & { entityId: string }>(
    trx,
    `select entity_id, id, file_name, media_type, bytes, encode(sha256, 'hex') as sha256, created_by, created_at from attachment
     where tenant_id = ? and module = ? and entity_type = ? and entity_id = any(?::uuid[]) and position is not null
     order by created_at, id`,
    [contextOf(trx).tenantId, module, type, ids],
  )
  const found = new Map<string, AttachmentHead[]>(ids.map((id) => [id, []]))
  for (const { entityId, ...head } of rows) found.get(entityId)?.push(head)
  return found
}

/**
 * Keeps a file beside a record, sealed by the key of the tenant. The caller has locked the record, or it never ends; `bytes` have been looked at by
 * `fileContent`. 422 `too_many_attachments` above twenty.
 */
export const addAttachment = async (
  trx: Trx,
  { module, type, id: entityId }: Attached,
  { fileName, mediaType, bytes }: { fileName: string; mediaType: AttachmentType; bytes: Buffer },
): Promise<string> => {
  await sql(trx, `select pg_advisory_xact_lock(hashtextextended('attachment ' || ?, 90))`, [entityId])
  const free = await sqlOne<{ position: number }>(
    trx,
    `select p as position from generate_series(1, ?::int) p where not exists (select from attachment a
       where a.tenant_id = ? and a.module = ? and a.entity_type = ? and a.entity_id = ? and a.position = p) limit 1`,
    [most, contextOf(trx).tenantId, module, type, entityId],
  )
  if (!free) throw unprocessable('too_many_attachments', `A record has at most ${most} files`)
  const id = randomUUID()
  await insertRow(trx, Attachment, {
    id,
    module,
    entityType: type,
    entityId,
    position: free.position,
    fileName,
    mediaType,
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest(),
    blobId: await blobs.put(trx, await sealBytes(trx, 'tenant', place(id), bytes)),
    createdBy: await personOf(trx),
  })
  return id
}

/** A file of a module with the record that it belongs to. 404 where there is none, or where it is hidden. */
export const readAttachment = async (
  trx: Trx,
  module: string,
  id: string,
): Promise<AttachmentHead & { attached: Attached; blobId: string }> => {
  const row = await findRow(trx, Attachment, id)
  if (row?.module !== module || row.position === null) throw notFound('There is no such file')
  return {
    ...row,
    sha256: row.sha256.toString('hex'),
    attached: { module, type: row.entityType, id: row.entityId },
  }
}

/** The content of a file that `readAttachment` has found. */
export const attachmentContent = async (trx: Trx, { id, blobId }: { id: string; blobId: string }): Promise<Buffer> => {
  const sealed = await blobs.get(trx, blobId)
  if (!sealed) throw notFound('There is no such file')
  return unsealBytes(trx, 'tenant', place(id), sealed)
}

/** Deletes the files of records with their content, hidden ones too: with a draft, or when the time of their module is over. */
export const removeAttachments = async (trx: Trx, module: string, type: string, ids: readonly string[]) => {
  const rows = await sql<{ blobId: string }>(
    trx,
    `delete from attachment where tenant_id = ? and module = ? and entity_type = ? and entity_id = any(?::uuid[]) returning blob_id`,
    [contextOf(trx).tenantId, module, type, ids],
  )
  await blobs.remove(
    trx,
    rows.map((row) => row.blobId),
  )
}

/** Deletes one file with its content. */
export const deleteAttachment = async (trx: Trx, { id, blobId }: { id: string; blobId: string }): Promise<void> => {
  await sql(trx, `delete from attachment where tenant_id = ? and id = ?`, [contextOf(trx).tenantId, id])
  await blobs.remove(trx, [blobId])
}

/** Hides a file that must be kept: no list and no read shows it again. */
export const hideAttachment = async (trx: Trx, id: string, reason: string | null): Promise<void> => {
  await changeRow(trx, Attachment, id, {
    position: null,
    hiddenBy: await personOf(trx),
    hiddenAt: expression('now()'),
    hideReason: reason,
  })
}

/** Hands the files of a record to the one that took its place, which has none yet: those of a draft to what was made of it. */
export const moveAttachments = async (trx: Trx, from: Attached, to: Attached): Promise<void> => {
  await sql(
    trx,
    `update attachment set module = ?, entity_type = ?, entity_id = ?
     where tenant_id = ? and module = ? and entity_type = ? and entity_id = ?`,
    [to.module, to.type, to.id, contextOf(trx).tenantId, from.module, from.type, from.id],
  )
}
