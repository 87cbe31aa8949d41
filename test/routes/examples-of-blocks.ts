import fc from 'fast-check'
import { createBlock } from '../../db/units/blocks/create.ts'
import { createUnitType } from '../../db/units/unit-types/create.ts'
import { createUnits } from '../../db/units/units/create.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { place } from '../units/stays.ts'
import type { Known } from './inputs.ts'

/** Units of stays: blocks of vacant units, and two stays that can be exchanged. */
export const ofBlocks = async (house: House): Promise<{ known: Known; examples: Record<string, unknown[]> }> => {
  const { propertyId } = house
  const block = { propertyId, kind: 'out_of_order' as const, reason: 'maintenance' as const }
  const made = await house.inHouse(async (trx) => {
    const { id: unitTypeId } = await createUnitType(trx, {
      propertyId,
      code: 'BLOCKED',
      name: { 'pt-BR': 'Quarto' },
      kind: 'private',
      baseOccupancy: 1,
      maxAdults: 2,
      maxChildren: 0,
      maxOccupancy: 2,
    })
    const names = ['B1', 'B2', 'B3', 'B4', 'B5', 'B6']
    const units = (await createUnits(trx, { propertyId, unitTypeId, names })).map((unit) => unit.id)
    const blocks: string[] = []
    for (const [index, from] of [150, 150, 0].entries())
      blocks.push(
        (
          await createBlock(trx, {
            ...block,
            unitIds: units.slice(index, index + 1),
            from: house.day(from),
            to: house.day(from + 20),
          })
        ).id,
      )
    return { unitTypeId, units, blocks }
  })
  // Nothing is asked for before arrival there.
  const inn = await makeHouse({ tenantId: house.tenantId, deposit: null })
  const stays = [await place(inn, { from: 100, nights: 3 }), await place(inn, { from: 101, nights: 3 })]
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  const [planned, gone, running] = made.blocks
  const spare = made.units.slice(3)
  return {
    known: {
      unitIds: one(spare, spare.slice(0, 1)),
      issueId: one(null),
      unitBlockId: one(planned),
      'unitBlocks.cancel unitBlockId': one(gone),
      'unitBlocks.end unitBlockId': one(running),
    },
    examples: {
      'unitBlocks.list': [{}, { propertyId, status: 'open', from: house.day(0) }],
      'unitBlocks.create': Array.from({ length: 20 }, (_, index) => ({
        ...block,
        unitIds: spare,
        from: house.day(200 + index * 3),
        to: house.day(202 + index * 3),
        dryRun: index % 4 === 0,
      })),
      'unitBlocks.update': [{ note: 'Paint' }, { to: house.day(175) }, { kind: 'out_of_service' }],
      'unitBlocks.end': [{}, { condition: 'inspected' }],
      'unitAssignments.list': [{}, { propertyId, status: 'proposed' }],
      'unitAssignments.swap': [{ reservationIds: stays }, { reservationIds: stays.toReversed() }],
      'unitAssignments.repack': [
        { propertyId },
        { propertyId: inn.propertyId, dryRun: true, from: house.day(90), to: house.day(120) },
      ],
      'unitCalendar.read': [
        { propertyId: inn.propertyId, from: house.day(95), to: house.day(120), unitTypeId: [inn.unitTypeId] },
      ],
      'units.available': [
        { propertyId, from: house.day(20), to: house.day(22), unitTypeId: house.unitTypeId },
        { propertyId: inn.propertyId, reservationId: stays[0] },
      ],
    },
  }
}
