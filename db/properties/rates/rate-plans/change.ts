import { conflict } from '../../../../config/errors.ts'
import { ratePlanChanged } from '../../../../config/events/rates.ts'
import { addDays, todayIn } from '../../../../config/time.ts'
import { sql } from '../../../lib/connection.ts'
import type { Trx } from '../../../lib/connection.ts'
import { emit, sentFields } from '../../../lib/events.ts'
import { lockForChange } from '../../../lib/locked-property.ts'
import type { LockedProperty } from '../../../lib/locked-property.ts'
import { changePortal } from '../../../lib/public-version.ts'
import { changeRow, fieldsOf } from '../../../lib/records.ts'
import { derive } from '../../rules/prices.ts'
import type { Derivation } from '../../rules/prices.ts'
import type { JudgedPlan } from '../../rules/rate-plans.ts'
import { horizonDays, lockRates, putPrices } from '../rate-cells.ts'
import type { PriceCell } from '../rate-cells.ts'
import { isAnyWaiting } from '../rate-queue.ts'
import { judgePlan } from './checks.ts'
import { writePlanTypes } from './create.ts'
import { RatePlan, readRatePlan, ratePlanLifecycle } from './read.ts'
import type { PlanRecord } from './read.ts'

/** The prices of a derived plan on every night that can be sold: what it would have been priced at, were it standard (R6). */
const pricesOf = async (trx: Trx, property: LockedProperty, plan: PlanRecord): Promise<PriceCell[]> => {
  const today = todayIn(property.timezone, property.now)
  const line = await sql<{ id: string; derivation: Derivation | null }>(
    trx,
    `with recursive line as (
       select id, parent_id, derivation, 0 as depth from rate_plan where id = ?
       union all select p.id, p.parent_id, p.derivation, l.depth + 1 from rate_plan p join line l on p.id = l.parent_id where l.depth < 10)
     select id, derivation from line order by depth desc`,
    [plan.id],
  )
  const cells = await sql<{ unitTypeId: string; date: string; amount: number }>(
    trx,
    `select s.unit_type_id, d.date::date as date, coalesce(c.amount, s.standard_amount) as amount
     from rate_plan_unit_type s
     cross join generate_series(?::timestamp, ?::timestamp, interval '1 day') as d (date)
     left join rate_cell c on c.tenant_id = s.tenant_id and c.rate_plan_id = s.rate_plan_id and c.unit_type_id = s.unit_type_id and c.date = d.date::date
     where s.rate_plan_id = ? and s.unit_type_id = any(?::uuid[]) and coalesce(c.amount, s.standard_amount) is not null`,
    [
      property.businessDate ?? today,
      addDays(today, horizonDays),
      line[0]?.id,
      plan.unitTypes.map((entry) => entry.unitTypeId),
    ],
  )
  const steps = line.flatMap(({ derivation }) => (derivation ? [derivation] : []))
  return cells.map(({ amount, ...place }) => ({
    ...place,
    ratePlanId: plan.id,
    amount: Math.max(0, steps.reduce(derive, amount)),
  }))
}

export type PlanChange = JudgedPlan & { code?: string | undefined }

/** Takes away what a plan will not have any more: types that it sells no longer, and prices where it derives from now on. */
const dropPrices = async (trx: Trx, plan: PlanRecord, keep: readonly string[], derived: boolean) => {
  await sql(trx, `delete from rate_cell where rate_plan_id = ? and (?::boolean or unit_type_id <> all(?::uuid[]))`, [
    plan.id,
    derived,
    keep,
  ])
  await sql(trx, `delete from rate_plan_unit_type where rate_plan_id = ? and unit_type_id <> all(?::uuid[])`, [
    plan.id,
    keep,
  ])
  if (derived) await sql(trx, `update rate_plan_unit_type set standard_amount = null where rate_plan_id = ?`, [plan.id])
}

/**
 * Changes terms, unit types or derivation. A plan that stops deriving keeps its prices, as cells; one that begins to gives its own
 * up. The caller holds the plan's row.
 */
export const changeRatePlan = async (trx: Trx, id: string, change: PlanChange): Promise<void> => {
  const before = await readRatePlan(trx, id)
  await lockRates(trx, before.propertyId)
  const property = await lockForChange(trx, before.propertyId)
  const plan = await readRatePlan(trx, id)
  ratePlanLifecycle.allow('changed', plan.status)
  if (fieldsOf(change).length === 0) return
  const { unitTypes, ...fields } = change
  const sent = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  const ends = change.parentId === null && plan.parentId !== null
  const planned: JudgedPlan = {
    ...plan,
    ...sent,
    ...(ends && change.derivation === undefined ? { derivation: null } : {}),
  }
  // The prices that the plan would keep are about to change, by changes that were asked for first.
  if (ends && (await isAnyWaiting(trx, plan.propertyId)))
    throw conflict('invalid_transition', 'Changes of rates are still waiting; the plan can stand on its own after them')
  const begins = (planned.parentId ?? null) !== null && plan.parentId === null
  const stripped =
    begins && unitTypes === undefined
      ? plan.unitTypes.map((entry) => ({ ...entry, standardAmount: null }))
      : plan.unitTypes
  await judgePlan(trx, property, { ...planned, unitTypes: unitTypes ?? stripped }, plan)
  const kept = ends ? await pricesOf(trx, property, plan) : []
  const version = await changeRow(trx, RatePlan, id, {
    ...fields,
    ...(ends ? { derivation: null } : {}),
    ...(unitTypes && fieldsOf(sent).length === 0 ? { code: plan.code } : {}),
  })
  if (unitTypes !== undefined || begins) {
    await dropPrices(
      trx,
      plan,
      (unitTypes ?? plan.unitTypes).map((entry) => entry.unitTypeId),
      begins,
    )
    if (unitTypes) await writePlanTypes(trx, id, unitTypes)
  }
  const still = new Set((unitTypes ?? plan.unitTypes).map((entry) => entry.unitTypeId))
  await putPrices(
    trx,
    kept.filter((cell) => still.has(cell.unitTypeId)),
  )
  // Other types, days or channels may leave some days without a price.
  await changePortal(trx, plan.propertyId, { kind: 'all', closes: true })
  await emit(trx, ratePlanChanged, {
    propertyId: plan.propertyId,
    id,
    version,
    data: { ratePlanId: id, code: plan.code, parentId: plan.parentId },
    changed: sentFields(change, plan),
  })
}
