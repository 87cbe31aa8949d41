import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { moveInventory } from '../../db/units/inventory.ts'
import { forgetLimits } from '../auth/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { openDesk } from './support.ts'
import type { Desk } from './support.ts'

type Cell = {
  unitTypeId: string
  free: number | null
  oversell: number
  forced: number
  sold: number
  stopSell: boolean
}
type Night = { date: string; unitTypes: Cell[] }

describe('What is left of a house, and what is sold beyond it', () => {
  const world = useWorld()
  let house: House
  let manager: Desk
  let desk: Desk

  before(async () => {
    house = await makeHouse({ units: 3, suite: true })
    manager = await openDesk(world, house, 'manager')
    desk = await openDesk(world, house, 'receptionist')
  })
  beforeEach(() => forgetLimits(world))

  const limit = (from: number, to: number, quantity: number, more: object = {}) =>
    manager.send('PUT', 'overbooking-limits', {
      propertyId: house.propertyId,
      unitPoolId: house.poolId,
      from: house.day(from),
      to: house.day(to),
      quantity,
      reason: 'a fair in town',
      ...more,
    })
  const grid = async (from: number, to = from, more = '') =>
    (await desk.get(`availability?propertyId=${house.propertyId}&from=${house.day(from)}&to=${house.day(to)}${more}`))
      .body.nights as Night[]
  const cellOn = async (day: number) =>
    (await grid(day, day, `&unitTypeId=${house.unitTypeId}`))[0]?.unitTypes[0] as Cell
  const sell = (day: number, sold: number) =>
    house.inHouse((trx) => moveInventory(trx, [{ poolId: house.poolId, night: house.day(day), sold }]))

  describe('the grid', () => {
    it('shows counters and what is free of every type, both ends included', async () => {
      await sell(5, 2)
      const nights = await grid(4, 6)
      expect(nights.map((night) => night.date)).to.deep.equal([house.day(4), house.day(5), house.day(6)])
      expect(nights[1]?.unitTypes[0]).to.deep.equal({
        unitTypeId: house.unitTypeId,
        capacity: 3,
        sold: 2,
        held: 0,
        allotted: 0,
        blocked: 0,
        oversell: 0,
        forced: 0,
        free: 1,
        stopSell: false,
      })
      expect(nights[1]?.unitTypes[1]).to.deep.include({ unitTypeId: house.suiteTypeId, free: 1 })
    })

    it('knows nothing of nights that cannot be booked yet', async () => {
      expect((await grid(900))[0]?.unitTypes[0]).to.deep.include({ capacity: null, free: null })
    })

    it('says where a type is not sold at any rate', async () => {
      const stop = (ratePlanIds: string[], day: number) =>
        manager.send('POST', 'rate-changes', {
          propertyId: house.propertyId,
          items: [{ ratePlanIds, from: house.day(day), to: house.day(day), restrictions: { stopSell: true } }],
        })
      await stop([house.saverPlanId], 8)
      expect((await cellOn(8)).stopSell).to.equal(false)
      // The saver follows its parent's restrictions.
      await stop([house.ratePlanId], 9)
      expect((await cellOn(9)).stopSell).to.equal(true)
    })

    it('is of 62 days at most, and of no other house', async () => {
      const long = await desk.get(
        `availability?propertyId=${house.propertyId}&from=${house.day(1)}&to=${house.day(63)}`,
      )
      expect([long.status, long.body.code]).to.deep.equal([400, 'range_too_long'])
      expect(await grid(1, 62)).to.have.length(62)
      const back = await desk.get(`availability?propertyId=${house.propertyId}&from=${house.day(2)}&to=${house.day(1)}`)
      expect(back.status).to.equal(400)
      const other = await makeHouse()
      const foreign = await desk.get(
        `availability?propertyId=${other.propertyId}&from=${house.day(1)}&to=${house.day(2)}`,
      )
      expect(foreign.status).to.equal(404)
    })
  })

  describe('planned overbooking', () => {
    it('adds to what is free, and is read back as ranges: equal neighbours are one', async () => {
      expect((await limit(20, 23, 2)).body.data).to.have.length(1)
      await limit(24, 25, 2)
      await limit(22, 22, 1)
      const { body } = await manager.get(`overbooking-limits?propertyId=${house.propertyId}`)
      const range = (from: number, to: number, quantity: number) => ({
        propertyId: house.propertyId,
        unitPoolId: house.poolId,
        from: house.day(from),
        to: house.day(to),
        quantity,
      })
      expect(body.data).to.deep.equal([range(20, 21, 2), range(22, 22, 1), range(23, 25, 2)])
      expect(body.meta).to.deep.include({ total: 3, totalPages: 1 })
      expect(await cellOn(20)).to.deep.include({ oversell: 2, free: 5 })
      expect((await limit(20, 25, 0)).body.data).to.deep.equal([])
      expect(await cellOn(20)).to.deep.include({ oversell: 0, free: 3 })
    })

    it('is for the days of the week that are named', async () => {
      const { body } = await limit(30, 43, 1, { weekDays: [6, 7] })
      const days = body.data.map(({ from, to }: { from: string; to: string }) =>
        [from, to].map((day) => new Date(day).getUTCDay()),
      )
      expect(days).to.deep.include([6, 0])
      expect(days.flat().every((day: number) => day === 6 || day === 0)).to.equal(true)
    })

    it('never fails for what is sold already: the rest is forced, and shrinks as it is released', async () => {
      await limit(50, 50, 3)
      await sell(50, 5)
      const lower = await limit(50, 50, 1)
      expect(lower.status).to.equal(200)
      expect(await cellOn(50)).to.deep.include({ oversell: 1, forced: 1, sold: 5, free: 0 })
      expect((await limit(50, 50, 0)).status).to.equal(200)
      expect(await cellOn(50)).to.deep.include({ oversell: 0, forced: 2 })
      await sell(50, -1)
      expect(await cellOn(50)).to.deep.include({ forced: 1 })
      // A higher limit takes over what was forced.
      await limit(50, 50, 2)
      expect(await cellOn(50)).to.deep.include({ oversell: 2, forced: 0, free: 1 })
    })

    it('keeps who did it and why, and tells of it', async () => {
      await limit(60, 61, 4, { reason: 'the carnival' })
      const entries = await sql<{ reason: string; action: string }>(
        world.database.admin,
        `select reason, action from audit_entry where tenant_id = ? and subject_type = 'OverbookingLimit' order by at desc limit 1`,
        [house.tenantId],
      )
      expect(entries).to.deep.equal([{ reason: 'the carnival', action: 'overbooking_limit.override' }])
      const events = await house.inHouse((trx) =>
        sql<{ data: object }>(
          trx,
          `select data from event where type = 'overbooking_limit.changed' and data ->> 'quantity' = '4'`,
        ),
      )
      expect(events.map(({ data }) => data)).to.deep.equal([
        { unitPoolId: house.poolId, from: house.day(60), to: house.day(61), quantity: 4 },
      ])
    })

    it('asks for a reason, days that can still be sold, and a pool of units of the house', async () => {
      const status = async (reply: Promise<{ status: number; body: { code: string } }>) => {
        const { status: answered, body } = await reply
        return [answered, body.code]
      }
      expect(await status(limit(60, 61, 1, { reason: '' }))).to.deep.equal([400, 'validation_failed'])
      expect(await status(limit(61, 60, 1))).to.deep.equal([400, 'validation_failed'])
      expect(await status(limit(-1, 3, 1))).to.deep.equal([422, 'date_out_of_range'])
      expect(await status(limit(3, 731, 1))).to.deep.equal([422, 'date_out_of_range'])
      expect(await status(limit(3, 4, 1, { unitPoolId: house.unitTypeId }))).to.deep.equal([422, 'reference_not_found'])
      const body = {
        propertyId: house.propertyId,
        unitPoolId: house.poolId,
        from: house.day(3),
        to: house.day(3),
        quantity: 1,
      }
      const refused = await desk.send('PUT', 'overbooking-limits', { ...body, reason: 'may not' })
      expect(refused.status).to.equal(403)
    })

    it('set at once by two leaves one of the two, and counters that hold', async () => {
      await Promise.all([limit(70, 90, 1), limit(70, 90, 5), sell(75, 3)])
      const { body } = await manager.get(
        `overbooking-limits?propertyId=${house.propertyId}&from=${house.day(70)}&to=${house.day(90)}`,
      )
      expect(body.data).to.have.length(1)
      expect(body.data[0].quantity).to.be.oneOf([1, 5])
      expect((await cellOn(75)).sold).to.equal(3)
    })
  })
})
