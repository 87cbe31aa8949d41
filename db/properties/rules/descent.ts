import type { Catalogue, SalePlan } from '../sale/catalogue.ts'

/** A plan's line of descent from its standard plan down to itself; null where an ancestor is not sold any more. */
export const descent = (catalogue: Catalogue, plan: SalePlan): SalePlan[] | null => {
  const line = [plan]
  for (let parentId = plan.parentId; parentId !== null;) {
    const parent = catalogue.ratePlans.find((known) => known.id === parentId)
    if (!parent || line.length > 4) return null
    line.unshift(parent)
    parentId = parent.parentId
  }
  return line
}

export type PriceOn = (date: string) => number | null
/** The cells of a standard plan and a type, by their days; null where there is none. */
export type PriceOf = (ratePlanId: string, unitTypeId: string) => PriceOn
