import { documentTypes } from '../../config/file-kinds.ts'
import { sampleId } from '../../config/samples.ts'
import { Bool, Day, Nullable, Obj, OneOf, Opt, Text, Uuid, Words } from '../../config/schema.ts'
import {
  addDocument,
  addNote,
  alertMoments,
  audiences,
  blockGuest,
  deleteDocument,
  deleteNote,
  liftBlock,
  listBlocks,
  readBlockFacts,
  readDocument,
  readNoteFacts,
  recordConsent,
  sides,
  storeFile,
  verifyDocument,
} from '../../db/guests/index.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { fileContent } from '../../db/lib/files.ts'
import { notFound } from '../../config/errors.ts'
import { can } from '../lib/access/kinds.ts'
import type { Admission } from '../lib/caller.ts'
import { route } from '../lib/route.ts'
import {
  consentFields,
  documentFields,
  Guest,
  GuestBlock,
  GuestDocument,
  GuestNote,
  ofGuest,
  Reason,
} from './schemas.ts'
import { shownGuest, viewerOf } from './show.ts'

const record = { table: 'guest', param: 'guestId', lockedBy: 'command' } as const
const document = { table: 'guest_document', param: 'documentId', lockedBy: 'command' } as const
const passive = ['guest_merged', 'guest_erased'] as const

const addConsent = route({
  id: 'guestConsents.create',
  method: 'POST',
  path: `${ofGuest}/consents`,
  summary: 'Record a consent given or withdrawn',
  description: 'The latest record of a purpose counts from now on; a purpose without one is not granted.',
  access: can('create', 'GuestConsent'),
  status: 201,
  record,
  body: Obj(consentFields),
  example: {
    purpose: 'marketing_email',
    decision: 'withdrawn',
    source: 'desk',
    textVersion: '2026-11',
    evidence: 'Asked for it on leaving',
  },
  returns: Guest,
  errors: passive,
  handle: async ({ trx, params, body, expectedVersion, admission }) => {
    await recordConsent(trx, params.guestId, body, expectedVersion)
    return shownGuest(trx, params.guestId, admission)
  },
})

const createNote = route({
  id: 'guestNotes.create',
  method: 'POST',
  path: `${ofGuest}/notes`,
  summary: 'Add a note or alert',
  description:
    'It reaches its audience alone. `alertAt` shows it at that moment of each stay. Notes do not change: they are deleted and written anew.',
  access: can('create', 'GuestNote'),
  status: 201,
  record,
  body: Obj({
    text: Words(1, 2000),
    audience: OneOf([...audiences]),
    alertAt: Opt(OneOf([...alertMoments])),
  }),
  example: { text: 'Arrives late; keep the key at the night desk', audience: 'front_desk', alertAt: 'check_in' },
  returns: GuestNote,
  errors: [...passive, 'too_many'],
  handle: ({ trx, params, body, expectedVersion }) => addNote(trx, params.guestId, body, expectedVersion),
})

const removeNote = route({
  id: 'guestNotes.delete',
  method: 'DELETE',
  path: `${ofGuest}/notes/:noteId`,
  summary: 'Delete a note',
  description: 'By its author, or by a manager.',
  access: can('delete', 'GuestNote'),
  returns: Obj({ id: Uuid }, { title: 'Removed' }),
  handle: async ({ trx, params, admission }) => {
    const note = await readNoteFacts(trx, params.guestId, params.noteId)
    admission.check('delete', 'GuestNote', { propertyId: null, createdBy: note.createdBy })
    await deleteNote(trx, params.guestId, params.noteId)
    return { id: params.noteId }
  },
})

const createDocument = route({
  id: 'guestDocuments.create',
  method: 'POST',
  path: `${ofGuest}/documents`,
  summary: 'Add an identity document',
  description:
    'A CPF has its check digits looked at. `countryCode` is ZZ where it was not stated. A document is never edited: it is deleted and added.',
  access: can('create', 'GuestDocument'),
  status: 201,
  record,
  body: Obj({ ...documentFields, allowDuplicate: Opt(Bool) }),
  example: { kind: 'passport', countryCode: 'FR', number: '19FV 12345', issuer: 'Préfecture', expiresOn: '2031-05-30' },
  returns: GuestDocument,
  errors: [...passive, 'duplicate_document', 'duplicate_guest', 'document_invalid'],
  handle: async ({ trx, params, body, expectedVersion }) =>
    readDocument(trx, params.guestId, await addDocument(trx, params.guestId, body, expectedVersion)),
})

const removeDocument = route({
  id: 'guestDocuments.delete',
  method: 'DELETE',
  path: `${ofGuest}/documents/:documentId`,
  summary: 'Delete a document with its images',
  access: can('delete', 'GuestDocument'),
  record: document,
  returns: Obj({ id: Uuid }, { title: 'Removed' }),
  errors: [...passive, 'in_use'],
  handle: async ({ trx, params, expectedVersion }) => {
    await deleteDocument(trx, params.guestId, params.documentId, expectedVersion)
    return { id: params.documentId }
  },
})

