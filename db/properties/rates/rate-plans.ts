import { conflict, notFound, unprocessable } from '../../../config/errors.ts'
import type { LocalText } from '../../../config/local-text.ts'
import { addDays, todayIn } from '../../../config/time.ts'
import type { Condition } from '../../lib/conditions.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { inScope, readPage, where } from '../../lib/paging.ts'
import type { Paging } from '../../lib/paging.ts'
import type { RatePlanRow } from '../../rows.ts'
import { changeRow, fieldsOf } from '../../lib/editing.ts'
import { lockForChange } from '../../lib/locked-property.ts'
import type { LockedProperty } from '../../lib/locked-property.ts'
import { changePortal } from '../../lib/public-version.ts'
import { judgePlan, refuseReferences } from './rate-plan-rules.ts'
import type { JudgedPlan } from './rate-plan-rules.ts'
import { isAnyWaiting } from './rate-queue.ts'
import { horizonDays, lockRates, putPrices, writePlanTypes } from './rates.ts'
import type { NewRatePlan, PriceCell } from './rates.ts'
import { derive } from '../rules/prices.ts'
import type { Derivation, LosDiscount } from '../rules/prices.ts'

type Documents = {
  name: LocalText
  description: LocalText
  derivation: Derivation | null
  includedExtras: { extraId: string; quantity: number }[]
  losDiscounts: LosDiscount[]
}
type PlanSummary = Omit<RatePlanRow, 'tenantId' | 'cancellationKind' | 'noShowKind' | 'depositKind' | keyof Documents> &
  Documents
type PlanType = Required<NewRatePlan['unitTypes'][number]>
export type PlanRecord = PlanSummary & { unitTypes: PlanType[] }

const columns = `r.id, r.property_id, r.code, r.name, r.description, r.status, r.parent_id, r.derivation, r.inherit_restrictions, r.market_segment,
  r.meal_plan, r.included_extras, r.cancellation_policy_id, r.no_show_policy_id, r.deposit_policy_id, r.visibility, r.bookable_from, r.bookable_until,
  r.stay_from, r.stay_until, r.min_advance_days, r.max_advance_days, r.min_nights, r.max_nights, r.los_discounts, r.version, r.created_at, r.updated_at`

type Filter = Paging & {
  propertyId?: string | undefined
  status?: string | undefined
  visibility?: string | undefined
  unitTypeId?: string | undefined
  parentId?: string | undefined
  q?: string | undefined
  /** The records that the caller's role is for. */
  scope: Condition
}

/** Rate plans without their unit types. */
export const listRatePlans = (trx: Trx, { status = 'active', q, scope, ...filter }: Filter) =>
  readPage<PlanSummary>(
    trx,
    {
      columns,
      from: 'rate_plan r',
      conditions: [
        ...inScope(trx, scope, 'r.property_id'),
        ...where('r.property_id = ?', filter.propertyId),
        ...where('r.status = ?', status),
        ...where('r.visibility = ?', filter.visibility),
        ...where('r.parent_id = ?', filter.parentId),
        ...where(
          'exists (select from rate_plan_unit_type u where u.tenant_id = r.tenant_id and u.rate_plan_id = r.id and u.unit_type_id = ?)',
          filter.unitTypeId,
        ),
        ...(q === undefined
          ? []
          : [
              {
                text: '(strpos(lower(r.code), lower(?)) > 0 or exists (select from jsonb_each_text(r.name) t where strpos(lower(t.value), lower(?)) > 0))',
                values: [q, q],
              },
            ]),
      ],
      order: 'r.code, r.id',
    },
    filter,
  )

