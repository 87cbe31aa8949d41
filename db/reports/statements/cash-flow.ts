import type { Trx } from '../../lib/connection.ts'
import { againstCash } from '../counterparts.ts'
import type { Counterpart } from '../counterparts.ts'
import { balance, movement } from '../figures.ts'
import { accountsOf, dayBefore, ledgerBook, metaOf, rangeOf, refusePart, scopeOf } from '../ledger-context.ts'
import type { Asked, Sight, Window } from '../reading.ts'
import { cashOf, directCashFlow, indirectCashFlow, isCash } from '../rules/cash-flow.ts'
import { monthsOf } from '../rules/dates.ts'
import { added, zeros } from '../rules/vectors.ts'
import { statementReading } from '../statement.ts'
import { balancesOf } from './balance-sheet.ts'

type Given = { method?: 'direct' | 'indirect'; by?: 'total' | 'month' }

const inColumns = (figures: readonly Counterpart[], months: readonly string[], sign: 1 | -1): Map<string, number[]> => {
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
  // The direct method has all but cash itself from the totals beside it.
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
  const [propertyId = null] = properties ?? []
  const against = await againstCash(trx, { bookId: book.id, propertyId, ...range })
  const { lines, totals } = directCashFlow(accounts, cash, inColumns(against, months, -1))
  return statementReading(meta, columns, lines, totals)
}
