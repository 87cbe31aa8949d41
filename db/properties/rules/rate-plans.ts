import { invalid } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import type { NewRatePlan } from '../rates/rate-plans/create.ts'
import type { Adjustment, ChildPrice, Derivation } from './prices.ts'

type Sent<T> = { [Field in keyof T]?: T[Field] | undefined }
/** The resulting plan: for a change, the sent fields over the stored ones. */
export type JudgedPlan = Sent<Omit<NewRatePlan, 'id' | 'propertyId' | 'code'>>

/** A rise of ten times, in basis points. */
const steepest = 100_000

/** Pairs that must not cross. */
const ranges = [
  ['bookableFrom', 'bookableUntil'],
  ['stayFrom', 'stayUntil'],
  ['minAdvanceDays', 'maxAdvanceDays'],
  ['minNights', 'maxNights'],
] as const

/** Refuses a plan that its schema allows, and that is wrong whatever the records of the property are. 400. */
export const judgeShape = (plan: JudgedPlan) => {
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

export const referencesOf = (plan: JudgedPlan): Reference[] => {
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
