import { wordOf } from '../../../config/report-texts.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { streamed } from '../../lib/cursor.ts'
import { movement } from '../figures.ts'
import type { Figure, Span } from '../figures.ts'
import {
  accountsOf,
  dayBefore,
  ledgerBook,
  metaOf,
  rangeOf,
  scopeOf,
  tooLarge,
  yearStartOf,
} from '../ledger-context.ts'
import type { LedgerAccount } from '../ledger-context.ts'
import type { Asked, Column, FileRow, Meta, Reading, Sight, Window } from '../reading.ts'
import { isResult } from '../rules/income.ts'

/** Lines of one account that a page goes past at most. */
const deepest = 10_000

type Line = {
  accountId: string
  entryId: string
  lineNo: number
  postingDate: string
  number: number | null
  sequence: number
  description: string
  memo: string
  debit: number
  credit: number
  propertyId: string | null
  costCenterId: string | null
}
export type LedgerLine = Line & { code: string; accountName: string; balance: number }
/** `opening` and `closing` are on the normal side of the account. */
type LedgerTotal = {
  accountId: string
  code: string
  name: string
  opening: number
  debit: number
  credit: number
  closing: number
  lines: number
}

type Part = { account: LedgerAccount } & LedgerTotal

const onSide = (account: LedgerAccount, amount: number) => (account.side === 'debit' || amount === 0 ? amount : -amount)

const partsOf = (accounts: readonly LedgerAccount[], before: readonly Figure[], moved: readonly Figure[]): Part[] => {
  const openings = new Map<string, number>()
  for (const { accountId, debit, credit } of before)
    openings.set(accountId, (openings.get(accountId) ?? 0) + debit - credit)
  const movements = new Map(moved.map((figure) => [figure.accountId, figure]))
  return accounts.flatMap((account): Part[] => {
    const opening = openings.get(account.id) ?? 0
    const { debit = 0, credit = 0, lines = 0 } = movements.get(account.id) ?? {}
    if (opening === 0 && lines === 0) return []
    return [
      {
        account,
        accountId: account.id,
        code: account.code,
        name: account.name,
        opening: onSide(account, opening),
        debit,
        credit,
        closing: onSide(account, opening + debit - credit),
        lines,
      },
    ]
  })
}

const columns = `l.account_id, l.entry_id, l.line_no, l.posting_date, s.number, e.sequence, e.description, l.memo, l.debit, l.credit, l.property_id,
  l.cost_center_id`
const source = `journal_line l join journal_entry e on e.tenant_id = l.tenant_id and e.id = l.entry_id
  left join journal_seal s on s.tenant_id = e.tenant_id and s.entry_id = e.id`
const asked = `l.tenant_id = :tenantId and l.book_id = :bookId and l.posting_date between cast(:from as date) and cast(:to as date)
  and (cast(:properties as uuid[]) is null or l.property_id = any(cast(:properties as uuid[])))
  and (cast(:costCenterId as uuid) is null or l.cost_center_id = cast(:costCenterId as uuid))`

const valuesOf = (trx: Trx, span: Span) => ({
  tenantId: contextOf(trx).tenantId,
  bookId: span.bookId,
  from: span.from,
  to: span.to,
  properties: span.properties,
  costCenterId: span.costCenterId ?? null,
})

const shown = (part: Part, line: Line, balance: number): LedgerLine => ({
  ...line,
  code: part.account.code,
  accountName: part.account.name,
  balance,
})

const totalOf = ({ accountId, code, name, opening, debit, credit, closing, lines }: Part): LedgerTotal => ({
  accountId,
  code,
  name,
  opening,
  debit,
  credit,
  closing,
  lines,
})

/** The lines of accounts that stand on a page, by the number of lines of each. */
const slices = (parts: readonly Part[], { page, limit }: { page: number; limit: number }) => {
  let skip = (page - 1) * limit
  let take = limit
  return parts.flatMap((part) => {
    if (take === 0 || part.lines <= skip) {
      skip -= Math.min(skip, part.lines)
      return []
    }
    const slice = { part, skip, take: Math.min(take, part.lines - skip) }
    take -= slice.take
    skip = 0
    return [slice]
  })
}

const pageOf = async (
  trx: Trx,
  span: Span,
  parts: readonly Part[],
  given: Asked,
  window: { page: number; limit: number },
): Promise<LedgerLine[]> => {
  const wanted = slices(parts, window)
  if (wanted.some(({ skip, take }) => skip + take > deepest))
    throw tooLarge('general_ledger', given, `The page lies behind ${deepest} lines of an account`)
  if (wanted.length === 0) return []
  const rows = await sql<Line & { moved: number }>(
    trx,
    `select x.* from unnest(cast(:ids as uuid[]), cast(:skips as int[]), cast(:takes as int[])) with ordinality w (account_id, skip, take, place)
     cross join lateral (
       select ${columns}, cast(sum(l.debit - l.credit) over (order by l.posting_date, e.sequence, l.line_no rows unbounded preceding) as bigint) as moved
       from ${source} where ${asked} and l.account_id = w.account_id
       order by l.posting_date, e.sequence, l.line_no limit w.take offset w.skip) x
     order by w.place, x.posting_date, x.sequence, x.line_no`,
    {
      ...valuesOf(trx, span),
      ids: wanted.map(({ part }) => part.accountId),
      skips: wanted.map(({ skip }) => skip),
      takes: wanted.map(({ take }) => take),
    },
  )
  const byId = new Map(parts.map((part) => [part.accountId, part]))
  return rows.flatMap(({ moved, ...line }) => {
    const part = byId.get(line.accountId)
    return part ? [shown(part, line, part.opening + onSide(part.account, moved))] : []
  })
}

