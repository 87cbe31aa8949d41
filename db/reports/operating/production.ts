import { wordOf } from '../../../config/report-texts.ts'
import type { productionViews } from '../../../config/reports.ts'
import { split, sum } from '../../lib/amounts.ts'
import type { Trx } from '../../lib/connection.ts'
import { basisOf, daysAsked, housesOfOneCurrency, metaOfHouses } from '../houses.ts'
import type { Basis, House } from '../houses.ts'
import { bookedNightsBy, bookingsBeside } from '../nights.ts'
import type { Asked, Column, ColumnKind, FileRow, Reading, Sight, Window } from '../reading.ts'
import type { Range } from '../rules/dates.ts'
import { averageOf, noNights, noStays, summedUp } from '../rules/operating.ts'
import type { Nights, Stays } from '../rules/operating.ts'
import { ratioOf } from '../rules/vectors.ts'
import { extrasBy, staysBy } from '../stays.ts'
import { columnsOf, namesOf } from './table.ts'

type By = (typeof productionViews)[number]
type Sums = { bookings: number; nights: Nights; stays: Stays; other: ReadonlyMap<string, number> }

export type ProductionRow = {
  key: string
  basis: Basis
  bookings: number
  /** All nights slept, free ones too; `sold` are those that were paid. */
  unitNights: number
  sold: number
  roomRevenue: number
  share: string | null
  adr: number | null
  commission: number
  netRevenue: number
  cancellations: number
  leadTime: string | null
  otherRevenue: number
  otherRevenueByCategory: { category: string; amount: number }[]
}

const columns: Record<string, ColumnKind> = {
  name: 'text', bookings: 'count', unitNights: 'count', sold: 'count', roomRevenue: 'amount', share: 'ratio', adr: 'amount', commission: 'amount',
  netRevenue: 'amount', cancellations: 'count', leadTime: 'ratio', otherRevenue: 'amount',
} // prettier-ignore

const fees: ReadonlySet<string> = new Set(['cancellation', 'no_show', 'early_departure'])

/** Shares of amounts in parts of 10,000 by largest remainder: they sum to 1, with shares below 0 for amounts below 0. Null where the amounts come to nothing. */
const sharesOf = (amounts: readonly number[]): (string | null)[] => {
  const all = sum(amounts)
  if (all === 0) return amounts.map(() => null)
  return split(10_000, all < 0 ? amounts.map((amount) => 0 - amount) : amounts).map((part) => ratioOf(part, 10_000))
}

const rowOf = (key: string, basis: Basis, { bookings, nights, stays, other }: Sums): Omit<ProductionRow, 'share'> => {
  const { sold, complimentary, houseUse, roomRevenue, commission } = nights
  return {
    key,
    basis,
    bookings,
    unitNights: sold + complimentary + houseUse,
    sold,
    roomRevenue,
    adr: averageOf(roomRevenue, sold),
    commission,
    netRevenue: roomRevenue - commission,
    cancellations: stays.cancelled,
    leadTime: ratioOf(stays.leadDays, stays.arrivals),
    otherRevenue: sum([...other.values()]),
    otherRevenueByCategory: [...other]
      .map(([category, amount]) => ({ category, amount }))
      .toSorted((a, b) => (a.category < b.category ? -1 : 1)),
  }
}

const merged = (all: readonly Sums[]): Sums => {
  const other = new Map<string, number>()
  for (const one of all)
    for (const [category, amount] of one.other) other.set(category, (other.get(category) ?? 0) + amount)
  return {
    bookings: sum(all.map(({ bookings }) => bookings)),
    nights: summedUp(
      noNights,
      all.map(({ nights }) => nights),
    ),
    stays: summedUp(
      noStays,
      all.map(({ stays }) => stays),
    ),
    other,
  }
}

