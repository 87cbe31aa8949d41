import { invalid, notFound, unprocessable } from '../../config/errors.ts'
import { addDays } from '../../config/time.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { equal, from, pageOf, until } from '../lib/lists.ts'
import { readRow } from '../lib/records.ts'
import { bookFor } from './chart.ts'
import { checklistOf } from './checklist.ts'
import { BusinessDay, FiscalPeriod, FiscalYear } from './models.ts'
import { isWorking } from './seals.ts'
import { createYear } from './years.ts'

const years = pageOf(FiscalYear, {
  order: ['startsOn desc'],
  filters: { bookId: equal('bookId'), status: equal('status') },
})

type PeriodHead = {
  id: string
  fiscalYearId: string
  number: number
  kind: 'regular' | 'closing'
  startsOn: string
  endsOn: string
  status: 'open' | 'soft_closed' | 'closed'
}

/** A page of the fiscal years the latest first, each with its periods. */
export const listFiscalYears = async (trx: Trx, filter: Parameters<typeof years>[1]) => {
  const { rows, total } = await years(trx, filter)
  const periods = await sql<PeriodHead>(
    trx,
    `select id, fiscal_year_id, number, kind, starts_on, ends_on, status from fiscal_period
     where tenant_id = ? and fiscal_year_id = any(?::uuid[]) order by fiscal_year_id, number`,
    [contextOf(trx).tenantId, rows.map((row) => row.id)],
  )
  return {
    total,
    rows: rows.map((year) => ({ ...year, periods: periods.filter((one) => one.fiscalYearId === year.id) })),
  }
}

export const readFiscalYear = async (trx: Trx, id: string) => {
  const [year, periods] = await Promise.all([
    readRow(trx, FiscalYear, id),
    sql<PeriodHead>(
      trx,
      `select id, fiscal_year_id, number, kind, starts_on, ends_on, status from fiscal_period
       where tenant_id = ? and fiscal_year_id = ? order by number`,
      [contextOf(trx).tenantId, id],
    ),
  ])
  return { ...year, periods }
}

/**
 * Adds the year after the last, or with `startsOn` the one before the first (R30). 422 `year_not_contiguous`, or `period_closed` where a period of the
 * first year is closed.
 */
export const createFiscalYear = async (
  trx: Trx,
  { bookId, startsOn }: { bookId?: string; startsOn?: string },
): Promise<string> => {
  const book = await bookFor(trx, bookId)
  const { tenantId } = contextOf(trx)
  await sql(trx, `select id from book where tenant_id = ? and id = ? for no key update`, [tenantId, book.id])
  const ends = await sqlOne<{ first: string; last: string; isClosed: boolean }>(
    trx,
    `select min(y.starts_on) as first, max(y.ends_on) as last,
       exists (select from fiscal_period p where p.tenant_id = ? and p.book_id = ? and p.status <> 'open'
         and p.starts_on < (select min(f.ends_on) from fiscal_year f where f.tenant_id = ? and f.book_id = ?)) as is_closed
     from fiscal_year y where y.tenant_id = ? and y.book_id = ?`,
    [tenantId, book.id, tenantId, book.id, tenantId, book.id],
  )
  const next = addDays(ends?.last ?? '', 1)
  const before = ends ? yearBefore(ends.first) : ''
  const wanted = startsOn ?? next
  const field = 'startsOn'
  if (wanted !== next && wanted !== before)
    throw unprocessable('year_not_contiguous', 'Fiscal years follow one another', [
      { field, message: `must be ${next} or ${before}` },
    ])
  if (wanted === before && ends?.isClosed)
    throw unprocessable('period_closed', 'A period of the first year is closed', [{ field, message: wanted }])
  if (!(await createYear(trx, book.id, wanted))) throw invalid([{ field, message: 'is there already' }])
  return (await readRow(trx, FiscalYear, { bookId: book.id, startsOn: wanted }, ['id'])).id
}

const yearBefore = (first: string): string => `${Number(first.slice(0, 4)) - 1}${first.slice(4)}`

const periods = pageOf(FiscalPeriod, {
  order: ['startsOn', 'number', 'id'],
  filters: {
    bookId: equal('bookId'),
    fiscalYearId: equal('fiscalYearId'),
    status: equal('status'),
    kind: equal('kind'),
    from: from('endsOn'),
    to: until('startsOn'),
  },
})

/** The numbers of entries and lines in periods, as they are kept. */
const countsOf = async (trx: Trx, ids: readonly string[]) => {
  const { tenantId } = contextOf(trx)
  const rows = await sql<{ id: string; entries: number; lines: number }>(
    trx,
    `select p.id, coalesce(e.n, 0)::bigint as entries,
       (select coalesce(sum(b.line_count), 0)::bigint from account_balance b where b.tenant_id = :tenantId and b.book_id = p.book_id
          and b.period_id = p.id) as lines
     from fiscal_period p
     left join (select c.period_id, sum(c.n) as n from list_count c
       where c.tenant_id = :tenantId and c.list = 'journal_entry' and c.period_id = any(cast(:ids as uuid[])) group by c.period_id) e on e.period_id = p.id
     where p.tenant_id = :tenantId and p.id = any(cast(:ids as uuid[]))`,
    { tenantId, ids: [...ids] },
  )
  return new Map(rows.map(({ id, ...counts }) => [id, counts]))
}

/** A page of periods with their numbers of entries and lines, by date. */
export const listPeriods = async (trx: Trx, filter: Parameters<typeof periods>[1]) => {
  const { rows, total } = await periods(trx, filter)
  const counts = await countsOf(
    trx,
    rows.map(({ id }) => id),
  )
  return { total, rows: rows.map((row) => ({ ...row, ...(counts.get(row.id) ?? { entries: 0, lines: 0 }) })) }
}

/** Tells whether taxes or numbers of a period are on their way. 404. */
export const isPeriodWorking = async (trx: Trx, id: string): Promise<boolean> => {
  const period = await sqlOne<{ working: boolean }>(
    trx,
    `select ${isWorking} as working from fiscal_period p where p.tenant_id = ? and p.id = ?`,
    [contextOf(trx).tenantId, id],
  )
  if (!period) throw notFound('No such period')
  return period.working
}

/** A period with its numbers of entries and lines, and what stands in the way of closing it, ten ids of each. 404. */
export const readPeriod = async (trx: Trx, id: string) => {
  const period = await readRow(trx, FiscalPeriod, id)
  const [counts, working, checklist] = await Promise.all([
    countsOf(trx, [id]),
    isPeriodWorking(trx, id),
    checklistOf(trx, period),
  ])
  return { ...period, ...(counts.get(id) ?? { entries: 0, lines: 0 }), working, checklist }
}

export const listBusinessDays = pageOf(BusinessDay, {
  order: ['date desc', 'id'],
  filters: { propertyId: equal('propertyId'), status: equal('status'), from: from('date'), to: until('date') },
  scope: { propertyId: 'propertyId' },
})

export const readBusinessDay = (trx: Trx, id: string) => readRow(trx, BusinessDay, id)