const putFile = route({
  id: 'guestDocuments.storeFile',
  method: 'PUT',
  path: `${ofGuest}/documents/:documentId/files/:side`,
  summary: 'Store the image of one side of a document',
  description:
    'JPEG, PNG, WebP or PDF up to 10 MiB as base64, told by its content. An image that was there is replaced. It is sealed by the key of the guest, and shown by `reveal` alone.',
  access: can('update', 'GuestDocument'),
  record: document,
  bodyLimit: 14 * 1024 * 1024,
  params: Obj({ side: OneOf([...sides]) }),
  body: Obj({ mediaType: OneOf([...documentTypes]), data: Text(4, 14_600_000, { cardNumber: 'exempt' }) }),
  example: {
    mediaType: 'image/png',
    data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  },
  returns: GuestDocument,
  errors: [...passive, 'file_type_mismatch', 'file_too_large'],
  handle: async ({ trx, params, body: { mediaType, data }, expectedVersion }) => {
    const bytes = await fileContent(mediaType, data)
    await storeFile(trx, params.guestId, params.documentId, params.side, { mediaType, bytes }, expectedVersion)
    return readDocument(trx, params.guestId, params.documentId)
  },
})

const verify = route({
  id: 'guestDocuments.verify',
  method: 'POST',
  path: `${ofGuest}/documents/:documentId/verify`,
  summary: 'Accept or reject a document after checking it',
  description:
    '`reason` is required where it is rejected. `keepFiles: false` removes its images with the verification.',
  access: can('verify', 'GuestDocument'),
  record: document,
  body: Obj({
    decision: OneOf(['verified', 'rejected']),
    method: OneOf(['in_person', 'video', 'provider']),
    reason: Opt(Words(3, 500)),
    keepFiles: Opt(Bool),
  }),
  example: { decision: 'verified', method: 'in_person' },
  returns: GuestDocument,
  errors: [...passive, 'document_expired', 'duplicate_guest', 'invalid_transition'],
  handle: async ({ trx, params, body, expectedVersion }) => {
    await verifyDocument(trx, params.guestId, params.documentId, body, expectedVersion)
    return readDocument(trx, params.guestId, params.documentId)
  },
})

const shownBlock = async (trx: Trx, guestId: string, blockId: string, admission: Admission) => {
  const { scope, seesReasons } = viewerOf(admission)
  const found = (await listBlocks(trx, [guestId], { scope, seesReason: seesReasons })).find((one) => one.id === blockId)
  if (!found) throw notFound()
  return found
}

const block = route({
  id: 'guestBlocks.create',
  method: 'POST',
  path: `${ofGuest}/blocks`,
  summary: 'Put a guest on the blocklist',
  description:
    '`warn` tells the desk, `refuse` lets no hold, confirmation and check-in pass. The documents of the guest are blocked, too, so that a new profile with one of them is found. Without `propertyId` it holds in every property.',
  access: can('create', 'GuestBlock'),
  status: 201,
  body: Obj({
    level: OneOf(['warn', 'refuse']),
    reason: Reason,
    propertyId: Opt(Nullable(Uuid)),
    startsOn: Opt(Day),
    endsOn: Opt(Nullable(Day)),
  }),
  example: { level: 'warn', reason: 'Left without paying the minibar', propertyId: sampleId('propertyId') },
  returns: GuestBlock,
  errors: [...passive, 'version_conflict', 'already_blocked', 'reference_not_found'],
  handle: async ({ trx, params, body, expectedVersion, admission }) => {
    admission.check('create', 'GuestBlock', { propertyId: body.propertyId ?? null, level: body.level })
    return shownBlock(trx, params.guestId, await blockGuest(trx, params.guestId, body, expectedVersion), admission)
  },
})

const lift = route({
  id: 'guestBlocks.lift',
  method: 'POST',
  path: `${ofGuest}/blocks/:guestBlockId/lift`,
  summary: 'Take a guest off the blocklist',
  access: can('update', 'GuestBlock'),
  record: { table: 'guest_block', param: 'guestBlockId', lockedBy: 'command' },
  body: Obj({ reason: Reason }),
  example: { reason: 'The bill was paid' },
  returns: GuestBlock,
  handle: async ({ trx, params, body, expectedVersion, admission }) => {
    const facts = await readBlockFacts(trx, params.guestId, params.guestBlockId)
    admission.check('update', 'GuestBlock', { propertyId: facts.propertyId, level: facts.level })
    await liftBlock(trx, params.guestBlockId, body.reason, expectedVersion)
    return shownBlock(trx, facts.guestId, params.guestBlockId, admission)
  },
})

export const routes = [addConsent, createNote, removeNote, createDocument, removeDocument, putFile, verify, block, lift]
