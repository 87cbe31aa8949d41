import { sql } from '../connection.ts'
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
type CellRow = { ratePlanId: string; unitTypeId: string; date: string; amount: number }
type RestrictionRow = Restriction & { ratePlanId: string | null; unitTypeId: string | null; date: string }

const standardOf = (catalogue: Catalogue, plan: SalePlan) => (descent(catalogue, plan) ?? [plan])[0] ?? plan

/** Prices of the nights `[from, until)`. */
export const readPrices = async (trx: Trx, { catalogue, plans, unitTypeIds, from, until }: Range): Promise<PriceOf> => {
  const rows = await sql<CellRow>(
    trx,
    `select rate_plan_id, unit_type_id, date, amount from rate_cell
     where rate_plan_id = any(?::uuid[]) and unit_type_id = any(?::uuid[]) and date >= ?::date and date < ?::date`,
    [[...new Set(plans.map((plan) => standardOf(catalogue, plan).id))], unitTypeIds, from, until],
  )
  const prices = new Map<string, Map<string, number>>()
  for (const { ratePlanId, unitTypeId, date, amount } of rows) {
    const key = `${ratePlanId} ${unitTypeId}`
    const days = prices.get(key) ?? new Map<string, number>()
    prices.set(key, days.set(date, amount))
  }
  return (ratePlanId, unitTypeId, date) => prices.get(`${ratePlanId} ${unitTypeId}`)?.get(date) ?? null
}

/** Restrictions of the days from `from` to `until`, both included, since departures are restricted too. */
export const readRestrictions = async (
  trx: Trx,
  propertyId: string,
  { catalogue, plans, unitTypeIds, from, until }: Range,
): Promise<RestrictionOf> => {
  const named = new Map(plans.map((plan) => [plan.id, namedPlans(descent(catalogue, plan) ?? [plan])]))
  const rows = await sql<RestrictionRow>(
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
  const effective = new Map<string, Restriction>()
  return (plan, unitTypeId, date) => {
    const day = byDay.get(date)
    if (!day) return unrestricted
    const key = `${plan.id} ${unitTypeId} ${date}`
    const known = effective.get(key)
    if (known) return known
    const levels = named.get(plan.id)
    const value = combine(
      day.filter(
        (row) =>
          (row.unitTypeId === null || row.unitTypeId === unitTypeId) &&
          (row.ratePlanId === null || levels?.has(row.ratePlanId)),
      ),
    )
    effective.set(key, value)
    return value
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
