import { log } from '../../../config/log.ts'
import { wordOf } from '../../../config/report-texts.ts'
import type { Trx } from '../../lib/connection.ts'
import { movement } from '../figures.ts'
import type { Figure, Span } from '../figures.ts'
import { accountsOf, dayBefore, ledgerBook, metaOf, rangeOf, scopeOf, yearStartOf } from '../ledger-context.ts'
import type { LedgerAccount } from '../ledger-context.ts'
import type { Asked, Column, Meta, Reading, Sight, Window } from '../reading.ts'
import { isResult } from '../rules/income.ts'

type Given = { level?: 'account' | 'group'; includeZero?: boolean; includeClosing?: boolean; costCenterId?: string }

export type TrialBalanceRow = {
  key: string
  accountId: string | null
  code: string | null
  name: string
  class: string | null
  level: number
  opening: number
  debit: number
  credit: number
  closing: number
  usaliCode: string
  referentialCode: string
}
type Sums = { opening: number; debit: number; credit: number }

const none: Sums = { opening: 0, debit: 0, credit: 0 }
const plus = (one: Sums, other: Sums): Sums => ({
  opening: one.opening + other.opening,
  debit: one.debit + other.debit,
  credit: one.credit + other.credit,
})

const rowOf = (account: LedgerAccount, sums: Sums, level: number): TrialBalanceRow => ({
  key: account.id,
  accountId: account.id,
  code: account.code,
  name: account.name,
  class: account.class,
  level,
  ...sums,
  closing: sums.opening + sums.debit - sums.credit,
  usaliCode: account.usaliCode,
  referentialCode: account.referentialCode,
})

const isMoved = ({ opening, debit, credit }: Sums) => opening !== 0 || debit !== 0 || credit !== 0

/** Rows by code: accounts alone, or groups too, each the sum of what is below it. */
const rowsOf = (
  accounts: readonly LedgerAccount[],
  sums: ReadonlyMap<string, Sums>,
  { level, includeZero }: Given,
): TrialBalanceRow[] => {
  const byId = new Map(accounts.map((account) => [account.id, account]))
  const above = (account: LedgerAccount): LedgerAccount[] => {
    const parent = account.parentId === null ? undefined : byId.get(account.parentId)
    return parent ? [parent, ...above(parent)] : []
  }
  const totals = new Map(sums)
  if (level === 'group')
    for (const account of accounts)
      for (const group of above(account))
        totals.set(group.id, plus(totals.get(group.id) ?? none, sums.get(account.id) ?? none))
  return accounts
    .filter((account) => account.postable || level === 'group')
    .map((account) => rowOf(account, totals.get(account.id) ?? none, level === 'group' ? above(account).length : 0))
    .filter((row) => includeZero === true || isMoved(row))
}

const sumsOf = (
  accounts: readonly LedgerAccount[],
  opening: readonly Figure[],
  moved: readonly Figure[],
  prior: readonly Figure[],
) => {
  const results = new Set(accounts.filter(isResult).map(({ id }) => id))
  const sums = new Map<string, Sums>()
  const add = (id: string, more: Partial<Sums>) => sums.set(id, plus(sums.get(id) ?? none, { ...none, ...more }))
  let priorResult = 0
  for (const { accountId, debit, credit } of prior) {
    if (results.has(accountId)) priorResult += debit - credit
    else add(accountId, { opening: debit - credit })
  }
  for (const { accountId, debit, credit } of opening) add(accountId, { opening: debit - credit })
  for (const { accountId, debit, credit } of moved) add(accountId, { debit, credit })
  return { sums, priorResult }
}

const columnsOf = ({ locale }: Meta): Column[] => {
  const word = (key: string) => wordOf(key, locale)
  return [
    { key: 'code', title: word('code'), kind: 'text', width: 14 },
    { key: 'name', title: word('account'), kind: 'text', width: 44 },
    { key: 'opening', title: word('opening'), kind: 'amount' },
    { key: 'debit', title: word('debit'), kind: 'amount' },
    { key: 'credit', title: word('credit'), kind: 'amount' },
    { key: 'closing', title: word('closing'), kind: 'amount' },
    { key: 'usaliCode', title: word('usali_code'), kind: 'text', width: 14 },
    { key: 'referentialCode', title: word('referential_code'), kind: 'text', width: 16 },
  ]
}

/**
 * The trial balance of a range (R7): amounts are debits less credits. Balance-sheet accounts count from the beginning, revenue and expense from the first
 * day of the year of `startDate`; what earlier years left unclosed stands in the row `prior_result`. In all lines of a book the closing balances sum to 0.
 */
export const openTrialBalance = async (
  trx: Trx,
  asked: Asked,
  sight: Sight,
  window: Window,
): Promise<Reading<TrialBalanceRow>> => {
  const given: Given = asked
  const book = await ledgerBook(trx, asked, sight)
  const range = rangeOf('trial_balance', asked, book, window)
  const properties = scopeOf(asked, sight)
  const meta = await metaOf(trx, 'trial_balance', book, range, properties, sight)
  const yearStart = await yearStartOf(trx, book.id, range.from)
  const withClosing = given.includeClosing ?? false
  const span: Omit<Span, 'from' | 'to'> = {
    bookId: book.id,
    properties,
    costCenterId: given.costCenterId,
    withClosing,
  }
  const [accounts, prior, opening, moved] = await Promise.all([
    accountsOf(trx, book.id),
    // What the closing of an earlier year moved is moved, whatever is asked of this one.
    movement(trx, { ...span, from: null, to: dayBefore(yearStart), withClosing: true }),
    movement(trx, { ...span, from: yearStart, to: dayBefore(range.from) }),
    movement(trx, { ...span, ...range }),
  ])
  const { sums, priorResult } = sumsOf(accounts, opening, moved, prior)
  const rows = rowsOf(accounts, sums, given)
  if (priorResult !== 0)
    rows.push({
      key: 'prior_result',
      accountId: null,
      code: null,
      name: wordOf('prior_result', meta.locale),
      class: null,
      level: 0,
      opening: priorResult,
      debit: 0,
      credit: 0,
      closing: priorResult,
      usaliCode: '',
      referentialCode: '',
    })
  const all = [...sums.values()].reduce(plus, { ...none, opening: priorResult })
  const totals = {
    opening: all.opening,
    debit: all.debit,
    credit: all.credit,
    closing: all.opening + all.debit - all.credit,
  }
  const isWhole = properties === null && given.costCenterId === undefined
  if (isWhole && (totals.closing !== 0 || totals.debit !== totals.credit))
    log.error(
      { bookId: book.id, ...totals },
      'a trial balance does not balance: the integrity checks name the accounts',
    )
  return {
    meta,
    rows,
    totals: () => totals,
    columns: columnsOf(meta),
    flat: (row) => [row],
    foot: () => ({ name: wordOf('totals', meta.locale), ...totals }),
  }
}
