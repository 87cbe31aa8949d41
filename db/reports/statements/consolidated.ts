import { forbidden, notFound } from '../../../config/errors.ts'
import { wordOf } from '../../../config/report-texts.ts'
import type { consolidated } from '../../../config/reports.ts'
import { todayIn } from '../../../config/time.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { exchanges } from '../exchange.ts'
import type { Exchange } from '../exchange.ts'
import { againstCash } from '../counterparts.ts'
import { balance, movement } from '../figures.ts'
import { accountsOf, dayBefore, metaOf, metaOfAll, rangeOf, tooLarge } from '../ledger-context.ts'
import type { LedgerAccount, LedgerBook } from '../ledger-context.ts'
import type { Asked, Sight, Window } from '../reading.ts'
import { balanceSheet } from '../rules/balance-sheet.ts'
import { directCashFlow, isCash } from '../rules/cash-flow.ts'
import type { Range } from '../rules/dates.ts'
import { incomeLines, isResult } from '../rules/income.ts'
import type { Line } from '../rules/income.ts'
import { added, isZero, negated, zeros } from '../rules/vectors.ts'
import { statementReading } from '../statement.ts'

/** Books that an endpoint reads at once; a run reads all. */
const mostAtOnce = 20

type Kind = (typeof consolidated)[number]
type Moved = { bookId: string; accountId: string; amount: number }

const booksOf = async (trx: Trx, given: readonly string[] | undefined): Promise<LedgerBook[]> => {
  const books = await sql<Omit<LedgerBook, 'today'>>(
    trx,
    `select id, name, currency, time_zone from book where tenant_id = ? and (?::uuid[] is null or id = any(?::uuid[])) order by is_default desc, name, id`,
    [contextOf(trx).tenantId, given ?? null, given ?? null],
  )
  if (given && books.length < new Set(given).size) throw notFound('No such book')
  if (books.length === 0) throw notFound('No such book')
  return books.map((book) => ({ ...book, today: todayIn(book.timeZone) }))
}

/** Accounts of several books as one chart: those of one code and class are one. */
class Chart {
  readonly accounts: LedgerAccount[] = []
  private readonly byKey = new Map<string, LedgerAccount>()

  of(account: LedgerAccount): LedgerAccount {
    const key = `${account.code} ${account.class} ${account.section} ${account.cashFlow}`
    const known = this.byKey.get(key)
    if (known) return known
    const made = { ...account, id: key, parentId: null }
    this.byKey.set(key, made)
    this.accounts.push(made)
    return made
  }

  sorted(): LedgerAccount[] {
    return this.accounts.toSorted((a, b) => (a.code < b.code ? -1 : a.code > b.code ? 1 : 0))
  }
}

/** Amounts by account of the chart: the sum, one column for each book, and what is eliminated. */
class Sheet {
  readonly vectors = new Map<string, number[]>()
  readonly eliminated: number[]
  readonly width: number
  constructor(books: number) {
    this.width = books + 2
    this.eliminated = zeros(this.width)
  }

  add(account: LedgerAccount, column: number, amount: number): void {
    if (amount === 0) return
    const vector = this.vectors.get(account.id) ?? zeros(this.width)
    vector[0] = (vector[0] ?? 0) + amount
    vector[column] = (vector[column] ?? 0) + amount
    this.vectors.set(account.id, vector)
  }

  /** Takes an amount out of its account; what all of them leave is the difference of the two sides. */
  eliminate(account: LedgerAccount, amount: number): void {
    if (amount === 0) return
    const last = this.width - 1
    this.add(account, last, -amount)
    this.eliminated[0] = (this.eliminated[0] ?? 0) + amount
    this.eliminated[last] = (this.eliminated[last] ?? 0) + amount
  }
}

/** Lines of the books whose party is another one of them: credits less debits by account. */
const between = (trx: Trx, books: readonly LedgerBook[], from: string | null, to: string): Promise<Moved[]> =>
  sql<Moved>(
    trx,
    `select l.book_id, l.account_id, cast(sum(l.credit - l.debit) as bigint) as amount from journal_line l
     join journal_entry e on e.tenant_id = l.tenant_id and e.id = l.entry_id and e.kind <> 'closing'
     where l.tenant_id = :tenantId and l.party_type = 'book' and l.party_id = any(cast(:books as uuid[])) and l.book_id = any(cast(:books as uuid[]))
       and l.party_id <> l.book_id and l.posting_date between cast(:from as date) and cast(:to as date)
     group by 1, 2`,
    { tenantId: contextOf(trx).tenantId, books: books.map(({ id }) => id), from: from ?? '1900-01-01', to },
  )

