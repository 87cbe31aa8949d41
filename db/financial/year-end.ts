import { unprocessable } from '../../config/errors.ts'
import { fiscalYearClosed, fiscalYearReopened } from '../../config/events/financial.ts'
import { wordsOf } from '../../config/financial.ts'
import { ledgerCloseYear } from '../../jobs/financial.ts'
import { audit } from '../lib/audit.ts'
import { approverOf, authorOf } from '../lib/authors.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { enqueue } from '../lib/enqueue.ts'
import { lifecycle } from '../lib/lifecycle.ts'
import { changeRow, readRow } from '../lib/records.ts'
import { freeze } from './closing.ts'
import { linesOf } from './entries.ts'
import { factsOfBook } from './manual-entries.ts'
import { FiscalPeriod, FiscalYear } from './models.ts'
import { placeOf, postEntries } from './post.ts'
import type { InlineEntry } from './post.ts'
import { turned } from './rules/resolve.ts'
import type { Line } from './rules/resolve.ts'
import { requestSeal } from './seals.ts'

const moves = lifecycle<'open' | 'closing' | 'closed'>('A fiscal year')({
  closed: { from: ['open', 'closing'], to: 'closed' },
  reopened: { from: ['closed'] },
})

const source = 'financial.year_closed'
/** Entries of one run of a year are told apart by their number: the run, and the place of the property in it. */
const perRun = 100_000

type Year = NonNullable<(typeof FiscalYear)['row']>

/**
 * Begins to close a year, whose months are closed: its result goes to equity by a job. 422 `period_order`, `period_missing` without the next year,
 * `account_not_usable` without an account of role retained_earnings. The caller holds its row.
 */
export const closeFiscalYear = async (trx: Trx, id: string): Promise<void> => {
  const year = await readRow(trx, FiscalYear, id)
  if (!moves.isDue('closed', year.status) || year.status === 'closing') return
  const { tenantId } = contextOf(trx)
  const found = await sqlOne<{ hasNext: boolean; hasAccount: boolean; before: string | null; isOpen: boolean }>(
    trx,
    `select exists (select from fiscal_period p where p.tenant_id = :tenantId and p.fiscal_year_id = :id and p.kind = 'regular' and p.status <> 'closed') as is_open,
       (select cast(min(y.year) as text) from fiscal_year y where y.tenant_id = :tenantId and y.book_id = :bookId and y.starts_on < cast(:endsOn as date)
         and y.id <> :id and y.status <> 'closed') as before,
       exists (select from fiscal_year n where n.tenant_id = :tenantId and n.book_id = :bookId and n.starts_on = cast(:endsOn as date) + 1) as has_next,
       exists (select from account a where a.tenant_id = :tenantId and a.book_id = :bookId and a.role = 'retained_earnings') as has_account`,
    { tenantId, id, bookId: year.bookId, endsOn: year.endsOn },
  )
  if (found?.isOpen || found?.before)
    throw unprocessable('period_order', 'A year closes after its months, and after the years before it', [
      {
        field: 'status',
        message: found.before ? `the year ${found.before} is not closed` : 'a month of it is not closed',
      },
    ])
  if (!found?.hasNext)
    throw unprocessable('period_missing', 'The next fiscal year is made first', [
      { field: 'fiscalYearId', message: `no year begins after ${year.endsOn}` },
    ])
  if (!found.hasAccount)
    throw unprocessable('account_not_usable', 'The book has no account of role retained_earnings', [
      { field: 'role', message: 'retained_earnings' },
    ])
  const closeRun = year.closeRun + 1
  await changeRow(trx, FiscalYear, id, {
    status: 'closing',
    closeRun,
    closedBy: await authorOf(trx),
    reopenedBy: null,
    selfApproved: false,
  })
  await enqueue(trx, ledgerCloseYear, { tenantId: tenantId ?? '', fiscalYearId: id, closeRun })
}

type Movement = { propertyId: string | null; accountId: string; costCenterId: string | null; movement: number }

const lineOf = ({ accountId, propertyId, costCenterId, movement }: Movement): Line => ({
  accountId,
  side: movement > 0 ? 'credit' : 'debit',
  amount: Math.abs(movement),
  propertyId,
  costCenterId,
  partyType: null,
  partyId: null,
  documentType: null,
  documentId: null,
  taxCodeId: null,
  taxBase: null,
  memo: '',
})

const closingPeriod = (trx: Trx, fiscalYearId: string) =>
  readRow(trx, FiscalPeriod, { fiscalYearId, kind: 'closing' as const })

const tell = async (trx: Trx, event: typeof fiscalYearClosed, year: Year, version: number) => {
  const { id, bookId, startsOn, endsOn } = year
  await emit(trx, event, {
    propertyId: null,
    id,
    version,
    data: { bookId, fiscalPeriodId: null, fiscalYearId: id, from: startsOn, to: endsOn },
  })
}

/** Dates that a lock covers are closed late, by who asked for it. */
const isLocked = async (trx: Trx, year: Year): Promise<boolean> => {
  const place = await placeOf(trx, {
    bookId: year.bookId,
    postingDate: year.endsOn,
    kind: 'closing',
    journalKind: 'closing',
  })
  return place.lockedUntil !== null && year.endsOn <= place.lockedUntil
}

/**
 * Carries the result of a year to retained earnings (R29): an entry for each property, and one without, takes every revenue and expense balance to zero in
 * the closing period. A run that is over, or of another time, changes nothing.
 */
