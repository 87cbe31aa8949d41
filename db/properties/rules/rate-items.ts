import { mostRanges } from '../../../config/events/rates.ts'
import { addDays, daysBetween } from '../../../config/time.ts'
import { raisedBy } from '../../lib/amounts.ts'
import { unrestricted } from './restrictions.ts'
import type { Restriction } from './restrictions.ts'

export type RateItem = {
  ratePlanIds?: string[]
  unitTypeIds?: string[]
  /** Both included. */
  from: string
  to: string
  /** Keeps the dates that lie in these seasons. */
  seasonIds?: string[]
  /** 1 = Monday … 7 */
  weekDays?: number[]
  /** Null takes the cell away. */
  amount?: number | null
  /** `value` in basis points or minor units. */
  adjust?: { type: 'percent' | 'amount'; value: number }
  /** Absent = untouched, null = cleared. */
  restrictions?: Partial<Restriction>
}

export type CellPlace = { ratePlanId: string | null; unitTypeId: string | null; date: string }
export type PriceChange = CellPlace & { kind: 'price'; before: number | null; after: number | null }
/** `before` and `after` hold the kinds that the change names, and no others. */
export type RestrictionChange = CellPlace & {
  kind: 'restriction'
  before: Partial<Restriction>
  after: Partial<Restriction>
}
export type CellChange = PriceChange | RestrictionChange

/** Data that a change is computed from. Keys of cells are `<plan> <type> <date>`, '' for none. */
export type Present = {
  /** Types of each plan, with the price of a night without a cell. */
  plans: ReadonlyMap<string, ReadonlyMap<string, number | null>>
  seasons: ReadonlyMap<string, readonly { from: string; to: string }[]>
  prices: ReadonlyMap<string, number>
  restrictions: ReadonlyMap<string, Restriction>
}

type Range = Pick<CellPlace, 'ratePlanId' | 'unitTypeId'> & { from: string; to: string }

/** First and last changed day of each plan and type; null if there are too many to list. */
export const rangesOf = (cells: readonly CellPlace[]): Range[] | null => {
  const ranges = new Map<string, Range>()
  for (const { ratePlanId, unitTypeId, date } of cells) {
    const key = `${ratePlanId} ${unitTypeId}`
    const { from, to } = ranges.get(key) ?? { from: date, to: date }
    ranges.set(key, { ratePlanId, unitTypeId, from: date < from ? date : from, to: date > to ? date : to })
  }
  return ranges.size > mostRanges ? null : [...ranges.values()]
}

export const keyOf = ({ ratePlanId, unitTypeId, date }: CellPlace) => `${ratePlanId ?? ''} ${unitTypeId ?? ''} ${date}`

