import { conflict, forbidden, notFound, unprocessable } from '../../config/errors.ts'
import { todayIn } from '../../config/time.ts'
import { approverOf, authorOf } from '../lib/authors.ts'
import { whereOf } from '../lib/conditions.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { linesOf } from './entries.ts'
import { factsOfBook } from './manual-entries.ts'
import { postEntry } from './post.ts'
import { turned } from './rules/resolve.ts'

/** Manual sources: those that are reversed here. Others are undone by their document. */
const isManual = (sourceType: string) =>
  sourceType.startsWith('financial.') &&
  sourceType !== 'financial.tax_assessed' &&
  sourceType !== 'financial.year_closed' &&
  sourceType !== 'financial.reversal'

/**
 * Reverses a manual entry, once (R12): on a day of an open period that is not before the original's, today in the book's zone by default.
 * 422 `reverse_at_source`, `date_out_of_range`; 409 `already_reversed`; 403 `self_approval` above the book's threshold, `forbidden` where a line lies outside of `scope`.
 */
export const reverseEntry = async (
  trx: Trx,
  entryId: string,
  { reason, postingDate, scope }: { reason: string; postingDate?: string | undefined; scope: Condition },
): Promise<string> => {
  const entry = await sqlOne<{
    bookId: string
    journalId: string
    kind: string
    sourceType: string
    postingDate: string
    total: number
    createdBy: string | null
    sourceId: string
  }>(
    trx,
    `select book_id, journal_id, kind, source_type, source_id, posting_date, total, created_by from journal_entry where tenant_id = ? and id = ?`,
    [contextOf(trx).tenantId, entryId],
  )
  if (!entry) throw notFound('No such entry')
  const unseen = await sqlOne(
    trx,
    `select 1 from journal_line l where l.tenant_id = :tenantId and l.entry_id = :entryId and (:seen) is not true limit 1`,
    { tenantId: contextOf(trx).tenantId, entryId, seen: whereOf(scope, { propertyId: 'l.property_id' }) },
  )
  if (unseen) throw forbidden('forbidden', 'The entry has lines of properties that the caller does not see')
  if (entry.kind === 'reversal' || !isManual(entry.sourceType))
    throw unprocessable('reverse_at_source', 'The entry is undone by the document that made it', [
      { field: 'sourceType', message: `${entry.sourceType} of ${entry.sourceId}` },
    ])
  const book = await factsOfBook(trx, entry.bookId)
  const createdBy = await authorOf(trx)
  if (book.approvalThreshold !== null && entry.total > book.approvalThreshold) {
    if (createdBy === entry.createdBy && !book.singleOperator)
      throw forbidden('self_approval', 'An entry of this size is reversed by another person than its author')
    approverOf(trx, { authors: [], singleOperator: book.singleOperator })
  }
  const on = postingDate ?? todayIn(book.timeZone)
  if (on < entry.postingDate)
    throw unprocessable('date_out_of_range', 'A reversal is not dated before its entry', [
      { field: 'postingDate', message: `must be ${entry.postingDate} or later` },
    ])
  // An entry cannot be locked: nothing may change it. Those that reverse it take turns here.
  await sqlOne(trx, `select pg_advisory_xact_lock(hashtextextended(?, 34))`, [entryId])
  const reversed = await sqlOne(trx, `select id from journal_entry where tenant_id = ? and reverses_entry_id = ?`, [
    contextOf(trx).tenantId,
    entryId,
  ])
  if (reversed) throw conflict('already_reversed', 'The entry was reversed before')
  const lines = (await linesOf(trx, [entryId])).get(entryId) ?? []
  return postEntry(trx, {
    source: { type: 'financial.reversal', id: entryId },
    bookId: entry.bookId,
    journalId: entry.journalId,
    postingDate: on,
    kind: 'reversal',
    description: reason,
    lines: turned(lines),
    reversesEntryId: entryId,
    createdBy,
  })
}
