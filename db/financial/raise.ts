import { randomUUID } from 'node:crypto'
import { journalOf, postingOf } from '../../config/financial.ts'
import { isUuid } from '../../config/validator.ts'
import { ledgerPost } from '../../jobs/financial.ts'
import { contextOf, prepared, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueueOnce } from '../lib/enqueue.ts'
import { firstOpenDay } from './days.ts'
import type { Posting, PostingPayload, PostingSource, RaisedPosting } from './rules/payload.ts'
import { planLines } from './rules/posting-lines.ts'
import { PostingError } from './rules/selectors.ts'

/** The event that a mirror turns stands in the same book, and is one that it may turn. */
const turnsOne = `and exists (select from posting_event o where o.tenant_id = :tenantId and o.book_id = b.id
         and o.id = cast(:reversesEventId as uuid) and o.event = any(cast(:mirrors as text[])))`

type Raised = { id: string; bookId: string; postingDate: string; xid: string }

/**
 * The only way into the ledger: records a business event in the caller's transaction, as its last step (it locks the business
 * day and the period), and asks for its posting. Nothing is raised twice: the same event and source answer what stands.
 *
 * Throws PostingError where the payload does not fit the event (a fault of the caller), and the errors of the walls: 409
 * business_day_changed, 422 period_missing, period_closed, date_locked, 409 already_reversed.
 */
export const raisePosting = async (trx: Trx, posting: Posting): Promise<RaisedPosting> => {
  const definition = postingOf(posting.event)
  if (definition.inline) throw new PostingError(`${posting.event} is posted by its own command`)
  if (definition.mirrors.length > 0 !== (posting.reversesEventId !== undefined)) {
    throw new PostingError(
      `${posting.event} ${definition.mirrors.length > 0 ? 'names' : 'does not name'} an event that it turns`,
    )
  }
  if (posting.payload) checkPayload(posting.event, posting.payload)
  if (definition.dated === 'document' && !posting.postingDate && !posting.reversesEventId) {
    throw new PostingError(`${posting.event} takes the date of its document`)
  }
  const date =
    posting.fromOutside && posting.postingDate
      ? await firstOpenDay(trx, posting, posting.postingDate)
      : posting.postingDate
  const { tenantId } = contextOf(trx)
  const { id: sourceId, seq = 0 } = posting.source
  const [raised] = await prepared<Raised>(
    trx,
    `insert into posting_event (id, book_id, property_id, event, source_id, source_seq, dated, posting_date, reverses_event_id, payload, journal_kind, seq, period_id)
     select :id, b.id, p.id, :event, :sourceId, :seq, :dated,
       coalesce(cast(:date as date),
         (select d.date from business_day d where :dated = 'day' and d.tenant_id = p.tenant_id and d.property_id = p.id and d.status = 'open'),
         cast(now() at time zone coalesce(p.timezone, b.time_zone) as date)),
       cast(:reversesEventId as uuid), cast(:payload as jsonb), :journalKind, 0, '00000000-0000-4000-8000-000000000000'
     from book b
     left join property p on p.tenant_id = b.tenant_id and p.book_id = b.id and p.id = cast(:propertyId as uuid)
     where b.tenant_id = :tenantId
       and (p.id is not null or cast(:propertyId as uuid) is null) and b.id = coalesce(cast(:bookId as uuid), b.id)
       and (cast(:propertyId as uuid) is not null or cast(:bookId as uuid) is not null)
       ${posting.reversesEventId === undefined ? '' : turnsOne}
     on conflict (tenant_id, event, source_id, source_seq) do nothing
     returning id, book_id, posting_date, cast(pg_current_xact_id() as text) as xid`,
    {
      id: randomUUID(),
      tenantId,
      event: posting.event,
      sourceId,
      seq,
      dated: definition.dated,
      date: date ?? null,
      payload: JSON.stringify(posting.payload ?? {}),
      propertyId: posting.propertyId ?? null,
      bookId: posting.bookId ?? null,
      reversesEventId: posting.reversesEventId ?? null,
      journalKind: journalOf(posting.event),
      mirrors: [...definition.mirrors],
    },
  )
  if (!raised) return earlier(trx, posting)
  // One job per transaction that raised something: it starts after the commit, so it sees the event without waiting.
  enqueueOnce(
    trx,
    ledgerPost,
    { tenantId: tenantId ?? '', bookId: raised.bookId },
    { uniqueKey: `${raised.bookId}.${raised.xid}` },
  )
  return { id: raised.id, postingDate: raised.postingDate, repeated: false }
}

/** Refuses at once a payload that would fail in the worker: missing lines, malformed ids, texts that are too long. */
export const checkPayload = (event: string, payload: PostingPayload) => {
  for (const line of planLines(event, payload)) {
    const ids = [
      line.search.by === 'account' ? line.search.accountId : null,
      line.documentId,
      line.party?.id,
      line.costCenterId,
      line.taxCodeId,
    ]
    for (const id of ids) {
      if (id !== null && id !== undefined && !isUuid(id)) throw new PostingError(`${event}: ${id} is no id`)
    }
    if (line.memo.length > 200) throw new PostingError(`${event}: the memo is over 200 characters`)
  }
}

const earlier = async (trx: Trx, posting: Posting): Promise<RaisedPosting> => {
  const found = await eventOf(trx, posting.event, posting.source)
  if (!found) throw new PostingError(`${posting.event}: no such book, property, or event to turn`)
  return { ...found, repeated: true }
}

const eventOf = (trx: Trx, event: string, source: PostingSource) =>
  sqlOne<{ id: string; postingDate: string }>(
    trx,
    `select id, posting_date from posting_event where tenant_id = ? and event = ? and source_id = ? and source_seq = ?`,
    [contextOf(trx).tenantId, event, source.id, source.seq ?? 0],
  )

/** Id of the event that a source raised, for `reversesEventId` of its mirror; null where it raised none. */
export const postingEventOf = async (trx: Trx, event: string, source: PostingSource): Promise<string | null> =>
  (await eventOf(trx, event, source))?.id ?? null
