import { expect } from 'chai'
import { addDays, daysIn } from '../../config/time.ts'
import { sql } from '../../db/lib/connection.ts'
import { goLive, suspendProperty } from '../../db/properties/house/properties/status.ts'
import { readConnection } from '../../db/channels/connections.ts'
import { activateConnection, disconnect, pauseConnection } from '../../db/channels/lifecycle.ts'
import { priceStay } from '../../db/properties/sale/quote.ts'
import { archiveRatePlan } from '../../db/properties/rates/rate-plans/status.ts'
import { changeRatePlan } from '../../db/properties/rates/rate-plans/change.ts'
import { createRateChange } from '../../db/properties/rates/rate-changes.ts'
import { writePrices } from '../../db/properties/rates/rate-cells.ts'
import { searchOffers } from '../../db/properties/sale/search.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { drain } from '../support/drain.ts'
import type { House } from '../support/factories.ts'
import { writeRestrictions } from '../support/restrictions.ts'
import { makeHold } from '../support/stay.ts'
import { useShop } from './shop.ts'
import { connect, connectionRow, marksLeft, settle } from './support.ts'

describe('What a channel is told', function () {
  this.timeout(120_000)

  const shop = useShop()
  const { simulator, sell, price } = shop
  let house: House
  before(() => void (house = shop.house))
  const stopSell = (days: number) =>
    house.inHouse((trx) => writeRestrictions(trx, house.propertyId, [{ date: house.day(days), stopSell: true }]))

  it('is everything when it begins: what search and quote answer, to the unit and the cent, compacted', async () => {
    await sell(5, 2, 2)
    await price(6, 31_337)
    const { account } = await connect(house, simulator, { buffer: 0 })
    await settle()
    const { days, log } = await account.look()
    const pushes = log.filter((one) => one.path === '/ari')
    expect(pushes[0]?.kind, 'availability goes before rates').to.equal('availability')
    const ranges = pushes.flatMap((one) => one.ranges)
    expect(ranges.filter((one) => one.available !== undefined && one.unitType === 'DBL')).to.have.length(3)
    for (const from of [4, 5, 6, 7, 39]) {
      const day = house.day(from)
      const { offers } = await house.inHouse((trx) =>
        searchOffers(trx, {
          propertyId: house.propertyId,
          arrival: day,
          departure: addDays(day, 1),
          rooms: [{ adults: 2, childrenAges: [] }],
          audience: 'staff',
        }),
      )
      for (const offer of offers) {
        const type = offer.type.id === house.unitTypeId ? 'DBL' : 'STE'
        expect(days[`${type}||${day}`]?.available, `${type} ${day}`).to.equal(offer.free)
      }
      for (const [plan, ratePlanId] of [
        ['BAR', house.ratePlanId],
        ['NRF', house.saverPlanId],
      ] as const)
        for (const adults of [1, 2, 3]) {
          const { priced } = await house.inHouse((trx) =>
            priceStay(trx, {
              propertyId: house.propertyId,
              arrival: day,
              departure: addDays(day, 1),
              rooms: [{ unitTypeId: house.unitTypeId, ratePlanId, adults, childrenAges: [], extras: [] }],
              audience: 'staff',
            }),
          )
          expect(days[`DBL|${plan}|${day}`]?.amounts?.[adults], `${plan} ${day} for ${adults}`).to.equal(
            priced[0]?.roomTotal,
          )
        }
    }
    expect(days[`DBL||${house.day(40)}`], 'beyond the horizon').to.equal(undefined)
  })

  it('keeps the buffer back and takes the modifier of the mapping', async () => {
    const { account } = await connect(house, simulator, {
      buffer: 2,
      mappings: [
        {
          unitTypeId: house.unitTypeId,
          ratePlanId: house.ratePlanId,
          externalUnitTypeId: 'DBL',
          externalRatePlanId: 'BAR',
          modifierRate: 1_250,
        },
      ],
    })
    await sell(8, 1, 2)
    await settle()
    const { days } = await account.look()
    expect(days[`DBL||${house.day(7)}`]?.available).to.equal(1)
    expect(days[`DBL||${house.day(8)}`]?.available, 'one is free, two are kept').to.equal(0)
    expect(days[`DBL|BAR|${house.day(7)}`]?.amounts?.['2']).to.equal(22_500)
  })

  it('of a change is that change alone, once, some seconds later; nothing is told of a swap of held for sold', async () => {
    const { id, account } = await connect(house, simulator)
    await settle()
    const before = (await account.look()).log.length
    const bookingId = await makeHold(house, { from: 10, nights: 2 })
    await price(20, 25_000)
    await drain({ kinds: ['channels.mark-dirty', 'channels.push'] })
    expect((await account.look()).log, 'it waits for what else comes').to.have.length(before)
    await settle()
    const told = (await account.look()).log.slice(before)
    expect(
      told.map((one) => [one.kind, one.ranges.map((range) => [range.unitType, range.from, range.to])]),
    ).to.deep.equal([
      ['availability', [['DBL', house.day(10), house.day(11)]]],
      [
        'rates',
        [
          ['DBL', house.day(20), house.day(20)],
          ['DBL', house.day(20), house.day(20)],
        ],
      ],
    ])
    await house.inHouse((trx) => confirmBooking(trx, bookingId))
    expect(await settle()).to.deep.equal([])
    expect(await marksLeft(house, id)).to.deep.equal([])
  })

  it('of many nights, none like the other, is each of them once, from the first on, a thousand at a time', async () => {
    const { propertyId, ratePlanId, unitTypeId, day } = house
    const nights = 700
    const cells = Array.from({ length: nights }, (_, night) => night).map((night) => ({
      ratePlanId,
      unitTypeId,
      date: day(night),
      amount: 40_000 + night * 100,
    }))
    await house.inHouse((trx) => writePrices(trx, propertyId, cells))
    const { account, id } = await connect(house, simulator, { horizonDays: nights })
    await settle()
    const { log, days } = await account.look()
    const pushes = log.filter((one) => one.kind === 'rates')
    expect(pushes.length).to.be.at.least(2)
    const told = pushes.map((push) =>
      push.ranges.flatMap(({ unitType, ratePlan = '', from, to }) =>
        daysIn(from, addDays(to, 1)).map((date) => `${unitType}|${ratePlan}|${date}`),
      ),
    )
    for (const { ranges } of pushes) expect(ranges.length).to.be.at.most(1_000)
    const all = told.flat()
    expect(new Set(all).size, 'none is told twice').to.equal(all.length)
    expect(all.length).to.equal(nights * 3)
    const spans = told.map((places) => places.map((place) => place.split('|')[2] ?? '').sort())
    const starts = spans.map((dates) => dates[0] ?? '')
    expect(starts, 'the nearest nights go first').to.deep.equal(starts.toSorted())
    expect((spans[0]?.at(-1) ?? '') < day(nights / 2 + 62), 'and the last ones wait').to.equal(true)
    for (const night of [0, 31, 200, nights - 1]) {
      expect(days[`DBL|BAR|${day(night)}`]?.amounts?.['2']).to.equal(40_000 + night * 100)
    }
    expect(await marksLeft(house, id)).to.deep.equal([])
  })

  it('is as late as the change is old, however long that waited to be marked', async () => {
    const { id } = await connect(house, simulator)
    await settle()
    await price(15, 26_000)
    await shop.database.admin.raw(
      `update jobs set created_at = created_at - interval '1 minute' where kind = 'channels.mark-dirty'`,
    )
    await drain({ kinds: ['channels.mark-dirty'] })
    const { lagSeconds } = await house.inHouse((trx) => readConnection(trx, id))
    expect(lagSeconds).to.be.within(60, 120)
  })

  it('is not told later where the clock of a worker is ahead', async () => {
    await connect(house, simulator)
    await settle()
    await price(16, 27_000)
    const { now } = Date
    Date.now = () => now() + 300_000
    try {
      await drain({ kinds: ['channels.mark-dirty'] })
    } finally {
      Date.now = now
    }
    const [push] = await sql<{ late: number }>(
      shop.database.admin,
      `select extract(epoch from run_at - now())::float as late from jobs where kind = 'channels.push' and status = 'pending'`,
    )
    expect(push?.late).to.be.at.most(6)
  })

  it('of a stop of sales does not wait for a change of rates that came before it', async () => {
    const { account } = await connect(house, simulator)
    await settle()
    await price(12, 24_000)
    await drain({ kinds: ['channels.mark-dirty', 'channels.push'] })
    await stopSell(12)
    await drain({ kinds: ['channels.mark-dirty', 'channels.push'] })
    const { days } = await account.look()
    expect(days[`DBL|BAR|${house.day(12)}`]).to.deep.include({
      restrictions: { ...days[`DBL|BAR|${house.day(12)}`]?.restrictions, stopSell: true },
    })
    await sell(13, 1, 3)
    await drain({ kinds: ['channels.mark-dirty', 'channels.push'] })
    expect((await account.look()).days[`DBL||${house.day(13)}`]?.available, 'the last unit').to.equal(0)
  })

  it('of a property that is suspended is that nothing is left, at once; and everything when it is live again', async () => {
    const { account } = await connect(house, simulator)
    await settle()
    await house.inHouse((trx) => suspendProperty(trx, house.propertyId, 'water in the house'))
    await drain({ kinds: ['channels.mark-dirty', 'channels.push'] })
    const closed = (await account.look()).days
    expect(Object.entries(closed).filter(([, day]) => (day?.available ?? 0) > 0)).to.deep.equal([])
    expect(closed[`DBL|BAR|${house.day(3)}`]?.restrictions?.stopSell).to.equal(true)
    await house.inHouse((trx) => goLive(trx, house.propertyId))
    await settle()
    expect((await account.look()).days[`DBL||${house.day(3)}`]?.available).to.equal(3)
  })

  it('of a tenant that is suspended is that nothing is left', async () => {
    const { id, account } = await connect(house, simulator)
    await settle()
    await sell(4)
    await shop.database.admin.raw(`update tenant set status = 'suspended'`)
    await settle()
    await shop.database.admin.raw(`update tenant set status = 'active'`)
    expect((await account.look()).days[`DBL||${house.day(4)}`]?.available).to.equal(0)
    expect(await marksLeft(house, id)).to.deep.equal([])
  })

  it('while it is paused is nothing, and everything when it goes on', async () => {
    const { id, account } = await connect(house, simulator)
    await settle()
    await house.inHouse((trx) => pauseConnection(trx, id, 'a quarrel about rates'))
    const before = (await account.look()).log.length
    await sell(25)
    await settle()
    expect((await account.look()).log).to.have.length(before)
    await house.inHouse((trx) => activateConnection(trx, id))
    await drain({ kinds: ['channels.test', 'channels.push'], aheadMs: 10_000 })
    expect((await account.look()).days[`DBL||${house.day(25)}`]?.available).to.equal(2)
  })

  it('at its end is that nothing is left; its credentials are erased with the answer, not before', async () => {
    const { id, account } = await connect(house, simulator)
    await settle()
    await account.behave('busy')
    await house.inHouse((trx) => disconnect(trx, id, undefined))
    await drain({ kinds: ['channels.push'] })
    const waiting = await connectionRow(house, id)
    expect(waiting.status).to.equal('disconnected')
    expect(waiting.credentials, 'it is still to be told').to.not.equal(null)
    await account.behave('well')
    await house.inHouse((trx) => sql(trx, `update channel_connection set push_not_before = null where id = ?`, [id]))
    await settle(60_000)
    const { days, log } = await account.look()
    expect(Object.entries(days).filter(([, day]) => (day?.available ?? 0) > 0)).to.deep.equal([])
    expect(await connectionRow(house, id)).to.include({ credentials: null, closeOutUntil: null, lastError: null })
    await sell(26)
    await settle()
    expect((await account.look()).log).to.have.length(log.length)
  })

  it('of a price that is taken away, and of a plan that is archived, waits no longer than a stop of sales', async () => {
    const { account } = await connect(house, simulator)
    await price(14, 24_000)
    await price(15, 24_000)
    await settle()
    const closed = async (rate: string, day: number) =>
      (await account.look()).days[`${rate}|${house.day(day)}`]?.restrictions?.stopSell
    const { ratePlanId, saverPlanId, propertyId, inHouse } = house
    expect([await closed('STE|BAR', 14), await closed('DBL|NRF', 14)]).to.deep.equal([false, false])
    await inHouse((trx) =>
      changeRatePlan(trx, ratePlanId, { unitTypes: [{ unitTypeId: house.unitTypeId, standardAmount: null }] }),
    )
    await drain({ kinds: ['channels.mark-dirty', 'channels.push'] })
    expect(await closed('STE|BAR', 14), 'a type that a plan has lost').to.equal(true)
    const cell = { ratePlanIds: [ratePlanId], unitTypeIds: [house.unitTypeId], from: house.day(14), to: house.day(14) }
    await inHouse((trx) => createRateChange(trx, { propertyId, note: '', items: [{ ...cell, amount: null }] }))
    await drain({ kinds: ['channels.mark-dirty', 'channels.push'] })
    expect(await closed('DBL|BAR', 14), 'a price that is gone').to.equal(true)
    expect(await closed('DBL|NRF', 15)).to.equal(false)
    await inHouse((trx) => archiveRatePlan(trx, saverPlanId))
    await drain({ kinds: ['channels.mark-dirty', 'channels.push'] })
    expect(await closed('DBL|NRF', 15), 'a plan that is archived').to.equal(true)
  })
})
