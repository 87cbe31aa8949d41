import { ApiError, invalid } from '../../../config/errors.ts'
import { wordOf } from '../../../config/report-texts.ts'
import { addDays } from '../../../config/time.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { budgeted } from '../budget.ts'
import { movement } from '../figures.ts'
import type { Figure } from '../figures.ts'
import { houseOf, metaOfHouses } from '../houses.ts'
import type { House } from '../houses.ts'
import { accountsOf, yearStartOf } from '../ledger-context.ts'
import type { LedgerAccount } from '../ledger-context.ts'
import type { Asked, ColumnKind, Reading, Sight } from '../reading.ts'
import { isRevenue } from '../revenue.ts'
import { paymentsByDay, refundsByDay } from '../money.ts'
import { addMonths, firstOfMonth } from '../rules/dates.ts'
import type { Range } from '../rules/dates.ts'
import { sectionOf } from '../rules/income.ts'
import { dayTotals } from '../snapshot.ts'
import { openHotelLedgers } from '../statements/hotel-ledgers.ts'
import { figuresOver } from './occupancy.ts'
import { columnsOf } from './table.ts'

type Value = number | string | null
type Values = { day: Value; monthToDate: Value; yearToDate: Value; lastYear: Value; budget: Value }
export type DailyRow = Values & {
  group: 'revenue' | 'payments' | 'taxes' | 'statistics' | 'ledgers'
  key: string
  name: string
  level: number
  unit: 'amount' | 'count' | 'ratio'
}
/** The four ranges that figures are told for. */
type Ranges = { day: Range; month: Range; year: Range; lastYear: Range }
type Four<T> = Record<keyof Ranges, T>

const columns: Record<string, ColumnKind> = {
  group: 'text', name: 'text', day: 'text', monthToDate: 'text', yearToDate: 'text', lastYear: 'text', budget: 'text',
} // prettier-ignore
const sections = [
  'rooms_revenue',
  'rooms_allowances',
  'food_beverage_revenue',
  'food_beverage_allowances',
  'other_operated_revenue',
  'other_operated_allowances',
  'other_income',
]

const fourOf = async <T>(ranges: Ranges, read: (range: Range) => Promise<T>): Promise<Four<T>> => ({
  day: await read(ranges.day),
  month: await read(ranges.month),
  year: await read(ranges.year),
  lastYear: await read(ranges.lastYear),
})
const valuesOf = (of: (which: keyof Ranges) => Value, budget: Value = null): Values => ({
  day: of('day'),
  monthToDate: of('month'),
  yearToDate: of('year'),
  lastYear: of('lastYear'),
  budget,
})

const creditsBy = (figures: readonly Figure[]): Map<string, number> => {
  const found = new Map<string, number>()
  for (const { accountId, debit, credit } of figures) found.set(accountId, (found.get(accountId) ?? 0) + credit - debit)
  return found
}

const budgetOf = async (trx: Trx, span: Parameters<typeof budgeted>[1]): Promise<Map<string, number> | null> => {
  try {
    return creditsBy(await budgeted(trx, span, undefined))
  } catch (error) {
    if (error instanceof ApiError && error.code === 'no_budget') return null
    throw error
  }
}

/** Revenue by section and account, gratuities, and fees of gateways, from the ledger. */
const ofLedger = async (trx: Trx, { id, bookId }: House, ranges: Ranges, word: (key: string) => string) => {
  const accounts = await accountsOf(trx, bookId)
  const base = { bookId, properties: [id], withClosing: false }
  const moved = await fourOf(ranges, async (range) => creditsBy(await movement(trx, { ...base, ...range })))
  const planned = await budgetOf(trx, { ...base, ...ranges.day })
  const sumOf = (which: keyof Ranges, of: readonly LedgerAccount[]) =>
    of.reduce((sum, account) => sum + (moved[which].get(account.id) ?? 0), 0)
  const budget = (of: readonly LedgerAccount[]) =>
    planned === null ? null : of.reduce((sum, account) => sum + (planned.get(account.id) ?? 0), 0)
  const rowOf = (
    of: readonly LedgerAccount[],
    row: Pick<DailyRow, 'group' | 'key' | 'name' | 'level'>,
    sign = 1,
  ): DailyRow => ({
    ...row,
    unit: 'amount',
    ...valuesOf((which) => 0 + sign * sumOf(which, of), row.group === 'revenue' ? budget(of) : null),
  })
  const revenue = accounts.filter((account) => account.postable && isRevenue(account))
  const rows = sections.flatMap((section) => {
    const of = revenue.filter((account) => sectionOf(account) === section)
    const used = of.filter(
      (account) =>
        (['day', 'month', 'year', 'lastYear'] as const).some((which) => moved[which].has(account.id)) ||
        (planned?.get(account.id) ?? 0) !== 0,
    )
    return [
      rowOf(of, { group: 'revenue', key: section, name: word(section), level: 0 }),
      ...used.map((account) =>
        rowOf([account], { group: 'revenue', key: account.role ?? account.code, name: account.name, level: 1 }),
      ),
    ]
  })
  const byRole = (...roles: string[]) => accounts.filter(({ role }) => role !== null && roles.includes(role))
  return {
    revenue: [
      ...rows,
      rowOf(revenue, { group: 'revenue', key: 'total_revenue', name: word('totalRevenue'), level: 0 }),
    ],
    gratuities: rowOf(byRole('gratuities_payable'), {
      group: 'taxes',
      key: 'gratuities',
      name: word('gratuities'),
      level: 0,
    }),
    fees: rowOf(
      byRole('processor_fees', 'platform_fees'),
      { group: 'payments', key: 'gateway_fees', name: word('gatewayFees'), level: 0 },
      -1,
    ),
  }
}

