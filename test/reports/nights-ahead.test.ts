import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { verifyFacts } from '../../db/reports/index.ts'
import { reinstate } from '../../db/reservations/reinstate.ts'
import { arrive, closeOpenDay, makeLateHouse, makeStays } from '../night-audit/support.ts'
import { openDesk } from '../properties/support.ts'
import { deskOf } from '../reservations/desk.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

type Row = { key: string; sold: number; roomRevenue: number; adults: number; totalRevenue: number }

describe('nights that are charged before their business day, or not at all', () => {
  const world = useWorld()
  let house: House
  const { leave, miss } = deskOf(() => house)

  it('have their revenue on the day of charging alone, and their unit-night on their own, open and closed', async () => {
    // The business day is two days behind the calendar: who leaves now has slept two nights, and pays both today.
    house = await makeLateHouse(2, { units: 2, amount: 20_000 })
    const owner = await openDesk(world, house, 'owner')
    const [id = ''] = await makeStays(house, 1, { from: -2, nights: 3 })
    await arrive(house, id)
    await leave(id, true, 'balance')
    const read = async () => {
      const { status, body } = await owner.get(`reports/occupancy?startDate=${house.day(-2)}&endDate=${house.day(-1)}`)
      expect(status, JSON.stringify(body)).to.equal(200)
      const { data, totals } = body as { data: Row[]; totals: Row }
      return [...data, totals].map(({ sold, roomRevenue }) => [sold, roomRevenue])
    }
    const open = await read()
    const night = open[0]?.[1] ?? 0
    expect(night).to.be.above(0)
    expect(open).to.deep.equal([
      [1, night],
      [1, night],
      [2, 2 * night],
    ])
    const charged = [
      [1, 2 * night],
      [1, 0],
      [2, 2 * night],
    ]
    await closeOpenDay(house)
    expect(await read()).to.deep.equal(charged)
    await closeOpenDay(house)
    expect(await read()).to.deep.equal(charged)
    expect(await house.inHouse((trx) => verifyFacts(trx, house.propertyId))).to.deep.equal([])
  })

  it('are slept, too, where the fee of a no-show has paid them, open and closed', async () => {
    house = await makeLateHouse(1, { units: 2, amount: 20_000 })
    const owner = await openDesk(world, house, 'owner')
    const [id = ''] = await makeStays(house, 1, { from: -1, nights: 2 })
    await miss(id)
    await house.inHouse((trx) => reinstate(trx, id, { reason: 'came late', fee: 'keep' }))
    await arrive(house, id)
    const [night] = await house.inHouse((trx) =>
      sql<{ status: string }>(
        trx,
        `select status from reservation_night where reservation_id = ? order by date limit 1`,
        [id],
      ),
    )
    expect(night?.status).to.equal('waived')
    await house.inHouse((trx) =>
      sql(trx, `update reservation_night set commission = 700 where reservation_id = ?`, [id]),
    )
    const read = async () => {
      const { body } = await owner.get(`reports/occupancy?startDate=${house.day(-1)}&endDate=${house.day(-1)}`)
      const { body: made } = await owner.get(
        `reports/production?startDate=${house.day(-1)}&endDate=${house.day(-1)}&by=source`,
      )
      const { sold, adults, roomRevenue } = (body as { totals: Row }).totals
      const { bookings, unitNights, commission } = (made as { totals: Record<string, number> }).totals
      return { sold, adults, roomRevenue, bookings, unitNights, commission }
    }
    const open = await read()
    expect(open).to.include({ sold: 1, roomRevenue: 0, bookings: 1, unitNights: 1, commission: 0 })
    expect(open.adults).to.be.above(0)
    await closeOpenDay(house)
    expect(await read()).to.deep.equal(open)
    expect(await house.inHouse((trx) => verifyFacts(trx, house.propertyId))).to.deep.equal([])
  })
})