/** A mark before the first and after the last line of an account, in files. */
type Mark = { mark: 'opening' | 'closing'; part: Part }

async function* allOf(trx: Trx, span: Span, parts: readonly Part[]): AsyncGenerator<LedgerLine | Mark> {
  const lines = streamed<Line>(
    trx,
    `select ${columns} from ${source} join account a on a.tenant_id = l.tenant_id and a.id = l.account_id
     where ${asked} and l.account_id = any(cast(:ids as uuid[]))
     order by a.code collate "C", a.id, l.posting_date, e.sequence, l.line_no`,
    { ...valuesOf(trx, span), ids: parts.map(({ accountId }) => accountId) },
  )
  let next = await lines.next()
  for (const part of parts) {
    yield { mark: 'opening', part }
    let balance = part.opening
    while (next.done !== true && next.value.accountId === part.accountId) {
      balance += onSide(part.account, next.value.debit - next.value.credit)
      yield shown(part, next.value, balance)
      next = await lines.next()
    }
    yield { mark: 'closing', part }
  }
}

const columnsOf = ({ locale }: Meta): Column[] => {
  const word = (key: string) => wordOf(key, locale)
  return [
    { key: 'code', title: word('code'), kind: 'text', width: 12 },
    { key: 'accountName', title: word('account'), kind: 'text', width: 28 },
    { key: 'postingDate', title: word('date'), kind: 'day' },
    { key: 'number', title: word('number'), kind: 'count' },
    { key: 'sequence', title: word('sequence'), kind: 'count' },
    { key: 'description', title: word('description'), kind: 'text', width: 40 },
    { key: 'memo', title: word('memo'), kind: 'text', width: 20 },
    { key: 'debit', title: word('debit'), kind: 'amount' },
    { key: 'credit', title: word('credit'), kind: 'amount' },
    { key: 'balance', title: word('balance'), kind: 'amount' },
    { key: 'usaliCode', title: word('usali_code'), kind: 'text', width: 12 },
    { key: 'referentialCode', title: word('referential_code'), kind: 'text', width: 14 },
  ]
}

/**
 * Lines by account in the order of code, date and posting, with the balance after each (R11). Closing entries are among them. In files each account begins
 * with its opening balance and ends with its closing one.
 */
export const openGeneralLedger = async (trx: Trx, given: Asked, sight: Sight, window: Window): Promise<Reading> => {
  const book = await ledgerBook(trx, given, sight)
  const range = rangeOf('general_ledger', given, book, window)
  const properties = scopeOf(given, sight)
  const meta = await metaOf(trx, 'general_ledger', book, range, properties, sight)
  const yearStart = await yearStartOf(trx, book.id, range.from)
  const { accountId: only, costCenterId } = given as { accountId?: readonly string[]; costCenterId?: string }
  const all = await accountsOf(trx, book.id)
  const accounts = all.filter(({ id, postable }) => postable && (only === undefined || only.includes(id)))
  const span: Span = { bookId: book.id, ...range, properties, costCenterId, accountIds: only, withClosing: true }
  const ofYears = accounts.filter((account) => !isResult(account)).map(({ id }) => id)
  const ofOneYear = accounts.filter(isResult).map(({ id }) => id)
  const until = dayBefore(range.from)
  const [standing, yearly, moved] = await Promise.all([
    movement(trx, { ...span, accountIds: ofYears, from: null, to: until }),
    movement(trx, { ...span, accountIds: ofOneYear, from: yearStart, to: until }),
    movement(trx, span),
  ])
  const parts = partsOf(accounts, [...standing, ...yearly], moved)
  const total = parts.reduce((count, { lines }) => count + lines, 0)
  const sums = {
    debit: parts.reduce((sum, { debit }) => sum + debit, 0),
    credit: parts.reduce((sum, { credit }) => sum + credit, 0),
  }
  const codes = new Map(all.map((account) => [account.id, account]))
  return {
    meta,
    rows: window === null ? allOf(trx, span, parts) : await pageOf(trx, span, parts, given, window),
    total,
    totals: () => ({ ...sums, accounts: parts.map(totalOf) }),
    columns: columnsOf(meta),
    flat: (row) => flatRow(row as LedgerLine | Mark, codes, meta),
    foot: () => ({ accountName: wordOf('totals', meta.locale), ...sums }),
  }
}

const flatRow = (row: LedgerLine | Mark, codes: ReadonlyMap<string, LedgerAccount>, { locale }: Meta): FileRow[] => {
  if ('mark' in row) {
    const { account, opening, closing } = row.part
    return [
      {
        code: account.code,
        accountName: account.name,
        description: wordOf(row.mark, locale),
        balance: row.mark === 'opening' ? opening : closing,
        usaliCode: account.usaliCode,
        referentialCode: account.referentialCode,
      },
    ]
  }
  const account = codes.get(row.accountId)
  return [{ ...row, usaliCode: account?.usaliCode ?? '', referentialCode: account?.referentialCode ?? '' }]
}