type Equity = { accountId: string; date: string; amount: number }
const equityOf = (trx: Trx, bookId: string, to: string): Promise<Equity[]> =>
  sql<Equity>(
    trx,
    `select l.account_id, l.posting_date as date, cast(sum(l.debit - l.credit) as bigint) as amount
     from account a join journal_line l on l.tenant_id = a.tenant_id and l.book_id = a.book_id and l.account_id = a.id and l.posting_date <= cast(:to as date)
     where a.tenant_id = :tenantId and a.book_id = :bookId and a.class = 'equity' group by 1, 2`,
    { tenantId: contextOf(trx).tenantId, bookId, to },
  )

type Member = { book: LedgerBook; accounts: Map<string, LedgerAccount>; exchange: Exchange; column: number }
type Work = { trx: Trx; range: Range; members: readonly Member[]; chart: Chart; sheet: Sheet }

const eachMoved = (
  moved: readonly Moved[],
  { members, chart }: Work,
  then: (account: LedgerAccount, member: Member, amount: number) => void,
) => {
  for (const { bookId, accountId, amount } of moved) {
    const member = members.find(({ book }) => book.id === bookId)
    const account = member?.accounts.get(accountId)
    if (member && account) then(chart.of(account), member, amount)
  }
}

const incomeOf = async (work: Work): Promise<{ lines: Line[]; totals: object }> => {
  const { trx, range, members, chart, sheet } = work
  for (const { book, accounts, exchange, column } of members)
    for (const { accountId, debit, credit } of await movement(trx, {
      bookId: book.id,
      ...range,
      properties: null,
      withClosing: false,
    })) {
      const account = accounts.get(accountId)
      if (account && isResult(account)) sheet.add(chart.of(account), column, exchange.over(credit - debit, range))
    }
  eachMoved(
    await between(
      trx,
      members.map(({ book }) => book),
      range.from,
      range.to,
    ),
    work,
    (account, { exchange }, amount) => {
      if (isResult(account)) sheet.eliminate(account, exchange.over(amount, range))
    },
  )
  const { eliminated, width } = sheet
  const lines = incomeLines({ accounts: chart.sorted(), contributions: sheet.vectors, width, withAccounts: true })
  const difference: Line = {
    key: 'elimination_difference',
    name: null,
    level: 0,
    accountId: null,
    code: null,
    amounts: eliminated,
  }
  const shown = lines.flatMap((line): Line[] => {
    if (line.key !== 'result_before_tax' && line.key !== 'result') return [line]
    const total = { ...line, amounts: added(line.amounts, eliminated) }
    return line.key === 'result_before_tax' && !isZero(eliminated) ? [difference, total] : [total]
  })
  const result = shown.find(({ key }) => key === 'result')?.amounts[0] ?? 0
  return { lines: shown, totals: { result, eliminationDifference: eliminated[0] ?? 0 } }
}

const balanceSheetOf = async (work: Work): Promise<{ lines: Line[]; totals: object }> => {
  const { trx, range, members, chart, sheet } = work
  for (const { book, accounts, exchange, column } of members) {
    const span = { bookId: book.id, properties: null, withClosing: true }
    const [before, within, equity] = await Promise.all([
      balance(trx, { ...span, on: dayBefore(range.from) }),
      movement(trx, { ...span, ...range }),
      equityOf(trx, book.id, range.to),
    ])
    const add = (accountId: string, amount: number) => {
      const account = accounts.get(accountId)
      if (account) sheet.add(chart.of(account), column, amount)
    }
    // Results of the range at its mean, as in the income statement; all else but equity at the rate of the last day.
    const net = new Map<string, number>()
    for (const { accountId, debit, credit } of [...before, ...within])
      net.set(accountId, (net.get(accountId) ?? 0) + debit - credit)
    for (const { accountId, debit, credit } of within) {
      const account = accounts.get(accountId)
      if (!account || !isResult(account)) continue
      add(accountId, exchange.over(debit - credit, range))
      net.set(accountId, (net.get(accountId) ?? 0) - (debit - credit))
    }
    for (const [accountId, amount] of net)
      if (accounts.get(accountId)?.class !== 'equity') add(accountId, exchange.at(amount, range.to))
    for (const { accountId, date, amount } of equity) add(accountId, exchange.at(amount, date))
  }
  const translation = negated([...sheet.vectors.values()].reduce<number[]>(added, zeros(sheet.width)))
  eachMoved(
    await between(
      trx,
      members.map(({ book }) => book),
      null,
      range.to,
    ),
    work,
    (account, { exchange }, amount) => {
      if (account.class === 'asset' || account.class === 'liability')
        sheet.eliminate(account, exchange.at(-amount, range.to))
    },
  )
  // On the side of liabilities and equity: what lowers the assets by more than the liabilities lowers it.
  const difference = negated(sheet.eliminated)
  const { lines, totals } = balanceSheet(chart.sorted(), sheet.vectors, sheet.width, [
    { key: 'translation_difference', amounts: negated(translation) },
    { key: 'elimination_difference', amounts: difference },
  ])
  return {
    lines,
    totals: {
      ...totals,
      translationDifference: 0 - (translation[0] ?? 0),
      eliminationDifference: sheet.eliminated[0] ?? 0,
    },
  }
}

