import { invalid } from '../../../config/errors.ts'
import { addDays, daysBetween, daysIn } from '../../../config/time.ts'
import type { Trx } from '../../lib/connection.ts'
import { descent } from '../rules/descent.ts'
import { readLevels, readPrices } from '../sale/calendar.ts'
import type { Level, Placed } from '../sale/calendar.ts'
import { catalogueOf } from '../sale/catalogue.ts'
import type { SalePlan } from '../sale/catalogue.ts'
import { propertyFor } from '../sale/sale-request.ts'
import { derive } from '../rules/prices.ts'
import { unrestricted } from '../rules/restrictions.ts'
import type { Restriction } from '../rules/restrictions.ts'

const mostCells = 20_000

export type CalendarRequest = {
  propertyId: string
  /** Both included. */
  from: string
  to: string
  ratePlanIds?: string[] | undefined
  unitTypeIds?: string[] | undefined
  trace?: boolean | undefined
}

export type TraceEntry = { kind: keyof Restriction; level: Level; value: boolean | number }
export type CalendarDay = {
  date: string
  /** Price of the base occupancy; null = not sold on this night. */
  amount: number | null
  source: 'cell' | 'standard' | 'derived' | 'none'
  restrictions: Restriction
  trace?: TraceEntry[]
}
export type RateCalendar = {
  currency: string
  ratePlans: { ratePlanId: string; unitTypes: { unitTypeId: string; days: CalendarDay[] }[] }[]
}

/** Restrictions of a day at each level, kind by kind. */
const traceOf = (placed: readonly Placed[]): TraceEntry[] =>
  placed.flatMap((row) =>
    (Object.keys(unrestricted) as (keyof Restriction)[]).flatMap((kind): TraceEntry[] => {
      const value = row[kind]
      return value === null ? [] : [{ kind, level: row.level, value }]
    }),
  )

/** Effective prices and restrictions by plan, type and day. 400 `range_too_long` above 20,000 cells. */
export const readRateCalendar = async (trx: Trx, request: CalendarRequest): Promise<RateCalendar> => {
  const { propertyId, from, to, ratePlanIds, unitTypeIds } = request
  if (to < from) throw invalid([{ field: 'to', message: 'must not be before from' }])
  const property = await propertyFor(trx, propertyId, 'staff')
  const catalogue = await catalogueOf(trx, property)
  const plans = catalogue.ratePlans.filter((plan) => !ratePlanIds || ratePlanIds.includes(plan.id))
  const typesOf = (plan: SalePlan) =>
    catalogue.unitTypes.filter(
      (type) =>
        plan.unitTypes.some((entry) => entry.unitTypeId === type.id) && (!unitTypeIds || unitTypeIds.includes(type.id)),
    )
  const pairs = plans.reduce((sum, plan) => sum + typesOf(plan).length, 0)
  const length = daysBetween(from, to) + 1
  if (length > 731 || pairs * length > mostCells)
    throw invalid([{ field: 'to', message: `at most ${mostCells} cells and 731 days` }], 'range_too_long')
  const range = {
    catalogue,
    plans,
    unitTypeIds: catalogue.unitTypes.map((type) => type.id),
    from,
    until: addDays(to, 1),
  }
  const priceOf = await readPrices(trx, range)
  const { effective, levelsOf } = await readLevels(trx, propertyId, range)
  const dates = daysIn(from, addDays(to, 1))

  const dayOf = (plan: SalePlan, unitTypeId: string, date: string): CalendarDay => {
    const line = descent(catalogue, plan)
    const standard = line?.[0]
    const entry = standard?.unitTypes.find((one) => one.unitTypeId === unitTypeId)
    const cell = standard && entry ? priceOf(standard.id, unitTypeId)(date) : null
    const base = cell ?? entry?.standardAmount ?? null
    const steps = (line ?? []).flatMap(({ derivation }) => (derivation ? [derivation] : []))
    const derived = steps.length > 0 ? 'derived' : cell === null ? 'standard' : 'cell'
    return {
      date,
      amount: base === null ? null : Math.max(0, steps.reduce(derive, base)),
      source: base === null ? 'none' : derived,
      restrictions: effective(plan, unitTypeId, date),
      ...(request.trace ? { trace: traceOf(levelsOf(plan, unitTypeId, date)) } : {}),
    }
  }
  return {
    currency: property.currency,
    ratePlans: plans.map((plan) => ({
      ratePlanId: plan.id,
      unitTypes: typesOf(plan).map((type) => ({
        unitTypeId: type.id,
        days: dates.map((date) => dayOf(plan, type.id, date)),
      })),
    })),
  }
}
