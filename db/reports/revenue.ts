import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { movement } from './figures.ts'
import type { House } from './houses.ts'
import { accountsOf } from './ledger-context.ts'
import type { LedgerAccount } from './ledger-context.ts'
import { endOfMonth, firstOfMonth, monthsOf } from './rules/dates.ts'
import type { Range } from './rules/dates.ts'
import { incomeLines, isResult, sectionOf } from './rules/income.ts'

/** Sections whose credits less debits are total revenue: sales with their allowances. */
const revenueSections: ReadonlySet<string> = new Set([
  'rooms_revenue',
  'food_beverage_revenue',
  'other_operated_revenue',
  'other_income',
  'rooms_allowances',
  'food_beverage_allowances',
  'other_operated_allowances',
])

const booksOf = (houses: readonly House[]): Map<string, string[]> => {
  const books = new Map<string, string[]>()
  for (const { bookId, id } of houses) books.set(bookId, [...(books.get(bookId) ?? []), id])
  return books
}

export const isRevenue = (account: LedgerAccount) => isResult(account) && revenueSections.has(sectionOf(account))

export type Earned = { accountId: string; propertyId: string; date: string; amount: number }

/** Credits less debits of the revenue accounts by day and property, without closing entries. Minor units. */
export const earnedByDay = async (
  trx: Trx,
  houses: readonly House[],
  { from, to }: Range,
): Promise<{ earned: Earned[]; accounts: Map<string, LedgerAccount> }> => {
  const accounts = new Map<string, LedgerAccount>()
  const earned: Earned[] = []
  for (const [bookId, properties] of booksOf(houses)) {
    const revenue = (await accountsOf(trx, bookId)).filter(isRevenue)
    for (const account of revenue) accounts.set(account.id, account)
    earned.push(
      ...(await sql<Earned>(
        trx,
        `select l.account_id, l.property_id, l.posting_date as date, cast(sum(l.credit - l.debit) as bigint) as amount
         from unnest(cast(:accountIds as uuid[])) a (id) join journal_line l on l.tenant_id = :tenantId and l.book_id = :bookId and l.account_id = a.id
           and l.posting_date between cast(:from as date) and cast(:to as date) and l.property_id = any(cast(:properties as uuid[]))
         join fiscal_period p on p.tenant_id = l.tenant_id and p.id = l.period_id and p.kind = 'regular'
         group by 1, 2, 3`,
        {
          tenantId: contextOf(trx).tenantId,
          bookId,
          accountIds: revenue.map(({ id }) => id),
          properties,
          from,
          to,
        },
      )),
    )
  }
  return { earned, accounts }
}

/** Credits less debits of the revenue accounts over a range: whole periods from their balances. Minor units. */
export const earnedOver = async (trx: Trx, houses: readonly House[], range: Range): Promise<number> => {
  let earned = 0
  for (const [bookId, properties] of booksOf(houses)) {
    const accountIds = (await accountsOf(trx, bookId)).filter(isRevenue).map(({ id }) => id)
    for (const { debit, credit } of await movement(trx, {
      bookId,
      ...range,
      properties,
      accountIds,
      withClosing: false,
    }))
      earned += credit - debit
  }
  return earned
}

type Result = { grossOperatingProfit: number; result: number; totalRevenue: number }

const profitOf = (
  accounts: readonly LedgerAccount[],
  figures: readonly { accountId: string; debit: number; credit: number }[],
): Result => {
  const contributions = new Map<string, number[]>()
  for (const { accountId, debit, credit } of figures)
    contributions.set(accountId, [(contributions.get(accountId)?.[0] ?? 0) + credit - debit])
  const lines = incomeLines({ accounts, contributions, width: 1, withAccounts: false })
  const line = (key: string) => lines.find((one) => one.key === key)?.amounts[0] ?? 0
  const revenue = new Set(accounts.filter(isRevenue).map(({ id }) => id))
  const totalRevenue = figures.reduce(
    (sum, { accountId, debit, credit }) => sum + (revenue.has(accountId) ? credit - debit : 0),
    0,
  )
  return { grossOperatingProfit: line('gross_operating_profit'), result: line('result'), totalRevenue }
}

/** Profit of each property of a book in a range, by its own lines. Minor units. */
export const profitsOf = async (
  trx: Trx,
  bookId: string,
  properties: readonly string[],
  range: Range,
): Promise<Map<string, Result>> => {
  const accounts = await accountsOf(trx, bookId)
  const figures = await movement(trx, { bookId, ...range, properties, withClosing: false }, ['property'])
  return new Map(
    properties.map((id) => [
      id,
      profitOf(
        accounts,
        figures.filter(({ propertyId }) => propertyId === id),
      ),
    ]),
  )
}

/** Gross operating profit by the first day of each whole month of a range. Minor units. */
export const profitByMonth = async (trx: Trx, houses: readonly House[], range: Range): Promise<Map<string, number>> => {
  const months = monthsOf(range).filter((month) => month >= range.from && endOfMonth(month) <= range.to)
  const [first] = months
  const last = months.at(-1)
  const profits = new Map(months.map((month) => [month, 0]))
  if (first === undefined || last === undefined) return profits
  for (const [bookId, properties] of booksOf(houses)) {
    const accounts = await accountsOf(trx, bookId)
    const span = { bookId, from: first, to: endOfMonth(last), properties, withClosing: false }
    const figures = await movement(trx, span, ['month'])
    for (const month of months) {
      const { grossOperatingProfit } = profitOf(
        accounts,
        figures.filter((figure) => figure.month !== null && firstOfMonth(figure.month) === month),
      )
      profits.set(month, (profits.get(month) ?? 0) + grossOperatingProfit)
    }
  }
  return profits
}
