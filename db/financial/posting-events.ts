import { unprocessable } from '../../config/errors.ts'
import { postingEventDismissed } from '../../config/events/financial.ts'
import { ledgerPost } from '../../jobs/financial.ts'
import { audit } from '../lib/audit.ts'
import { whereOf } from '../lib/conditions.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { emit } from '../lib/events.ts'
import { lifecycle } from '../lib/lifecycle.ts'
import { equal, matching, pageOf } from '../lib/lists.ts'
import { changeRow, readRow } from '../lib/records.ts'
import { PostingEvent } from './models.ts'
import type { PostingStatus } from './models.ts'

const moves = lifecycle<PostingStatus>('A posting event')({ dismissed: { from: ['parked'], to: 'dismissed' } })
const atOnce = 10_000

export const listPostingEvents = pageOf(PostingEvent, {
  order: ['seq desc'],
  filters: {
    bookId: equal('bookId'),
    status: equal('status'),
    event: equal('event'),
    errorCode: equal('errorCode'),
    propertyId: equal('propertyId'),
    sourceId: equal('sourceId'),
    olderThanMinutes: matching<number>(`created_at < now() - ?::int * interval '1 minute'`),
  },
  scope: { propertyId: 'propertyId' },
})

export const readPostingEvent = (trx: Trx, id: string) => readRow(trx, PostingEvent, id)

export type WhichEvents = {
  postingEventIds?: readonly string[] | undefined
  filter?: { event?: string | undefined; errorCode?: string | undefined } | undefined
}

/** Puts failed and parked events in `scope` back: with their tries counted anew, at once. Answers how many; others are left as they are. */
export const retryPostingEvents = async (
  trx: Trx,
  { postingEventIds, filter }: WhichEvents,
  scope: Condition,
): Promise<number> => {
  const { tenantId } = contextOf(trx)
  const put = await sql<{ bookId: string }>(
    trx,
    `update posting_event e set status = 'pending', attempts = 0, next_at = null, error_code = null, error_message = null
     where e.tenant_id = :tenantId and e.id in (
       select p.id from posting_event p where p.tenant_id = :tenantId and p.status in ('failed', 'parked')
         and (cast(:ids as uuid[]) is null or p.id = any(cast(:ids as uuid[])))
         and (cast(:event as text) is null or p.event = :event) and (cast(:errorCode as text) is null or p.error_code = :errorCode)
         and :seen
       order by p.seq limit ${atOnce} for update)
     returning e.book_id`,
    {
      tenantId,
      ids: postingEventIds ?? null,
      event: filter?.event ?? null,
      errorCode: filter?.errorCode ?? null,
      seen: whereOf(scope, { propertyId: 'p.property_id' }),
    },
  )
  for (const bookId of new Set(put.map((one) => one.bookId)))
    await enqueue(trx, ledgerPost, { tenantId: tenantId ?? '', bookId }, { uniqueKey: `${bookId}.retried` })
  return put.length
}

/**
 * Gives up a parked event (R10): ledger and sub-ledger stay apart until an entry explains it. 422 `reference_not_found` for a replacing entry that is no
 * manual one of the book. Locks the event.
 */
export const dismissPostingEvent = async (
  trx: Trx,
  id: string,
  { reason, replacingEntryId }: { reason: string; replacingEntryId?: string | null | undefined },
): Promise<void> => {
  const { tenantId } = contextOf(trx)
  await sql(trx, `select id from posting_event where tenant_id = ? and id = ? for update`, [tenantId, id])
  const event = await readPostingEvent(trx, id)
  if (!moves.isDue('dismissed', event.status)) return
  if (replacingEntryId) {
    const entry = await sql<{ id: string }>(
      trx,
      `select id from journal_entry where tenant_id = ? and book_id = ? and id = ? and source_type = 'financial.manual'`,
      [tenantId, event.bookId, replacingEntryId],
    )
    if (entry.length === 0)
      throw unprocessable('reference_not_found', 'The book has no such manual entry', [
        { field: 'replacingEntryId', message: replacingEntryId },
      ])
  }
  await changeRow(trx, PostingEvent, id, {
    status: 'dismissed',
    dismissReason: reason,
    replacingEntryId: replacingEntryId ?? null,
  })
  await audit(trx, { action: 'posting_event.dismiss', subjectType: 'PostingEvent', subjectId: id, reason })
  await emit(trx, postingEventDismissed, {
    propertyId: event.propertyId,
    id,
    version: null,
    data: { postingEventId: id, event: event.event, errorCode: event.errorCode },
  })
}
