import { randomUUID } from 'node:crypto'
import { forbidden, unprocessable } from '../../config/errors.ts'
import { contextOf } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { insertRow } from '../lib/records.ts'
import { queueMessage } from '../ocp/index.ts'
import { IssueComment } from './models.ts'
import { answered, holdFor } from './moves.ts'
import type { Asked } from './moves.ts'
import { issueLifecycle, tell, writeIssue } from './state.ts'
import type { Held } from './state.ts'
import { sealText } from './texts.ts'

export type NewComment = { text: string; visibility: 'internal' | 'guest' }

type Written = NewComment & { authorId: string | null; messageId?: string | null; eventId?: string | null; id?: string }

/** Writes a comment of a locked issue. */
export const writeComment = async (
  trx: Trx,
  issueId: string,
  { text, visibility, authorId, messageId = null, eventId = null, id = randomUUID() }: Written,
): Promise<string> => {
  await insertRow(trx, IssueComment, {
    id,
    issueId,
    visibility,
    authorId,
    messageId,
    eventId,
    sealed: await sealText(trx, 'comment', id, { text }),
  })
  return id
}

/** Sends a comment to the guest; the worker reads its text from the comment. */
const send = async (trx: Trx, held: Held, commentId: string): Promise<string | null> =>
  queueMessage(trx, {
    propertyId: held.propertyId,
    templateKey: 'issue-comment',
    dedupeKey: `issue-comment-${commentId}`,
    guestId: held.guestId,
    reservationId: held.reservationId,
    issueId: held.id,
    data: { issueCommentId: commentId },
  })

/**
 * Adds a comment, for the staff or for the guest. One for the guest is sent, and meets the first response (R2, R9): 422 `recipient_missing` where the issue
 * names no guest, 403 `feature_not_enabled` without messages.
 */
export const addComment = async (
  trx: Trx,
  id: string,
  { text, visibility }: NewComment,
  { mayMessage, ...asked }: Asked & { mayMessage: boolean },
): Promise<void> => {
  const held = await holdFor(trx, id, asked)
  issueLifecycle.allow('commented', held.status)
  const { actor } = contextOf(trx)
  const authorId = actor.type === 'user' ? actor.id : null
  if (visibility === 'guest') {
    if (!mayMessage)
      throw forbidden('feature_not_enabled', 'Messages to guests need the feature ocp', [
        { field: 'visibility', message: 'must be internal without the feature ocp' },
      ])
    if (held.guestId === null)
      throw unprocessable('recipient_missing', 'The issue names no guest', [
        { field: 'visibility', message: 'must be internal for an issue without a guest' },
      ])
  }
  const commentId = randomUUID()
  const messageId = visibility === 'guest' ? await send(trx, held, commentId) : null
  await writeComment(trx, id, { id: commentId, text, visibility, authorId, messageId })
  const after = await writeIssue(trx, held, visibility === 'guest' ? answered(held) : {})
  await tell(trx, 'commented', after)
}
