import { daysIn, addDays } from '../../../config/time.ts'
import type { Trx } from '../../lib/connection.ts'
import { freeOn, leftIn, readNights, tightestOn } from '../../units/index.ts'
import type { Counters } from '../../units/index.ts'
import { readRestrictions } from './calendar.ts'
import { catalogueOf } from './catalogue.ts'
import { propertyFor } from './sale-request.ts'

export type GridRequest = {
  propertyId: string
  from: string
  /** Included. */
  to: string
  unitTypeIds?: string[] | undefined
}
type Cell = { unitTypeId: string; free: number | null; stopSell: boolean } & { [Kind in keyof Counters]: number | null }
export type Grid = { nights: { date: string; unitTypes: Cell[] }[] }

const unknown = {
  capacity: null,
  sold: null,
  held: null,
  allotted: null,
  blocked: null,
  oversell: null,
  forced: null,
}

/**
 * The units left of each type on each night, from the counters of its tightest pool. They are null on nights without counters. `stopSell` says that no plan
 * sells the type that night.
 */
export const readGrid = async (trx: Trx, { propertyId, from, to, unitTypeIds }: GridRequest): Promise<Grid> => {
  const property = await propertyFor(trx, propertyId, 'staff')
  const catalogue = await catalogueOf(trx, property)
  const types = catalogue.unitTypes.filter((type) => !unitTypeIds || unitTypeIds.includes(type.id))
  const until = addDays(to, 1)
  const counters = await readNights(
    trx,
    [...new Set(types.flatMap((type) => type.pools.map((share) => share.poolId)))],
    from,
    until,
  )
  const left = leftIn(counters)
  const plans = catalogue.ratePlans
  const sellers = types.map((type) => ({
    type,
    plans: plans.filter((plan) => plan.unitTypes.some((entry) => entry.unitTypeId === type.id)),
  }))
  const restrictionOf = await readRestrictions(trx, propertyId, {
    catalogue,
    plans,
    unitTypeIds: types.map((type) => type.id),
    from,
    until,
  })
  return {
    nights: daysIn(from, until).map((date) => ({
      date,
      unitTypes: sellers.map(({ type, plans: sold }) => ({
        unitTypeId: type.id,
        ...(tightestOn(counters, type.pools, date) ?? unknown),
        free: freeOn(left, type.pools, date),
        stopSell: sold.every((plan) => restrictionOf(plan, type.id, date).stopSell === true),
      })),
    })),
  }
}
