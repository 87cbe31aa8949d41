import { invalid, unprocessable } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { Present, RateItem } from '../rules/rate-items.ts'

type PlanRow = { id: string; parentId: string | null; unitTypeId: string | null; standardAmount: number | null }

/** The records that items name: 422 for any that the property does not sell by, and for prices of a derived plan. */
export const houseOf = async (
  trx: Trx,
  propertyId: string,
  items: readonly RateItem[],
): Promise<Pick<Present, 'plans' | 'seasons'>> => {
  const planRows = await sql<PlanRow>(
    trx,
    `select r.id, r.parent_id, u.unit_type_id, u.standard_amount from rate_plan r
     left join rate_plan_unit_type u on u.tenant_id = r.tenant_id and u.rate_plan_id = r.id
     where r.property_id = ? and r.status = 'active'`,
    [propertyId],
  )
  const typeRows = await sql<{ id: string }>(
    trx,
    `select id from unit_type where property_id = ? and status = 'active'`,
    [propertyId],
  )
  const seasonRows = await sql<{ id: string; from: string; to: string }>(
    trx,
    `select s.id, g."from", g."to" from season s join season_range g on g.tenant_id = s.tenant_id and g.season_id = s.id where s.property_id = ?`,
    [propertyId],
  )
  const types = new Set(typeRows.map((row) => row.id))
  const plans = new Map<string, Map<string, number | null>>()
  for (const { id, unitTypeId, standardAmount } of planRows) {
    const ofPlan = plans.get(id) ?? new Map<string, number | null>()
    if (unitTypeId !== null && types.has(unitTypeId)) ofPlan.set(unitTypeId, standardAmount)
    plans.set(id, ofPlan)
  }
  const seasons = new Map<string, { from: string; to: string }[]>()
  for (const { id, ...range } of seasonRows) seasons.set(id, [...(seasons.get(id) ?? []), range])
  const derived = new Set(planRows.flatMap((row) => (row.parentId === null ? [] : [row.id])))
  const errors: FieldError[] = items.flatMap((item, index) => {
    const priced = item.amount !== undefined || item.adjust !== undefined
    return [
      ...(item.ratePlanIds ?? [])
        .filter((id) => !plans.has(id))
        .map((id) => ({ field: `items.${index}.ratePlanIds`, message: id })),
      ...(item.unitTypeIds ?? [])
        .filter(
          (id) =>
            !types.has(id) || (item.ratePlanIds ?? []).some((plan) => priced && plans.get(plan)?.has(id) === false),
        )
        .map((id) => ({ field: `items.${index}.unitTypeIds`, message: id })),
      ...(item.seasonIds ?? [])
        .filter((id) => !seasons.has(id))
        .map((id) => ({ field: `items.${index}.seasonIds`, message: id })),
    ]
  })
  if (errors.length > 0)
    throw unprocessable('reference_not_found', 'The property does not sell by these records', errors.slice(0, 50))
  const forDerived = items.flatMap((item, index) =>
    (item.amount !== undefined || item.adjust !== undefined) && item.ratePlanIds?.some((id) => derived.has(id))
      ? [{ field: `items.${index}.ratePlanIds`, message: 'derives its prices' }]
      : [],
  )
  if (forDerived.length > 0)
    throw unprocessable('rate_plan_derived', 'Prices of a derived plan follow its parent', forDerived)
  return { plans, seasons }
}

/** Validates items beyond their schema. 400. */
export const judgeItems = (items: readonly RateItem[]) => {
  const errors: FieldError[] = items.flatMap((item, index) => {
    const at = (field: string, message: string) => ({ field: `items.${index}.${field}`, message })
    const priced = item.amount !== undefined || item.adjust !== undefined
    return [
      ...(item.to < item.from ? [at('to', 'must not be before from')] : []),
      ...(item.amount !== undefined && item.adjust ? [at('adjust', 'stands in place of amount')] : []),
      ...(priced && !item.ratePlanIds ? [at('ratePlanIds', 'is required with a price')] : []),
      ...(!priced && Object.values(item.restrictions ?? {}).every((value) => value === undefined)
        ? [at('restrictions', 'an item says a price or a restriction')]
        : []),
    ]
  })
  if (errors.length > 0) throw invalid(errors)
}
