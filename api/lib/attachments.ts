import type { ErrorCode } from '../../config/error-codes.ts'
import { attachmentTypes } from '../../config/file-kinds.ts'
import { Instant, Int, List, Nullable, Obj, OneOf, Opt, Text, Uuid, Words } from '../../config/schema.ts'
import {
  addAttachment,
  attachmentContent,
  deleteAttachment,
  hideAttachment,
  readAttachment,
} from '../../db/lib/attachments.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { fileContent } from '../../db/lib/files.ts'
import { can } from './access/kinds.ts'
import type { Admission } from './caller.ts'
import { asJudged } from './record.ts'
import { route } from './route.ts'
import type { AnyRoute } from './route.ts'

const head = {
  id: Uuid,
  fileName: Text(1, 120),
  mediaType: OneOf([...attachmentTypes]),
  bytes: Int(1, 10_485_760),
  sha256: Text(64, 64),
  createdBy: Nullable(Uuid),
  createdAt: Instant,
}
/** Files of a record in its reads: `attachmentsOf` finds them. */
export const Attachments = List(Obj(head, { title: 'Attachment' }), { max: 20 })

/** The record of a file, as far as its permissions ask. `isKept`: its files are hidden where they would be deleted. */
export type FileOwner = { isKept: boolean; record: object }

/**
 * Finds the record that a file is of. 404 where there is none, or where the caller may not read it. With `lock` its files are about to change: it locks what
 * could end meanwhile, and refuses a record that takes none.
 */
export type FindOwner = (asked: { trx: Trx; id: string; admission: Admission; lock: boolean }) => Promise<FileOwner>

type AttachedFiles = {
  /** Begins the ids of the endpoints, such as `financialAttachments`. */
  name: string
  module: string
  /** The module's path, such as `/api/tenants/:tenantId/financial`: `/attachments` follows. */
  path: `/api/tenants/:tenantId/${string}`
  subject: string
  /** Actions on the subject, where they are not create, read and delete. */
  actions?: { add: string; read: string; remove: string }
  summaries: { add: string; read: string; remove: string }
  /** By entity type: the kinds of records that take files. */
  owners: Readonly<Record<string, FindOwner>>
  /** Errors by which `owners` refuse a record whose files may not change. */
  errors?: readonly ErrorCode[]
  /** A record for the document's example. */
  example: { entityType: string; entityId: string }
  /** Tells that the files of a record have changed, where its module has an event for that. */
  tell?: (trx: Trx, type: string, id: string) => Promise<void>
}

/**
 * The three endpoints of files beside the records of a module: send one, read one with its content, remove one. The file is judged by the permissions on
 * `subject` for its record. Its record shows it by `Attachments`; its commands delete it by `removeAttachments`, or hand it on by `moveAttachments`.
 */
export const attachments = ({
  name,
  module,
  path,
  subject,
  actions = { add: 'create', read: 'read', remove: 'delete' },
  summaries,
  owners,
  example,
  errors = [],
  tell,
}: AttachedFiles): AnyRoute[] => {
  const types = Object.keys(owners)
  const judge = async (
    action: string,
    { type, id }: { type: string; id: string },
    asked: { trx: Trx; admission: Admission; lock: boolean },
  ) => {
    const find = owners[type]
    if (!find) throw new Error(`${module} has no ${type} with files`)
    const owner = await find({ ...asked, id })
    asked.admission.check(action, subject, asJudged('attachment', id, owner.record))
    return owner
  }
  const add = route({
    id: `${name}.create`,
    method: 'POST',
    path: `${path}/attachments`,
    summary: summaries.add,
    description:
      'PDF, XML, CSV, JPEG, PNG or WebP up to 10 MiB as base64, told by its content. Twenty files at most stand beside one record.',
    access: can(actions.add, subject),
    status: 201,
    bodyLimit: 14 * 1024 * 1024,
    body: Obj({
      entityType: OneOf(types),
      entityId: Uuid,
      fileName: Words(1, 120),
      mediaType: OneOf([...attachmentTypes]),
      content: Text(4, 14_600_000, { cardNumber: 'exempt' }),
    }),
    example: {
      ...example,
      fileName: 'contract.csv',
      mediaType: 'text/csv',
      content: Buffer.from('month,amount\n2026-11,350000\n').toString('base64'),
    },
    returns: Obj({ ...head, entityType: Text(1, 40), entityId: Uuid }, { title: 'AttachmentOfRecord' }),
    errors: ['not_found', 'file_type_mismatch', 'file_too_large', 'too_many_attachments', ...errors],
    handle: async ({ trx, body, admission }) => {
      const { entityType, entityId, fileName, mediaType, content } = body
      const bytes = await fileContent(mediaType, content, 'content')
      await judge(actions.add, { type: entityType, id: entityId }, { trx, admission, lock: true })
      const attached = { module, type: entityType, id: entityId }
      const id = await addAttachment(trx, attached, { fileName, mediaType, bytes })
      await tell?.(trx, entityType, entityId)
      return { ...(await readAttachment(trx, module, id)), entityType, entityId }
    },
  })

  const read = route({
    id: `${name}.read`,
    method: 'GET',
    path: `${path}/attachments/:attachmentId`,
    summary: summaries.read,
    access: can(actions.read, subject),
    // Nothing in a file can be masked.
    support: 'never',
    returns: Obj(
      { ...head, entityType: Text(1, 40), entityId: Uuid, content: Text(4, 14_600_000) },
      { title: 'AttachmentContent' },
    ),
    handle: async ({ trx, params, admission }) => {
      const file = await readAttachment(trx, module, params.attachmentId)
      await judge(actions.read, file.attached, { trx, admission, lock: false })
      const content = (await attachmentContent(trx, file)).toString('base64')
      return { ...file, entityType: file.attached.type, entityId: file.attached.id, content }
    },
  })

  const remove = route({
    id: `${name}.delete`,
    method: 'DELETE',
    path: `${path}/attachments/:attachmentId`,
    summary: summaries.remove,
    description:
      'What the law has kept is hidden, and erased when its time is over: nobody reads it again. The reason stands in the body, or as `reason` in the query where a client drops such bodies.',
    access: can(actions.remove, subject),
    query: Obj({ reason: Opt(Words(1, 500)) }),
    body: Obj({ reason: Opt(Words(1, 500)) }),
    example: { reason: 'Belongs to another contract' },
    returns: Obj({ id: Uuid, removed: OneOf(['deleted', 'hidden']) }, { title: 'RemovedAttachment' }),
    errors,
    handle: async ({ trx, params, query, body, admission }) => {
      const { attached } = await readAttachment(trx, module, params.attachmentId)
      const { isKept } = await judge(actions.remove, attached, { trx, admission, lock: true })
      // Read again under the lock of its record: another request may have removed it meanwhile.
      const file = await readAttachment(trx, module, params.attachmentId)
      if (isKept) await hideAttachment(trx, file.id, body.reason ?? query.reason ?? null)
      else await deleteAttachment(trx, file)
      await tell?.(trx, attached.type, attached.id)
      const removed = isKept ? ('hidden' as const) : ('deleted' as const)
      return { id: file.id, removed }
    },
  })
  return [add, read, remove]
}
