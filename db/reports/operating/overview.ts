import { wordOf } from '../../../config/report-texts.ts'
import { readAgeing as readPayables } from '../../accounts-payable/index.ts'
import { readAgeing as readReceivables } from '../../accounts-receivable/index.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { exchanges } from '../exchange.ts'
import { balance } from '../figures.ts'
import { daysAsked, housesOf, metaOfHouses } from '../houses.ts'
import type { House } from '../houses.ts'
import { accountsOf } from '../ledger-context.ts'
import { capacityBy, nightsBy } from '../nights.ts'
import type { Asked, ColumnKind, Reading, Sight, Window } from '../reading.ts'
import { profitsOf } from '../revenue.ts'
import { isCash } from '../rules/cash-flow.ts'
import { isWholeMonths, lastYearRange, previousRange } from '../rules/dates.ts'
import type { Range } from '../rules/dates.ts'
import { figuresOf, noCapacity, noNights, noStays, summedUp } from '../rules/operating.ts'
import type { Figures, Parts } from '../rules/operating.ts'
import { staysBy } from '../stays.ts'
import { columnsOf } from './table.ts'

type Position = {
  result: number
  deposits: number
  /** Open past their due dates at the end of the range. */
  overdueReceivables: number
  overduePayables: number
  cash: number | null
}
type Seen = { parts: Parts; position: Position }
type Shown = Figures & Position
/** `currency` is that of the amounts, which are converted; the house itself may have another one. */
export type OverviewRow = {
  propertyId: string
  bookId: string
  currency: string
  propertyCurrency: string
} & Shown & { compared?: Shown }

const columns: Record<string, ColumnKind> = {
  name: 'text', available: 'count', sold: 'count', occupancy: 'ratio', adr: 'amount', revpar: 'amount', roomRevenue: 'amount', totalRevenue: 'amount',
  trevpar: 'amount', grossOperatingProfit: 'amount', goppar: 'amount', result: 'amount', cash: 'amount', deposits: 'amount', overdueReceivables: 'amount',
  overduePayables: 'amount',
} // prettier-ignore

/** The figures of a range. The profit for each unit is of whole months alone (R15); the profit itself is of any days. */
const shownOf = ({ parts, position }: Seen, range: Range): Shown => {
  const figures = figuresOf(parts)
  return { ...figures, goppar: isWholeMonths(range.from, range.to) ? figures.goppar : null, ...position }
}

const booksOf = (houses: readonly House[]) => {
  const books = new Map<string, House[]>()
  for (const house of houses) books.set(house.bookId, [...(books.get(house.bookId) ?? []), house])
  return books
}

/** Cash of a book, and deposits of each of its houses, at the end of a day. Cash belongs to the book as a whole. */
const positionsOf = async (trx: Trx, bookId: string, on: string, sight: Sight) => {
  const accounts = await accountsOf(trx, bookId)
  const deposits = new Set(accounts.filter(({ role }) => role === 'deposits').map(({ id }) => id))
  const cash = new Set(accounts.filter(isCash).map(({ id }) => id))
  const figures = await balance(
    trx,
    { bookId, on, properties: sight.propertyIds, accountIds: [...deposits, ...cash], withClosing: true },
    ['property'],
  )
  const held = new Map<string | null, number>()
  let inHand = 0
  for (const { accountId, propertyId, debit, credit } of figures) {
    if (deposits.has(accountId)) held.set(propertyId, (held.get(propertyId) ?? 0) + credit - debit)
    else inHand += debit - credit
  }
  return { held, cash: sight.propertyIds === null ? inHand : null }
}

type Aged = { key: string | null; total: number; notDue: number }

/** Amounts of a book past their due dates at the end of a day, by house, as the ageings have them. */
const overdueIn = async (read: (page: number) => Promise<{ total: number; rows: Aged[] }>) => {
  const found = new Map<string | null, number>()
  for (let page = 1, seen = 0; ; page += 1) {
    const { total, rows } = await read(page)
    for (const { key, total: open, notDue } of rows) found.set(key, open - notDue)
    seen += rows.length
    if (rows.length === 0 || seen >= total) return found
  }
}

const overdueOn = async (trx: Trx, bookId: string, on: string) => {
  const asked = { bookId, asOf: on, by: 'property' as const, limit: 100 }
  return {
    receivables: await overdueIn((page) => readReceivables(trx, { ...asked, page })),
    payables: await overdueIn((page) => readPayables(trx, { ...asked, page })),
  }
}

