import { unprocessable } from '../../../../config/errors.ts'
import { sql, sqlOne } from '../../../lib/connection.ts'
import type { Trx } from '../../../lib/connection.ts'
import { requireTexts } from '../../../lib/locked-property.ts'
import type { LockedProperty } from '../../../lib/locked-property.ts'
import { judgeShape, referencesOf } from '../../rules/rate-plans.ts'
import type { JudgedPlan } from '../../rules/rate-plans.ts'

const deepest = 3

/**
 * Every record that a plan names is one of the house, active, and of the right kind. 422 names each that is not. Unit types that it has already (`kept`) stay
 * with it, unsold, when they are archived.
 */
export const refuseReferences = async (
  trx: Trx,
  propertyId: string,
  plan: JudgedPlan,
  kept: readonly string[] = [],
) => {
  const references = referencesOf(plan).filter(({ table, id }) => table !== 'unit_type' || !kept.includes(id))
  const known = await sql<{ place: string }>(
    trx,
    `select 'policy ' || id || ' ' || kind as place from policy where property_id = :propertyId and status = 'active' and id = any(:ids)
     union all select 'rate_plan ' || id || ' ' from rate_plan where property_id = :propertyId and status = 'active' and id = any(:ids)
     union all select 'unit_type ' || id || ' ' from unit_type where property_id = :propertyId and status = 'active' and id = any(:ids)
     union all select 'extra ' || id || ' ' from extra where property_id = :propertyId and status = 'active' and id = any(:ids)
     union all select 'age_category ' || id || ' ' from age_category where property_id = :propertyId and id = any(:ids)`,
    { propertyId, ids: references.map((reference) => reference.id) },
  )
  const places = new Set(known.map((row) => row.place))
  const errors = references.flatMap(({ field, table, id, kind = '' }) =>
    places.has(`${table} ${id} ${kind}`) ? [] : [{ field, message: 'is not there, or not active' }],
  )
  if (errors.length > 0)
    throw unprocessable(
      'reference_not_found',
      'The plan names records that this property does not sell by',
      errors.slice(0, 50),
    )
}

/** A plan below another one: no circle, at most three steps in all, and no price of its own. */
export const refuseDescent = async (trx: Trx, plan: JudgedPlan, id: string | null) => {
  const { parentId } = plan
  if (!parentId) return
  if ((plan.unitTypes ?? []).some((entry) => (entry.standardAmount ?? null) !== null))
    throw unprocessable('rate_plan_derived', 'A derived plan has no prices of its own', [
      { field: 'unitTypes', message: 'standardAmount must be null' },
    ])
  const above = await sql<{ id: string }>(
    trx,
    `with recursive line as (
       select id, parent_id, 1 as depth from rate_plan where id = ?
       union all select p.id, p.parent_id, l.depth + 1 from rate_plan p join line l on p.id = l.parent_id where l.depth < 10)
     select id from line`,
    [parentId],
  )
  if (id !== null && above.some((ancestor) => ancestor.id === id))
    throw unprocessable('derivation_cycle', 'A plan cannot derive from itself', [
      { field: 'parentId', message: 'derives from this plan' },
    ])
  const below = await sqlOne<{ depth: number }>(
    trx,
    `with recursive tree as (
       select id, 0 as depth from rate_plan where id = ?
       union all select c.id, t.depth + 1 from rate_plan c join tree t on c.parent_id = t.id where t.depth < 10)
     select coalesce(max(depth), 0) as depth from tree`,
    [id],
  )
  if (above.length + (below?.depth ?? 0) > deepest)
    throw unprocessable('derivation_too_deep', `A plan derives over at most ${deepest} steps`, [
      { field: 'parentId', message: 'leads too deep' },
    ])
}

/** All that is asked of a plan before it is written. The property is locked. `before`: what stands, for a change. */
export const judgePlan = async (
  trx: Trx,
  property: LockedProperty,
  plan: JudgedPlan,
  before: { id: string; unitTypes: readonly { unitTypeId: string }[] } | null,
) => {
  requireTexts(property, { name: plan.name, description: plan.description })
  judgeShape(plan)
  await refuseReferences(
    trx,
    property.id,
    plan,
    before?.unitTypes.map((entry) => entry.unitTypeId),
  )
  await refuseDescent(trx, plan, before?.id ?? null)
}
