import { invalid } from '../../../config/errors.ts'
import { wordOf } from '../../../config/report-texts.ts'
import type { comparisons, incomeViews, splits } from '../../../config/reports.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { budgeted } from '../budget.ts'
import { movement } from '../figures.ts'
import type { Figure, Span, Split } from '../figures.ts'
import { accountsOf, ledgerBook, metaOf, rangeOf, scopeOf } from '../ledger-context.ts'
import type { LedgerAccount } from '../ledger-context.ts'
import type { Asked, Sight, Window } from '../reading.ts'
import { lastYearRange, monthsOf, previousRange } from '../rules/dates.ts'
import type { Range } from '../rules/dates.ts'
import { costCenterLines, departmentLines, incomeLines } from '../rules/income.ts'
import type { Contributions, Line } from '../rules/income.ts'
import { added, zeros } from '../rules/vectors.ts'
import { statementReading } from '../statement.ts'
import type { StatementColumn } from '../statement.ts'

type Given = {
  view?: (typeof incomeViews)[number]
  by?: (typeof splits)[number]
  compare?: (typeof comparisons)[number]
  budgetId?: string
  costCenterId?: string
}
/** Figures with the column that each belongs to, from 0; the first column is the sum of all others where they split it. */
type Placed = { figure: Figure; column: number }

const contribution = ({ debit, credit }: Figure) => credit - debit

const contributionsOf = (placed: readonly Placed[], width: number): Contributions => {
  const found = new Map<string, number[]>()
  for (const { figure, column } of placed) {
    const vector = zeros(width)
    vector[column] = contribution(figure)
    found.set(figure.accountId, added(found.get(figure.accountId) ?? zeros(width), vector))
  }
  return found
}

const namesOf = async (
  trx: Trx,
  bookId: string,
  split: Split,
): Promise<Map<string, { code: string; name: string }>> => {
  const rows = await sql<{ id: string; code: string; name: string }>(
    trx,
    `select id, code, name from ${split === 'property' ? 'property' : 'cost_center'} where tenant_id = ? and book_id = ? order by code collate "C"`,
    [contextOf(trx).tenantId, bookId],
  )
  return new Map(rows.map(({ id, ...row }) => [id, row]))
}

const valueOf = (figure: Figure, split: Split): string | null =>
  split === 'month' ? figure.month : split === 'property' ? figure.propertyId : figure.costCenterId

type Layout = { columns: StatementColumn[]; placed: Placed[] }

const splitLayout = async (
  trx: Trx,
  span: Span,
  range: Range,
  { split, view, word }: { split: Split; view: string; word: (key: string) => string },
): Promise<Layout> => {
  const figures = await movement(trx, span, view === 'cost_centers' ? [split, 'cost_center'] : [split])
  const names = split === 'month' ? new Map<string, { name: string }>() : await namesOf(trx, span.bookId, split)
  const used = new Set(figures.map((figure) => valueOf(figure, split)))
  const keys: (string | null)[] =
    split === 'month'
      ? monthsOf(range)
      : [...[...names.keys()].filter((id) => used.has(id)), ...(used.has(null) ? [null] : [])]
  const place = new Map(keys.map((key, index) => [key, index + 1]))
  return {
    columns: keys.map((key) => ({
      key: key === null ? `no_${split}` : split === 'month' ? key.slice(0, 7) : key,
      name: key === null ? word(`no_${split}`) : (names.get(key)?.name ?? key.slice(0, 7)),
      compared: false,
    })),
    placed: figures.flatMap((figure) => [
      { figure, column: 0 },
      { figure, column: place.get(valueOf(figure, split)) ?? 0 },
    ]),
  }
}

const comparedLayout = async (trx: Trx, span: Span, range: Range, given: Given, word: (key: string) => string) => {
  const by: Split[] = given.view === 'cost_centers' ? ['cost_center'] : []
  const { compare, budgetId } = given
  const compared = (): Promise<Figure[]> | Figure[] => {
    if (compare === undefined) return []
    if (compare === 'budget') return budgeted(trx, { ...span, ...range }, budgetId)
    return movement(trx, { ...span, ...(compare === 'last_year' ? lastYearRange(range) : previousRange(range)) }, by)
  }
  const [now, then] = await Promise.all([movement(trx, span, by), compared()])
  return {
    columns: compare === undefined ? [] : [{ key: compare, name: word(compare), compared: true }],
    placed: [...now.map((figure) => ({ figure, column: 0 })), ...then.map((figure) => ({ figure, column: 1 }))],
  }
}

const linesOf = async (
  trx: Trx,
  bookId: string,
  accounts: readonly LedgerAccount[],
  { columns, placed }: Layout,
  view: (typeof incomeViews)[number],
): Promise<Line[]> => {
  const width = columns.length + 1
  if (view !== 'cost_centers') {
    const sources = { accounts, contributions: contributionsOf(placed, width), width }
    return view === 'departments'
      ? departmentLines({ ...sources, withAccounts: true })
      : incomeLines({ ...sources, withAccounts: view === 'accounts' })
  }
  const names = await namesOf(trx, bookId, 'cost_center')
  const results = new Set(
    accounts.filter((one) => one.class === 'revenue' || one.class === 'expense').map((one) => one.id),
  )
  const used = new Set(
    placed.filter(({ figure }) => results.has(figure.accountId)).map(({ figure }) => figure.costCenterId),
  )
  const ids = [...[...names.keys()].filter((id) => used.has(id)), ...(used.has(null) ? [null] : [])]
  const centers = ids.map((id) => ({
    id,
    code: id === null ? null : (names.get(id)?.code ?? null),
    name: id === null ? 'no_cost_center' : (names.get(id)?.name ?? null),
    contributions: contributionsOf(
      placed.filter(({ figure }) => figure.costCenterId === id),
      width,
    ),
  }))
  return costCenterLines(accounts, centers, width)
}

/**
 * The income statement of a range, without closing entries (R9). By month, property or cost centre its columns sum to the amount; with `compare` the
 * column is that of the other range, with difference and ratio.
 */
export const openIncomeStatement = async (trx: Trx, asked: Asked, sight: Sight, window: Window) => {
  const given: Given = asked
  const { view = 'statement', by = 'total', compare } = given
  if (compare !== undefined && by !== 'total')
    throw invalid([{ field: 'compare', message: 'goes with by=total alone' }])
  if (given.budgetId !== undefined && compare !== 'budget')
    throw invalid([{ field: 'budgetId', message: 'goes with compare=budget alone' }])
  if (view === 'cost_centers' && by === 'cost_center')
    throw invalid([{ field: 'by', message: 'cost_center is the view already' }])
  const book = await ledgerBook(trx, asked, sight)
  const range = rangeOf('income_statement', asked, book, window)
  const properties = scopeOf(asked, sight)
  const meta = await metaOf(trx, 'income_statement', book, range, properties, sight)
  const word = (key: string) => wordOf(key, meta.locale)
  const span: Span = { bookId: book.id, ...range, properties, costCenterId: given.costCenterId, withClosing: false }
  const layout =
    by === 'total'
      ? await comparedLayout(trx, span, range, given, word)
      : await splitLayout(trx, span, range, { split: by, view, word })
  const lines = await linesOf(trx, book.id, await accountsOf(trx, book.id), layout, view)
  const result = lines.find(({ key }) => key === 'result')?.amounts[0] ?? 0
  return statementReading(meta, layout.columns, lines, { result })
}
