import { randomUUID } from 'node:crypto'
import { invalid, unprocessable } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import { sum } from '../lib/amounts.ts'
import { addDays, todayIn } from '../../config/time.ts'
import { authorOf } from '../lib/authors.ts'
import type { Approval } from '../lib/authors.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { findRow } from '../lib/records.ts'
import type { Side } from '../../config/financial.ts'
import type { Condition } from '../lib/conditions.ts'
import { bookFor, movements } from './chart.ts'
import { requestDue } from './due.ts'
import { differenceOf, judgeLines, refuseProblems } from './line-check.ts'
import type { DraftLine } from './line-check.ts'
import { placeOf, postEntry, problemOfDate } from './post.ts'
import { Account } from './models.ts'
import type { Line } from './rules/resolve.ts'

/** Days that an entry may be dated ahead of today in the book's zone. */
const mostAhead = 31
const longestUntilReversal = 366

export type ManualEntry = {
  bookId?: string | undefined
  journalId?: string | null | undefined
  postingDate?: string | undefined
  kind?: 'standard' | 'opening' | undefined
  description: string
  reverseOn?: string | null | undefined
  lines: readonly DraftLine[]
}

export type BookFacts = {
  id: string
  currency: string
  timeZone: string
  approvalThreshold: number | null
  singleOperator: boolean
}

/** The book named or the only one, with what approvals and dates need. */
export const factsOfBook = async (trx: Trx, bookId?: string): Promise<BookFacts> => {
  const { id } = await bookFor(trx, bookId)
  const facts = await sqlOne<BookFacts>(
    trx,
    `select id, currency, time_zone, approval_threshold, single_operator from book where tenant_id = ? and id = ?`,
    [contextOf(trx).tenantId, id],
  )
  return facts!
}

/** 422 `date_out_of_range` for a day too far ahead, or a reversal that is not within a year after it. */
const refuseDates = (postingDate: string, reverseOn: string | null | undefined, today: string): FieldError[] => [
  ...(postingDate > addDays(today, mostAhead)
    ? [{ field: 'postingDate', message: `must be ${addDays(today, mostAhead)} or earlier` }]
    : []),
  ...(reverseOn && (reverseOn <= postingDate || reverseOn > addDays(postingDate, longestUntilReversal))
    ? [{ field: 'reverseOn', message: `must be after ${postingDate}, at most ${longestUntilReversal} days` }]
    : []),
]

/** An opening entry is dated in the first year, before its first close (R13). */
const refuseOpening = async (trx: Trx, bookId: string, postingDate: string): Promise<FieldError[]> => {
  const first = await sqlOne<{ startsOn: string; endsOn: string; isOpen: boolean }>(
    trx,
    `select y.starts_on, y.ends_on, not exists (select from fiscal_period p where p.tenant_id = y.tenant_id and p.fiscal_year_id = y.id
       and p.status = 'closed') as is_open
     from fiscal_year y where y.tenant_id = ? and y.book_id = ? order by y.starts_on limit 1`,
    [contextOf(trx).tenantId, bookId],
  )
  if (first?.isOpen && postingDate >= first.startsOn && postingDate <= first.endsOn) return []
  return [{ field: 'postingDate', message: 'must lie in the first fiscal year, before its first close' }]
}

const hasJournal = async (trx: Trx, bookId: string, journalId: string): Promise<boolean> =>
  (await sqlOne(trx, `select 1 from journal where tenant_id = ? and book_id = ? and id = ? and active`, [
    contextOf(trx).tenantId,
    bookId,
    journalId,
  ])) !== null

export type JudgedEntry = {
  lines: Line[]
  /** The accounts that the lines name, with their normal sides. */
  accounts: { id: string; side: Side }[]
  problems: (FieldError & { code: string })[]
  /** Debits less credits of what was given. */
  difference: number
}

/** Judges an entry of a person whose properties are `scope`: every problem at once, and the lines as they would be posted. */
export const judgeEntry = async (
  trx: Trx,
  book: BookFacts,
  entry: ManualEntry & { postingDate: string },
  scope: Condition,
): Promise<JudgedEntry> => {
  const { lines, problems, accounts: named } = await judgeLines(trx, book.id, entry.lines, scope)
  const accounts: JudgedEntry['accounts'] = [...named]
  const difference = differenceOf(entry.lines)
  const dates = refuseDates(entry.postingDate, entry.reverseOn, todayIn(book.timeZone))
  const isOpening = entry.kind === 'opening'
  if (isOpening) dates.push(...(await refuseOpening(trx, book.id, entry.postingDate)))
  const journal: JudgedEntry['problems'] =
    entry.journalId && !(await hasJournal(trx, book.id, entry.journalId))
      ? [{ field: 'journalId', code: 'reference_not_found', message: 'is no active journal of the book' }]
      : []
  const few: JudgedEntry['problems'] =
    entry.lines.length < (isOpening ? 1 : 2)
      ? [{ field: 'lines', code: 'validation_failed', message: 'an entry has two lines or more' }]
      : []
  const unbalanced: JudgedEntry['problems'] =
    difference !== 0 && !isOpening
      ? [{ field: 'lines', code: 'entry_not_balanced', message: `debits less credits are ${difference}` }]
      : []
  if (isOpening && difference !== 0 && problems.length === 0) {
    const account = await findRow(trx, Account, { bookId: book.id, role: 'opening_difference' }, ['id', 'side'])
    if (!account) throw unprocessable('account_not_usable', 'The book has no account of role opening_difference')
    accounts.push(account)
    lines.push({
      accountId: account.id,
      side: difference > 0 ? 'credit' : 'debit',
      amount: Math.abs(difference),
      propertyId: null,
      costCenterId: null,
      partyType: null,
      partyId: null,
      documentType: null,
      documentId: null,
      taxCodeId: null,
      taxBase: null,
      memo: '',
    })
  }
  const outside = dates.map((one) => ({ ...one, code: 'date_out_of_range' }))
  return { lines, accounts, difference, problems: [...few, ...journal, ...problems, ...outside, ...unbalanced] }
}

