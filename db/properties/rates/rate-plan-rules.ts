import { invalid, unprocessable } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { requireTexts } from '../../lib/locked-property.ts'
import type { LockedProperty } from '../../lib/locked-property.ts'
import type { NewRatePlan } from './rates.ts'
import type { Adjustment, ChildPrice, Derivation } from '../rules/prices.ts'

type Sent<T> = { [Field in keyof T]?: T[Field] | undefined }
/** What a plan will be: of a change, what was sent over what stands. */
export type JudgedPlan = Sent<Omit<NewRatePlan, 'id' | 'propertyId' | 'code'>>

const deepest = 3
/** A rise of ten times, in basis points. */
const steepest = 100_000

/** Pairs that must not cross. */
const ranges = [
  ['bookableFrom', 'bookableUntil'],
  ['stayFrom', 'stayUntil'],
  ['minAdvanceDays', 'maxAdvanceDays'],
  ['minNights', 'maxNights'],
] as const

/** What the schema cannot say and no record is needed for. 400. */
const judgeShape = (property: Pick<LockedProperty, 'locales'>, plan: JudgedPlan) => {
  requireTexts(property, { name: plan.name, description: plan.description })
  const errors: FieldError[] = ranges.flatMap(([from, until]) =>
    (plan[from] ?? null) !== null &&
    (plan[until] ?? null) !== null &&
    String(plan[from]).padStart(10, '0') > String(plan[until]).padStart(10, '0')
      ? [{ field: until, message: `must not be below ${from}` }]
      : [],
  )
  if ((plan.parentId ?? null) === null && (plan.derivation ?? null) !== null)
    errors.push({ field: 'derivation', message: 'needs a parentId' })
  if ((plan.parentId ?? null) !== null && (plan.derivation ?? null) === null)
    errors.push({ field: 'derivation', message: 'is required with a parentId' })
  const rising = (plan.losDiscounts ?? []).every(
    (entry, index, all) => index === 0 || entry.minNights > (all[index - 1]?.minNights ?? 0),
  )
  if (!rising) errors.push({ field: 'losDiscounts', message: 'minNights must rise' })
  const types = (plan.unitTypes ?? []).map((entry) => entry.unitTypeId)
  if (new Set(types).size < types.length) errors.push({ field: 'unitTypes', message: 'name a unit type twice' })
  const extras = (plan.includedExtras ?? []).map((entry) => entry.extraId)
  if (new Set(extras).size < extras.length) errors.push({ field: 'includedExtras', message: 'name an extra twice' })
  for (const [index, entry] of (plan.unitTypes ?? []).entries()) {
    if (Object.keys(entry.adults ?? {}).some((count) => !/^([1-9]|[1-3]\d|40)$/.test(count)))
      errors.push({ field: `unitTypes.${index}.adults`, message: 'is by a number of adults from 1 to 40' })
    const ages = (entry.children ?? []).map((child) => child.ageCategoryId)
    if (new Set(ages).size < ages.length)
      errors.push({ field: `unitTypes.${index}.children`, message: 'name an age category twice' })
  }
  for (const [field, { type, value }] of adjustmentsOf(plan))
    if (type === 'percent' && (value < -10_000 || value > steepest))
      errors.push({ field, message: `is from -10000 to ${steepest} basis points` })
  if (errors.length > 0) throw invalid(errors)
}

/** Everything that raises or lowers a price, by its place. */
const adjustmentsOf = (plan: JudgedPlan): [field: string, by: { type: string; value: number }][] => [
  ...(plan.derivation ? [['derivation.value', plan.derivation] as [string, Derivation]] : []),
  ...(plan.unitTypes ?? []).flatMap((entry, index): [string, { type: string; value: number }][] => [
    ...Object.entries(entry.adults ?? {}).map(([count, by]): [string, Adjustment] => [
      `unitTypes.${index}.adults.${count}.value`,
      by,
    ]),
    ...(entry.children ?? []).map((by, position): [string, ChildPrice] => [
      `unitTypes.${index}.children.${position}.value`,
      by,
    ]),
  ]),
]

type Reference = {
  field: string
  table: 'policy' | 'rate_plan' | 'unit_type' | 'extra' | 'age_category'
  id: string
  kind?: string
}

const referencesOf = (plan: JudgedPlan): Reference[] => {
  const policies = [
    ['cancellationPolicyId', 'cancellation'],
    ['noShowPolicyId', 'no_show'],
    ['depositPolicyId', 'deposit'],
  ] as const
  return [
    ...policies.flatMap(([field, kind]) =>
      plan[field] ? [{ field, table: 'policy' as const, id: plan[field], kind }] : [],
    ),
    ...(plan.parentId ? [{ field: 'parentId', table: 'rate_plan' as const, id: plan.parentId }] : []),
    ...(plan.includedExtras ?? []).map(({ extraId }, index) => ({
      field: `includedExtras.${index}.extraId`,
      table: 'extra' as const,
      id: extraId,
    })),
    ...(plan.unitTypes ?? []).flatMap(({ unitTypeId, children }, index) => [
      { field: `unitTypes.${index}.unitTypeId`, table: 'unit_type' as const, id: unitTypeId },
      ...(children ?? []).map(({ ageCategoryId }, position) => ({
        field: `unitTypes.${index}.children.${position}.ageCategoryId`,
        table: 'age_category' as const,
        id: ageCategoryId,
      })),
    ]),
  ]
}

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
  judgeShape(property, plan)
  await refuseReferences(
    trx,
    property.id,
    plan,
    before?.unitTypes.map((entry) => entry.unitTypeId),
  )
  await refuseDescent(trx, plan, before?.id ?? null)
}
