import { randomUUID } from 'node:crypto'
import { unprocessable } from '../../../config/errors.ts'
import type { LocalText } from '../../../config/local-text.ts'
import { addDays, todayIn } from '../../../config/time.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { ratesOf } from '../../lib/channel-marks.ts'
import { lockForChange } from '../../lib/locked-property.ts'
import { changePortal } from '../../lib/public-version.ts'
import { judgePlan } from './rate-plan-rules.ts'
import type { Adjustment, ChildPrice, Derivation, LosDiscount } from '../rules/prices.ts'
import type { PlanLimits, Restriction } from '../rules/restrictions.ts'

export type NewRatePlan = Partial<PlanLimits> & {
  id?: string
  propertyId: string
  code: string
  name: LocalText
  description?: LocalText
  parentId?: string | null
  derivation?: Derivation | null
  inheritRestrictions?: boolean
  marketSegment?: string
  mealPlan?: 'none' | 'breakfast' | 'half_board' | 'full_board' | 'all_inclusive'
  includedExtras?: { extraId: string; quantity: number }[]
  cancellationPolicyId: string
  noShowPolicyId: string
  depositPolicyId?: string | null
  visibility?: 'public' | 'code' | 'private'
  losDiscounts?: LosDiscount[]
  unitTypes: {
    unitTypeId: string
    standardAmount?: number | null
    adults?: Record<string, Adjustment>
    extraAdultAmount?: number
    children?: ChildPrice[]
  }[]
}

/** Writes what a plan says of its unit types; what stood for one of them is replaced. */
export const writePlanTypes = (trx: Trx, ratePlanId: string, types: NewRatePlan['unitTypes']) =>
  sql(
    trx,
    `insert into rate_plan_unit_type (rate_plan_id, unit_type_id, standard_amount, adults, extra_adult_amount, children)
     select ?, t."unitTypeId", t."standardAmount", coalesce(t.adults, '{}'), coalesce(t."extraAdultAmount", 0), coalesce(t.children, '[]')
     from jsonb_to_recordset(?::jsonb) as t ("unitTypeId" uuid, "standardAmount" bigint, adults jsonb, "extraAdultAmount" bigint, children jsonb)
     on conflict (tenant_id, rate_plan_id, unit_type_id) do update set standard_amount = excluded.standard_amount, adults = excluded.adults,
       extra_adult_amount = excluded.extra_adult_amount, children = excluded.children`,
    [ratePlanId, JSON.stringify(types)],
  )

/** 409 `duplicate_code`, 422 for what a plan must not be, or names that is not there. */
export const createRatePlan = async (trx: Trx, plan: NewRatePlan): Promise<string> => {
  const id = plan.id ?? randomUUID()
  await judgePlan(trx, await lockForChange(trx, plan.propertyId), plan, null)
  await sql(
    trx,
    `insert into rate_plan (id, property_id, code, name, description, parent_id, derivation, inherit_restrictions, market_segment, meal_plan,
       included_extras, cancellation_policy_id, no_show_policy_id, deposit_policy_id, visibility, bookable_from, bookable_until, stay_from,
       stay_until, min_advance_days, max_advance_days, min_nights, max_nights, los_discounts)
     values (?, ?, ?, ?::jsonb, ?::jsonb, ?, ?::jsonb, ?, ?, ?, ?::jsonb, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb)`,
    [
      id,
      plan.propertyId,
      plan.code,
      JSON.stringify(plan.name),
      JSON.stringify(plan.description ?? {}),
      plan.parentId ?? null,
      plan.derivation ? JSON.stringify(plan.derivation) : null,
      plan.inheritRestrictions ?? true,
      plan.marketSegment ?? 'transient',
      plan.mealPlan ?? 'none',
      JSON.stringify(plan.includedExtras ?? []),
      plan.cancellationPolicyId,
      plan.noShowPolicyId,
      plan.depositPolicyId ?? null,
      plan.visibility ?? 'public',
      plan.bookableFrom ?? null,
      plan.bookableUntil ?? null,
      plan.stayFrom ?? null,
      plan.stayUntil ?? null,
      plan.minAdvanceDays ?? null,
      plan.maxAdvanceDays ?? null,
      plan.minNights ?? null,
      plan.maxNights ?? null,
      JSON.stringify(plan.losDiscounts ?? []),
    ],
  )
  await writePlanTypes(trx, id, plan.unitTypes)
  await changePortal(trx, plan.propertyId)
  await emit(trx, {
    type: 'rate_plan.created',
    propertyId: plan.propertyId,
    entity: { type: 'rate_plan', id, version: 1 },
    data: { ratePlanId: id, code: plan.code },
  })
  return id
}

