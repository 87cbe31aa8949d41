import { randomUUID } from 'node:crypto'
import type { JournalKind } from '../../config/financial.ts'
import { unprocessable } from '../../config/errors.ts'
import { ledgerEntryPosted, ledgerEntryReversed } from '../../config/events/financial.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { totalOf, writeEntries, writeLines } from './entries.ts'
import type { NewEntry } from './entries.ts'
import type { Line } from './rules/resolve.ts'

/** An entry that a command posts itself; amounts in minor units of the book's currency. */
export type InlineEntry = {
  /** A name of the postings that begins with `financial.`. */
  source: { type: string; id: string; seq?: number }
  bookId: string
  /** The journal; by default the oldest active one of the kind. */
  journalId?: string | null
  journalKind?: JournalKind
  postingDate: string
  kind: NewEntry['kind']
  description: string
  lines: readonly Line[]
  reversesEntryId?: string | null
  /** Into a soft-closed period or on a locked date; needs an approver. */
  late?: boolean
  createdBy: string | null
  approvedBy?: string | null
  selfApproved?: boolean
  reverseOn?: string | null
  /** A reversal in the closing period of a year that is reopened. */
  inClosing?: boolean
}

type Place = {
  periodId: string | null
  periodStatus: string | null
  lockedUntil: string | null
  journalId: string | null
  currency: string
}

/** The period and the journal that an entry would stand in, with their locks. */
export const placeOf = async (
  trx: Trx,
  entry: Pick<InlineEntry, 'bookId' | 'postingDate' | 'kind' | 'journalId' | 'journalKind' | 'inClosing'>,
): Promise<Place> => {
  const place = await sqlOne<Place>(
    trx,
    `select b.currency, p.id as period_id, p.status as period_status, j.id as journal_id, greatest(b.locked_until, j.locked_until) as locked_until
     from book b
     left join fiscal_period p on p.tenant_id = b.tenant_id and p.book_id = b.id and p.kind = cast(:periodKind as text)
       and cast(:date as date) between p.starts_on and p.ends_on
     left join lateral (select j.id, j.locked_until from journal j where j.tenant_id = b.tenant_id and j.book_id = b.id and j.active
       and case when cast(:journalId as uuid) is null then j.kind = cast(:journalKind as text) else j.id = cast(:journalId as uuid) end
       order by j.created_at, j.code limit 1) j on true
     where b.tenant_id = :tenantId and b.id = :bookId`,
    {
      tenantId: contextOf(trx).tenantId,
      bookId: entry.bookId,
      date: entry.postingDate,
      periodKind: entry.kind === 'closing' || entry.inClosing ? 'closing' : 'regular',
      journalId: entry.journalId ?? null,
      journalKind: entry.journalKind ?? 'general',
    },
  )
  if (!place) throw new Error(`no book ${entry.bookId}`)
  return place
}

/** Why the walls would refuse the date of an entry; null where they take it. A late entry passes soft-closed periods and locks. */
export const problemOfDate = (
  { periodId, periodStatus, lockedUntil }: Place,
  { postingDate, late = false }: Pick<InlineEntry, 'postingDate' | 'late'>,
): { code: 'period_missing' | 'period_closed' | 'date_locked'; message: string } | null => {
  if (periodId === null) return { code: 'period_missing', message: `No fiscal period of the book holds ${postingDate}` }
  if (periodStatus === 'closed' || (periodStatus === 'soft_closed' && !late))
    return { code: 'period_closed', message: 'The period is closed' }
  if (!late && lockedUntil !== null && postingDate <= lockedUntil)
    return { code: 'date_locked', message: `Dates up to ${lockedUntil} are locked` }
  return null
}

const madeOf = async (trx: Trx, entry: InlineEntry): Promise<NewEntry> => {
  const place = await placeOf(trx, entry)
  const problem = problemOfDate(place, entry)
  if (problem || place.periodId === null)
    throw unprocessable(problem?.code ?? 'period_missing', problem?.message ?? '', [
      { field: 'postingDate', message: entry.postingDate },
    ])
  if (!place.journalId)
    throw unprocessable('reference_not_found', 'The book has no such active journal', [
      { field: 'journalId', message: entry.journalId ?? entry.journalKind ?? 'general' },
    ])
  return {
    id: randomUUID(),
    bookId: entry.bookId,
    journalId: place.journalId,
    periodId: place.periodId,
    postingDate: entry.postingDate,
    currency: place.currency,
    kind: entry.kind,
    reversesEntryId: entry.reversesEntryId ?? null,
    sourceType: entry.source.type,
    sourceId: entry.source.id,
    sourceSeq: entry.source.seq ?? 0,
    description: entry.description,
    lines: entry.lines,
    late: entry.late ?? false,
    createdBy: entry.createdBy,
    approvedBy: entry.approvedBy ?? null,
    selfApproved: entry.selfApproved ?? false,
    reverseOn: entry.reverseOn ?? null,
  }
}

const toldOf = (made: NewEntry) => ({
  propertyId: null,
  id: made.id,
  version: null,
  data: {
    entryId: made.id,
    bookId: made.bookId,
    date: made.postingDate,
    total: totalOf(made),
    currency: made.currency,
    sourceType: made.sourceType,
    sourceId: made.sourceId,
    reversesId: made.reversesEntryId,
  },
})

/**
 * Posts entries in the caller's transaction, as its last step: heads, events, then all lines in one statement, which the walls check. Answers their ids in
 * the order given. 422 `period_missing`, `period_closed`, `date_locked`, `entry_not_balanced`, `account_not_usable`; 409 `already_reversed`.
 */
export const postEntries = async (trx: Trx, entries: readonly InlineEntry[]): Promise<string[]> => {
  const made: NewEntry[] = []
  for (const entry of entries) made.push(await madeOf(trx, entry))
  await writeEntries(trx, made)
  for (const one of made)
    await emit(trx, one.reversesEntryId === null ? ledgerEntryPosted : ledgerEntryReversed, toldOf(one))
  await writeLines(trx, made)
  return made.map(({ id }) => id)
}

/** Posts one entry as `postEntries` does. Answers its id. */
export const postEntry = async (trx: Trx, entry: InlineEntry): Promise<string> =>
  (await postEntries(trx, [entry]))[0] ?? ''
