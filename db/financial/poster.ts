import { randomUUID } from 'node:crypto'
import { journalOf, wordsOf } from '../../config/financial.ts'
import { ledgerPost } from '../../jobs/financial.ts'
import { contextOf } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { linesOf, writeEntries, writeLines } from './entries.ts'
import type { NewEntry } from './entries.ts'
import { loadFacts } from './facts.ts'
import type { Facts } from './facts.ts'
import { announce, claim, failure, mirrorWaitMs, stateOf, waitingEvents, writeStates } from './outcomes.ts'
import type { Claimed, Outcome } from './outcomes.ts'
import { NotPostable, resolveLines, turned } from './rules/resolve.ts'
import type { Line } from './rules/resolve.ts'
import { planLines } from './rules/posting-lines.ts'
import type { PlannedLine } from './rules/posting-lines.ts'
import { PostingError } from './rules/selectors.ts'

export const batchSize = 200

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
    description: claimed.payload.memo ?? wordsOf(claimed.event, facts.countryCode),
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

/** A line that a waiting event would post, as far as it can be posted as things stand. */
export type WaitingLine = { account_id: string; document_id: string | null; debit: number; credit: number }

/** The lines of all events of a book that are not posted. Writes nothing. */
export const whatWaits = async (trx: Trx, bookId: string): Promise<WaitingLine[]> => {
  const events = await waitingEvents(trx, bookId)
  if (events.length === 0) return []
  const outcomes = await decide(trx, bookId, events)
  return [...outcomes.values()].flatMap((outcome) =>
    outcome.status === 'posted'
      ? (outcome.entry?.lines ?? []).map(({ accountId, documentId, side, amount }) => ({
          account_id: accountId,
          document_id: documentId,
          debit: side === 'debit' ? amount : 0,
          credit: side === 'credit' ? amount : 0,
        }))
      : [],
  )
}
