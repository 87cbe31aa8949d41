import { preparedOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { dailyColumns, onDay } from '../../lib/daily-series.ts'
import type { Daily } from '../../lib/daily-series.ts'
import { leftInPools, leftOf } from '../../units/index.ts'
import type { LeftInPools, LeftOn } from '../../units/index.ts'
import { descent } from '../rules/descent.ts'
import type { PriceOf, PriceOn } from '../rules/descent.ts'
import { combine, unrestricted } from '../rules/restrictions.ts'
import type { Restriction } from '../rules/restrictions.ts'
import type { Catalogue, SalePlan } from './catalogue.ts'

const unpriced: PriceOn = () => null
/** The effective restriction of a plan and type on a day, over all levels. */
export type RestrictionOf = (plan: SalePlan, unitTypeId: string, date: string) => Restriction

type Range = {
  catalogue: Catalogue
  plans: readonly SalePlan[]
  unitTypeIds: readonly string[]
  from: string
  until: string
}
type Cells = Daily & { ratePlanId: string; unitTypeId: string }
type RestrictionRow = Restriction & { ratePlanId: string | null; unitTypeId: string | null; date: string }

const standardOf = (catalogue: Catalogue, plan: SalePlan) => (descent(catalogue, plan) ?? [plan])[0] ?? plan

// Each part is one value of JSON, so that a statement can ask for several of them at once.

/** Cells of `:standardIds` and `:unitTypeIds` on the nights `[:from, :until)`. */
const cells = `(select json_agg(c) from (
     select rate_plan_id as "ratePlanId", unit_type_id as "unitTypeId", ${dailyColumns('date', 'amount')}
     from rate_cell where rate_plan_id = any(:standardIds::uuid[]) and unit_type_id = any(:unitTypeIds::uuid[])
       and date >= :from::date and date < :until::date
     group by rate_plan_id, unit_type_id) c)`

/** Restrictions of the days from `:from` to `:until`, both included, since departures are restricted too. */
const restrictions = `(select json_agg(r) from (
     select rate_plan_id as "ratePlanId", unit_type_id as "unitTypeId", date, stop_sell as "stopSell", closed_to_arrival as "closedToArrival",
       closed_to_departure as "closedToDeparture", min_stay_arrival as "minStayArrival", max_stay_arrival as "maxStayArrival",
       min_stay_through as "minStayThrough", max_stay_through as "maxStayThrough", min_advance_days as "minAdvanceDays",
       max_advance_days as "maxAdvanceDays"
     from restriction_cell
     where property_id = :propertyId and date between :from::date and :until::date
       and (rate_plan_id is null or rate_plan_id = any(:ratePlanIds::uuid[])) and (unit_type_id is null or unit_type_id = any(:unitTypeIds::uuid[]))) r)`

const cellsText = `select ${cells} as cells`
const restrictionsText = `select ${restrictions} as restrictions`
const calendarText = `select ${cells} as cells, ${restrictions} as restrictions, ${leftInPools} as pools`

const priceOfCells = (found: Cells[] | null): PriceOf => {
  const prices = new Map<string, Map<string, PriceOn>>()
  for (const one of found ?? []) {
    const ofPlan = prices.get(one.ratePlanId) ?? new Map<string, PriceOn>()
    prices.set(one.ratePlanId, ofPlan.set(one.unitTypeId, onDay(one)))
  }
  return (ratePlanId, unitTypeId) => prices.get(ratePlanId)?.get(unitTypeId) ?? unpriced
}

const standardIds = ({ catalogue, plans }: Range) => [...new Set(plans.map((plan) => standardOf(catalogue, plan).id))]

/** Prices of the nights `[from, until)`. */
export const readPrices = async (trx: Trx, range: Range): Promise<PriceOf> => {
  const { unitTypeIds, from, until } = range
  const bindings = { standardIds: standardIds(range), unitTypeIds, from, until }
  const row = await preparedOne<{ cells: Cells[] | null }>(trx, cellsText, bindings)
  return priceOfCells(row?.cells ?? null)
}

/** Prices, restrictions and what is left in some pools for a range of days, all read at one instant. */
export type Calendar = { priceOf: PriceOf; restrictionOf: RestrictionOf; left: LeftOn }

export const readCalendar = async (
  trx: Trx,
  propertyId: string,
  range: Range & { poolIds: readonly string[] },
): Promise<Calendar> => {
  const { unitTypeIds, poolIds, from, until } = range
  const named = namedIn(range)
  const row = await preparedOne<{ cells: Cells[] | null; restrictions: RestrictionRow[] | null; pools: LeftInPools }>(
    trx,
    calendarText,
    {
      propertyId,
      standardIds: standardIds(range),
      ratePlanIds: idsIn(named),
      unitTypeIds,
      poolIds,
      from,
      until,
    },
  )
  return {
    priceOf: priceOfCells(row?.cells ?? null),
    restrictionOf: levelsIn(row?.restrictions ?? null, named).effective,
    left: leftOf(row?.pools ?? null),
  }
}

/** The levels of a restriction: the property, a type, a plan or both; of a plan's own, or of one that it inherits from. */
export const levels = [
  'property',
  'unit_type',
  'rate_plan',
  'rate_plan_unit_type',
  'parent_rate_plan',
  'parent_rate_plan_unit_type',
] as const
export type Level = (typeof levels)[number]
/** One restriction that bears on a plan and a type on a day. */
export type Placed = RestrictionRow & { level: Level }
/** All that bear on a plan and a type on a day, whatever the most restrictive of them is. */
export type LevelsOf = (plan: SalePlan, unitTypeId: string, date: string) => Placed[]

const levelOf = (row: RestrictionRow, plan: SalePlan): Level => {
  if (row.ratePlanId === null) return row.unitTypeId === null ? 'property' : 'unit_type'
  const own = row.unitTypeId === null ? 'rate_plan' : 'rate_plan_unit_type'
  return row.ratePlanId === plan.id ? own : `parent_${own}`
}

/** Restrictions of the days from `from` to `until`, both included. */
export const readRestrictions = async (trx: Trx, propertyId: string, range: Range): Promise<RestrictionOf> =>
  (await readLevels(trx, propertyId, range)).effective

type Levels = { effective: RestrictionOf; levelsOf: LevelsOf }

/** Reads restrictions together with the level that each comes from. */
export const readLevels = async (trx: Trx, propertyId: string, range: Range): Promise<Levels> => {
  const { unitTypeIds, from, until } = range
  const named = namedIn(range)
  const row = await preparedOne<{ restrictions: RestrictionRow[] | null }>(trx, restrictionsText, {
    propertyId,
    ratePlanIds: idsIn(named),
    unitTypeIds,
    from,
    until,
  })
  return levelsIn(row?.restrictions ?? null, named)
}

/** By the id of a plan, the ids of those whose restrictions it obeys. */
type Named = Map<string, Set<string>>

const namedIn = ({ catalogue, plans }: Range): Named =>
  new Map(plans.map((plan) => [plan.id, namedPlans(descent(catalogue, plan) ?? [plan])]))
const idsIn = (named: Named) => [...new Set([...named.values()].flatMap((ids) => [...ids]))]

const levelsIn = (rows: readonly RestrictionRow[] | null, named: Named): Levels => {
  const byDay = new Map<string, RestrictionRow[]>()
  for (const row of rows ?? []) {
    const day = byDay.get(row.date)
    if (day) day.push(row)
    else byDay.set(row.date, [row])
  }
  const bearing = (plan: SalePlan, unitTypeId: string, date: string) => {
    const obeyed = named.get(plan.id)
    return (byDay.get(date) ?? []).filter(
      (row) =>
        (row.unitTypeId === null || row.unitTypeId === unitTypeId) &&
        (row.ratePlanId === null || obeyed?.has(row.ratePlanId)),
    )
  }
  // By day, then type, then plan: most questions end with the day.
  const effective = new Map<string, Map<string, Map<SalePlan, Restriction>>>()
  return {
    levelsOf: (plan, unitTypeId, date) =>
      bearing(plan, unitTypeId, date)
        .map((row) => ({ ...row, level: levelOf(row, plan) }))
        .sort((a, b) => levels.indexOf(a.level) - levels.indexOf(b.level)),
    effective: (plan, unitTypeId, date) => {
      if (!byDay.has(date)) return unrestricted
      const known = effective.get(date)?.get(unitTypeId)?.get(plan)
      if (known) return known
      const value = combine(bearing(plan, unitTypeId, date))
      const ofDay = effective.get(date) ?? new Map<string, Map<SalePlan, Restriction>>()
      const ofType = ofDay.get(unitTypeId) ?? new Map<SalePlan, Restriction>()
      effective.set(date, ofDay.set(unitTypeId, ofType.set(plan, value)))
      return value
    },
  }
}

/** Plans whose restrictions a plan obeys: its own, and its parent's for as long as they are inherited. */
const namedPlans = (line: SalePlan[]): Set<string> => {
  const named = new Set<string>()
  for (const plan of line.toReversed()) {
    named.add(plan.id)
    if (!plan.inheritRestrictions) break
  }
  return named
}