/** Figures of each house in one currency: income at the mean of the range's rates, balances at that of its last day. */
const seenIn = async (
  trx: Trx,
  houses: readonly House[],
  range: Range,
  currency: string,
  sight: Sight,
  rates: ReturnType<typeof exchanges>,
) => {
  const [nights, capacity, stays] = [
    new Map((await nightsBy(trx, houses, range, 'property')).map((row) => [row.key, row])),
    new Map((await capacityBy(trx, houses, range, 'property')).map((row) => [row.key, row])),
    new Map((await staysBy(trx, houses, range, 'property')).map((row) => [row.key, row])),
  ]
  const seen = new Map<string, Seen>()
  const cashOf = new Map<string, number | null>()
  for (const [bookId, of] of booksOf(houses)) {
    const exchange = await rates.between((of[0] as House).currency, currency)
    const inRange = (amount: number) => exchange.over(amount, range)
    const profits = await profitsOf(
      trx,
      bookId,
      of.map(({ id }) => id),
      range,
    )
    const { held, cash } = await positionsOf(trx, bookId, range.to, sight)
    const overdue = await overdueOn(trx, bookId, range.to)
    const atEnd = (amount: number | undefined) => exchange.at(amount ?? 0, range.to)
    const inHand = cash === null ? null : exchange.at(cash, range.to)
    cashOf.set(bookId, inHand)
    for (const { id } of of) {
      const slept = summedUp(noNights, [nights.get(id) ?? noNights])
      const { grossOperatingProfit = 0, result = 0, totalRevenue = 0 } = profits.get(id) ?? {}
      seen.set(id, {
        parts: {
          nights: {
            ...slept,
            roomRevenue: inRange(slept.roomRevenue),
            includedTax: inRange(slept.includedTax),
            commission: inRange(slept.commission),
          },
          stays: summedUp(noStays, [stays.get(id) ?? noStays]),
          capacity: summedUp(noCapacity, [capacity.get(id) ?? noCapacity]),
          totalRevenue: inRange(totalRevenue),
          grossOperatingProfit: inRange(grossOperatingProfit),
        },
        position: {
          result: inRange(result),
          deposits: atEnd(held.get(id)),
          overdueReceivables: atEnd(overdue.receivables.get(id)),
          overduePayables: atEnd(overdue.payables.get(id)),
          cash: inHand,
        },
      })
    }
  }
  return { seen, cashOf }
}

/** Sums of houses; averages and ratios follow from them. The cash of a book counts once. */
const together = ({ seen, cashOf }: Awaited<ReturnType<typeof seenIn>>): Seen => {
  const all = [...seen.values()]
  const total = (amounts: readonly (number | null)[]) => amounts.reduce<number>((sum, amount) => sum + (amount ?? 0), 0)
  const cash = [...cashOf.values()]
  return {
    parts: {
      nights: summedUp(
        noNights,
        all.map(({ parts }) => parts.nights),
      ),
      stays: summedUp(
        noStays,
        all.map(({ parts }) => parts.stays),
      ),
      capacity: summedUp(
        noCapacity,
        all.map(({ parts }) => parts.capacity ?? noCapacity),
      ),
      totalRevenue: total(all.map(({ parts }) => parts.totalRevenue)),
      grossOperatingProfit: total(all.map(({ parts }) => parts.grossOperatingProfit)),
    },
    position: {
      result: total(all.map(({ position }) => position.result)),
      deposits: total(all.map(({ position }) => position.deposits)),
      overdueReceivables: total(all.map(({ position }) => position.overdueReceivables)),
      overduePayables: total(all.map(({ position }) => position.overduePayables)),
      cash: cash.includes(null) ? null : total(cash),
    },
  }
}

const currencyFor = async (trx: Trx, houses: readonly House[], asked: string | undefined): Promise<string> => {
  if (asked !== undefined) return asked
  const [book] = await sql<{ currency: string }>(trx, `select currency from book where tenant_id = ? and is_default`, [
    contextOf(trx).tenantId,
  ])
  const own = new Set(houses.map(({ currency }) => currency))
  return own.size === 1 ? (houses[0] as House).currency : (book?.currency ?? (houses[0] as House).currency)
}

/** Key figures of each house and of all of them, in one currency, beside those of another range. */
export const openOverview = async (
  trx: Trx,
  asked: Asked,
  sight: Sight,
  window: Window,
): Promise<Reading<OverviewRow>> => {
  const { compare, currency: wanted } = asked as { compare?: 'previous_period' | 'last_year'; currency?: string }
  const houses = await housesOf(trx, 'financial_overview', asked, sight, null)
  const range = daysAsked('financial_overview', asked, houses, window)
  const currency = await currencyFor(trx, houses, wanted)
  const meta = { ...(await metaOfHouses(trx, 'financial_overview', houses, range, sight)), currency }
  const rates = exchanges(trx)
  const now = await seenIn(trx, houses, range, currency, sight, rates)
  const other = compare === undefined ? null : compare === 'last_year' ? lastYearRange(range) : previousRange(range)
  const then = other === null ? null : await seenIn(trx, houses, other, currency, sight, rates)
  rates.refuseMissing()
  const rows = houses.map(({ id, bookId, currency: own }): OverviewRow => {
    const compared = then?.seen.get(id)
    return {
      propertyId: id,
      bookId,
      currency,
      propertyCurrency: own,
      ...shownOf(now.seen.get(id) as Seen, range),
      ...(compared ? { compared: shownOf(compared, other as Range) } : {}),
    }
  })
  const totals = {
    ...shownOf(together(now), range),
    ...(then ? { compared: shownOf(together(then), other as Range) } : {}),
  }
  const names = new Map(houses.map(({ id, name }) => [id, name]))
  const flat = ({ compared, ...figures }: Shown & { compared?: Shown }, name: string) => [
    { ...figures, name },
    ...(compared ? [{ ...compared, name: `${name}: ${wordOf(compare ?? '', meta.locale)}` }] : []),
  ]
  const [all, ...allCompared] = flat(totals, wordOf('totals', meta.locale))
  const last = rows.at(-1)
  return {
    meta,
    rows,
    totals: () => totals,
    columns: columnsOf(meta.locale, columns),
    // The other range stands below each house; of all of them it comes before the totals, which are the last row.
    flat: (row) => [...flat(row, names.get(row.propertyId) ?? ''), ...(row === last ? allCompared : [])],
    foot: () => all ?? null,
    usedRates: rates.used(),
  }
}
