import { invalid, notFound, tooMany } from '../../config/errors.ts'
import { audit } from '../lib/audit.ts'
import { contextOf, prepared, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { GuestRow } from '../rows.ts'
import { openDocuments } from './documents/documents.ts'
import { openFile } from './documents/files.ts'
import type { Side } from './documents/files.ts'
import { openProfile } from './lock.ts'
import { groupOf, guestErased } from './resolve.ts'

export const revealReasons = ['check_in', 'verification', 'contact', 'legal', 'other'] as const
export const revealFields = ['email', 'phone', 'otherPhone', 'birthDate', 'gender', 'address'] as const

export type Reveal = {
  reason: (typeof revealReasons)[number]
  note?: string | undefined
  fields?: readonly (typeof revealFields)[number][] | undefined
  documentIds?: readonly string[] | undefined
  file?: { documentId: string; side: Side } | undefined
}

const action = 'guest.reveal'
const usualLimit = 60

/** Counts reveals of the caller in the last hour; one call of a caller waits for the other, so that no two are the last one. */
const refuseTooMany = async (trx: Trx): Promise<void> => {
  const { actor, tenantId } = contextOf(trx)
  await prepared(trx, `select pg_advisory_xact_lock(hashtextextended(?, 0))`, [`${action} ${actor.id ?? actor.type}`])
  const counted = await sqlOne<{ count: number; most: number }>(
    trx,
    `select (select coalesce((t.settings -> 'guests' ->> 'revealsPerHour')::int, ${usualLimit}) from tenant t where t.id = :tenantId) as most,
       (select count(*) from audit_entry a where a.chain = cast(:tenantId as text) and a.at > now() - interval '1 hour'
          and a.action = '${action}' and a.actor_id is not distinct from cast(:actorId as uuid)) as count`,
    { tenantId, actorId: actor.id },
  )
  if (counted && counted.count >= counted.most)
    throw tooMany('reveal_limit', `You may reveal personal data ${counted.most} times in an hour`, 3_600)
}

/**
 * Opens masked fields, documents or one image of a guest for a reason (R10). One audit entry names what was opened, never the values; above the
 * tenant's limit per user and hour nothing is: 429 `reveal_limit`.
 */
export const reveal = async (
  trx: Trx,
  guestId: string,
  { reason, note, fields = [], documentIds = [], file }: Reveal,
) => {
  if (reason === 'other' && (note ?? '').trim() === '')
    throw invalid([{ field: 'note', message: 'is required with the reason other' }])
  if (fields.length + documentIds.length === 0 && !file)
    throw invalid([{ field: 'fields', message: 'name a field, a document or an image to be shown' }])
  const row = await sqlOne<GuestRow>(trx, `select * from guest where id = ?`, [guestId])
  if (!row) throw notFound()
  if (row.status === 'erased') throw guestErased(guestId)
  await refuseTooMany(trx)
  const group = await groupOf(trx, guestId)
  const profile = await openProfile(trx, row)
  const documents = documentIds.length === 0 ? [] : await openDocuments(trx, group)
  const shown = documentIds.map((id) => {
    const found = documents.find((one) => one.id === id)
    if (!found?.words) throw notFound('The guest has no such document')
    return { id, number: found.words.number, issuer: found.words.issuer }
  })
  const image = file ? await openFile(trx, group, file.documentId, file.side) : null
  await audit(trx, {
    action,
    subjectType: 'Guest',
    subjectId: guestId,
    reason: note === undefined ? reason : `${reason}: ${note}`,
    changes: [
      ...fields.map((field) => ({ field })),
      ...documentIds.map((id) => ({ field: `documents.${id}` })),
      ...(file ? [{ field: `documents.${file.documentId}.${file.side}` }] : []),
    ],
  })
  return {
    fields: Object.fromEntries(fields.map((field) => [field, profile[field]])),
    documents: shown,
    file: image && { mediaType: image.mediaType, data: image.bytes.toString('base64') },
  }
}
