import { randomUUID } from 'node:crypto'
import { unprocessable } from '../../../config/errors.ts'
import type { kitTaskKinds, servedMealPlans } from '../../../config/inventory.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { holdLocations } from '../locations.ts'

/** Says when a kit is used up without a word of anybody: with a task of housekeeping, or with the meals of a night. */
export type RuleEntry = { propertyId: string; locationId: string } & (
  | { on: 'task'; unitTypeIds?: string[]; taskKinds: (typeof kitTaskKinds)[number][] }
  | { on: 'meal'; mealPlans: (typeof servedMealPlans)[number][] }
)
/** `id` tells rules apart, so that each acts once. */
export type KitRule = RuleEntry & { id: string }

/** Rules as they are kept, of locations and types that are there. 422 `reference_not_found`. */
export const keptRules = async (trx: Trx, rules: readonly RuleEntry[]): Promise<KitRule[]> => {
  if (rules.length === 0) return []
  const places = await holdLocations(
    trx,
    rules.map(({ locationId }, index) => ({ id: locationId, field: `rules.${index}.locationId` })),
  )
  const types = await sql<{ id: string; propertyId: string }>(
    trx,
    `select id, property_id from unit_type where id = any(?::uuid[])`,
    [rules.flatMap((rule) => (rule.on === 'task' ? (rule.unitTypeIds ?? []) : []))],
  )
  const errors = rules.flatMap((rule, index) => [
    ...(places.get(rule.locationId)?.propertyId === rule.propertyId
      ? []
      : [{ field: `rules.${index}.locationId`, message: 'is no location of the property' }]),
    ...(rule.on === 'meal' ||
    (rule.unitTypeIds ?? []).every((id) => types.some((one) => one.id === id && one.propertyId === rule.propertyId))
      ? []
      : [{ field: `rules.${index}.unitTypeIds`, message: 'name a type that the property does not have' }]),
  ])
  if (errors.length > 0) throw unprocessable('reference_not_found', 'A rule names what is not there', errors)
  return rules.map((rule) => ({ ...rule, id: randomUUID() }))
}
