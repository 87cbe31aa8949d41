import { sum } from '../../lib/amounts.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { balance, movement } from '../figures.ts'
import type { Figure } from '../figures.ts'
import { accountsOf, dayBefore, ledgerBook, metaOf, rangeOf, refusePart, scopeOf, tooLarge } from '../ledger-context.ts'
import type { LedgerAccount } from '../ledger-context.ts'
import type { Asked, Sight, Window } from '../reading.ts'
import { cashOf, directCashFlow, indirectCashFlow, isCash } from '../rules/cash-flow.ts'
import { monthsOf } from '../rules/dates.ts'
import type { Range } from '../rules/dates.ts'
import { added, zeros } from '../rules/vectors.ts'
import { statementReading } from '../statement.ts'
import { balancesOf } from './balance-sheet.ts'

/** Lines of cash accounts that are gone through at once. */
const mostLines = 50_000

type Given = { method?: 'direct' | 'indirect'; by?: 'total' | 'month' }

const inColumns = (figures: readonly Figure[], months: readonly string[], sign: 1 | -1): Map<string, number[]> => {
  const width = months.length + 1
  const place = new Map(months.map((month, index) => [month, index + 1]))
  const found = new Map<string, number[]>()
  for (const { accountId, month, debit, credit } of figures) {
    const vector = zeros(width)
    const column = place.get(month ?? '')
    vector[0] = sign * (debit - credit)
    if (column !== undefined) vector[column] = sign * (debit - credit)
    found.set(accountId, added(found.get(accountId) ?? zeros(width), vector))
  }
  return found
}

type Reach = { bookId: string; range: Range; properties: readonly string[] | null; accounts: readonly LedgerAccount[] }

/**
 * Debits and credits of the other lines of all entries that have a line on an account of cash, by account and month. Entries of closing periods have none: the
 * period of a line says what its entry would. Where there are `few` lines of cash, those and their entries are looked up by index, one by one, however many
 * lines the book has.
 */
export const againstCash = (
  trx: Trx,
  { bookId, range, properties, accounts }: Reach,
  { few }: { few: boolean },
): Promise<Figure[]> =>
  sql<Figure>(
    trx,
    `with regular as materialized (select array_agg(p.id) as ids from fiscal_period p where p.tenant_id = :tenantId and p.book_id = :bookId and p.kind = 'regular')
     select l.account_id, cast(date_trunc('month', l.posting_date) as date) as month, cast(sum(l.debit) as bigint) as debit,
       cast(sum(l.credit) as bigint) as credit
     from (select distinct l.entry_id from unnest(cast(:cash as uuid[])) c (id) cross join lateral (
         select l.entry_id from journal_line l where l.tenant_id = :tenantId and l.book_id = :bookId and l.account_id = c.id
           and l.posting_date between cast(:from as date) and cast(:to as date) and l.period_id = any((select ids from regular)::uuid[])
           and (cast(:properties as uuid[]) is null or l.property_id = any(cast(:properties as uuid[]))) ${few ? 'offset 0' : ''}) l) e
     cross join lateral (
       select l.account_id, l.posting_date, l.debit, l.credit from journal_line l where l.tenant_id = :tenantId and l.entry_id = e.entry_id
         and l.account_id <> all(cast(:cash as uuid[]))
         and (cast(:properties as uuid[]) is null or l.property_id = any(cast(:properties as uuid[]))) ${few ? 'offset 0' : ''}) l
     group by 1, 2`,
    {
      tenantId: contextOf(trx).tenantId,
      bookId,
      ...range,
      properties,
      cash: accounts.filter(isCash).map(({ id }) => id),
    },
  )

/** Lines of cash accounts in a movement, which the balances have counted. */
const cashLines = (accounts: readonly LedgerAccount[], moved: readonly Figure[]): number => {
  const cash = new Set(accounts.filter(isCash).map(({ id }) => id))
  return sum(moved.flatMap(({ accountId, lines }) => (cash.has(accountId) ? [lines] : [])))
}

/** Cash flow of a range by the direct or the indirect method (R10). Opening + operating + investing + financing = closing. */
export const openCashFlow = async (trx: Trx, asked: Asked, sight: Sight, window: Window) => {
  refusePart(asked, sight)
  const { method = 'direct', by = 'total' }: Given = asked
  const book = await ledgerBook(trx, asked, sight)
  const range = rangeOf('cash_flow', asked, book, window)
  const properties = scopeOf(asked, sight)
  const span = { bookId: book.id, properties, withClosing: false }
  const [meta, accounts] = await Promise.all([
    metaOf(trx, 'cash_flow', book, range, properties, sight),
    accountsOf(trx, book.id),
  ])
  const months = by === 'month' ? monthsOf(range) : []
  // The direct method has all but cash itself from the lines beside it.
  const accountIds = method === 'direct' ? accounts.filter(isCash).map(({ id }) => id) : undefined
  const [before, moved] = await Promise.all([
    balance(trx, { ...span, accountIds, on: dayBefore(range.from) }),
    movement(trx, { ...span, accountIds, ...range }, by === 'month' ? ['month'] : []),
  ])
  const movements = inColumns(moved, months, 1)
  const cash = cashOf(accounts, balancesOf([before]), movements, months.length + 1)
  const columns = months.map((month) => ({ key: month.slice(0, 7), name: month.slice(0, 7), compared: false }))
  if (method === 'indirect') {
    const { lines, totals } = indirectCashFlow(accounts, cash, movements)
    return statementReading(meta, columns, lines, totals)
  }
  if (window !== null && cashLines(accounts, moved) > mostLines)
    throw tooLarge('cash_flow', asked, `The range has more than ${mostLines} lines of cash`)
  const against = await againstCash(trx, { bookId: book.id, range, properties, accounts }, { few: window !== null })
  const { lines, totals } = directCashFlow(accounts, cash, inColumns(against, months, -1))
  return statementReading(meta, columns, lines, totals)
}