type Paid = { method: string; received: number; refunded: number }

/**
 * Money that came and went back, by method: payments and their refunds by the business day, receipts and theirs by the day that they came and went on. A receipt that stands for a payment or a credit note is no money of its own.
 */
const paidIn = (trx: Trx, { id }: House, { from, to }: Range) =>
  sql<Paid>(
    trx,
    `select method, cast(sum(received) as bigint) as received, cast(sum(refunded) as bigint) as refunded from (
       select o.method, o.amount as received, 0 as refunded from (${paymentsByDay(`o.tenant_id = :tenantId and o.property_id = :id`)}) o
       union all
       select r.method, 0, r.amount from (${refundsByDay(`r.tenant_id = :tenantId and r.property_id = :id`)}) r
       union all
       select c.method, c.amount, 0 from receipt c where c.tenant_id = :tenantId and c.property_id = :id and c.source_type not in ('payment', 'credit_note')
         and c.status = 'recorded' and c.received_on between cast(:from as date) and cast(:to as date)
       union all
       select c.method, 0, x.amount from receipt_refund x join receipt c on c.tenant_id = x.tenant_id and c.id = x.receipt_id
       where x.tenant_id = :tenantId and c.property_id = :id and c.source_type not in ('payment', 'credit_note') and x.status = 'succeeded'
         and x.ended_on between cast(:from as date) and cast(:to as date)) x
     group by 1`,
    { tenantId: contextOf(trx).tenantId, id, from, to },
  )

const payments = async (trx: Trx, house: House, ranges: Ranges, word: (key: string) => string): Promise<DailyRow[]> => {
  const paid = await fourOf(
    ranges,
    async (range) => new Map((await paidIn(trx, house, range)).map((row) => [row.method, row])),
  )
  const methods = [...new Set(Object.values(paid).flatMap((rows) => [...rows.keys()]))].toSorted()
  const amountOf = (which: keyof Ranges, method: string, field: 'received' | 'refunded') =>
    paid[which].get(method)?.[field] ?? 0
  const row = (key: string, name: string, level: number, of: (which: keyof Ranges) => number): DailyRow => ({
    group: 'payments',
    key,
    name,
    level,
    unit: 'amount',
    ...valuesOf(of),
  })
  const kinds = ['received', 'refunded'] as const
  return methods.flatMap((method) => [
    row(
      `net_${method}`,
      `${word(method)}: ${word('net')}`,
      0,
      (which) => amountOf(which, method, 'received') - amountOf(which, method, 'refunded'),
    ),
    ...kinds.map((kind) =>
      row(`${kind}_${method}`, `${word(method)}: ${word(kind)}`, 1, (which) => amountOf(which, method, kind)),
    ),
  ])
}

type TaxSum = { code: string; amount: number }

