import { randomUUID } from 'node:crypto'
import { ratePlanCreated } from '../../../../config/events/rates.ts'
import type { LocalText } from '../../../../config/local-text.ts'
import { sql } from '../../../lib/connection.ts'
import type { Trx } from '../../../lib/connection.ts'
import { emit } from '../../../lib/events.ts'
import { lockForChange } from '../../../lib/locked-property.ts'
import { changePortal } from '../../../lib/public-version.ts'
import { insertRow } from '../../../lib/records.ts'
import type { Adjustment, ChildPrice, Derivation, LosDiscount } from '../../rules/prices.ts'
import type { PlanLimits } from '../../rules/restrictions.ts'
import type { RatePlanRow } from '../../../rows.ts'
import { judgePlan } from './checks.ts'
import { RatePlan } from './read.ts'

export type NewRatePlan = Partial<PlanLimits> & {
  id?: string
  propertyId: string
  code: string
  name: LocalText
  description?: LocalText
  parentId?: string | null
  derivation?: Derivation | null
  inheritRestrictions?: boolean
  marketSegment?: RatePlanRow['marketSegment']
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
  const { unitTypes, ...row } = plan
  await insertRow(trx, RatePlan, { ...row, id })
  await writePlanTypes(trx, id, unitTypes)
  await changePortal(trx, plan.propertyId)
  await emit(trx, ratePlanCreated, {
    propertyId: plan.propertyId,
    id,
    version: 1,
    data: { ratePlanId: id, code: plan.code, parentId: plan.parentId ?? null },
  })
  return id
}
