import { prepared } from '../connection.ts'
import type { Trx } from '../connection.ts'
import type { Catalogue, SalePlan } from './catalogue.ts'
import { combine, unrestricted } from './rules/restrictions.ts'
import type { Restriction } from './rules/restrictions.ts'

/** A plan's line of descent from its standard plan down to itself; null where an ancestor is not sold any more. */
export const descent = (catalogue: Catalogue, plan: SalePlan): SalePlan[] | null => {
  const line = [plan]
  for (let parentId = plan.parentId; parentId !== null;) {
    const parent = catalogue.ratePlans.find((known) => known.id === parentId)
    if (!parent || line.length > 4) return null
    line.unshift(parent)
    parentId = parent.parentId
  }
  return line
}

/** The cell of a standard plan, if it has one. */
export type PriceOf = (ratePlanId: string, unitTypeId: string, date: string) => number | null
/** The effective restriction of a plan and type on a day, over all levels. */
export type RestrictionOf = (plan: SalePlan, unitTypeId: string, date: string) => Restriction

type Range = {
  catalogue: Catalogue
  plans: readonly SalePlan[]
  unitTypeIds: readonly string[]
  from: string
  until: string
}
type CellsRow = { ratePlanId: string; unitTypeId: string; amounts: Record<string, number> }
type RestrictionRow = Restriction & { ratePlanId: string | null; unitTypeId: string | null; date: string }

const standardOf = (catalogue: Catalogue, plan: SalePlan) => (descent(catalogue, plan) ?? [plan])[0] ?? plan

/** Prices of the nights `[from, until)`. One row for each plan and type: a row for each night costs both sides more than its price. */
export const readPrices = async (trx: Trx, { catalogue, plans, unitTypeIds, from, until }: Range): Promise<PriceOf> => {
  const rows = await prepared<CellsRow>(
    trx,
    `select rate_plan_id, unit_type_id, json_object_agg(date, amount) as amounts from rate_cell
     where rate_plan_id = any(?::uuid[]) and unit_type_id = any(?::uuid[]) and date >= ?::date and date < ?::date
     group by rate_plan_id, unit_type_id`,
    [[...new Set(plans.map((plan) => standardOf(catalogue, plan).id))], unitTypeIds, from, until],
  )
  const prices = new Map<string, Map<string, CellsRow['amounts']>>()
  for (const { ratePlanId, unitTypeId, amounts } of rows) {
    const ofPlan = prices.get(ratePlanId) ?? new Map<string, CellsRow['amounts']>()
    prices.set(ratePlanId, ofPlan.set(unitTypeId, amounts))
  }
  return (ratePlanId, unitTypeId, date) => prices.get(ratePlanId)?.get(unitTypeId)?.[date] ?? null
}

/** Where a restriction stands: the property, a type, a plan or both; of a plan's own, or of one that it inherits from. */
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

/** Restrictions of the days from `from` to `until`, both included, since departures are restricted too. */
export const readRestrictions = async (trx: Trx, propertyId: string, range: Range): Promise<RestrictionOf> =>
  (await readLevels(trx, propertyId, range)).effective

/** The same with the levels that they come from. */
export const readLevels = async (
  trx: Trx,
  propertyId: string,
  { catalogue, plans, unitTypeIds, from, until }: Range,
): Promise<{ effective: RestrictionOf; levelsOf: LevelsOf }> => {
  const named = new Map(plans.map((plan) => [plan.id, namedPlans(descent(catalogue, plan) ?? [plan])]))
  const rows = await prepared<RestrictionRow>(
    trx,
    `select rate_plan_id, unit_type_id, date, stop_sell, closed_to_arrival, closed_to_departure, min_stay_arrival, max_stay_arrival,
       min_stay_through, max_stay_through, min_advance_days, max_advance_days
     from restriction_cell
     where property_id = ? and date between ?::date and ?::date
       and (rate_plan_id is null or rate_plan_id = any(?::uuid[])) and (unit_type_id is null or unit_type_id = any(?::uuid[]))`,
    [propertyId, from, until, [...new Set([...named.values()].flatMap((ids) => [...ids]))], unitTypeIds],
  )
  const byDay = new Map<string, RestrictionRow[]>()
  for (const row of rows) {
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
