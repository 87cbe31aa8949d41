import { randomUUID } from 'node:crypto'
import { journalOf, postingOf } from '../../config/financial.ts'
import { ledgerPost } from '../../jobs/financial.ts'
import { contextOf, prepared, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueueOnce } from '../lib/enqueue.ts'
import { firstOpenDay } from './days.ts'
import type { PostingPayload, PostingSource } from './rules/payload.ts'
import { checkPayload } from './raise.ts'
import { PostingError } from './rules/selectors.ts'

/** An event of a property that is dated by its open business day, and turns none. */
export type DayPosting = { event: string; source: PostingSource; payload: PostingPayload }
/** An event of a property that turns none: dated by its open business day, or by a document of its own. */
export type PropertyPosting = DayPosting & { date?: string }

const atOnce = 1_000

/**
 * `raisePosting` for many events of one property: one statement and one job for all of them, as the last step of the transaction. What was raised
 * before is left as it stands. Answers how many were added.
 */
export const raisePostings = async (
  trx: Trx,
  propertyId: string,
  postings: readonly PropertyPosting[],
): Promise<number> => {
  for (const { event, payload, date } of postings) {
    const { dated, inline, mirrors } = postingOf(event)
    if (inline || mirrors.length > 0 || dated !== (date === undefined ? 'day' : 'document'))
      throw new PostingError(`${event} is not raised by its ${date === undefined ? 'business day' : 'date'} alone`)
    checkPayload(event, payload)
  }
  let raised = 0
  for (let from = 0; from < postings.length; from += atOnce)
    raised += await insert(trx, propertyId, postings.slice(from, from + atOnce))
  return raised
}

const insert = async (trx: Trx, propertyId: string, postings: readonly PropertyPosting[]): Promise<number> => {
  const { tenantId } = contextOf(trx)
  const rows = await prepared<{ bookId: string; xid: string }>(
    trx,
    `insert into posting_event (id, book_id, property_id, event, source_id, source_seq, dated, posting_date, payload, journal_kind, seq, period_id)
     select e.id, p.book_id, p.id, e.event, e.source_id, e.source_seq, case when e.posting_date is null then 'day' else 'document' end,
       coalesce(e.posting_date, d.date, cast(now() at time zone p.timezone as date)), e.payload, e.journal_kind, 0, '00000000-0000-4000-8000-000000000000'
     from jsonb_to_recordset(cast(:postings as jsonb)) as e (id uuid, event text, source_id uuid, source_seq int, payload jsonb, journal_kind text, posting_date date)
     join property p on p.tenant_id = :tenantId and p.id = :propertyId
     left join business_day d on d.tenant_id = p.tenant_id and d.property_id = p.id and d.status = 'open'
     on conflict (tenant_id, event, source_id, source_seq) do nothing
     returning book_id, cast(pg_current_xact_id() as text) as xid`,
    {
      tenantId,
      propertyId,
      postings: JSON.stringify(
        postings.map(({ event, source, payload, date }) => ({
          id: randomUUID(),
          event,
          source_id: source.id,
          source_seq: source.seq ?? 0,
          payload,
          journal_kind: journalOf(event),
          posting_date: date,
        })),
      ),
    },
  )
  const first = rows[0]
  if (first && tenantId)
    enqueueOnce(trx, ledgerPost, { tenantId, bookId: first.bookId }, { uniqueKey: `${first.bookId}.${first.xid}` })
  return rows.length
}

/** An event that takes the date of a document from outside, such as a gateway's, and turns none. */
export type DocumentPosting = DayPosting & { date: string }

/**
 * `raisePosting` for many dated events of one book, without a property. A date whose period is not open gives way to the first open day. What was
 * raised before is left as it stands. Answers how many were added.
 */
export const raiseDocumentPostings = async (
  trx: Trx,
  bookId: string,
  postings: readonly DocumentPosting[],
): Promise<number> => {
  for (const { event, payload } of postings) {
    const { dated, inline, mirrors } = postingOf(event)
    if (inline || dated !== 'document' || mirrors.length > 0)
      throw new PostingError(`${event} is not raised by the date of its document alone`)
    checkPayload(event, payload)
  }
  const days = new Map<string, string>()
  for (const { date } of postings) if (!days.has(date)) days.set(date, await firstOpenDay(trx, { bookId }, date))
  const { tenantId } = contextOf(trx)
  let raised = 0
  for (let from = 0; from < postings.length; from += atOnce) {
    const rows = await sql<{ xid: string }>(
      trx,
      `insert into posting_event (id, book_id, event, source_id, source_seq, dated, posting_date, payload, journal_kind, seq, period_id)
       select e.id, :bookId, e.event, e.source_id, e.source_seq, 'document', e.posting_date, e.payload, e.journal_kind, 0, '00000000-0000-4000-8000-000000000000'
       from jsonb_to_recordset(cast(:postings as jsonb)) as e (id uuid, event text, source_id uuid, source_seq int, payload jsonb, posting_date date, journal_kind text)
       on conflict (tenant_id, event, source_id, source_seq) do nothing
       returning cast(pg_current_xact_id() as text) as xid`,
      {
        bookId,
        postings: JSON.stringify(
          postings.slice(from, from + atOnce).map(({ event, source, payload, date }) => ({
            id: randomUUID(),
            event,
            source_id: source.id,
            source_seq: source.seq ?? 0,
            payload,
            posting_date: days.get(date) ?? date,
            journal_kind: journalOf(event),
          })),
        ),
      },
    )
    const [first] = rows
    if (first && tenantId) enqueueOnce(trx, ledgerPost, { tenantId, bookId }, { uniqueKey: `${bookId}.${first.xid}` })
    raised += rows.length
  }
  return raised
}