export type PriceCell = { ratePlanId: string; unitTypeId: string; date: string; amount: number }

const perStatement = 5_000
/** How far ahead prices are kept, in days. */
export const horizonDays = 730

/**
 * One writer of a property's calendar at a time, before the property's row is locked: what a bulk change has read is what it
 * replaces, and two of them never wait for each other's cells.
 */
export const lockRates = (trx: Trx, propertyId: string) =>
  sql(trx, `select pg_advisory_xact_lock(hashtextextended('rates ' || ?, 0))`, [propertyId])

/** 422 for days before the business date, or past the horizon. */
export const refuseDates = async (trx: Trx, propertyId: string, dates: readonly string[]) => {
  const place = await sqlOne<{ businessDate: string | null; timezone: string; now: Date }>(
    trx,
    `select business_date, timezone, now() as now from property where id = ?`,
    [propertyId],
  )
  const today = todayIn(place?.timezone ?? 'UTC', place?.now)
  const first = place?.businessDate ?? today
  const wrong = dates.find((date) => date < first || date > addDays(today, horizonDays))
  if (wrong !== undefined)
    throw unprocessable('date_out_of_range', 'A day is before the business date, or too far ahead', [
      { field: 'date', message: wrong },
    ])
}

/** Upserts cells in the order in which they come: (plan, type, date). */
export const putPrices = async (trx: Trx, cells: readonly PriceCell[]): Promise<void> => {
  for (let from = 0; from < cells.length; from += perStatement) {
    const part = cells.slice(from, from + perStatement)
    await sql(
      trx,
      `insert into rate_cell (rate_plan_id, unit_type_id, date, amount) select * from unnest(?::uuid[], ?::uuid[], ?::date[], ?::bigint[])
       on conflict (tenant_id, rate_plan_id, unit_type_id, date) do update set amount = excluded.amount`,
      [
        part.map((cell) => cell.ratePlanId),
        part.map((cell) => cell.unitTypeId),
        part.map((cell) => cell.date),
        part.map((cell) => cell.amount),
      ],
    )
  }
}

/** Writes prices of standard plans; what stood on a day is replaced. 422 `rate_plan_derived` where a plan is derived. */
export const writePrices = async (trx: Trx, propertyId: string, cells: PriceCell[]): Promise<void> => {
  await lockRates(trx, propertyId)
  await refuseDates(
    trx,
    propertyId,
    cells.map((cell) => cell.date),
  )
  await changePortal(trx, propertyId, ratesOf(cells))
  const plans = await sql<{ id: string; parentId: string | null }>(
    trx,
    `select id, parent_id from rate_plan where property_id = ? and id = any(?::uuid[])`,
    [propertyId, [...new Set(cells.map((cell) => cell.ratePlanId))]],
  )
  if (plans.some((plan) => plan.parentId !== null))
    throw unprocessable('rate_plan_derived', 'Prices of a derived plan follow its parent')
  const known = new Set(plans.map((plan) => plan.id))
  const sorted = cells
    .filter((cell) => known.has(cell.ratePlanId))
    .toSorted((a, b) =>
      `${a.ratePlanId} ${a.unitTypeId} ${a.date}` < `${b.ratePlanId} ${b.unitTypeId} ${b.date}` ? -1 : 1,
    )
  await putPrices(trx, sorted)
  await emit(trx, {
    type: 'rates.changed',
    propertyId,
    entity: { type: 'property', id: propertyId, version: null },
    data: { propertyId, cells: sorted.length },
  })
}

export const restrictionColumns = {
  stopSell: 'stop_sell',
  closedToArrival: 'closed_to_arrival',
  closedToDeparture: 'closed_to_departure',
  minStayArrival: 'min_stay_arrival',
  maxStayArrival: 'max_stay_arrival',
  minStayThrough: 'min_stay_through',
  maxStayThrough: 'max_stay_through',
  minAdvanceDays: 'min_advance_days',
  maxAdvanceDays: 'max_advance_days',
} as const satisfies Record<keyof Restriction, string>
