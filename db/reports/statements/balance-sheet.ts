import type { Trx } from '../../lib/connection.ts'
import { balance } from '../figures.ts'
import type { Figure } from '../figures.ts'
import { accountsOf, ledgerBook, metaOf, refusePart, scopeOf } from '../ledger-context.ts'
import type { Asked, Sight } from '../reading.ts'
import { balanceSheet } from '../rules/balance-sheet.ts'
import { added, zeros } from '../rules/vectors.ts'
import { statementReading } from '../statement.ts'

/** Debits less credits by account, a column for each list of figures. */
export const balancesOf = (columns: readonly (readonly Figure[])[]): Map<string, number[]> => {
  const found = new Map<string, number[]>()
  for (const [column, figures] of columns.entries())
    for (const { accountId, debit, credit } of figures) {
      const vector = zeros(columns.length)
      vector[column] = debit - credit
      found.set(accountId, added(found.get(accountId) ?? zeros(columns.length), vector))
    }
  return found
}

/** Assets, liabilities and equity at the end of a day, closing entries of that day included, with another day beside it (R8). */
export const openBalanceSheet = async (trx: Trx, asked: Asked, sight: Sight) => {
  refusePart(asked, sight)
  const { compareTo } = asked as { compareTo?: string }
  const book = await ledgerBook(trx, asked, sight)
  const asOf = (asked['asOf'] as string | undefined) ?? book.today
  const properties = scopeOf(asked, sight)
  const meta = await metaOf(trx, 'balance_sheet', book, { from: null, to: asOf }, properties, sight)
  const span = { bookId: book.id, properties, withClosing: true }
  const [accounts, ...columns] = await Promise.all([
    accountsOf(trx, book.id),
    balance(trx, { ...span, on: asOf }),
    ...(compareTo === undefined ? [] : [balance(trx, { ...span, on: compareTo })]),
  ])
  const { lines, totals } = balanceSheet(accounts, balancesOf(columns), columns.length)
  const compared = compareTo === undefined ? [] : [{ key: 'compare_to', name: compareTo, compared: true }]
  return statementReading(meta, compared, lines, totals)
}
