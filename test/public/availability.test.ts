import { expect } from 'chai'
import { writeRestrictions } from '../../db/properties/rates.ts'
import { moveInventory } from '../../db/units/inventory.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

describe('What guests may book', () => {
  const world = useWorld()
  let house: House

  beforeEach(async () => {
    house = await makeHouse({ units: 6, suite: true, taxes: true })
    await world.redis.flushall()
  })

  const base = () => `/api/public/property/${house.propertyId}`
  const get = (path: string) => world.request('GET', `${base()}/${path}`)
  const stay = (from = 30, nights = 2, more = '') =>
    get(`availability?arrival=${house.day(from)}&departure=${house.day(from + nights)}${more}`)
  const quote = (change: Record<string, unknown> = {}, room: Record<string, unknown> = {}) =>
    world.request('POST', '/api/public/quotes', {
      body: {
        propertyId: house.propertyId,
        arrival: house.day(30),
        departure: house.day(32),
        rooms: [
          {
            unitTypeId: house.unitTypeId,
            ratePlanId: house.ratePlanId,
            adults: 2,
            childrenAges: [],
            extras: [],
            ...room,
          },
        ],
        ...change,
      },
    })

  describe('availability of a stay', () => {
    it('offers each plan and type, cheapest first, with the price that the quote then freezes', async () => {
      const { status, body, headers } = await stay()
      expect(status).to.equal(200)
      expect(headers['cache-control']).to.equal('public, max-age=10')
      expect(body.offers.map((offer: { total: number }) => offer.total)).to.deep.equal([37_200, 41_200, 73_200, 81_200])
      expect(body.offers[1]).to.deep.include({ left: 5, total: 41_200, dueNow: 12_360, mandatoryExtras: [] })
      expect(body.offers[1].taxes).to.deep.equal([
        { name: 'ISS', included: true, amount: 1904 },
        { name: 'Taxa de turismo', included: false, amount: 1200 },
      ])
      expect(body.offers[1].cancellation.freeUntil).to.equal(new Date(`${house.day(23)}T17:00:00Z`).toISOString())
      for (const offer of body.offers) {
        const { body: priced } = await quote({}, { unitTypeId: offer.unitTypeId, ratePlanId: offer.ratePlanId })
        expect([priced.total, priced.dueNow]).to.deep.equal([offer.total, offer.dueNow])
        expect(priced.rooms[0].nights).to.deep.equal(offer.nights)
      }
    })

    it('never says how many units there are beyond five', async () => {
      expect((await stay()).body.offers.map((offer: { left: number }) => offer.left)).to.deep.equal([5, 5, 1, 1])
      await house.inHouse((trx) => moveInventory(trx, [{ poolId: house.poolId, night: house.day(31), sold: 4 }]))
      await world.redis.flushall()
      expect((await stay()).body.offers.map((offer: { left: number }) => offer.left)).to.deep.equal([2, 2, 1, 1])
    })

    it('says why a type cannot be had', async () => {
      await house.inHouse(async (trx) => {
        await moveInventory(trx, [{ poolId: house.poolId, night: house.day(31), sold: 6 }])
        await writeRestrictions(trx, house.propertyId, [
          { date: house.day(30), unitTypeId: house.suiteTypeId, minStayArrival: 3 },
        ])
      })
      const { body } = await stay()
      expect(body.offers).to.deep.equal([])
      expect(body.unavailable).to.deep.equal([
        { unitTypeId: house.unitTypeId, reasons: ['sold_out'] },
        { unitTypeId: house.suiteTypeId, reasons: ['min_stay_arrival'] },
      ])
    })

    it('asks for as many rooms at once as the party takes', async () => {
      const { body } = await stay(30, 2, '&rooms=2')
      expect(body.unavailable).to.deep.equal([{ unitTypeId: house.suiteTypeId, reasons: ['sold_out'] }])
    })

    it('counts guests by their age', async () => {
      const family = await stay(30, 2, '&adults=2&children=1,5')
      expect(
        family.body.offers.find((offer: { ratePlanId: string }) => offer.ratePlanId === house.ratePlanId).nights[0]
          .amount,
      ).to.equal(23_000)
      const teens = await stay(30, 2, '&adults=2&children=13,15')
      expect(teens.body.unavailable[0].reasons).to.include('occupancy_exceeded')
      expect((await stay(30, 2, '&children=18')).body.code).to.equal('age_invalid')
    })

    for (const { name, path, code } of [
      { name: 'no dates', path: () => 'availability', code: 'validation_failed' },
      { name: 'half a stay', path: () => `availability?arrival=${house.day(1)}`, code: 'validation_failed' },
      {
        name: 'both forms',
        path: () =>
          `availability?arrival=${house.day(1)}&departure=${house.day(2)}&from=${house.day(1)}&to=${house.day(2)}`,
        code: 'validation_failed',
      },
      {
        name: 'departure on arrival',
        path: () => `availability?arrival=${house.day(1)}&departure=${house.day(1)}`,
        code: 'validation_failed',
      },
      {
        name: 'a day that is past',
        path: () => `availability?arrival=${house.day(-2)}&departure=${house.day(1)}`,
        code: 'validation_failed',
      },
      {
        name: 'a day that does not exist',
        path: () => 'availability?arrival=2027-02-29&departure=2027-03-02',
        code: 'validation_failed',
      },
      {
        name: 'an unknown parameter',
        path: () => `availability?arrival=${house.day(1)}&departure=${house.day(2)}&price=1`,
        code: 'validation_failed',
      },
      {
        name: 'too many nights',
        path: () => `availability?arrival=${house.day(1)}&departure=${house.day(32)}`,
        code: 'too_many_nights',
      },
      {
        name: 'too many rooms',
        path: () => `availability?arrival=${house.day(1)}&departure=${house.day(2)}&rooms=5`,
        code: 'too_many_rooms',
      },
      {
        name: 'too many days',
        path: () => `availability?from=${house.day(1)}&to=${house.day(93)}`,
        code: 'range_too_long',
      },
    ])
      it(`refuses ${name} with 400 ${code}`, async () => {
        const { status, body } = await get(path())
        expect([status, body.code]).to.deep.equal([400, code])
      })
  })

  it('availability by day says what is open, from which price and for how long', async () => {
    await house.inHouse(async (trx) => {
      await writeRestrictions(trx, house.propertyId, [
        { date: house.day(11), stopSell: true },
        { date: house.day(12), minStayArrival: 3, closedToArrival: true },
        { date: house.day(13), closedToDeparture: true },
      ])
      await moveInventory(trx, [
        { poolId: house.poolId, night: house.day(14), sold: 6 },
        { poolId: house.suitePoolId ?? '', night: house.day(14), sold: 1 },
      ])
    })
    const { status, body } = await get(`availability?from=${house.day(10)}&to=${house.day(14)}`)
    expect(status).to.equal(200)
    const plain = { lowestAmount: 18_000, minStay: 1, closedToArrival: false, closedToDeparture: false }
    expect(body.days).to.deep.equal([
      { date: house.day(10), open: true, ...plain },
      { date: house.day(11), open: false, ...plain, lowestAmount: null, minStay: null, closedToArrival: true },
      { date: house.day(12), open: true, ...plain, minStay: 3, closedToArrival: true },
      { date: house.day(13), open: true, ...plain, closedToDeparture: true },
      { date: house.day(14), open: false, ...plain, lowestAmount: null, minStay: null, closedToArrival: true },
    ])
  })
})
