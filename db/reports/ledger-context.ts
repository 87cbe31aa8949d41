import { invalid, forbidden, notFound, unprocessable } from '../../config/errors.ts'
import { atOnce, inRuns, reportOf } from '../../config/reports.ts'
import type { ReportKey, ReportLocale } from '../../config/reports.ts'
import { reportLocaleOf } from '../../config/report-texts.ts'
import { addDays, daysBetween, todayIn } from '../../config/time.ts'
import { bookFor } from '../financial/index.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { Asked, Meta, Sight, Window } from './reading.ts'
import { firstOfMonth } from './rules/dates.ts'
import type { Range } from './rules/dates.ts'

export type LedgerAccount = {
  id: string
  code: string
  name: string
  class: 'asset' | 'liability' | 'equity' | 'revenue' | 'expense'
  side: 'debit' | 'credit'
  parentId: string | null
  postable: boolean
  role: string | null
  section: string | null
  cashFlow: string | null
  usaliCode: string
  referentialCode: string
}

export type LedgerBook = { id: string; name: string; currency: string; timeZone: string; today: string }

/** The book asked for: by its id, by a property of it, or the tenant's only one. 403 where it has none of the reader's properties. */
export const ledgerBook = async (trx: Trx, asked: Asked, sight: Sight): Promise<LedgerBook> => {
  const { tenantId } = contextOf(trx)
  const named = propertiesOf(asked)
  if (sight.propertyIds !== null && named.some((id) => !sight.propertyIds?.includes(id))) throw forbidden()
  const properties = await sql<{ id: string; bookId: string }>(
    trx,
    `select id, book_id from property where tenant_id = ? and id = any(?::uuid[])`,
    [tenantId, [...new Set([...named, ...(sight.propertyIds ?? [])])]],
  )
  const bookOf = new Map(properties.map((one) => [one.id, one.bookId]))
  const first = named[0] === undefined ? undefined : bookOf.get(named[0])
  const asks = (asked['bookId'] as string | undefined) ?? first
  const only = sight.propertyIds === null ? [] : [...new Set(sight.propertyIds.map((id) => bookOf.get(id)))]
  const { id } = await bookFor(trx, asks ?? (only.length === 1 ? only[0] : undefined))
  if (sight.propertyIds !== null && !only.includes(id)) throw forbidden()
  if (named.some((one) => bookOf.get(one) !== id)) throw notFound('The book has no such property')
  const book = await sqlOne<Omit<LedgerBook, 'today'>>(
    trx,
    `select id, name, currency, time_zone from book where tenant_id = ? and id = ?`,
    [tenantId, id],
  )
  if (!book) throw notFound('No such book')
  return { ...book, today: todayIn(book.timeZone) }
}

const propertiesOf = (asked: Asked): string[] => {
  const given = asked['propertyId']
  return given === undefined ? [] : Array.isArray(given) ? (given as string[]) : [given as string]
}

/** Properties whose lines are read: those named, else those of the reader; null for all lines of the book. */
export const scopeOf = (asked: Asked, sight: Sight): readonly string[] | null => {
  const named = propertiesOf(asked)
  return named.length > 0 ? named : sight.propertyIds
}

/** A statement of the book as a whole is not for a reader with chosen properties, unless one of them is named. */
export const refusePart = (asked: Asked, sight: Sight) => {
  if (sight.propertyIds !== null && propertiesOf(asked).length === 0) throw forbidden()
}

/** 422 `report_too_large` with the run to send instead. */
export const tooLarge = (key: ReportKey, asked: Asked, why: string) =>
  unprocessable('report_too_large', `${why}; start a run instead`, [
    { field: 'run', message: JSON.stringify({ report: key, parameters: asked, format: 'csv' }) },
  ])

/**
 * The days asked for, month to date by default. 400 `range_invalid` where the end comes first, 422 `report_too_large` where they are more than an
 * endpoint or a run reads.
 */
export const rangeOf = (key: ReportKey, asked: Asked, book: Pick<LedgerBook, 'today'>, window: Window): Range => {
  const { startDate, endDate } = asked as { startDate?: string; endDate?: string }
  const to = endDate ?? (startDate !== undefined && startDate > book.today ? startDate : book.today)
  const from = startDate ?? firstOfMonth(to)
  if (to < from) throw invalid([{ field: 'endDate', message: 'comes before startDate' }], 'range_invalid')
  const days = daysBetween(from, to) + 1
  if (window !== null && days > atOnce.days) throw tooLarge(key, asked, `The range has more than ${atOnce.days} days`)
  const most = reportOf(key).mostDays ?? inRuns.days
  if (days > most)
    throw unprocessable('report_too_large', `The range has more than ${most} days, the most that a run reads`)
  return { from, to }
}