export const carryOutYearClose = async (trx: Trx, id: string, closeRun: number): Promise<void> => {
  const { tenantId } = contextOf(trx)
  await sql(trx, `select id from fiscal_year where tenant_id = ? and id = ? for no key update`, [tenantId, id])
  const year = await readRow(trx, FiscalYear, id)
  if (year.status !== 'closing' || year.closeRun !== closeRun) return
  const [period, book, equity, movements] = await Promise.all([
    closingPeriod(trx, id),
    sqlOne<{ countryCode: string }>(trx, `select country_code from book where tenant_id = ? and id = ?`, [
      tenantId,
      year.bookId,
    ]),
    sqlOne<{ id: string }>(
      trx,
      `select id from account where tenant_id = ? and book_id = ? and role = 'retained_earnings'`,
      [tenantId, year.bookId],
    ),
    sql<Movement>(
      trx,
      `select b.property_id, b.account_id, b.cost_center_id, cast(sum(b.debit - b.credit) as bigint) as movement
       from fiscal_period p
       join account_balance b on b.tenant_id = p.tenant_id and b.book_id = p.book_id and b.period_id = p.id
       join account a on a.tenant_id = b.tenant_id and a.id = b.account_id and a.class in ('revenue', 'expense')
       where p.tenant_id = ? and p.fiscal_year_id = ?
       group by b.property_id, b.account_id, b.cost_center_id, a.code having sum(b.debit - b.credit) <> 0
       order by b.property_id nulls first, a.code, b.cost_center_id nulls first`,
      [tenantId, id],
    ),
  ])
  const places = [...new Set(movements.map(({ propertyId }) => propertyId))]
  const late = places.length > 0 && (await isLocked(trx, year))
  const entries = places.map((propertyId, index): InlineEntry => {
    const own = movements.filter((one) => one.propertyId === propertyId)
    const result = own.reduce((sum, { movement }) => sum + movement, 0)
    return {
      source: { type: source, id, seq: closeRun * perRun + index },
      bookId: year.bookId,
      journalKind: 'closing',
      postingDate: year.endsOn,
      kind: 'closing',
      description: wordsOf(source, book?.countryCode ?? ''),
      lines: [
        ...own.map(lineOf),
        // Expenses above revenue are a loss, on the debit side of equity.
        ...(result === 0
          ? []
          : [lineOf({ propertyId, accountId: equity?.id ?? '', costCenterId: null, movement: -result })]),
      ],
      late,
      createdBy: null,
      approvedBy: late ? year.closedBy : null,
    }
  })
  await postEntries(trx, entries)
  await freeze(trx, period.id)
  await changeRow(trx, FiscalPeriod, period.id, {
    status: 'closed',
    closedBy: year.closedBy,
    reopenedBy: null,
    selfApproved: false,
  })
  await tell(trx, fiscalYearClosed, year, await changeRow(trx, FiscalYear, id, { status: 'closed' }))
  await requestSeal(trx, year.bookId, period.id)
}

/**
 * Reopens the last closed year, with a reason: its closing entries are turned in the closing period. 403 `self_approval` for who closed it; 422 `period_order`
 * where a later year is closed. The caller holds its row.
 */
export const reopenFiscalYear = async (trx: Trx, id: string, reason: string): Promise<void> => {
  const year = await readRow(trx, FiscalYear, id)
  moves.allow('reopened', year.status)
  const later = await sqlOne<{ year: number }>(
    trx,
    `select year from fiscal_year where tenant_id = ? and book_id = ? and starts_on > ? and status <> 'open' order by starts_on limit 1`,
    [contextOf(trx).tenantId, year.bookId, year.startsOn],
  )
  if (later)
    throw unprocessable('period_order', 'The last closed year reopens first', [
      { field: 'status', message: `the year ${later.year} is closed` },
    ])
  const { singleOperator } = await factsOfBook(trx, year.bookId)
  const { approvedBy, selfApproved } = approverOf(trx, { authors: [year.closedBy], singleOperator })
  const version = await changeRow(trx, FiscalYear, id, { status: 'open', reopenedBy: approvedBy, selfApproved })
  const period = await closingPeriod(trx, id)
  await changeRow(trx, FiscalPeriod, period.id, {
    status: 'open',
    reopenedBy: approvedBy,
    selfApproved,
    frozenDebit: null,
    frozenCredit: null,
    frozenLines: null,
  })
  await audit(trx, {
    action: 'fiscalyear.reopen',
    subjectType: 'FiscalYear',
    subjectId: id,
    reason,
    changes: [{ field: 'status', before: 'closed', after: 'open' }],
  })
  await tell(trx, fiscalYearReopened, year, version)
  await turnClosing(trx, year, approvedBy, reason)
}

const turnClosing = async (trx: Trx, year: Year, approvedBy: string, reason: string): Promise<void> => {
  const closing = await sql<{ id: string; journalId: string }>(
    trx,
    `select e.id, e.journal_id from journal_entry e
     where e.tenant_id = ? and e.source_id = ? and e.source_type = '${source}' and e.source_seq between ? and ?
     order by e.source_seq`,
    [contextOf(trx).tenantId, year.id, year.closeRun * perRun, (year.closeRun + 1) * perRun - 1],
  )
  const [lines, late] = await Promise.all([
    linesOf(
      trx,
      closing.map(({ id }) => id),
    ),
    isLocked(trx, year),
  ])
  await postEntries(
    trx,
    closing.map((entry): InlineEntry => ({
      source: { type: 'financial.reversal', id: entry.id },
      bookId: year.bookId,
      journalId: entry.journalId,
      postingDate: year.endsOn,
      kind: 'reversal',
      inClosing: true,
      description: reason,
      lines: turned(lines.get(entry.id) ?? []),
      reversesEntryId: entry.id,
      late,
      createdBy: null,
      approvedBy,
    })),
  )
}
