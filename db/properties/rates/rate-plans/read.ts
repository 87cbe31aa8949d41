import { notFound } from '../../../../config/errors.ts'
import type { LocalText } from '../../../../config/local-text.ts'
import type { Condition } from '../../../lib/conditions.ts'
import { sql, sqlOne } from '../../../lib/connection.ts'
import type { Trx } from '../../../lib/connection.ts'
import { archivable } from '../../../lib/lifecycle.ts'
import { model } from '../../../lib/models.ts'
import { inScope, readPage, where } from '../../../lib/paging.ts'
import type { Paging } from '../../../lib/paging.ts'
import type { RatePlanRow } from '../../../rows.ts'
import type { Derivation, LosDiscount } from '../../rules/prices.ts'
import type { NewRatePlan } from './create.ts'

type Documents = {
  name: LocalText
  description: LocalText
  derivation: Derivation | null
  includedExtras: { extraId: string; quantity: number }[]
  losDiscounts: LosDiscount[]
}
export const RatePlan = model<'rate_plan', Documents>('rate_plan')

type PlanSummary = Omit<RatePlanRow, 'tenantId' | 'cancellationKind' | 'noShowKind' | 'depositKind' | keyof Documents> &
  Documents
type PlanType = Required<NewRatePlan['unitTypes'][number]>
export type PlanRecord = PlanSummary & { unitTypes: PlanType[] }

export const ratePlanLifecycle = archivable('A rate plan')

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
        ...inScope(scope, 'r.property_id'),
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
