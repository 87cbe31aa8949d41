import { wordOf } from '../../../config/report-texts.ts'
import type { occupancyViews } from '../../../config/reports.ts'
import { addDays, dayNumber, daysIn } from '../../../config/time.ts'
import type { Trx } from '../../lib/connection.ts'
import { basisOf, daysAsked, housesOfOneCurrency, metaOfHouses } from '../houses.ts'
import type { Basis, House } from '../houses.ts'
import { capacityBy, nightsBy } from '../nights.ts'
import type { Dimension, Keyed } from '../nights.ts'
import type { Asked, ColumnKind, FileRow, Reading, Sight, Window } from '../reading.ts'
import { earnedByDay, earnedOver, profitByMonth } from '../revenue.ts'
import { endOfMonth, firstOfMonth, monthsOf } from '../rules/dates.ts'
import type { Range } from '../rules/dates.ts'
import { figuresOf, noCapacity, noNights, noStays, summedUp } from '../rules/operating.ts'
import type { Figures, Parts } from '../rules/operating.ts'
import { staysBy } from '../stays.ts'
import { columnsOf, namesOf } from './table.ts'

type By = (typeof occupancyViews)[number]
export type OccupancyRow = { key: string; startDate: string; endDate: string; basis: Basis } & Figures

const columns: Record<string, ColumnKind> = {
  name: 'text', from: 'day', until: 'day', basis: 'text', units: 'count', outOfOrder: 'count', outOfService: 'count', available: 'count', sold: 'count', complimentary: 'count',
  houseUse: 'count', adults: 'count', children: 'count', roomRevenue: 'amount', includedTax: 'amount', totalRevenue: 'amount', grossOperatingProfit: 'amount', occupancy: 'ratio',
  occupancyWithFree: 'ratio', adr: 'amount', adrNet: 'amount', revpar: 'amount', trevpar: 'amount', goppar: 'amount', guestsPerUnit: 'ratio',
  lengthOfStay: 'ratio', leadTime: 'ratio', cancellationRate: 'ratio', noShowRate: 'ratio', outOfOrderRate: 'ratio',
} // prettier-ignore

/** The Monday of a day's week: day 4 of the count was one. */
const mondayOf = (day: string) => addDays(day, -((((dayNumber(day) - 4) % 7) + 7) % 7))

/** Stretches of a range: days, weeks from Monday on, months. The first and the last may be cut. */
const stretches = ({ from, to }: Range, by: 'day' | 'week' | 'month'): { key: string; range: Range }[] => {
  if (by === 'day') return daysIn(from, addDays(to, 1)).map((day) => ({ key: day, range: { from: day, to: day } }))
  const starts =
    by === 'month'
      ? monthsOf({ from, to })
      : daysIn(mondayOf(from), addDays(to, 1)).filter((_, index) => index % 7 === 0)
  return starts.map((start) => {
    const end = by === 'month' ? endOfMonth(start) : addDays(start, 6)
    return {
      key: by === 'month' ? start.slice(0, 7) : start,
      range: { from: start < from ? from : start, to: end > to ? to : end },
    }
  })
}

const byKey = <Value>(rows: readonly Keyed<Value>[]) => new Map(rows.map((row) => [row.key, row]))

/** Parts of each day of a range, for sums over stretches. */
const dailyParts = async (trx: Trx, houses: readonly House[], range: Range) => {
  const [nights, capacity, stays, revenue, profits] = [
    byKey(await nightsBy(trx, houses, range, 'date')),
    byKey(await capacityBy(trx, houses, range)),
    byKey(await staysBy(trx, houses, range, 'date')),
    await earnedByDay(trx, houses, range),
    await profitByMonth(trx, houses, range),
  ]
  const earned = new Map<string, number>()
  for (const { date, amount } of revenue.earned) earned.set(date, (earned.get(date) ?? 0) + amount)
  return (part: Range): Parts => {
    const days = daysIn(part.from, addDays(part.to, 1))
    const months = monthsOf(part)
    const isWhole = part.from === firstOfMonth(part.from) && part.to === endOfMonth(part.to)
    return {
      nights: summedUp(
        noNights,
        days.map((day) => nights.get(day) ?? noNights),
      ),
      capacity: summedUp(
        noCapacity,
        days.map((day) => capacity.get(day) ?? noCapacity),
      ),
      stays: summedUp(
        noStays,
        days.map((day) => stays.get(day) ?? noStays),
      ),
      totalRevenue: days.reduce((sum, day) => sum + (earned.get(day) ?? 0), 0),
      grossOperatingProfit: isWhole ? months.reduce((sum, month) => sum + (profits.get(month) ?? 0), 0) : null,
    }
  }
}

