import type { CashAccountKind } from '../../config/cash.ts'
import { addDays, todayIn } from '../../config/time.ts'
import { unprocessable } from '../../config/errors.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { whereOf } from '../lib/conditions.ts'
import { bankBalance } from './bank-balance.ts'
import type { BankBalance } from './bank-balance.ts'
import type { Sight } from './sight.ts'

/** The sources of expected money in and out, and the modules that tell of them. */
export const forecasts = {
  receivables: 'in',
  payouts: 'in',
  charges: 'in',
  payables: 'out',
  recurring: 'out',
  transfers: 'out',
} as const
export type ForecastName = keyof typeof forecasts

/**
 * Selects `currency`, `date`, `amount` (more than 0) and `property_id` (null for the whole house) of what is open; `:tenantId`, `:bookId` and `:propertyId` (both may be
 * null, for all) are bound, and so is `:until`, the last day that is asked for. What is due before today counts as overdue.
 */
const texts = new Map<ForecastName, string>()

/** Adds money of a module that is still to come or to go. */
export const registerForecast = (name: ForecastName, text: string): void => {
  texts.set(name, text)
}

registerForecast(
  'transfers',
  `select t.currency, t.scheduled_on as date, t.amount, t.property_id from cash_transfer t where t.tenant_id = :tenantId
     and (cast(:bookId as uuid) is null or t.book_id = :bookId) and (cast(:propertyId as uuid) is null or t.property_id = :propertyId)
     and t.status in ('approved', 'sending', 'unknown') and t.source_type is distinct from 'payable_payment_item' and t.to_account_id is null`,
)

export type PositionAsked = {
  bookId?: string | undefined
  propertyId?: string | undefined
  /** The number of days ahead, 0 to 90. */
  days: number
}
type AccountRow = {
  id: string
  name: string
  kind: CashAccountKind
  currency: string
  balance: number
  cleared: number
  reserved: number
  hidden: boolean
  bank: BankBalance | null
}
type Expected = { name: ForecastName; currency: string; date: string; amount: number }

const accountsOf = (trx: Trx, { bookId, propertyId }: PositionAsked, scope: Condition): Promise<AccountRow[]> =>
  sql<AccountRow>(
    trx,
    `select a.id, a.name, a.kind, a.currency, a.balance, a.cleared, coalesce(s.blind, false) as hidden,
       coalesce((select sum(t.amount + t.fee) from cash_transfer t where t.tenant_id = a.tenant_id and t.from_account_id = a.id
         and t.status in ('approved', 'sending', 'unknown')), 0)::bigint as reserved,
       (select jsonb_build_object('balance', k.balance, 'on', k."on") from (${bankBalance('a.id', 'a.tenant_id')}) k) as bank
     from cash_account a left join cash_session s on s.tenant_id = a.tenant_id and s.register_id = a.id and s.status = 'open'
     where a.tenant_id = :tenantId and a.status = 'active' and (cast(:bookId as uuid) is null or a.book_id = :bookId)
       and (cast(:propertyId as uuid) is null or a.property_id = :propertyId) and :scope
     order by a.currency, a.kind, a.code, a.id limit 1000`,
    {
      tenantId: contextOf(trx).tenantId,
      bookId: bookId ?? null,
      propertyId: propertyId ?? null,
      scope: whereOf(scope, { propertyId: 'a.property_id' }),
    },
  )

const expectedOf = (
  trx: Trx,
  { bookId, propertyId }: PositionAsked,
  until: string,
  scope: Condition,
): Promise<Expected[]> =>
  sql<Expected>(
    trx,
    `select f.name, f.currency, f.date, sum(f.amount)::bigint as amount from (
       ${[...texts].map(([name, text]) => `select '${name}' as name, x.currency, x.date, x.amount, x.property_id from (${text}) x`).join(' union all ')}) f
     where f.date <= cast(:until as date) and :scope group by 1, 2, 3`,
    {
      tenantId: contextOf(trx).tenantId,
      bookId: bookId ?? null,
      propertyId: propertyId ?? null,
      until,
      scope: whereOf(scope, { propertyId: 'f.property_id' }),
    },
  )

const sumOf = (rows: readonly Expected[], name: ForecastName, date: string) =>
  rows.filter((row) => row.name === name && row.date === date).reduce((sum, row) => sum + row.amount, 0)
const total = (sums: Record<string, number>) => Object.values(sums).reduce((sum, amount) => sum + amount, 0)

const inCurrency = (
  currency: string,
  accounts: readonly AccountRow[],
  expected: readonly Expected[],
  { today, days, mayApprove }: { today: string; days: number; mayApprove: boolean },
) => {
  const own = accounts.filter((one) => one.currency === currency)
  const seen = (one: AccountRow) => (one.hidden && !mayApprove ? null : one.balance)
  const sum = own.reduce((balance, one) => balance + (seen(one) ?? 0), 0)
  const of = expected.filter((row) => row.currency === currency)
  const overdue = (way: 'in' | 'out') =>
    of.filter((row) => row.date < today && forecasts[row.name] === way).reduce((amount, row) => amount + row.amount, 0)
  let closing = sum
  const forecast = Array.from({ length: days }, (_, index) => {
    const date = addDays(today, index)
    const came = {
      receivables: sumOf(of, 'receivables', date),
      payouts: sumOf(of, 'payouts', date),
      charges: sumOf(of, 'charges', date),
    }
    const went = {
      payables: sumOf(of, 'payables', date),
      recurring: sumOf(of, 'recurring', date),
      transfers: sumOf(of, 'transfers', date),
    }
    closing += total(came) - total(went)
    return { date, in: came, out: went, closing }
  })
  return {
    currency,
    accounts: own.map((one) => ({
      id: one.id,
      name: one.name,
      kind: one.kind,
      balance: seen(one),
      cleared: one.cleared,
      bank: one.bank,
      reserved: one.reserved,
    })),
    total: sum,
    overdue: { in: overdue('in'), out: overdue('out') },
    days: forecast,
  }
}

/**
 * The money of the house by currency, with what each of the next days brings and takes; overdue money is apart. 422 `reference_not_found` for a book that is not
 * there.
 */
export const readPosition = async (trx: Trx, asked: PositionAsked, scope: Condition, sight: Sight) => {
  const [place] = await sql<{ timeZone: string }>(
    trx,
    `select coalesce(p.timezone, b.time_zone) as time_zone from book b
     left join property p on p.tenant_id = b.tenant_id and p.book_id = b.id and p.id = cast(:propertyId as uuid)
     where b.tenant_id = :tenantId and (cast(:bookId as uuid) is null or b.id = :bookId)
       and (cast(:propertyId as uuid) is null or p.id is not null) order by b.is_default desc limit 1`,
    { tenantId: contextOf(trx).tenantId, bookId: asked.bookId ?? null, propertyId: asked.propertyId ?? null },
  )
  if (!place)
    throw unprocessable('reference_not_found', 'There is no such book or property', [
      { field: asked.propertyId === undefined ? 'bookId' : 'propertyId', message: 'is not of the tenant' },
    ])
  const today = todayIn(place.timeZone)
  const [accounts, expected] = await Promise.all([
    accountsOf(trx, asked, scope),
    expectedOf(trx, asked, addDays(today, asked.days), scope),
  ])
  const currencies = [...new Set([...accounts, ...expected].map((one) => one.currency))].toSorted()
  return currencies.map((currency) =>
    inCurrency(currency, accounts, expected, { today, days: asked.days, mayApprove: sight.mayApprove }),
  )
}
