import { invalid } from '../../../config/errors.ts'
import { wordOf } from '../../../config/report-texts.ts'
import type { paceViews } from '../../../config/reports.ts'
import { addDays, daysIn } from '../../../config/time.ts'
import type { Trx } from '../../lib/connection.ts'
import { booksAt } from '../books.ts'
import type { Booked } from '../books.ts'
import { daysAsked, housesOfOneCurrency, metaOfHouses, openDayOf } from '../houses.ts'
import type { House } from '../houses.ts'
import { capacityBy } from '../nights.ts'
import type { Asked, ColumnKind, Reading, Sight, Window } from '../reading.ts'
import { monthsOf } from '../rules/dates.ts'
import { averageOf } from '../rules/operating.ts'
import { ratioOf } from '../rules/vectors.ts'
import { columnsOf, namesOf } from './table.ts'

type By = (typeof paceViews)[number]
type Books = { unitNights: number; roomRevenue: number }

export type PaceRow = {
  key: string
  unitNights: number
  roomRevenue: number
  adr: number | null
  /** Units to sell as they are now; null where rows are not of days. */
  available: number | null
  occupancy: string | null
  pickupUnits: number
  pickupRevenue: number
  lastYear?: { unitNights: number; roomRevenue: number; finalUnitNights: number; finalRoomRevenue: number }
}

/** The days back to the weekday of the year before. */
const yearDays = 364

const given = (asked: Asked) => asked as { by?: By; asOf?: string; pickupSince?: string; compare?: 'last_year' }

/** The day whose close is read, by default the last closed one, and the day that pickup counts from. 400 `range_invalid` where they are not in order. */
export const paceDays = (asked: Asked, houses: readonly House[]) => {
  const { asOf, pickupSince } = given(asked)
  const open = openDayOf(houses)
  const closed = houses
    .map(({ closedOn }) => closedOn)
    .reduce((last, day) => (day !== null && (last === null || day > last) ? day : last), null)
  const on = asOf ?? closed ?? open
  if (on > open) throw invalid([{ field: 'asOf', message: `is after the open business day ${open}` }], 'range_invalid')
  const since = pickupSince ?? addDays(on, -7)
  if (since > on) throw invalid([{ field: 'pickupSince', message: 'comes after asOf' }], 'range_invalid')
  return { asOf: on, since }
}

const nothing: Books = { unitNights: 0, roomRevenue: 0 }

class Sums {
  private readonly sums = new Map<string, Books>()

  add(key: string, { unitNights, roomRevenue }: Books): void {
    const known = this.of(key)
    this.sums.set(key, { unitNights: known.unitNights + unitNights, roomRevenue: known.roomRevenue + roomRevenue })
  }
  of(key: string): Books {
    return this.sums.get(key) ?? nothing
  }
  keys(): string[] {
    return [...this.sums.keys()]
  }
}

const totalKey = ' all'

/** Sums what was on the books, by the key of a night's row and in all. */
const sumsOf = (nights: readonly Booked[], keyOf: (night: Booked) => string): Sums => {
  const sums = new Sums()
  for (const night of nights) {
    sums.add(keyOf(night), night)
    sums.add(totalKey, night)
  }
  return sums
}

