import { unprocessable } from '../../config/errors.ts'
import { budgetApproved } from '../../config/events/financial.ts'
import { approverOf, authorOf } from '../lib/authors.ts'
import { holds } from '../lib/conditions.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { equal, pageOf } from '../lib/lists.ts'
import { changeRow, expression, insertRow, readRow } from '../lib/records.ts'
import { factsOfBook } from './manual-entries.ts'
import { budgetMoves, copyLines } from './budget-lines.ts'
import type { BudgetCopy } from './budget-lines.ts'
import { Budget, FiscalYear } from './models.ts'

export const listBudgets = pageOf(Budget, {
  order: ['createdAt desc', 'id'],
  filters: { fiscalYearId: equal('fiscalYearId'), propertyId: equal('propertyId'), status: equal('status') },
  scope: { propertyId: 'propertyId', createdBy: 'createdBy' },
})

/** A budget with its totals by month, revenue and expense each on its normal side. 404. */
export const readBudget = async (trx: Trx, id: string) => {
  const [budget, months] = await Promise.all([
    readRow(trx, Budget, id),
    sql<{ periodNumber: number; revenue: number; expense: number }>(
      trx,
      `select p.number as period_number,
         cast(coalesce(sum(case when a.side = 'credit' then l.amount else -l.amount end) filter (where a.class = 'revenue'), 0) as bigint) as revenue,
         cast(coalesce(sum(case when a.side = 'debit' then l.amount else -l.amount end) filter (where a.class = 'expense'), 0) as bigint) as expense
       from budget_line l
       join account a on a.tenant_id = l.tenant_id and a.id = l.account_id
       join fiscal_period p on p.tenant_id = l.tenant_id and p.id = l.period_id
       where l.tenant_id = ? and l.budget_id = ? group by 1 order by 1`,
      [contextOf(trx).tenantId, id],
    ),
  ])
  return { ...budget, months }
}

export type NewBudget = {
  fiscalYearId: string
  propertyId?: string | null | undefined
  name: string
  copy?: BudgetCopy | undefined
}

/**
 * Makes a draft in `scope`, empty or copied with a percentage from a budget in `seen`, or from a year. 404 for an unknown year, 422 `reference_not_found` for
 * a property, budget or year of another book, or one that the caller does not see.
 */
export const createBudget = async (trx: Trx, given: NewBudget, scope: Condition, seen = scope): Promise<string> => {
  const { fiscalYearId, propertyId = null, name, copy } = given
  const { bookId } = await readRow(trx, FiscalYear, fiscalYearId, ['bookId'])
  const { tenantId } = contextOf(trx)
  const createdBy = await authorOf(trx)
  const property = propertyId
    ? await sqlOne(trx, `select 1 from property where tenant_id = ? and book_id = ? and id = ?`, [
        tenantId,
        bookId,
        propertyId,
      ])
    : {}
  if (!property || !holds(scope, { propertyId, createdBy }))
    throw unprocessable('reference_not_found', 'The budget needs a property that the caller plans for', [
      { field: 'propertyId', message: 'is no property of the book that the caller plans for' },
    ])
  const { id } = await insertRow(trx, Budget, { bookId, fiscalYearId, propertyId, name, createdBy })
  if (copy) await copyLines(trx, { id, bookId, fiscalYearId, propertyId }, copy, seen)
  return id
}

/** Deletes a draft with its lines. The caller holds its row. */
export const deleteBudget = async (trx: Trx, id: string) => {
  const budget = await readBudget(trx, id)
  budgetMoves.allow('deleted', budget.status)
  const key = [contextOf(trx).tenantId, id]
  await sql(trx, `delete from budget_line where tenant_id = ? and budget_id = ?`, key)
  await sql(trx, `delete from budget where tenant_id = ? and id = ?`, key)
  return budget
}

/** Approves a draft and retires the one before, of the same year and property. 403 `self_approval` for its authors. The caller holds its row. */
export const approveBudget = async (trx: Trx, id: string): Promise<void> => {
  const budget = await readRow(trx, Budget, id)
  if (!budgetMoves.isDue('approved', budget.status)) return
  const { tenantId } = contextOf(trx)
  const { singleOperator } = await factsOfBook(trx, budget.bookId)
  const { approvedBy, selfApproved } = approverOf(trx, {
    authors: [budget.createdBy, ...budget.editors],
    singleOperator,
  })
  // Approvals of one year take turns: each retires what the other made.
  await sqlOne(trx, `select pg_advisory_xact_lock(hashtextextended(?, 37))`, [budget.fiscalYearId])
  await sql(
    trx,
    `update budget set status = 'superseded', version = version + 1
     where tenant_id = ? and fiscal_year_id = ? and property_id is not distinct from ?::uuid and status = 'approved'`,
    [tenantId, budget.fiscalYearId, budget.propertyId],
  )
  const version = await changeRow(trx, Budget, id, {
    status: 'approved',
    approvedBy,
    selfApproved,
    approvedAt: expression('now()'),
  })
  const { year } = await readRow(trx, FiscalYear, budget.fiscalYearId, ['year'])
  await emit(trx, budgetApproved, {
    propertyId: budget.propertyId,
    id,
    version,
    data: { budgetId: id, bookId: budget.bookId, year },
  })
}