const cashFlowOf = async (work: Work): Promise<{ lines: Line[]; totals: object }> => {
  const { trx, range, members, chart, sheet } = work
  const opening = zeros(sheet.width)
  const closing = zeros(sheet.width)
  const put = (vector: number[], column: number, amount: number) => {
    vector[0] = (vector[0] ?? 0) + amount
    vector[column] = (vector[column] ?? 0) + amount
  }
  for (const { book, accounts, exchange, column } of members) {
    const cash = [...accounts.values()].filter(isCash).map(({ id }) => id)
    const span = { bookId: book.id, properties: null, accountIds: cash, withClosing: false }
    const sum = (figures: readonly { debit: number; credit: number }[]) =>
      figures.reduce((total, { debit, credit }) => total + debit - credit, 0)
    const [before, after, against] = await Promise.all([
      balance(trx, { ...span, on: dayBefore(range.from) }),
      balance(trx, { ...span, on: range.to }),
      againstCash(trx, { bookId: book.id, propertyId: null, ...range }),
    ])
    put(opening, column, exchange.at(sum(before), dayBefore(range.from)))
    put(closing, column, exchange.at(sum(after), range.to))
    for (const { accountId, debit, credit } of against) {
      const account = accounts.get(accountId)
      if (account) sheet.add(chart.of(account), column, exchange.over(credit - debit, range))
    }
  }
  const flow = directCashFlow(chart.sorted(), { opening, closing }, sheet.vectors)
  const lines = flow.lines.map((line) =>
    line.key === 'other_properties' ? { ...line, key: 'translation_difference' } : line,
  )
  const translation = lines.find(({ key }) => key === 'translation_difference')?.amounts[0] ?? 0
  return { lines, totals: { ...flow.totals, translationDifference: translation } }
}

const readers: Record<Kind, (work: Work) => Promise<{ lines: Line[]; totals: object }>> = {
  balance_sheet: balanceSheetOf,
  income_statement: incomeOf,
  cash_flow: cashFlowOf,
}

const withoutIds = (lines: readonly Line[]): Line[] =>
  lines.map((line) => (line.accountId === null ? line : { ...line, key: line.code ?? line.key, accountId: null }))

/** Parameters of a consolidation with books, days and currency filled in. 403, 404, 400 `range_invalid` as for the statement. */
export const checkConsolidated = async (trx: Trx, asked: Asked, sight: Sight): Promise<Asked> => {
  if (sight.propertyIds !== null) throw forbidden()
  const given = asked as { bookId?: readonly string[]; currency?: string }
  const books = await booksOf(trx, given.bookId)
  const [first] = books
  if (!first) throw notFound('No such book')
  const { from, to } = rangeOf('consolidated_statements', asked, first, null)
  return {
    ...asked,
    bookId: books.map(({ id }) => id),
    startDate: from,
    endDate: to,
    currency: given.currency ?? first.currency,
  }
}

/**
 * Statements of several books in one currency (R14), with a column for each book and one for what is eliminated between them. Balance-sheet accounts are
 * at the rate of the last day, equity at that of its posting date, income and cash flows at the mean of the range.
 */
export const openConsolidated = async (trx: Trx, asked: Asked, sight: Sight, window: Window) => {
  if (sight.propertyIds !== null) throw forbidden()
  const given = asked as { bookId?: readonly string[]; statement?: Kind; currency?: string }
  const { statement = 'income_statement' } = given
  const books = await booksOf(trx, given.bookId)
  const [first] = books
  if (!first) throw notFound('No such book')
  const range = rangeOf('consolidated_statements', asked, first, window)
  if (window !== null && books.length > mostAtOnce)
    throw tooLarge('consolidated_statements', asked, `The report reads more than ${mostAtOnce} books`)
  const currency = given.currency ?? first.currency
  const rates = exchanges(trx)
  const metas = await Promise.all(books.map((book) => metaOf(trx, 'consolidated_statements', book, range, null, sight)))
  const members = await Promise.all(
    books.map(async (book, index): Promise<Member> => ({
      book,
      accounts: new Map((await accountsOf(trx, book.id)).map((account) => [account.id, account])),
      exchange: await rates.between(book.currency, currency),
      column: index + 1,
    })),
  )
  const meta = metaOfAll(metas, currency)
  const { lines, totals } = await readers[statement]({
    trx,
    range,
    members,
    chart: new Chart(),
    sheet: new Sheet(books.length),
  })
  rates.refuseMissing()
  const columns = [
    ...books.map(({ id, name }) => ({ key: id, name, compared: false })),
    { key: 'eliminations', name: wordOf('eliminations', meta.locale), compared: false },
  ]
  return { ...statementReading(meta, columns, withoutIds(lines), totals), usedRates: rates.used() }
}