const rowsByDimension = async (
  trx: Trx,
  houses: readonly House[],
  range: Range,
  by: Dimension,
): Promise<OccupancyRow[]> => {
  const nights = byKey(await nightsBy(trx, houses, range, by))
  const stays = byKey(await staysBy(trx, houses, range, by))
  const keys = [...new Set([...nights.keys(), ...stays.keys()])].toSorted((a, b) => ((a ?? '') < (b ?? '') ? -1 : 1))
  return keys.map((key) => ({
    key: key ?? (by === 'channel' ? 'direct' : 'none'),
    startDate: range.from,
    endDate: range.to,
    basis: basisOf(houses, range),
    ...figuresOf({
      nights: { ...noNights, ...nights.get(key) },
      stays: stays.get(key) ?? noStays,
      capacity: null,
      totalRevenue: null,
      grossOperatingProfit: null,
    }),
  }))
}

/** Figures of houses over a range, from sums of days and balances of accounts. The profit, which is of whole months alone, is left out. */
export const figuresOver = async (trx: Trx, houses: readonly House[], range: Range): Promise<Figures> =>
  figuresOf({
    nights: summedUp(noNights, await nightsBy(trx, houses, range, 'property')),
    capacity: summedUp(noCapacity, await capacityBy(trx, houses, range, 'property')),
    stays: summedUp(noStays, await staysBy(trx, houses, range, 'property')),
    totalRevenue: await earnedOver(trx, houses, range),
    grossOperatingProfit: null,
  })

/** Occupancy, ADR, RevPAR and all figures of R15 with their parts, by day, week, month, unit type, segment or channel. Totals are of the whole range. */
export const openOccupancy = async (
  trx: Trx,
  asked: Asked,
  sight: Sight,
  window: Window,
): Promise<Reading<OccupancyRow>> => {
  const { by = 'day' } = asked as { by?: By }
  const houses = await housesOfOneCurrency(trx, 'occupancy', asked, sight, window)
  const range = daysAsked('occupancy', asked, houses, window)
  const meta = await metaOfHouses(trx, 'occupancy', houses, range, sight)
  const parts = await dailyParts(trx, houses, range)
  const isOfTime = by === 'day' || by === 'week' || by === 'month'
  const rows = isOfTime
    ? stretches(range, by).map(({ key, range: { from, to } }) => ({
        key,
        startDate: from,
        endDate: to,
        basis: basisOf(houses, { from, to }),
        ...figuresOf(parts({ from, to })),
      }))
    : await rowsByDimension(trx, houses, range, by)
  const totals = figuresOf(parts(range))
  const nameOf = isOfTime
    ? (key: string | null) => key ?? ''
    : await namesOf(
        trx,
        by,
        rows.map(({ key }) => (key === 'direct' || key === 'none' ? null : key)),
        meta.locale,
      )
  const flat = (row: OccupancyRow): FileRow => ({
    ...row,
    name: nameOf(row.key === 'direct' || row.key === 'none' ? null : row.key),
    from: row.startDate,
    until: row.endDate,
    basis: wordOf(row.basis, meta.locale),
  })
  return {
    meta,
    rows,
    totals: () => totals,
    columns: columnsOf(meta.locale, columns),
    flat: (row) => [flat(row)],
    foot: () => ({ ...totals, name: wordOf('totals', meta.locale) }),
    charts: [
      ...(isOfTime ? [{ label: 'name', keys: ['occupancy'] as const }] : []),
      { label: 'name', keys: isOfTime ? ['roomRevenue', 'totalRevenue'] : ['roomRevenue'] },
    ],
  }
}
