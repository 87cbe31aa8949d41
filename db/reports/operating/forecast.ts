import { wordOf } from '../../../config/report-texts.ts'
import { addDays, daysIn } from '../../../config/time.ts'
import type { Trx } from '../../lib/connection.ts'
import { changesOnTheBooks } from '../books.ts'
import { houseOf, metaOfHouses } from '../houses.ts'
import type { House } from '../houses.ts'
import { capacityBy, nightsBy } from '../nights.ts'
import type { Asked, ColumnKind, Reading, Sight } from '../reading.ts'
import { Books, errorOf, guessOf } from '../rules/forecast.ts'
import type { Facts, Realised } from '../rules/forecast.ts'
import { averageOf } from '../rules/operating.ts'
import { ratioOf } from '../rules/vectors.ts'
import { columnsOf } from './table.ts'

export type ForecastRow = {
  date: string
  lead: number
  onTheBooksUnits: number
  onTheBooksRevenue: number
  units: number
  rate: number
  revenue: number
  available: number
  occupancy: string | null
  method: 'pickup' | 'on_the_books'
  comparables: number
  error: string | null
}

const columns: Record<string, ColumnKind> = {
  date: 'day', lead: 'count', onTheBooksUnits: 'count', onTheBooksRevenue: 'amount', units: 'count', rate: 'amount', revenue: 'amount',
  available: 'count', occupancy: 'ratio', method: 'text', comparables: 'count', error: 'ratio',
} // prettier-ignore

/** Closed nights that a forecast may look at: a year and some weeks. */
const daysBack = 500

const factsOf = async (trx: Trx, house: House, last: string, days: number): Promise<Facts> => {
  const from = addDays(last, -daysBack)
  const closed = { from, to: last }
  const nights = new Map((await nightsBy(trx, [house], closed, 'date')).map((row) => [row.key, row]))
  const capacity = await capacityBy(trx, [house], closed)
  const realised = new Map<string, Realised>()
  for (const { key, units, outOfOrder } of capacity) {
    const { sold = 0, complimentary = 0, houseUse = 0, roomRevenue = 0 } = nights.get(key) ?? {}
    realised.set(key ?? '', {
      units: sold + complimentary + houseUse,
      sold,
      roomRevenue,
      available: units - outOfOrder,
    })
  }
  const changes = await changesOnTheBooks(trx, house, { from, to: addDays(last, days) }, { last, days })
  return { books: new Books(changes), realised }
}

/** Units and revenue of nights to come, by what comparable nights gained after they stood so far ahead (R17). From the last closed day on. */
export const openForecast = async (trx: Trx, asked: Asked, sight: Sight): Promise<Reading<ForecastRow>> => {
  const { days = 90 } = asked as { days?: number }
  const house = await houseOf(trx, 'forecast', asked, sight)
  const last = addDays(house.openOn, -1)
  const range = { from: house.openOn, to: addDays(last, days) }
  const meta = { ...(await metaOfHouses(trx, 'forecast', [house], range, sight)), provisional: true, booksAsOf: last }
  const facts = await factsOf(trx, house, last, days)
  const free = new Map((await capacityBy(trx, [house], range)).map((row) => [row.key, row.units - row.outOfOrder]))
  const rows = daysIn(range.from, addDays(range.to, 1)).map((date, index): ForecastRow => {
    const lead = index + 1
    const available = free.get(date) ?? 0
    const { units, method, comparables, onTheBooks, adrOfComparables } = guessOf(facts, date, last, lead, available)
    const rate =
      (onTheBooks.units > 0 && onTheBooks.revenue > 0
        ? averageOf(onTheBooks.revenue, onTheBooks.units)
        : adrOfComparables) ?? 0
    return {
      date,
      lead,
      onTheBooksUnits: onTheBooks.units,
      onTheBooksRevenue: onTheBooks.revenue,
      units,
      rate,
      revenue: units * rate,
      available,
      occupancy: ratioOf(units, available),
      method,
      comparables,
      error: errorOf(facts, last, lead),
    }
  })
  const sum = (field: 'onTheBooksUnits' | 'onTheBooksRevenue' | 'units' | 'revenue' | 'available') =>
    rows.reduce((total, row) => total + row[field], 0)
  const totals = {
    onTheBooksUnits: sum('onTheBooksUnits'),
    onTheBooksRevenue: sum('onTheBooksRevenue'),
    units: sum('units'),
    rate: averageOf(sum('revenue'), sum('units')),
    revenue: sum('revenue'),
    available: sum('available'),
    occupancy: ratioOf(sum('units'), sum('available')),
  }
  return {
    meta,
    rows,
    totals: () => totals,
    columns: columnsOf(meta.locale, columns),
    flat: (row) => [{ ...row, method: wordOf(row.method, meta.locale) }],
    foot: () => totals,
    charts: [
      { label: 'date', keys: ['units', 'onTheBooksUnits'] },
      { label: 'date', keys: ['revenue', 'onTheBooksRevenue'] },
    ],
  }
}