/** Monday is 1. */
export const weekDayOf = (date: string) => ((new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7) + 1

/** The days of an item. */
export const daysOf = (item: RateItem, seasons: Present['seasons']): string[] => {
  const ranges = item.seasonIds?.flatMap((id) => seasons.get(id) ?? [])
  return Array.from({ length: daysBetween(item.from, item.to) + 1 }, (_, index) => addDays(item.from, index)).filter(
    (date) =>
      (!ranges || ranges.some((range) => range.from <= date && date <= range.to)) &&
      (!item.weekDays || item.weekDays.includes(weekDayOf(date))),
  )
}

type Level = Pick<CellPlace, 'ratePlanId' | 'unitTypeId'>

/** Prices are of a plan and a type; without types, of all that the plan sells. */
export const pricedPairs = (item: RateItem, plans: Present['plans']): Level[] =>
  item.amount === undefined && item.adjust === undefined
    ? []
    : (item.ratePlanIds ?? []).flatMap((ratePlanId) =>
        (item.unitTypeIds ?? [...(plans.get(ratePlanId)?.keys() ?? [])]).map((unitTypeId) => ({
          ratePlanId,
          unitTypeId,
        })),
      )

/** Restrictions stand at the level that an item names: plans and types, plans, types, or the property. */
export const restrictedLevels = (item: RateItem): Level[] =>
  Object.values(item.restrictions ?? {}).every((value) => value === undefined)
    ? []
    : (item.ratePlanIds ?? [null]).flatMap((ratePlanId) =>
        (item.unitTypeIds ?? [null]).map((unitTypeId) => ({ ratePlanId, unitTypeId })),
      )

/** The greatest number of cells that items write, each of them counted. */
export const writesOf = (items: readonly RateItem[], present: Pick<Present, 'plans' | 'seasons'>): number =>
  items.reduce(
    (sum, item) =>
      sum +
      daysOf(item, present.seasons).length * (pricedPairs(item, present.plans).length + restrictedLevels(item).length),
    0,
  )

const adjusted = (amount: number, { type, value }: NonNullable<RateItem['adjust']>): number =>
  Math.max(0, type === 'amount' ? amount + value : raisedBy(amount, value))

const inOrder = <Change>(changes: ReadonlyMap<string, Change>): Change[] =>
  [...changes.keys()].sort().flatMap((key) => changes.get(key) ?? [])

/**
 * Every cell that items write, in the order (kind, plan, type, date). Later items win; an adjustment takes what earlier ones have
 * left, or the price of a night without a cell, and leaves a night alone that has no price at all.
 */
export const changesOf = (items: readonly RateItem[], present: Present): CellChange[] => {
  const prices = new Map<string, PriceChange>()
  const restrictions = new Map<string, RestrictionChange>()
  for (const item of items)
    for (const date of daysOf(item, present.seasons)) {
      for (const level of pricedPairs(item, present.plans)) {
        const place = { ...level, date }
        const key = keyOf(place)
        const before = present.prices.get(key) ?? null
        const known = prices.get(key)?.after
        const standard = present.plans.get(level.ratePlanId ?? '')?.get(level.unitTypeId ?? '') ?? null
        const base = (known === undefined ? before : known) ?? standard
        const after = item.adjust ? (base === null ? null : adjusted(base, item.adjust)) : (item.amount ?? null)
        if (item.adjust && base === null) continue
        prices.set(key, { ...place, kind: 'price', before, after })
      }
      for (const level of restrictedLevels(item)) {
        const place = { ...level, date }
        const key = keyOf(place)
        const stands = present.restrictions.get(key) ?? unrestricted
        const known = restrictions.get(key)
        const after = { ...known?.after }
        const before = { ...known?.before }
        for (const kind of Object.keys(unrestricted) as (keyof Restriction)[]) {
          if (item.restrictions?.[kind] === undefined) continue
          Object.assign(after, { [kind]: item.restrictions[kind] })
          Object.assign(before, { [kind]: stands[kind] })
        }
        restrictions.set(key, { ...place, kind: 'restriction', before, after })
      }
    }
  return [...inOrder(prices), ...inOrder(restrictions)]
}

/** Takes changes back where what they wrote still stands, kind by kind; what was overwritten since is left, and told. */
export const revertsOf = (
  changes: readonly CellChange[],
  present: Pick<Present, 'prices' | 'restrictions'>,
  from: string,
): { cells: CellChange[]; skipped: CellChange[] } => {
  const cells: CellChange[] = []
  const skipped: CellChange[] = []
  for (const change of changes) {
    const past = change.date < from
    if (change.kind === 'price') {
      const stands = present.prices.get(keyOf(change)) ?? null
      if (past || stands !== change.after) skipped.push({ ...change, before: stands, after: stands })
      else cells.push({ ...change, before: change.after, after: change.before })
      continue
    }
    const stands = present.restrictions.get(keyOf(change)) ?? unrestricted
    const kinds = Object.keys(change.after) as (keyof Restriction)[]
    const pick = (values: Partial<Restriction>, which: (keyof Restriction)[]) =>
      Object.fromEntries(which.map((kind) => [kind, values[kind] ?? null])) as Partial<Restriction>
    const kept = kinds.filter((kind) => past || stands[kind] !== (change.after[kind] ?? null))
    const taken = kinds.filter((kind) => !kept.includes(kind))
    if (kept.length > 0) skipped.push({ ...change, before: pick(stands, kept), after: pick(stands, kept) })
    if (taken.length > 0)
      cells.push({ ...change, before: pick(change.after, taken), after: pick(change.before, taken) })
  }
  return { cells, skipped }
}
