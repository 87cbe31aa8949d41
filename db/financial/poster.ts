import { randomUUID } from 'node:crypto'
import { ApiError } from '../../config/errors.ts'
import { journalOf, postingOf } from '../../config/financial.ts'
import { ledgerPost } from '../../jobs/ledger.ts'
import { contextOf, isUnreachable, sql } from '../connection.ts'
import type { Trx } from '../connection.ts'
import { enqueue } from '../enqueue.ts'
import { fromDatabase } from '../errors.ts'
import { emitAll } from '../events.ts'
import { linesOf, totalOf, writeEntries, writeLines } from './entries.ts'
import type { NewEntry } from './entries.ts'
import { loadFacts } from './facts.ts'
import type { Facts } from './facts.ts'
import type { PostingPayload } from './payload.ts'
import { NotPostable, resolveLines, turned } from './resolve.ts'
import type { Line } from './resolve.ts'
import { planLines } from './rules.ts'
import type { PlannedLine } from './rules.ts'
import { PostingError } from './selectors.ts'

export const batchSize = 200
const triesBeforeParking = 8
const mirrorWaitMs = 5_000
const minuteMs = 60_000

type Claimed = {
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

/** What becomes of one claimed event. */
type Outcome =
  | { status: 'posted'; entry: NewEntry | null; ruleIds: string[] }
  | { status: 'failed'; code: string; message: string; parked: boolean }
  | { status: 'waiting' }

const claim = (trx: Trx, bookId: string, limit: number, eventId: string | null) =>
  sql<Claimed>(
    trx,
    `select e.id, e.event, e.property_id, e.source_id, e.source_seq, e.posting_date, e.period_id, e.payload, e.attempts,
       o.id as original_id, o.status as original_status, o.entry_id as original_entry_id
     from posting_event e
     left join posting_event o on o.tenant_id = e.tenant_id and o.id = e.reverses_event_id
     where e.tenant_id = ? and e.book_id = ? and e.status in ('pending', 'failed') and (e.next_at is null or e.next_at <= now())
       and (?::uuid is null or e.id = ?::uuid)
     order by e.seq limit ? for update of e skip locked`,
    [contextOf(trx).tenantId, bookId, eventId, eventId, limit],
  )

const failure = (claimed: Pick<Claimed, 'attempts'>, code: string, message: string): Outcome => ({
  status: 'failed',
  code,
  message: message.slice(0, 500),
  parked: claimed.attempts + 1 >= triesBeforeParking,
})

const headOf = (claimed: Claimed, facts: Facts, bookId: string, lines: Line[]): NewEntry => {
  const kind = journalOf(claimed.event)
  const journal = facts.journals.find((one) => one.kind === kind)
  if (!journal) throw new NotPostable('account_not_usable', `the book has no journal of kind ${kind}`)
  return {
    id: randomUUID(),
    bookId,
    journalId: journal.id,
    periodId: claimed.periodId,
    postingDate: claimed.postingDate,
    currency: facts.currency,
    kind: claimed.originalEntryId === null ? 'standard' : 'reversal',
    reversesEntryId: claimed.originalEntryId,
    sourceType: claimed.event,
    sourceId: claimed.sourceId,
    sourceSeq: claimed.sourceSeq,
    description: claimed.payload.memo ?? postingOf(claimed.event).raisedWhen,
    lines,
  }
}

/** Decides over the events of a batch in their order; an original may stand before its mirror in the same batch. */
const decide = async (trx: Trx, bookId: string, batch: readonly Claimed[]): Promise<Map<string, Outcome>> => {
  const outcomes = new Map<string, Outcome>()
  const plans = new Map<string, PlannedLine[]>()
  for (const claimed of batch) {
    if (claimed.originalId !== null) continue
    try {
      plans.set(claimed.id, planLines(claimed.event, claimed.payload))
    } catch (error) {
      if (!(error instanceof PostingError)) throw error
      outcomes.set(claimed.id, failure(claimed, 'payload_invalid', error.message))
    }
  }
  const facts = await loadFacts(
    trx,
    bookId,
    batch.map(({ event }) => event),
    [...plans.values()].flat(),
  )
  const earlier = await linesOf(
    trx,
    batch.flatMap(({ originalEntryId }) => (originalEntryId === null ? [] : [originalEntryId])),
  )

  const post = (claimed: Claimed): Outcome => {
    if (claimed.originalId === null) {
      const { lines, ruleIds } = resolveLines(facts, plans.get(claimed.id) ?? [], claimed)
      return { status: 'posted', ruleIds, entry: lines.length === 0 ? null : headOf(claimed, facts, bookId, lines) }
    }
    const inBatch = outcomes.get(claimed.originalId)
    const [status, entryId, lines] =
      inBatch?.status === 'posted'
        ? ['posted', inBatch.entry?.id ?? null, inBatch.entry?.lines ?? []]
        : [claimed.originalStatus, claimed.originalEntryId, earlier.get(claimed.originalEntryId ?? '') ?? []]
    if (status === 'dismissed')
      return {
        status: 'failed',
        code: 'original_dismissed',
        message: 'The event that it turns was dismissed',
        parked: true,
      }
    if (status !== 'posted') return { status: 'waiting' }
    return {
      status: 'posted',
      ruleIds: [],
      entry: entryId === null ? null : headOf({ ...claimed, originalEntryId: entryId }, facts, bookId, turned(lines)),
    }
  }
  for (const claimed of batch) {
    if (outcomes.has(claimed.id)) continue
    try {
      outcomes.set(claimed.id, post(claimed))
    } catch (error) {
      if (!(error instanceof NotPostable)) throw error
      outcomes.set(claimed.id, failure(claimed, error.code, error.message))
    }
  }
  return outcomes
}

const stateOf = (claimed: Claimed, outcome: Outcome) => {
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

const writeStates = async (trx: Trx, states: readonly ReturnType<typeof stateOf>[]) => {
  await sql(
    trx,
    `update posting_event e set status = v.status, attempts = v.attempts, entry_id = v.entry_id, error_code = v.error_code, error_message = v.error_message,
       rule_ids = array(select jsonb_array_elements_text(v.rule_ids)::uuid), next_at = now() + v.wait_ms * interval '1 millisecond'
     from jsonb_to_recordset(?::jsonb) as v (id uuid, status text, attempts int, entry_id uuid, error_code text, error_message text, rule_ids jsonb, wait_ms int)
     where e.tenant_id = ? and e.id = v.id`,
    [JSON.stringify(states), contextOf(trx).tenantId],
  )
}

/**
 * Posts up to 200 waiting events of a book in the order they were raised, passing over those that another poster holds.
 * Answers how many it took; less than `limit` means that none is left.
 */
export const postBatch = async (
  trx: Trx,
  bookId: string,
  { limit = batchSize, eventId = null }: { limit?: number; eventId?: string | null } = {},
): Promise<number> => {
  const batch = await claim(trx, bookId, limit, eventId)
  if (batch.length === 0) return 0
  const outcomes = await decide(trx, bookId, batch)
  const decided = batch.flatMap((claimed) => {
    const outcome = outcomes.get(claimed.id)
    return outcome ? [{ claimed, outcome }] : []
  })
  const posted = decided.flatMap(({ claimed, outcome }) =>
    outcome.status === 'posted' && outcome.entry ? [{ claimed, entry: outcome.entry }] : [],
  )
  const entries = posted.map(({ entry }) => entry)
  await writeEntries(trx, entries)
  await writeStates(
    trx,
    decided.map(({ claimed, outcome }) => stateOf(claimed, outcome)),
  )
  await announce(trx, bookId, decided, posted)
  if (decided.some(({ outcome }) => outcome.status === 'waiting')) {
    const tenantId = contextOf(trx).tenantId ?? ''
    await enqueue(
      trx,
      ledgerPost,
      { tenantId, bookId },
      { at: new Date(Date.now() + mirrorWaitMs), uniqueKey: `${bookId}.mirrors` },
    )
  }
  await writeLines(trx, entries)
  return batch.length
}

const announce = (
  trx: Trx,
  bookId: string,
  decided: readonly { claimed: Claimed; outcome: Outcome }[],
  posted: readonly { claimed: Claimed; entry: NewEntry }[],
) =>
  emitAll(trx, [
    ...posted.map(({ claimed, entry }) => ({
      type: 'ledger_entry.posted',
      propertyId: claimed.propertyId,
      entity: { type: 'ledger_entry', id: entry.id, version: null },
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
    ...decided.flatMap(({ claimed, outcome }) =>
      outcome.status === 'failed' && outcome.parked ? [parked(claimed, outcome.code)] : [],
    ),
  ])

const parked = ({ id, event, propertyId }: Pick<Claimed, 'id' | 'event' | 'propertyId'>, errorCode: string) => ({
  type: 'posting_event.parked',
  propertyId,
  entity: { type: 'posting_event', id, version: null },
  data: { postingEventId: id, event, errorCode },
})

/** Whether the error says nothing about the event itself: it may pass at once, and counts no attempt. */
const isPassing = (error: unknown): boolean => {
  if (isUnreachable(error)) return true
  if (error instanceof ApiError) return error.status === 503 || error.status === 409
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === '40001' || code === '40P01' || code === '55P03' || code === '57014'
}

/** Anything but an error of PostgreSQL about what was written is a fault of ours or of the machine, and ends the job. */
const isAboutRows = (error: unknown): error is Error & { code: string } =>
  error instanceof Error &&
  'code' in error &&
  typeof error.code === 'string' &&
  /^(PL0\d\d|22\w{3}|23\w{3}|42501)$/.test(error.code)

const recordFailure = async (trx: Trx, bookId: string, eventId: string, error: Error & { code: string }) => {
  const [claimed] = await claim(trx, bookId, 1, eventId)
  if (!claimed) return
  const outcome = failure(claimed, fromDatabase(error)?.code ?? error.code, error.message)
  await writeStates(trx, [stateOf(claimed, outcome)])
  await announce(trx, bookId, [{ claimed, outcome }], [])
}

type Effect = <T>(work: (trx: Trx) => Promise<T>) => Promise<T>

/**
 * Posts what waits in a book: a batch; and where a batch is refused, event by event, so that only those that PostgreSQL refuses
 * stay behind. `last` runs the batch, and is where the caller ends its job; more than a batch goes to another job.
 */
export const postWaiting = async (bookId: string, effect: Effect, last: Effect = effect): Promise<void> => {
  const batchAndFollow = async (trx: Trx) => {
    const taken = await postBatch(trx, bookId)
    if (taken === batchSize) {
      await enqueue(trx, ledgerPost, { tenantId: contextOf(trx).tenantId ?? '', bookId })
    }
    return taken
  }
  try {
    await last(batchAndFollow)
    return
  } catch (error) {
    if (isPassing(error) || !isAboutRows(error)) throw error
  }
  const due = await effect((trx) =>
    sql<{ id: string }>(
      trx,
      `select id from posting_event where tenant_id = ? and book_id = ? and status in ('pending', 'failed') and (next_at is null or next_at <= now())
       order by seq limit ?`,
      [contextOf(trx).tenantId, bookId, batchSize],
    ),
  )
  for (const { id } of due) {
    try {
      await effect((trx) => postBatch(trx, bookId, { limit: 1, eventId: id }))
    } catch (error) {
      if (isPassing(error) || !isAboutRows(error)) throw error
      await effect((trx) => recordFailure(trx, bookId, id, error))
    }
  }
  await last(batchAndFollow)
}
