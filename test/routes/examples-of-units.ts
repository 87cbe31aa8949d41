import fc from 'fast-check'
import { createPool } from '../../db/units/unit-pools.ts'
import { createUnitType } from '../../db/units/unit-types/create.ts'
import { createUnits } from '../../db/units/units/create.ts'
import type { House } from '../support/factories.ts'
import type { Known } from './inputs.ts'

/** Places to sleep: types and units of which nothing is sold, so that they can be changed and retired. */
export const ofUnits = async (house: House): Promise<{ known: Known; examples: Record<string, unknown[]> }> => {
  const { propertyId } = house
  const type = (code: string) => ({
    propertyId,
    code,
    name: { 'pt-BR': 'Quarto', en: 'Room' },
    kind: 'private' as const,
    baseOccupancy: 1,
    maxAdults: 2,
    maxChildren: 0,
    maxOccupancy: 2,
  })
  const made = await house.inHouse(async (trx) => {
    const spare = await createUnitType(trx, type('SPARE'))
    const gone = await createUnitType(trx, type('GONE'))
    const [unit, goneUnit] = await createUnits(trx, { propertyId, unitTypeId: spare.id, names: ['S1', 'S2'] })
    return {
      spare: spare.id,
      gone: gone.id,
      spares: spare.pools,
      unit: unit?.id,
      goneUnit: goneUnit?.id,
      pool: await createPool(trx, { propertyId, name: 'Spare pool' }),
      gonePool: await createPool(trx, { propertyId, name: 'Gone pool' }),
    }
  })
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  const pools = made.spares.map(({ poolId, quantity }) => ({ unitPoolId: poolId, quantity }))
  return {
    known: {
      unitId: one(made.unit),
      unitPoolId: one(house.poolId),
      baseOccupancy: one(1),
      maxAdults: one(1, 2),
      maxOccupancy: one(2, 40),
      description: one({ 'pt-BR': 'Vista', en: 'A view' }),
      pools: one(pools),
      activeFrom: one(house.day(0), house.day(3)),
      activeUntil: one(null, house.day(700)),
      'unitPools.update unitPoolId': one(made.pool),
      'unitTypes.update unitTypeId': one(made.spare),
      'unitTypes.archive unitTypeId': one(made.gone),
      'unitTypes.restore unitTypeId': one(made.gone),
      'unitPools.delete unitPoolId': one(made.gonePool),
      'units.archive unitId': one(made.goneUnit),
      'units.restore unitId': one(made.goneUnit),
    },
    examples: {
      'unitTypes.list': [{}, { propertyId, kind: 'private', q: 'room' }],
      'unitTypes.update': [{ position: 3 }, { maxOccupancy: 4, maxChildren: 2 }, { pools }],
      'unitPools.update': [{ name: 'Garden' }],
      'units.list': [{}, { propertyId, occupancy: 'vacant', service: 'in_service', sort: '-name,floor' }, { q: 's' }],
      'units.createBulk': [
        { propertyId, unitTypeId: made.spare, pattern: { prefix: 'P', first: 1, last: 5, digits: 2 } },
        { propertyId, unitTypeId: made.spare, names: ['Q1', 'Q2'], floor: 2, attributes: ['sea_view'] },
      ],
      'units.update': [{ floor: 3 }, { activeUntil: house.day(700) }, { activeUntil: null, notes: 'Quiet' }],
    },
  }
}