/** Accounts of a book by code. */
export const accountsOf = (trx: Trx, bookId: string): Promise<LedgerAccount[]> =>
  sql<LedgerAccount>(
    trx,
    `select id, code, name, class, side, parent_id, postable, role, section, cash_flow, usali_code, referential_code from account
     where tenant_id = ? and book_id = ? order by code collate "C", id`,
    [contextOf(trx).tenantId, bookId],
  )

/** First day of the fiscal year that holds a day; the day itself where the book has no such year. */
export const yearStartOf = async (trx: Trx, bookId: string, day: string): Promise<string> => {
  const row = await sqlOne<{ startsOn: string }>(
    trx,
    `select starts_on from fiscal_year where tenant_id = ? and book_id = ? and starts_on <= ?::date order by starts_on desc limit 1`,
    [contextOf(trx).tenantId, bookId, day],
  )
  return row?.startsOn ?? day
}

type State = {
  ledgerSequence: number
  pendingEvents: number
  isOpen: boolean
  openDays: { propertyId: string; date: string }[]
  locale: string
  asOf: Date
}

/** Facts of a reading of one book: provisional while a day of it is open, a period is not closed, or events wait. */
export const metaOf = async (
  trx: Trx,
  key: ReportKey,
  book: LedgerBook,
  range: { from: string | null; to: string },
  properties: readonly string[] | null,
  sight: Sight,
): Promise<Meta> => {
  const state = await sqlOne<State>(
    trx,
    `select coalesce((select max(e.sequence) from journal_entry e where e.tenant_id = :tenantId and e.book_id = :bookId), 0) as ledger_sequence,
       (select count(*) from posting_event p where p.tenant_id = :tenantId and p.book_id = :bookId and p.status in ('pending', 'failed', 'parked')) as pending_events,
       exists (select from fiscal_period p where p.tenant_id = b.tenant_id and p.book_id = b.id and p.kind = 'regular' and p.status <> 'closed'
         and p.starts_on <= cast(:to as date) and p.ends_on >= cast(:from as date)) as is_open,
       (select coalesce(jsonb_agg(jsonb_build_object('propertyId', d.property_id, 'date', d.date) order by d.date, d.property_id), '[]')
        from property p join business_day d on d.tenant_id = p.tenant_id and d.property_id = p.id and d.status = 'open' and d.date <= cast(:to as date)
        where p.tenant_id = b.tenant_id and p.book_id = b.id and (cast(:properties as uuid[]) is null or p.id = any(cast(:properties as uuid[])))) as open_days,
       (select t.locale from tenant t where t.id = b.tenant_id) as locale, now() as as_of
     from book b where b.tenant_id = :tenantId and b.id = :bookId`,
    {
      tenantId: contextOf(trx).tenantId,
      bookId: book.id,
      from: range.from ?? '1900-01-01',
      to: range.to,
      properties,
    },
  )
  if (!state) throw notFound('No such book')
  const locale: ReportLocale = sight.locale ?? reportLocaleOf(state.locale)
  return {
    report: key,
    propertyIds: [...(properties ?? [])],
    bookId: book.id,
    bookName: book.name,
    startDate: range.from,
    endDate: range.to,
    currency: book.currency,
    asOf: state.asOf.toISOString(),
    ledgerSequence: state.ledgerSequence,
    pendingEvents: state.pendingEvents,
    provisional: state.isOpen || state.pendingEvents > 0 || state.openDays.length > 0,
    openDays: state.openDays,
    formulaVersion: reportOf(key).formulaVersion,
    locale,
  }
}

/** Facts of a reading over several books. */
export const metaOfAll = (metas: readonly Meta[], currency: string): Meta & { bookIds: string[] } => {
  const [first] = metas
  if (!first) throw notFound('No such book')
  return {
    ...first,
    bookId: null,
    bookName: metas.map(({ bookName }) => bookName).join(', '),
    bookIds: metas.flatMap(({ bookId }) => (bookId === null ? [] : [bookId])),
    currency,
    ledgerSequence: Math.max(...metas.map(({ ledgerSequence }) => ledgerSequence)),
    pendingEvents: metas.reduce((sum, { pendingEvents }) => sum + pendingEvents, 0),
    provisional: metas.some(({ provisional }) => provisional),
    openDays: metas.flatMap(({ openDays }) => openDays),
  }
}

export const dayBefore = (day: string) => addDays(day, -1)
