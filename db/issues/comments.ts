import { randomUUID } from 'node:crypto'
import { forbidden, invalid, unprocessable } from '../../config/errors.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { insertRow, readRow } from '../lib/records.ts'
import { holdOpenConversation, queueMessage, replyTo } from '../ocp/index.ts'
import type { Heard } from '../ocp/index.ts'
import { Issue, IssueComment } from './models.ts'
import { answered, holdFor, leaveWait } from './moves.ts'
import type { Asked } from './moves.ts'
import { issueLifecycle, lockIssue, note, tell, writeIssue } from './state.ts'
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

type Conversed = Awaited<ReturnType<typeof holdOpenConversation>>

/** Holds the conversation of an issue, where it is open: it is held before the issue, as by what the guest writes. */
const holdConversation = async (trx: Trx, issueId: string): Promise<Conversed> => {
  const { conversationId } = await readRow(trx, Issue, issueId, ['conversationId'])
  return conversationId ? holdOpenConversation(trx, conversationId) : null
}

const mostOfSms = 1_000

/** Sends a comment to the guest: in the conversation of the issue, else by a message whose text the worker reads from the comment. */
const send = async (
  trx: Trx,
  held: Held,
  { id: commentId, text }: { id: string; text: string },
  conversation: Conversed,
): Promise<string | null> => {
  if (conversation?.kind === 'sms' && text.length > mostOfSms)
    throw invalid([{ field: 'text', message: `must have at most ${mostOfSms} characters for sms` }])
  if (conversation) return replyTo(trx, conversation.id, { text, issueId: held.id })
  return queueMessage(trx, {
    propertyId: held.propertyId,
    templateKey: 'issue-comment',
    dedupeKey: `issue-comment-${commentId}`,
    guestId: held.guestId,
    reservationId: held.reservationId,
    issueId: held.id,
    data: { issueCommentId: commentId },
  })
}

/**
 * Adds a comment, for the staff or for the guest. One for the guest is sent, and meets the first response (R2, R9): 422 `recipient_missing` where the issue
 * names neither guest nor conversation, and as any reply of staff in a conversation; 403 `feature_not_enabled` without messages.
 */
export const addComment = async (
  trx: Trx,
  id: string,
  { text, visibility }: NewComment,
  { mayMessage, ...asked }: Asked & { mayMessage: boolean },
): Promise<void> => {
  const found = visibility === 'guest' && mayMessage ? await holdConversation(trx, id) : null
  const held = await holdFor(trx, id, asked)
  const conversation = found?.id === held.conversationId ? found : null
  issueLifecycle.allow('commented', held.status)
  const { actor } = contextOf(trx)
  const authorId = actor.type === 'user' ? actor.id : null
  if (visibility === 'guest') {
    if (!mayMessage)
      throw forbidden('feature_not_enabled', 'Messages to guests need the feature ocp', [
        { field: 'visibility', message: 'must be internal without the feature ocp' },
      ])
    if (held.guestId === null && !conversation)
      throw unprocessable('recipient_missing', 'The issue names no guest', [
        { field: 'visibility', message: 'must be internal for an issue without a guest' },
      ])
  }
  const commentId = randomUUID()
  const messageId = visibility === 'guest' ? await send(trx, held, { id: commentId, text }, conversation) : null
  await writeComment(trx, id, { id: commentId, text, visibility, authorId, messageId })
  const after = await writeIssue(trx, held, visibility === 'guest' ? answered(held) : {})
  await tell(trx, 'commented', after)
}

const longest = 5_000

/**
 * Takes what a guest writes as a comment of the issue that it is about: the one of the conversation, else that of the message which is answered. An issue that
 * waits for the guest goes on.
 */
export const hearGuest = async (
  trx: Trx,
  { messageId, conversationId, propertyId, issueId, text }: Heard,
): Promise<void> => {
  const found = await sqlOne<{ id: string }>(
    trx,
    `select id from issue where property_id = :propertyId and status <> 'closed' and (conversation_id = :conversationId or id = :issueId::uuid)
     order by (conversation_id is not distinct from :conversationId) desc, created_at desc, id limit 1`,
    { propertyId, conversationId, issueId },
  )
  if (!found) return
  const held = await lockIssue(trx, found.id)
  if (held.status === 'closed') return
  await writeComment(trx, held.id, { text: text.slice(0, longest), visibility: 'guest', authorId: null, messageId })
  const resumes = held.status === 'waiting' && held.waitingFor === 'guest'
  const after = await writeIssue(trx, held, {
    ...(held.conversationId === null ? { conversationId } : {}),
    ...(resumes ? { status: 'in_progress' as const, ...leaveWait(held) } : {}),
  })
  if (resumes) {
    await note(trx, held.id, { command: 'start', from: held.status, to: 'in_progress' })
    await tell(trx, 'started', after)
  }
  await tell(trx, 'commented', after)
}
