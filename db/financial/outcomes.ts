import { ledgerEntryPosted, postingEventParked } from '../../config/events/financial.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emitAll } from '../lib/events.ts'
import { totalOf } from './entries.ts'
import type { NewEntry } from './entries.ts'
import type { PostingPayload } from './rules/payload.ts'

const triesBeforeParking = 8
export const mirrorWaitMs = 5_000
const minuteMs = 60_000

export type Claimed = {
  id: string
  event: string
  propertyId: string | null
  sourceId: string
  sourceSeq: number
  postingDate: string
  periodId: string
  payload: PostingPayload
  attempts: number
  originalId: string | null
  originalStatus: string | null
  originalEntryId: string | null
}

/** Outcome of one claimed event. */
export type Outcome =
  | { status: 'posted'; entry: NewEntry | null; ruleIds: string[] }
  | { status: 'failed'; code: string; message: string; parked: boolean }
  | { status: 'waiting' }

const claimed = `e.id, e.event, e.property_id, e.source_id, e.source_seq, e.posting_date, e.period_id, e.payload, e.attempts,
  o.id as original_id, o.status as original_status, o.entry_id as original_entry_id`

/** Events of a book that are not posted, parked ones too, in their order; at most 5,000. Locks nothing. */
export const waitingEvents = (trx: Trx, bookId: string) =>
  sql<Claimed>(
    trx,
    `select ${claimed} from posting_event e left join posting_event o on o.tenant_id = e.tenant_id and o.id = e.reverses_event_id
     where e.tenant_id = ? and e.book_id = ? and e.status in ('pending', 'failed', 'parked') order by e.seq limit 5000`,
    [contextOf(trx).tenantId, bookId],
  )

export const claim = (trx: Trx, bookId: string, limit: number, eventId: string | null) =>
  sql<Claimed>(
    trx,
    `select ${claimed}
     from posting_event e
     left join posting_event o on o.tenant_id = e.tenant_id and o.id = e.reverses_event_id
     where e.tenant_id = ? and e.book_id = ? and e.status in ('pending', 'failed') and (e.next_at is null or e.next_at <= now())
       and (?::uuid is null or e.id = ?::uuid)
     order by e.seq limit ? for update of e skip locked`,
    [contextOf(trx).tenantId, bookId, eventId, eventId, limit],
  )

export const failure = (claimed: Pick<Claimed, 'attempts'>, code: string, message: string): Outcome => ({
  status: 'failed',
  code,
  message: message.slice(0, 500),
  parked: claimed.attempts + 1 >= triesBeforeParking,
})

export const stateOf = (claimed: Claimed, outcome: Outcome) => {
  const same = {
    id: claimed.id,
    attempts: claimed.attempts,
    entry_id: null,
    rule_ids: [],
    error_code: null,
    error_message: null,
    wait_ms: null,
  }
  switch (outcome.status) {
    case 'posted':
      return { ...same, status: 'posted', entry_id: outcome.entry?.id ?? null, rule_ids: outcome.ruleIds }
    case 'waiting':
      return { ...same, status: 'pending', wait_ms: mirrorWaitMs }
    case 'failed':
      return {
        ...same,
        status: outcome.parked ? 'parked' : 'failed',
        attempts: claimed.attempts + 1,
        error_code: outcome.code,
        error_message: outcome.message,
        wait_ms: outcome.parked ? null : Math.min(2 ** claimed.attempts, 60) * minuteMs,
      }
  }
}

export const writeStates = async (trx: Trx, states: readonly ReturnType<typeof stateOf>[]) => {
  await sql(
    trx,
    `update posting_event e set status = v.status, attempts = v.attempts, entry_id = v.entry_id, error_code = v.error_code, error_message = v.error_message,
       rule_ids = array(select jsonb_array_elements_text(v.rule_ids)::uuid), next_at = now() + v.wait_ms * interval '1 millisecond'
     from jsonb_to_recordset(?::jsonb) as v (id uuid, status text, attempts int, entry_id uuid, error_code text, error_message text, rule_ids jsonb, wait_ms int)
     where e.tenant_id = ? and e.id = v.id`,
    [JSON.stringify(states), contextOf(trx).tenantId],
  )
}

export const announce = async (
  trx: Trx,
  bookId: string,
  decided: readonly { claimed: Claimed; outcome: Outcome }[],
  posted: readonly { claimed: Claimed; entry: NewEntry }[],
): Promise<void> => {
  await emitAll(
    trx,
    ledgerEntryPosted,
    posted.map(({ claimed, entry }) => ({
      propertyId: claimed.propertyId,
      id: entry.id,
      version: null,
      data: {
        entryId: entry.id,
        bookId,
        date: entry.postingDate,
        total: totalOf(entry),
        currency: entry.currency,
        sourceType: entry.sourceType,
        sourceId: entry.sourceId,
        reversesId: entry.reversesEntryId,
      },
    })),
  )
  await emitAll(
    trx,
    postingEventParked,
    decided.flatMap(({ claimed: { id, event, propertyId }, outcome }) =>
      outcome.status === 'failed' && outcome.parked
        ? [{ propertyId, id, version: null, data: { postingEventId: id, event, errorCode: outcome.code } }]
        : [],
    ),
  )
}