const sumsBy = async (trx: Trx, houses: readonly House[], range: Range, by: By): Promise<Map<string | null, Sums>> => {
  const nights = new Map((await bookedNightsBy(trx, houses, range, by)).map((row) => [row.key, row]))
  const stays = new Map((await staysBy(trx, houses, range, by)).map((row) => [row.key, row]))
  const others = new Map<string | null, Map<string, number>>()
  for (const { key, category, amount } of await extrasBy(trx, houses, range, by))
    others.set(key, (others.get(key) ?? new Map<string, number>()).set(category, amount))
  const keys = new Set([...nights.keys(), ...stays.keys(), ...others.keys()])
  return new Map(
    [...keys].map((key) => {
      const of = nights.get(key)
      return [
        key,
        {
          bookings: of?.bookings ?? 0,
          nights: summedUp(noNights, of ? [of] : []),
          stays: summedUp(noStays, [stays.get(key) ?? noStays]),
          other: others.get(key) ?? new Map<string, number>(),
        },
      ]
    }),
  )
}

/** Production of channels, sources, segments and others (R18): bookings, nights, revenue with shares that sum to 1, commission, and revenue beside the room. */
export const openProduction = async (
  trx: Trx,
  asked: Asked,
  sight: Sight,
  window: Window,
): Promise<Reading<ProductionRow>> => {
  const { by = 'channel', top = 500 } = asked as { by?: By; top?: number }
  const houses = await housesOfOneCurrency(trx, 'production', asked, sight, window)
  const range = daysAsked('production', asked, houses, window)
  const meta = await metaOfHouses(trx, 'production', houses, range, sight)
  const basis = basisOf(houses, range)
  const sums = [...(await sumsBy(trx, houses, range, by))].toSorted(
    ([a, one], [b, other]) => other.nights.roomRevenue - one.nights.roomRevenue || ((a ?? '') < (b ?? '') ? -1 : 1),
  )
  const without = by === 'channel' ? 'direct' : 'none'
  const shownKeys = sums.slice(0, top).map(([key]) => key)
  const rest = merged(sums.slice(top).map(([, of]) => of))
  const all = merged(sums.map(([, of]) => of))
  // A booking with nights of several keys is one booking in all: its guest may move, and its firm may change, from one night to the next.
  const bookings = sum((await bookedNightsBy(trx, houses, range, 'property')).map((one) => one.bookings))
  // So it is among the others, too; where none has several keys, they are what their rows come to.
  const restBookings =
    sums.length > top && all.bookings > bookings
      ? await bookingsBeside(trx, houses, range, { by, keys: shownKeys })
      : rest.bookings
  const shown = [
    ...sums.slice(0, top).map(([key, of]) => rowOf(key ?? without, basis, of)),
    ...(sums.length > top ? [rowOf('others', basis, { ...rest, bookings: restBookings })] : []),
  ]
  const shares = sharesOf(shown.map(({ roomRevenue }) => roomRevenue))
  const rows = shown.map((row, index): ProductionRow => ({ ...row, share: shares[index] ?? null }))
  const { key: _, basis: __, ...total } = rowOf('', basis, { ...all, bookings })
  const totals = { ...total, share: total.roomRevenue === 0 ? null : '1.0000' }
  const nameOf = await namesOf(trx, by, shownKeys, meta.locale)
  const nameIn = (key: string) => (key === 'others' ? wordOf(key, meta.locale) : nameOf(key === without ? null : key))
  const flat = ({ otherRevenueByCategory, ...row }: typeof totals, name: string): FileRow => ({
    ...row,
    name,
    ...Object.fromEntries(otherRevenueByCategory.map(({ category, amount }) => [`other ${category}`, amount])),
  })
  const word = (key: string) => wordOf(key, meta.locale)
  const categories = total.otherRevenueByCategory.map(({ category }): Column => ({
    key: `other ${category}`,
    title: `${word('otherRevenue')}: ${word(fees.has(category) ? `${category}_fee` : category)}`,
    kind: 'amount',
  }))
  return {
    meta,
    rows,
    totals: () => totals,
    columns: [...columnsOf(meta.locale, columns), ...categories],
    flat: ({ key, basis: ____, ...row }) => [flat(row, nameIn(key))],
    foot: () => flat(totals, wordOf('totals', meta.locale)),
    charts: [{ label: 'name', keys: ['roomRevenue', 'netRevenue'] }],
  }
}
