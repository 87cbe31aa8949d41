import { largestBooking } from '../../config/cash.ts'
import { invalid, notFound, unprocessable } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import { raisedBy, sum } from '../lib/amounts.ts'
import { authorOf, editorsWith } from '../lib/authors.ts'
import { holds } from '../lib/conditions.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { lifecycle } from '../lib/lifecycle.ts'
import { readPage } from '../lib/paging.ts'
import type { Paging } from '../lib/paging.ts'
import { changeRow, expression, findRow, readRow } from '../lib/records.ts'
import { Budget, FiscalYear } from './models.ts'

export const budgetMoves = lifecycle<'draft' | 'approved' | 'superseded'>('A budget')({
  changed: { from: ['draft'] },
  deleted: { from: ['draft'] },
  approved: { from: ['draft'], to: 'approved' },
})

/** The source of the lines of a new budget: a budget or the actuals of a year, with so many basis points more. */
export type BudgetCopy = { budgetId?: string | undefined; fiscalYearId?: string | undefined; rate: number }

type Amount = { accountId: string; costCenterId: string | null; number: number; amount: number }

/** Each amount with the percentage, half-up; the last month takes what is missing to that of the year (R37). */
const raised = (amounts: readonly Amount[], rate: number): Amount[] => {
  const groups = new Map<string, Amount[]>()
  for (const one of amounts) {
    const key = `${one.accountId} ${one.costCenterId ?? ''}`
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  return [...groups.values()].flatMap((group) => {
    const first = group[0]
    if (!first) return []
    const year = raisedBy(sum(group.map(({ amount }) => amount)), rate)
    const months = Array.from({ length: 11 }, (_, index) => {
      const found = group.find(({ number }) => number === index + 1)
      return { ...first, number: index + 1, amount: raisedBy(found?.amount ?? 0, rate) }
    })
    return [...months, { ...first, number: 12, amount: year - sum(months.map(({ amount }) => amount)) }]
  })
}

/** Copies the lines of a budget in `seen`, or the actuals of a year, with a percentage. */
export const copyLines = async (
  trx: Trx,
  budget: { id: string; bookId: string; fiscalYearId: string; propertyId: string | null },
  { budgetId, fiscalYearId, rate }: BudgetCopy,
  seen: Condition,
): Promise<void> => {
  const { tenantId } = contextOf(trx)
  if ((budgetId === undefined) === (fiscalYearId === undefined))
    throw invalid([{ field: 'copy', message: 'names a budget or a year' }])
  const { bookId } = budget
  const source =
    budgetId === undefined
      ? await findRow(trx, FiscalYear, { bookId, id: fiscalYearId ?? '' }, ['id'])
      : await findRow(trx, Budget, { bookId, id: budgetId }, ['propertyId', 'createdBy'])
  if (!source || (budgetId !== undefined && !holds(seen, source)))
    throw unprocessable('reference_not_found', 'The book has no such budget or year', [
      { field: budgetId === undefined ? 'copy.fiscalYearId' : 'copy.budgetId', message: 'is none of the book' },
    ])
  const amounts =
    budgetId === undefined
      ? await sql<Amount>(
          trx,
          `select b.account_id, b.cost_center_id, p.number, cast(sum(case a.side when 'debit' then b.debit - b.credit else b.credit - b.debit end) as bigint) as amount
           from fiscal_period p
           join account_balance b on b.tenant_id = p.tenant_id and b.book_id = p.book_id and b.period_id = p.id
           join account a on a.tenant_id = b.tenant_id and a.id = b.account_id and a.class in ('revenue', 'expense')
           where p.tenant_id = :tenantId and p.fiscal_year_id = :fiscalYearId and p.kind = 'regular'
             and (cast(:propertyId as uuid) is null or b.property_id = :propertyId)
           group by 1, 2, 3`,
          { tenantId, fiscalYearId, propertyId: budget.propertyId },
        )
      : await sql<Amount>(
          trx,
          `select l.account_id, l.cost_center_id, p.number, l.amount from budget_line l
           join fiscal_period p on p.tenant_id = l.tenant_id and p.id = l.period_id where l.tenant_id = ? and l.budget_id = ?`,
          [tenantId, budgetId],
        )
  const lines = raised(amounts, rate)
  if (lines.some(({ amount }) => Math.abs(amount) > largestBooking))
    throw invalid([{ field: 'copy.rate', message: `makes a line of more than ${largestBooking}` }])
  await writeLines(trx, budget, lines)
}

/** Writes lines of a draft; an amount of 0 removes one. */
const writeLines = (trx: Trx, budget: { id: string; bookId: string; fiscalYearId: string }, lines: readonly Amount[]) =>
  sql(
    trx,
    `with given as materialized (
       select l.account_id, l.cost_center_id, p.id as period_id, l.amount
       from jsonb_to_recordset(cast(:lines as jsonb)) as l (account_id uuid, cost_center_id uuid, number int, amount bigint)
       join fiscal_period p on p.tenant_id = :tenantId and p.fiscal_year_id = :fiscalYearId and p.number = l.number
     ), removed as (
       delete from budget_line b using given g where b.tenant_id = :tenantId and b.budget_id = :id and g.amount = 0 and b.account_id = g.account_id
         and b.cost_center_id is not distinct from g.cost_center_id and b.period_id = g.period_id
     )
     insert into budget_line as b (tenant_id, budget_id, book_id, account_id, cost_center_id, period_id, amount)
     select :tenantId, :id, :bookId, g.account_id, g.cost_center_id, g.period_id, g.amount from given g where g.amount <> 0
     on conflict (tenant_id, budget_id, account_id, cost_center_id, period_id) do update set amount = excluded.amount`,
    {
      tenantId: contextOf(trx).tenantId,
      id: budget.id,
      bookId: budget.bookId,
      fiscalYearId: budget.fiscalYearId,
      lines: JSON.stringify(
        lines.map((one) => ({
          account_id: one.accountId,
          cost_center_id: one.costCenterId,
          number: one.number,
          amount: one.amount,
        })),
      ),
    },
  )

export type GivenBudgetLine = {
  accountId: string
  costCenterId?: string | null | undefined
  periodNumber: number
  amount: number
}

type Named = { id: string; inUse: boolean }

/** A line that is removed may name what was archived or switched off meanwhile. */
const takes = (known: readonly Named[], id: string, amount: number): boolean =>
  known.some((one) => one.id === id && (one.inUse || amount === 0))

/**
 * Sets lines of a draft (R37), amounts on the normal side of their accounts. 409 `invalid_transition` for a budget that was approved; 422 `account_not_usable`,
 * `reference_not_found`; 400 for a line that stands twice. The caller holds the budget's row.
 */
export const setBudgetLines = async (trx: Trx, id: string, lines: readonly GivenBudgetLine[]): Promise<void> => {
  const budget = await readRow(trx, Budget, id)
  budgetMoves.allow('changed', budget.status)
  const { tenantId } = contextOf(trx)
  const [accounts, centers] = await Promise.all([
    sql<Named>(
      trx,
      `select id, status = 'active' as in_use from account
       where tenant_id = ? and book_id = ? and id = any(?::uuid[]) and postable and class in ('revenue', 'expense')`,
      [tenantId, budget.bookId, lines.map(({ accountId }) => accountId)],
    ),
    sql<Named>(
      trx,
      `select id, active as in_use from cost_center where tenant_id = ? and book_id = ? and id = any(?::uuid[])`,
      [tenantId, budget.bookId, lines.flatMap(({ costCenterId }) => (costCenterId ? [costCenterId] : []))],
    ),
  ])
  const keyOf = ({ accountId, costCenterId, periodNumber }: GivenBudgetLine) =>
    `${accountId} ${costCenterId ?? ''} ${periodNumber}`
  const keys = lines.map(keyOf)
  const twice = keys.flatMap((key, index) =>
    keys.indexOf(key) === index ? [] : [{ field: `lines.${index}`, message: 'stands twice' }],
  )
  if (twice.length > 0) throw invalid(twice.slice(0, 50))
  const wrong = (field: string, isKnown: (line: GivenBudgetLine) => boolean, message: string): FieldError[] =>
    lines.flatMap((line, index) => (isKnown(line) ? [] : [{ field: `lines.${index}.${field}`, message }]))
  const badAccounts = wrong(
    'accountId',
    ({ accountId, amount }) => takes(accounts, accountId, amount),
    'is no revenue or expense account of the book in use',
  )
  if (badAccounts.length > 0)
    throw unprocessable('account_not_usable', 'A budget is of revenue and expense', badAccounts.slice(0, 50))
  const badCenters = wrong(
    'costCenterId',
    ({ costCenterId, amount }) => !costCenterId || takes(centers, costCenterId, amount),
    'is no cost centre of the book in use',
  )
  if (badCenters.length > 0)
    throw unprocessable('reference_not_found', 'The book has no such cost centre', badCenters.slice(0, 50))
  await writeLines(
    trx,
    budget,
    lines.map(({ accountId, costCenterId, periodNumber, amount }) => ({
      accountId,
      costCenterId: costCenterId ?? null,
      number: periodNumber,
      amount,
    })),
  )
  await changeRow(trx, Budget, id, {
    updatedAt: expression('now()'),
    editors: editorsWith(budget, await authorOf(trx)),
  })
}

export type BudgetLine = {
  accountId: string
  accountCode: string
  accountName: string
  costCenterId: string | null
  periodNumber: number
  amount: number
}

/** A page of the lines of a budget, by account, cost centre and month. 404 for a budget that the caller does not see. */
export const listBudgetLines = async (trx: Trx, id: string, { scope, ...paging }: Paging & { scope: Condition }) => {
  const budget = await readRow(trx, Budget, id)
  if (!holds(scope, budget)) throw notFound('No such budget')
  return readPage<BudgetLine>(
    trx,
    {
      columns: `l.account_id, a.code as account_code, a.name as account_name, l.cost_center_id, p.number as period_number, l.amount`,
      from: `budget_line l join account a on a.tenant_id = l.tenant_id and a.id = l.account_id
        join fiscal_period p on p.tenant_id = l.tenant_id and p.id = l.period_id`,
      conditions: [{ text: 'l.tenant_id = ? and l.budget_id = ?', values: [contextOf(trx).tenantId, id] }],
      order: 'a.code collate "C", l.cost_center_id nulls first, p.number, l.id',
    },
    paging,
  )
}
