import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { createBlock } from '../../db/units/blocks/create.ts'
import { makeLateHouse, makeStays } from '../night-audit/support.ts'
import { openDesk } from '../properties/support.ts'
import { useWorld } from '../support/world.ts'

type Row = Record<string, number | string | null> & { key: string }

// Six units at 200.00 a night for two, of which 169.98 is the room.
const room = 16_998
const figures = ['units', 'outOfOrder', 'outOfService', 'available', 'sold', 'houseUse', 'roomRevenue', 'occupancy', 'occupancyWithFree', 'adr', 'revpar', 'noShowRate'] // prettier-ignore

describe('days to come of a house by hand', () => {
  const world = useWorld()

  it('have a unit out of order less to sell, and one out of service among those that are sold', async () => {
    const house = await makeLateHouse(3, { units: 6 })
    const owner = await openDesk(world, house, 'owner')
    const ofDay = async (days: number, ...names: string[]) => {
      const path = `reports/occupancy?propertyId=${house.propertyId}&startDate=${house.day(days)}&endDate=${house.day(days)}`
      const { status, body } = await owner.get(path)
      expect(status, JSON.stringify(body)).to.equal(200)
      return names.map((name) => (body.data as Row[])[0]?.[name])
    }
    const [own = ''] = await makeStays(house, 4, { from: -3, nights: 2 })
    await house.inHouse((trx) => sql(trx, `select record_on_the_books(array_agg(id)) from reservation`))
    for (const [unit, kind] of [
      [4, 'out_of_order'],
      [5, 'out_of_service'],
    ] as const)
      await house.inHouse((trx) =>
        createBlock(trx, {
          propertyId: house.propertyId,
          unitIds: [house.unitIds[unit] ?? ''],
          kind,
          reason: 'maintenance',
          from: house.day(-3),
          to: house.day(-1),
        }),
      )
    expect((await owner.send('PATCH', `reservations/${own}`, { marketSegment: 'house_use' })).status).to.equal(200)
    // Four stays, one of them the house's own: three are sold of five units.
    const known = [6, 1, 1, 5, 3, 1, 4 * room, '0.6000', '0.8000', 22_664, 13_598, '0.0000']
    expect(await ofDay(-3, ...figures)).to.deep.equal(known)
    expect(await ofDay(-2, 'outOfOrder', 'outOfService', 'available')).to.deep.equal([1, 1, 5])
    expect(await ofDay(-1, 'outOfOrder', 'outOfService', 'available')).to.deep.equal([0, 0, 6])
  })
})
