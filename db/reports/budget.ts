import { notFound, unprocessable } from '../../config/errors.ts'
import { daysBetween } from '../../config/time.ts'
import { scaled } from '../lib/amounts.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { Figure, Span } from './figures.ts'

type Line = {
  accountId: string
  costCenterId: string | null
  side: 'debit' | 'credit'
  startsOn: string
  endsOn: string
  amount: number
}

/** Part of a month's amount that falls on the days of a range, half-up. */
const partOf = ({ startsOn, endsOn, amount }: Line, from: string, to: string): number => {
  const days = daysBetween(startsOn > from ? startsOn : from, endsOn < to ? endsOn : to) + 1
  return scaled(amount, days, daysBetween(startsOn, endsOn) + 1)
}

/**
 * A budget as figures of a range: the one named, else the approved ones of the book, or of the properties that are read. 422 `no_budget` where there is none
 * for any month of the range.
 */
export const budgeted = async (
  trx: Trx,
  { bookId, from, to, properties, costCenterId }: Span & { from: string },
  budgetId: string | undefined,
): Promise<Figure[]> => {
  const values = {
    tenantId: contextOf(trx).tenantId,
    bookId,
    from,
    to,
    properties,
    budgetId: budgetId ?? null,
    costCenterId: costCenterId ?? null,
  }
  const budgets = await sql<{ id: string }>(
    trx,
    `select b.id from budget b join fiscal_year y on y.tenant_id = b.tenant_id and y.id = b.fiscal_year_id
     where b.tenant_id = :tenantId and b.book_id = :bookId
       and case when cast(:budgetId as uuid) is null
         then b.status = 'approved' and y.starts_on <= cast(:to as date) and y.ends_on >= cast(:from as date)
           and case when cast(:properties as uuid[]) is null then b.property_id is null else b.property_id = any(cast(:properties as uuid[])) end
         else b.id = cast(:budgetId as uuid) and (cast(:properties as uuid[]) is null or b.property_id = any(cast(:properties as uuid[]))) end`,
    values,
  )
  if (budgets.length === 0) {
    if (budgetId !== undefined) throw notFound('The book has no such budget')
    throw unprocessable('no_budget', 'No approved budget holds these days')
  }
  const lines = await sql<Line>(
    trx,
    `select l.account_id, l.cost_center_id, a.side, p.starts_on, p.ends_on, l.amount
     from budget_line l join fiscal_period p on p.tenant_id = l.tenant_id and p.id = l.period_id and p.kind = 'regular'
       and p.starts_on <= cast(:to as date) and p.ends_on >= cast(:from as date)
     join account a on a.tenant_id = l.tenant_id and a.id = l.account_id
     where l.tenant_id = :tenantId and l.book_id = :bookId and l.budget_id = any(cast(:ids as uuid[]))
       and (cast(:costCenterId as uuid) is null or l.cost_center_id = cast(:costCenterId as uuid))`,
    { ...values, ids: budgets.map(({ id }) => id) },
  )
  return lines.map((line) => {
    const amount = partOf(line, from, to)
    const [debit, credit] = line.side === 'debit' ? [amount, 0] : [0, amount]
    const { accountId, costCenterId: center } = line
    return { accountId, propertyId: null, costCenterId: center, month: null, debit, credit, lines: 0 }
  })
}