/** Taxes of a house by code: of closed days as they were frozen, of the open day as they stand. */
const taxes = async (trx: Trx, { id, openOn }: House, ranges: Ranges): Promise<DailyRow[]> => {
  const { tenantId } = contextOf(trx)
  const frozen = (range: Range) =>
    sql<TaxSum>(
      trx,
      `select t ->> 'code' as code, cast(sum((t ->> 'amount')::bigint) as bigint) as amount
       from business_day d cross join jsonb_array_elements(coalesce(d.totals -> 'taxes', '[]')) t
       where d.tenant_id = ? and d.property_id = ? and d.status = 'closed' and d.date between ?::date and ?::date group by 1`,
      [tenantId, id, range.from, range.to],
    )
  const live =
    ranges.day.to === openOn
      ? ((await dayTotals(trx, { tenantId: tenantId ?? '', propertyId: id, date: openOn }))['taxes'] as TaxSum[])
      : []
  const sums = await fourOf(ranges, async (range) => {
    const found = new Map<string, number>()
    const isOpen = range.from <= openOn && openOn <= range.to
    for (const { code, amount } of [...(await frozen(range)), ...(isOpen ? live : [])])
      found.set(code, (found.get(code) ?? 0) + amount)
    return found
  })
  const codes = [...new Set(Object.values(sums).flatMap((found) => [...found.keys()]))].toSorted()
  return codes.map((code) => ({
    group: 'taxes',
    key: code,
    name: code,
    level: 0,
    unit: 'amount',
    ...valuesOf((which) => sums[which].get(code) ?? 0),
  }))
}

const statistics = [
  ['available', 'count'], ['sold', 'count'], ['complimentary', 'count'], ['houseUse', 'count'], ['roomRevenue', 'amount'], ['totalRevenue', 'amount'],
  ['occupancy', 'ratio'], ['occupancyWithFree', 'ratio'], ['adr', 'amount'], ['adrNet', 'amount'], ['revpar', 'amount'], ['trevpar', 'amount'],
  ['guestsPerUnit', 'ratio'],
] as const // prettier-ignore

/** One day of a house beside the month, the year, the same date a year before and the budget: revenue, payments, taxes, figures and ledgers (R19). */
export const openDailyRevenue = async (trx: Trx, asked: Asked, sight: Sight): Promise<Reading<DailyRow>> => {
  const { date: given } = asked as { date?: string }
  const house = await houseOf(trx, 'daily_revenue', asked, sight)
  const date = given ?? house.closedOn ?? house.openOn
  if (date > house.openOn)
    throw invalid([{ field: 'date', message: `is after the open business day ${house.openOn}` }], 'range_invalid')
  const yearStart = await yearStartOf(trx, house.bookId, date)
  const ago = addMonths(date, -12)
  const ranges: Ranges = {
    day: { from: date, to: date },
    month: { from: firstOfMonth(date), to: date },
    year: { from: yearStart > addDays(date, -400) ? yearStart : firstOfMonth(date), to: date },
    lastYear: { from: ago, to: ago },
  }
  const meta = await metaOfHouses(trx, 'daily_revenue', [house], ranges.day, sight)
  const word = (key: string) => wordOf(key, meta.locale)
  const { revenue, gratuities, fees } = await ofLedger(trx, house, ranges, word)
  const figures = await fourOf(ranges, (range) => figuresOver(trx, [house], range))
  const ledgers = await openHotelLedgers(trx, { propertyId: [house.id], startDate: date, endDate: date }, sight, null)
  const closings: DailyRow[] = []
  for await (const { ledger, closing } of ledgers.rows)
    closings.push({
      group: 'ledgers',
      key: ledger,
      name: word(ledger),
      level: 0,
      unit: 'amount',
      day: closing,
      monthToDate: null,
      yearToDate: null,
      lastYear: null,
      budget: null,
    })
  const rows: DailyRow[] = [
    ...revenue,
    ...(await payments(trx, house, ranges, word)),
    fees,
    ...(await taxes(trx, house, ranges)),
    gratuities,
    ...statistics.map(([key, unit]): DailyRow => ({
      group: 'statistics',
      key,
      name: word(key),
      level: 0,
      unit,
      ...valuesOf((which) => figures[which][key]),
    })),
    ...closings,
  ]
  const { group: _group, key: _key, name: _name, level: _level, unit: _unit, ...totals } = revenue.at(-1) as DailyRow
  return {
    meta,
    rows,
    totals: () => totals,
    columns: columnsOf(meta.locale, columns).map((column) =>
      ['text'].includes(column.kind) && column.key !== 'group' && column.key !== 'name'
        ? { ...column, kind: 'measure' as const }
        : column,
    ),
    flat: (row) => [{ ...row, group: word(row.group) }],
    foot: () => null,
    charts: [{ label: 'name', keys: ['day', 'budget'], takes: ({ key }) => sections.includes(String(key)) }],
  }
}
