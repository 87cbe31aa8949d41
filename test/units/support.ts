import { sql } from '../../db/lib/connection.ts'
import { createRatePlan } from '../../db/properties/rates/rate-plans/create.ts'
import { createUnitType } from '../../db/units/unit-types/create.ts'
import type { House } from '../support/factories.ts'

/** A second type of a house that takes two units of the first one's pool, as two rooms side by side do, with a plan that sells it. */
export const makePair = (house: House): Promise<{ unitTypeId: string; ratePlanId: string }> =>
  house.inHouse(async (trx) => {
    const { propertyId } = house
    const code = 'PAIR'
    const name = { 'pt-BR': 'Par', en: 'Pair' }
    const type = await createUnitType(trx, {
      propertyId,
      code,
      name,
      kind: 'private',
      baseOccupancy: 2,
      maxAdults: 4,
      maxChildren: 0,
      maxOccupancy: 4,
      pools: [{ poolId: house.poolId, quantity: 2 }],
    })
    const [plan] = await sql<{ cancellationPolicyId: string; noShowPolicyId: string }>(
      trx,
      `select cancellation_policy_id, no_show_policy_id from rate_plan where id = ?`,
      [house.ratePlanId],
    )
    if (!plan) throw new Error('the house has a plan')
    const unitTypes = [{ unitTypeId: type.id, standardAmount: 30_000 }]
    return {
      unitTypeId: type.id,
      ratePlanId: await createRatePlan(trx, { propertyId, code, name, ...plan, unitTypes }),
    }
  })