/** A plan with its unit types. 404. */
export const readRatePlan = async (trx: Trx, id: string): Promise<PlanRecord> => {
  const row = await sqlOne<PlanSummary>(trx, `select ${columns} from rate_plan r where r.id = ?`, [id])
  if (!row) throw notFound()
  const unitTypes = await sql<PlanType>(
    trx,
    `select u.unit_type_id, u.standard_amount, u.adults, u.extra_adult_amount, u.children from rate_plan_unit_type u
     join unit_type t on t.tenant_id = u.tenant_id and t.id = u.unit_type_id where u.rate_plan_id = ? order by t.position, t.code`,
    [id],
  )
  return { ...row, unitTypes }
}

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
  if (plan.status !== 'active') throw conflict('invalid_transition', 'The plan is archived')
  if (fieldsOf(change).length === 0) return
  const { unitTypes, ...fields } = change
  const sent = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  const ends = change.parentId === null && plan.parentId !== null
  const planned: JudgedPlan = {
    ...plan,
    ...sent,
    ...(ends && change.derivation === undefined ? { derivation: null } : {}),
  }
  // What it would keep are prices that are about to change: their change was asked for first.
  if (ends && (await isAnyWaiting(trx, plan.propertyId)))
    throw conflict('invalid_transition', 'Changes of rates are still waiting; the plan can stand on its own after them')
  const begins = (planned.parentId ?? null) !== null && plan.parentId === null
  const stripped =
    begins && unitTypes === undefined
      ? plan.unitTypes.map((entry) => ({ ...entry, standardAmount: null }))
      : plan.unitTypes
  await judgePlan(trx, property, { ...planned, unitTypes: unitTypes ?? stripped }, plan)
  const kept = ends ? await pricesOf(trx, property, plan) : []
  const version = await changeRow(
    trx,
    'rate_plan',
    id,
    {
      ...sent,
      ...(ends ? { derivation: null } : {}),
      ...(unitTypes && fieldsOf(sent).length === 0 ? { code: plan.code } : {}),
    },
    ['name', 'description', 'derivation', 'includedExtras', 'losDiscounts'],
  )
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
  await changePortal(trx, plan.propertyId)
  await emit(trx, {
    type: 'rate_plan.changed',
    propertyId: plan.propertyId,
    entity: { type: 'rate_plan', id, version },
    data: { ratePlanId: id, fields: fieldsOf(change) },
  })
}

const announce = async (
  trx: Trx,
  plan: PlanRecord,
  type: 'rate_plan.archived' | 'rate_plan.restored',
  version: number,
) => {
  await changePortal(trx, plan.propertyId)
  await emit(trx, {
    type,
    propertyId: plan.propertyId,
    entity: { type: 'rate_plan', id: plan.id, version },
    data: { ratePlanId: plan.id, code: plan.code },
  })
}

/** Stops selling a plan. 422 `in_use` names the active plans that derive from it. The caller holds its row. */
export const archiveRatePlan = async (trx: Trx, id: string): Promise<void> => {
  const plan = await readRatePlan(trx, id)
  await lockForChange(trx, plan.propertyId)
  if (plan.status === 'archived') return
  const children = await sql<{ code: string }>(
    trx,
    `select code from rate_plan where parent_id = ? and status = 'active' order by code limit 50`,
    [id],
  )
  if (children.length > 0)
    throw unprocessable(
      'in_use',
      'Active plans derive from this one',
      children.map(({ code }) => ({ field: 'ratePlan', message: code })),
    )
  await announce(trx, plan, 'rate_plan.archived', await changeRow(trx, 'rate_plan', id, { status: 'archived' }))
}

/** Sells a plan again: 422 where its policies, its parent or what it includes are not active any more. The caller holds its row. */
export const restoreRatePlan = async (trx: Trx, id: string): Promise<void> => {
  const plan = await readRatePlan(trx, id)
  await lockForChange(trx, plan.propertyId)
  if (plan.status === 'active') return
  const { parentId, cancellationPolicyId, noShowPolicyId, depositPolicyId, includedExtras } = plan
  await refuseReferences(trx, plan.propertyId, {
    parentId,
    cancellationPolicyId,
    noShowPolicyId,
    depositPolicyId,
    includedExtras,
  })
  await announce(trx, plan, 'rate_plan.restored', await changeRow(trx, 'rate_plan', id, { status: 'active' }))
}