/** The nights on the books of a range as known at the close of a day, the change since an earlier day, and the figures of a year ago (R16). */
export const openPace = async (trx: Trx, asked: Asked, sight: Sight, window: Window): Promise<Reading<PaceRow>> => {
  const { by = 'day', compare } = given(asked)
  const houses = await housesOfOneCurrency(trx, 'pace', asked, sight, window)
  const range = daysAsked('pace', asked, houses, window)
  const { asOf, since } = paceDays(asked, houses)
  const meta = { ...(await metaOfHouses(trx, 'pace', houses, range, sight)), booksAsOf: asOf, pickupSince: since }
  const dimension = by === 'day' || by === 'month' ? 'date' : by
  const keyIn =
    (shift: number) =>
    ({ key, stayDate }: Booked) => {
      if (dimension !== 'date') return key ?? (by === 'channel' ? 'direct' : 'none')
      const day = addDays(stayDate, shift)
      return by === 'month' ? day.slice(0, 7) : day
    }
  const yearAgo = { from: addDays(range.from, -yearDays), to: addDays(range.to, -yearDays) }
  const books = await booksAt(
    trx,
    houses,
    [
      { ...range, until: asOf },
      { ...range, until: since },
      ...(compare === 'last_year'
        ? [
            { ...yearAgo, until: addDays(asOf, -yearDays) },
            { ...yearAgo, until: null },
          ]
        : []),
    ],
    dimension,
  )
  const [now, then, lastYear, final] = [0, 0, yearDays, yearDays].map((shift, index) =>
    sumsOf(books[index] ?? [], keyIn(shift)),
  ) as [Sums, Sums, Sums, Sums]
  const capacity = dimension === 'date' ? await capacityBy(trx, houses, range) : []
  const free = new Map<string, number>()
  for (const { key, units, outOfOrder } of capacity) {
    const at = by === 'month' ? (key ?? '').slice(0, 7) : (key ?? '')
    free.set(at, (free.get(at) ?? 0) + units - outOfOrder)
    free.set(totalKey, (free.get(totalKey) ?? 0) + units - outOfOrder)
  }
  const keys =
    by === 'day'
      ? daysIn(range.from, addDays(range.to, 1))
      : by === 'month'
        ? monthsOf(range).map((month) => month.slice(0, 7))
        : [...new Set([now, then, lastYear, final].flatMap((sums) => sums.keys()))]
            .filter((key) => key !== totalKey)
            .toSorted()
  const rowOf = (key: string): PaceRow => {
    const { unitNights, roomRevenue } = now.of(key)
    const before = then.of(key)
    const available = dimension === 'date' ? (free.get(key) ?? 0) : null
    return {
      key,
      unitNights,
      roomRevenue,
      adr: averageOf(roomRevenue, unitNights),
      available,
      occupancy: available === null ? null : ratioOf(unitNights, available),
      pickupUnits: unitNights - before.unitNights,
      pickupRevenue: roomRevenue - before.roomRevenue,
      ...(compare === 'last_year'
        ? {
            lastYear: {
              ...lastYear.of(key),
              finalUnitNights: final.of(key).unitNights,
              finalRoomRevenue: final.of(key).roomRevenue,
            },
          }
        : {}),
    }
  }
  const { key: _, ...totals } = rowOf(totalKey)
  const nameOf = await namesOf(
    trx,
    dimension,
    dimension === 'date' ? [] : keys.map((key) => (key === 'direct' ? null : key)),
    meta.locale,
  )
  const columns: Record<string, ColumnKind> = {
    name: 'text', unitNights: 'count', roomRevenue: 'amount', adr: 'amount', available: 'count', occupancy: 'ratio', pickupUnits: 'count',
    pickupRevenue: 'amount',
    ...(compare === 'last_year'
      ? { lastYearUnits: 'count', lastYearRevenue: 'amount', lastYearFinalUnits: 'count', lastYearFinalRevenue: 'amount' }
      : {}),
  } // prettier-ignore
  const flat = ({ lastYear: of, ...row }: Omit<PaceRow, 'key'>, name: string) => ({
    ...row,
    name,
    lastYearUnits: of?.unitNights ?? null,
    lastYearRevenue: of?.roomRevenue ?? null,
    lastYearFinalUnits: of?.finalUnitNights ?? null,
    lastYearFinalRevenue: of?.finalRoomRevenue ?? null,
  })
  return {
    meta,
    rows: keys.map(rowOf),
    totals: () => totals,
    columns: columnsOf(meta.locale, columns),
    flat: ({ key, ...row }) => [flat(row, key === 'direct' ? nameOf(null) : nameOf(key))],
    foot: () => flat(totals, wordOf('totals', meta.locale)),
    charts:
      compare === 'last_year'
        ? [
            { label: 'name', keys: ['unitNights', 'lastYearUnits'] },
            { label: 'name', keys: ['roomRevenue', 'lastYearRevenue'] },
          ]
        : [
            { label: 'name', keys: ['unitNights', 'pickupUnits'] },
            { label: 'name', keys: ['roomRevenue', 'pickupRevenue'] },
          ],
  }
}