/** Throws the first kind of problem with all errors of its kind. */
export const refuseEntry = ({ problems }: JudgedEntry): void => {
  const of = (code: string) =>
    problems.filter((one) => one.code === code).map(({ field, message }) => ({ field, message }))
  const formal = of('validation_failed')
  if (formal.length > 0) throw invalid(formal)
  refuseProblems(
    problems.flatMap((one) =>
      one.code === 'account_not_usable' || one.code === 'reference_not_found' ? [{ ...one, code: one.code }] : [],
    ),
  )
  const dates = of('date_out_of_range')
  if (dates.length > 0) throw unprocessable('date_out_of_range', 'The date cannot be posted to', dates)
  const balance = of('entry_not_balanced')
  if (balance.length > 0) throw unprocessable('entry_not_balanced', 'Debits and credits differ', balance)
}

export const debitsOf = (lines: readonly Line[]): number =>
  sum(lines.map((line) => (line.side === 'debit' ? line.amount : 0)))

/** The book, journal and kind of a manual entry, as they are posted. */
const placedIn = (book: BookFacts, entry: ManualEntry & { postingDate: string }) => ({
  bookId: book.id,
  journalId: entry.journalId ?? null,
  journalKind: entry.kind === 'opening' ? ('opening' as const) : ('general' as const),
  postingDate: entry.postingDate,
  kind: entry.kind ?? ('standard' as const),
})

/** The problem of its date, where period, book or journal are not open for it. */
export const problemsOfPlace = async (
  trx: Trx,
  book: BookFacts,
  entry: ManualEntry & { postingDate: string; late?: boolean },
): Promise<JudgedEntry['problems']> => {
  const wrong = problemOfDate(await placeOf(trx, placedIn(book, entry)), entry)
  return wrong ? [{ field: 'postingDate', ...wrong }] : []
}

/** Writes a judged entry. `source` is that of a draft or of the request itself. */
export const postJudged = async (
  trx: Trx,
  book: BookFacts,
  entry: ManualEntry & { postingDate: string },
  { lines }: JudgedEntry,
  { source, ...by }: { source: string; createdBy: string | null; late?: boolean } & Partial<Approval>,
): Promise<string> => {
  const today = todayIn(book.timeZone)
  if (entry.reverseOn && entry.reverseOn <= today) await requestDue(trx, book.id, today)
  return postEntry(trx, {
    source: { type: 'financial.manual', id: source },
    ...placedIn(book, entry),
    description: entry.description,
    lines,
    reverseOn: entry.reverseOn ?? null,
    ...by,
  })
}

/**
 * Posts an entry at once. 400 for lines of no sense; 422 `entry_not_balanced`, `account_not_usable`, `reference_not_found`, `date_out_of_range`, and
 * those of the walls; 422 `approval_required` above the book's threshold.
 */
export const postManualEntry = async (trx: Trx, given: ManualEntry, scope: Condition): Promise<string> => {
  const book = await factsOfBook(trx, given.bookId)
  const entry = { ...given, postingDate: given.postingDate ?? todayIn(book.timeZone) }
  const judged = await judgeEntry(trx, book, entry, scope)
  refuseEntry(judged)
  if (book.approvalThreshold !== null && debitsOf(judged.lines) > book.approvalThreshold)
    throw unprocessable('approval_required', 'An entry of this size needs a second person; submit a draft', [
      { field: 'lines', message: `the total is above ${book.approvalThreshold}` },
    ])
  return postJudged(trx, book, entry, judged, { source: randomUUID(), createdBy: await authorOf(trx) })
}

/** The lines that posting would write, balances before and after of what stands in `scope`, and every problem. Writes nothing. */
export const tryManualEntry = async (trx: Trx, given: ManualEntry, scope: Condition) => {
  const book = await factsOfBook(trx, given.bookId)
  const entry = { ...given, postingDate: given.postingDate ?? todayIn(book.timeZone) }
  const judged = await judgeEntry(trx, book, entry, scope)
  const total = debitsOf(judged.lines)
  const problems = [...judged.problems]
  if (book.approvalThreshold !== null && total > book.approvalThreshold)
    problems.push({
      field: 'lines',
      code: 'approval_required',
      message: `the total is above ${book.approvalThreshold}`,
    })
  problems.push(...(await problemsOfPlace(trx, book, entry)))
  const ids = [...new Set(judged.lines.map((line) => line.accountId))]
  const moved = await movements(trx, book.id, undefined, undefined, scope, ids)
  return {
    lines: judged.lines.map(({ side, amount, ...line }, index) => ({
      ...line,
      lineNo: index + 1,
      debit: side === 'debit' ? amount : 0,
      credit: side === 'credit' ? amount : 0,
    })),
    balances: ids.map((accountId) => {
      const side = judged.accounts.find(({ id }) => id === accountId)?.side ?? 'debit'
      const debits = moved.get(accountId) ?? 0
      const before = side === 'debit' || debits === 0 ? debits : -debits
      const own = judged.lines.filter((line) => line.accountId === accountId)
      return {
        accountId,
        before,
        after: before + sum(own.map((line) => (line.side === side ? line.amount : -line.amount))),
      }
    }),
    errors: problems.slice(0, 100),
  }
}
