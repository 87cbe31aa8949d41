import { conflict, unprocessable } from '../../config/errors.ts'
import { periodClosed, periodReopened, periodSoftClosed } from '../../config/events/financial.ts'
import { audit } from '../lib/audit.ts'
import { approverOf, authorOf } from '../lib/authors.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { lifecycle } from '../lib/lifecycle.ts'
import { changeRow, readRow } from '../lib/records.ts'
import { requestAssessment } from './assessments.ts'
import { checklistOf } from './checklist.ts'
import type { ChecklistItem } from './checklist.ts'
import { factsOfBook } from './manual-entries.ts'
import { FiscalPeriod, FiscalYear } from './models.ts'
import type { PeriodStatus } from './models.ts'
import { lastSequence, requestSeal } from './seals.ts'

const moves = lifecycle<PeriodStatus>('A fiscal period')({
  'soft-closed': { from: ['open'], to: 'soft_closed' },
  closed: { from: ['soft_closed'], to: 'closed' },
  reopened: { from: ['soft_closed', 'closed'] },
})

type Period = NonNullable<(typeof FiscalPeriod)['row']>

/** The closing period moves with its year alone. */
const readRegular = async (trx: Trx, id: string): Promise<Period> => {
  const period = await readRow(trx, FiscalPeriod, id)
  if (period.kind === 'closing')
    throw conflict('invalid_transition', 'The closing period opens and closes with its year', [
      { field: 'kind', message: 'must be regular' },
    ])
  return period
}

const tell = async (trx: Trx, event: typeof periodClosed, period: Period, version: number) => {
  const { id, bookId, fiscalYearId, startsOn, endsOn } = period
  await emit(trx, event, {
    propertyId: null,
    id,
    version,
    data: { bookId, fiscalPeriodId: id, fiscalYearId, from: startsOn, to: endsOn },
  })
}

const refuse = (items: readonly ChecklistItem[]): void => {
  const open = items.filter((item) => item.blocking && !item.passed)
  if (open.length === 0) return
  throw unprocessable(
    'checklist_not_clean',
    'The checklist of the period is not clean',
    open.map(({ code, count }) => ({ field: code, message: `${count} to be settled first` })),
  )
}

type Step = 'soft-closed' | 'closed' | 'reopened'

/**
 * Refuses a step that comes out of order (R24), and names the period in the way: earlier ones close first, later ones reopen first, and months reopen after
 * their year. The wall refuses what changes meanwhile.
 */
const refuseOrder = async (trx: Trx, period: Period, step: Step): Promise<void> => {
  const behind = step === 'reopened'
  const passed = step === 'closed' || (behind && period.status === 'closed') ? ['closed'] : ['soft_closed', 'closed']
  const [other] = await sql<{ startsOn: string; status: string }>(
    trx,
    `select p.starts_on, p.status from fiscal_period p
     where p.tenant_id = :tenantId and p.book_id = :bookId and p.kind = 'regular'
       and case when cast(:behind as boolean) then p.starts_on > cast(:startsOn as date) and p.status = any(:passed)
         else p.starts_on < cast(:startsOn as date) and p.status <> all(:passed) end
     order by p.starts_on limit 1`,
    { tenantId: contextOf(trx).tenantId, bookId: period.bookId, startsOn: period.startsOn, behind, passed },
  )
  const { status: ofYear, year } = await readRow(trx, FiscalYear, period.fiscalYearId, ['status', 'year'])
  const inWay = other
    ? `the period from ${other.startsOn} is ${other.status.replace('_', '-')}`
    : ofYear === 'open'
      ? null
      : `the year ${year} is ${ofYear}`
  if (inWay)
    throw unprocessable('period_order', `Fiscal periods ${behind ? 'reopen' : 'close'} in order`, [
      { field: 'status', message: inWay },
    ])
}

