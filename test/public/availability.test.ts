import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { readGrid } from '../../db/properties/index.ts'
import { changeRatePlan } from '../../db/properties/rates/rate-plans/change.ts'
import { moveInventory } from '../../db/units/inventory.ts'
import { usePortal } from '../support/portal.ts'
import { holdQuote, makeHold, outlive, quotedClaims, statusesOf } from '../support/stay.ts'
import { writeRestrictions } from '../support/restrictions.ts'

describe('What guests may book', () => {
  const portal = usePortal()

  describe('availability of a stay', () => {
    it('offers each plan and type, cheapest first, with the price that the quote then freezes', async () => {
      const { status, body, headers } = await portal.stay()
      expect(status).to.equal(200)
      expect(headers['cache-control']).to.equal('public, max-age=10')
      expect(body.offers.map((offer: { total: number }) => offer.total)).to.deep.equal([37_200, 41_200, 73_200, 81_200])
      expect(body.offers[1]).to.deep.include({ left: 5, total: 41_200, dueNow: 12_360, mandatoryExtras: [] })
      expect(body.offers[1].taxes).to.deep.equal([
        { name: 'ISS', included: true, amount: 1904 },
        { name: 'Taxa de turismo', included: false, amount: 1200 },
      ])
      expect(body.offers[1].cancellation.freeUntil).to.equal(
        new Date(`${portal.house.day(23)}T17:00:00Z`).toISOString(),
      )
      for (const offer of body.offers) {
        const { body: priced } = await portal.quote({}, { unitTypeId: offer.unitTypeId, ratePlanId: offer.ratePlanId })
        expect([priced.total, priced.dueNow]).to.deep.equal([offer.total, offer.dueNow])
        expect(priced.rooms[0].nights).to.deep.equal(offer.nights)
      }
    })

    it('never says how many units there are beyond five', async () => {
      expect((await portal.stay()).body.offers.map((offer: { left: number }) => offer.left)).to.deep.equal([5, 5, 1, 1])
      await portal.house.inHouse((trx) =>
        moveInventory(trx, [{ poolId: portal.house.poolId, night: portal.house.day(31), sold: 4 }]),
      )
      await portal.world.redis.flushall()
      expect((await portal.stay()).body.offers.map((offer: { left: number }) => offer.left)).to.deep.equal([2, 2, 1, 1])
    })

    it('shows and quotes what holds past their time still take, while no worker runs', async () => {
      const { house } = portal
      const suite = { unitTypeId: house.suiteTypeId ?? '' }
      const offered = async () => {
        await portal.world.redis.flushall()
        const { body } = await portal.stay()
        return body.offers.filter((offer: { unitTypeId: string }) => offer.unitTypeId === suite.unitTypeId).length
      }
      const nights = async () => {
        await portal.world.redis.flushall()
        const grid = await house.inHouse((trx) =>
          readGrid(trx, { propertyId: house.propertyId, from: house.day(30), to: house.day(31) }),
        )
        return grid.nights.flatMap((night) =>
          night.unitTypes.filter((type) => type.unitTypeId === suite.unitTypeId).map((type) => [type.free, type.held]),
        )
      }
      const bookingId = await makeHold(house, suite)
      expect(await offered(), 'held').to.equal(0)
      expect((await portal.quote({}, suite)).body.code).to.equal('sold_out')
      expect(await nights()).to.deep.equal([
        [0, 1],
        [0, 1],
      ])
      await outlive(house, bookingId)
      expect(await offered(), 'past its time').to.equal(2)
      expect(await nights()).to.deep.equal([
        [1, 0],
        [1, 0],
      ])
      const { status, body } = await portal.quote({}, suite)
      expect(status).to.equal(200)
      // Its money may be on its way: nothing is promised of it before that is known.
      await house.inHouse((trx) => sql(trx, `update booking set credit = 1 where id = ?`, [bookingId]))
      expect((await portal.quote({}, suite)).body.code).to.equal('sold_out')
      await house.inHouse((trx) => sql(trx, `update booking set credit = 0 where id = ?`, [bookingId]))
      const claims = await quotedClaims(house, suite)
      expect(claims.total).to.equal(body.total)
      await holdQuote(house, claims)
      expect(await statusesOf(house, bookingId)).to.deep.equal(['expired'])
    })

    it('says why a type cannot be had', async () => {
      await portal.house.inHouse(async (trx) => {
        await moveInventory(trx, [{ poolId: portal.house.poolId, night: portal.house.day(31), sold: 6 }])
        await writeRestrictions(trx, portal.house.propertyId, [
          { date: portal.house.day(30), unitTypeId: portal.house.suiteTypeId, minStayArrival: 3 },
        ])
      })
      const { body } = await portal.stay()
      expect(body.offers).to.deep.equal([])
      expect(body.unavailable).to.deep.equal([
        { unitTypeId: portal.house.unitTypeId, reasons: ['sold_out'] },
        { unitTypeId: portal.house.suiteTypeId, reasons: ['min_stay_arrival'] },
      ])
    })

    it('asks for as many rooms at once as the party takes', async () => {
      const { body } = await portal.stay(30, 2, '&rooms=2')
      expect(body.unavailable).to.deep.equal([{ unitTypeId: portal.house.suiteTypeId, reasons: ['sold_out'] }])
    })

    it('counts guests by their age', async () => {
      const family = await portal.stay(30, 2, '&adults=2&children=1,5')
      expect(
        family.body.offers.find((offer: { ratePlanId: string }) => offer.ratePlanId === portal.house.ratePlanId)
          .nights[0].amount,
      ).to.equal(23_000)
      const teens = await portal.stay(30, 2, '&adults=2&children=13,15')
      expect(teens.body.unavailable[0].reasons).to.include('occupancy_exceeded')
      expect((await portal.stay(30, 2, '&children=18')).body.code).to.equal('age_invalid')
    })

    for (const { name, path, code } of [
      { name: 'no dates', path: () => 'availability', code: 'validation_failed' },
      { name: 'half a stay', path: () => `availability?arrival=${portal.house.day(1)}`, code: 'validation_failed' },
      {
        name: 'both forms',
        path: () =>
          `availability?arrival=${portal.house.day(1)}&departure=${portal.house.day(2)}&from=${portal.house.day(1)}&to=${portal.house.day(2)}`,
        code: 'validation_failed',
      },
      {
        name: 'departure on arrival',
        path: () => `availability?arrival=${portal.house.day(1)}&departure=${portal.house.day(1)}`,
        code: 'validation_failed',
      },
      {
        name: 'a day that is past',
        path: () => `availability?arrival=${portal.house.day(-2)}&departure=${portal.house.day(1)}`,
        code: 'validation_failed',
      },
      {
        name: 'a day that does not exist',
        path: () => 'availability?arrival=2027-02-29&departure=2027-03-02',
        code: 'validation_failed',
      },
      {
        name: 'an unknown parameter',
        path: () => `availability?arrival=${portal.house.day(1)}&departure=${portal.house.day(2)}&price=1`,
        code: 'validation_failed',
      },
      {
        name: 'too many nights',
        path: () => `availability?arrival=${portal.house.day(1)}&departure=${portal.house.day(32)}`,
        code: 'too_many_nights',
      },
      {
        name: 'too many rooms',
        path: () => `availability?arrival=${portal.house.day(1)}&departure=${portal.house.day(2)}&rooms=5`,
        code: 'too_many_rooms',
      },
      {
        name: 'too many days',
        path: () => `availability?from=${portal.house.day(1)}&to=${portal.house.day(93)}`,
        code: 'range_too_long',
      },
    ])
      it(`refuses ${name} with 400 ${code}`, async () => {
        const { status, body } = await portal.get(path())
        expect([status, body.code]).to.deep.equal([400, code])
      })
  })

  it('availability by day says what is open, from which price and for how long', async () => {
    await portal.house.inHouse(async (trx) => {
      await writeRestrictions(trx, portal.house.propertyId, [
        { date: portal.house.day(11), stopSell: true },
        { date: portal.house.day(12), minStayArrival: 3, closedToArrival: true },
        { date: portal.house.day(13), closedToDeparture: true },
      ])
      await moveInventory(trx, [
        { poolId: portal.house.poolId, night: portal.house.day(14), sold: 6 },
        { poolId: portal.house.suitePoolId ?? '', night: portal.house.day(14), sold: 1 },
      ])
    })
    const { status, body } = await portal.get(`availability?from=${portal.house.day(10)}&to=${portal.house.day(14)}`)
    expect(status).to.equal(200)
    const plain = { lowestAmount: 18_000, minStay: 1, closedToArrival: false, closedToDeparture: false }
    expect(body.days).to.deep.equal([
      { date: portal.house.day(10), open: true, ...plain },
      { date: portal.house.day(11), open: false, ...plain, lowestAmount: null, minStay: null, closedToArrival: true },
      { date: portal.house.day(12), open: true, ...plain, minStay: 3, closedToArrival: true },
      { date: portal.house.day(13), open: true, ...plain, closedToDeparture: true },
      { date: portal.house.day(14), open: false, ...plain, lowestAmount: null, minStay: null, closedToArrival: true },
    ])
  })

  it('by day and by type says no price at which nothing can be booked today', async () => {
    const { house } = portal
    const limit = async (limits: Record<string, unknown>) => {
      await house.inHouse((trx) => changeRatePlan(trx, house.saverPlanId, limits))
      const { body } = await portal.get(`availability?from=${house.day(10)}&to=${house.day(11)}`)
      const { body: rooms } = await portal.get('rooms')
      const plans = rooms.unitTypes[0].ratePlans as { ratePlanId: string; fromAmount: number | null }[]
      return [
        body.days.map((day: { lowestAmount: number }) => day.lowestAmount),
        plans.find(({ ratePlanId }) => ratePlanId === house.saverPlanId)?.fromAmount,
      ]
    }
    const open = { bookableUntil: null, stayFrom: null, minAdvanceDays: null }
    expect(await limit({})).to.deep.equal([[18_000, 18_000], 18_000])
    expect(await limit({ ...open, bookableUntil: house.day(-1) })).to.deep.equal([[20_000, 20_000], null])
    expect(await limit({ ...open, stayFrom: house.day(11) })).to.deep.equal([[20_000, 18_000], 18_000])
    expect(await limit({ ...open, stayFrom: house.day(200) })).to.deep.equal([[20_000, 20_000], null])
    expect(await limit({ ...open, minAdvanceDays: 11 })).to.deep.equal([[20_000, 18_000], 18_000])
    await limit({ ...open, maxAdvanceDays: 10 })
    await house.inHouse((trx) => changeRatePlan(trx, house.ratePlanId, { maxAdvanceDays: 10 }))
    const { body } = await portal.get(`availability?from=${house.day(10)}&to=${house.day(11)}`)
    expect(
      body.days.map((day: { open: boolean; closedToArrival: boolean }) => [day.open, day.closedToArrival]),
    ).to.deep.equal([
      [true, false],
      [true, true],
    ])
  })
})