/**
 * Stops ordinary postings of a period (R25). Its taxes are assessed and its diary is numbered afterwards. 422 `period_order`, `postings_waiting`,
 * `checklist_not_clean` while a business day of it is open. The caller holds its row.
 */
export const softClosePeriod = async (trx: Trx, id: string): Promise<void> => {
  const period = await readRegular(trx, id)
  if (!moves.isDue('soft-closed', period.status)) return
  await refuseOrder(trx, period, 'soft-closed')
  const items = await checklistOf(trx, period, { early: true })
  const waiting = items.find(({ code, passed }) => code === 'events_waiting' && !passed)
  if (waiting)
    throw unprocessable('postings_waiting', 'Postings of the period are still waiting', [
      { field: waiting.code, message: `${waiting.count} to be posted first` },
    ])
  refuse(items)
  const version = await changeRow(trx, FiscalPeriod, id, {
    status: 'soft_closed',
    closedBy: await authorOf(trx),
    reopenedBy: null,
    selfApproved: false,
    taxesDue: true,
    diaryUntil: null,
  })
  await tell(trx, periodSoftClosed, period, version)
  await requestAssessment(trx, period.bookId, id)
}

/**
 * Closes a period for good, when the blocking items of its checklist pass (R26), and freezes its sums. 422 `checklist_not_clean` with an error for each
 * item, `period_order`. The caller holds its row.
 */
export const closePeriod = async (trx: Trx, id: string): Promise<void> => {
  const period = await readRegular(trx, id)
  if (!moves.isDue('closed', period.status)) return
  await refuseOrder(trx, period, 'closed')
  refuse(await checklistOf(trx, period))
  const author = await authorOf(trx)
  await freeze(trx, id)
  const version = await changeRow(trx, FiscalPeriod, id, {
    status: 'closed',
    closedBy: author,
    reopenedBy: null,
    selfApproved: false,
  })
  await tell(trx, periodClosed, period, version)
  await requestSeal(trx, period.bookId, id)
}

/** Keeps the sums of a period that closes, and how far its diary goes. */
export const freeze = (trx: Trx, periodId: string) =>
  sql(
    trx,
    `update fiscal_period p set diary_until = ${lastSequence}, frozen_debit = f.debit, frozen_credit = f.credit, frozen_lines = f.lines
     from (select coalesce(sum(b.debit), 0) as debit, coalesce(sum(b.credit), 0) as credit, coalesce(sum(b.line_count), 0) as lines
       from account_balance b where b.tenant_id = :tenantId and b.period_id = :periodId) f
     where p.tenant_id = :tenantId and p.id = :periodId`,
    { tenantId: contextOf(trx).tenantId, periodId },
  )

/**
 * Takes back the last step of a period, with a reason (R27): a closed one becomes soft-closed, a soft-closed one open. 403 `self_approval` for who closed it,
 * unless the book has a single operator; 422 `period_order` where a later one is closed, or its year. The caller holds its row.
 */
export const reopenPeriod = async (trx: Trx, id: string, reason: string): Promise<void> => {
  const period = await readRegular(trx, id)
  moves.allow('reopened', period.status)
  const { singleOperator } = await factsOfBook(trx, period.bookId)
  const { approvedBy, selfApproved } = approverOf(trx, { authors: [period.closedBy], singleOperator })
  await refuseOrder(trx, period, 'reopened')
  const isClosed = period.status === 'closed'
  const version = await changeRow(trx, FiscalPeriod, id, {
    status: isClosed ? 'soft_closed' : 'open',
    reopenedBy: approvedBy,
    selfApproved,
    ...(isClosed ? { frozenDebit: null, frozenCredit: null, frozenLines: null } : { taxesDue: false }),
  })
  await audit(trx, {
    action: 'fiscalperiod.reopen',
    subjectType: 'FiscalPeriod',
    subjectId: id,
    reason,
    changes: [{ field: 'status', before: period.status, after: isClosed ? 'soft_closed' : 'open' }],
  })
  await tell(trx, periodReopened, period, version)
}
