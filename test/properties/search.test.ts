import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { createExtra } from '../../db/properties/terms/extras.ts'
import { createPromoCode } from '../../db/properties/terms/promo-codes.ts'
import { createRatePlan } from '../../db/properties/rates/rate-plans/create.ts'
import { moveInventory } from '../../db/units/inventory.ts'
import { forgetLimits } from '../auth/support.ts'
import { makeLateHouse } from '../night-audit/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { openDesk } from './support.ts'
import type { Desk } from './support.ts'

type Offer = {
  arrival: string
  departure: string
  unitTypeId: string
  ratePlanId: string
  free: number
  total: number
  dueNow: number
  rooms: {
    nights: { date: string; amount: number }[]
    mandatoryExtras: { name: string; amount: number }[]
    taxes: { code: string; included: boolean; amount: number }[]
    subtotal: number
    total: number
  }[]
}

describe('Offers for the staff', () => {
  const world = useWorld()
  let house: House
  let desk: Desk

  before(async () => {
    house = await makeHouse({ units: 3, suite: true, taxes: true })
    desk = await openDesk(world, house, 'receptionist')
  })
  beforeEach(() => forgetLimits(world))

  const pair = { adults: 2, childrenAges: [] }
  const search = (more: object = {}, from = 10) =>
    desk.send('POST', 'availability/search', {
      propertyId: house.propertyId,
      arrival: house.day(from),
      departure: house.day(from + 2),
      rooms: [pair],
      ...more,
    })
  const offersOf = async (more: object = {}, from = 10) => (await search(more, from)).body.offers as Offer[]
  const mine = { unitTypeIds: [] as string[], ratePlanIds: [] as string[] }
  const sold = (day: number, units: number) =>
    house.inHouse((trx) => moveInventory(trx, [{ poolId: house.poolId, night: house.day(day), sold: units }]))

  before(() => {
    mine.unitTypeIds = [house.unitTypeId]
    mine.ratePlanIds = [house.ratePlanId]
  })

  it('name every line of the price, which add up, and what cancelling costs', async () => {
    const [offer] = await offersOf(mine)
    expect(offer).to.deep.include({
      arrival: house.day(10),
      departure: house.day(12),
      unitTypeId: house.unitTypeId,
      ratePlanId: house.ratePlanId,
      free: 3,
      total: 41_200,
      dueNow: 12_360,
    })
    expect(offer?.rooms).to.deep.equal([
      {
        nights: [
          { date: house.day(10), amount: 20_000 },
          { date: house.day(11), amount: 20_000 },
        ],
        mandatoryExtras: [],
        taxes: [
          { code: 'ISS', included: true, amount: 1_904 },
          { code: 'TUR', included: false, amount: 1_200 },
        ],
        subtotal: 40_000,
        total: 41_200,
      },
    ])
    const { policies } = (await search(mine)).body.offers[0]
    expect(policies.cancellation.tiers.map((tier: { fee: number }) => tier.fee)).to.deep.equal([0, 20_600, 41_200])
    expect(policies.cancellation.tiers.at(-1).until).to.equal(null)
    expect(policies.noShow.fee).to.equal(41_200)
    expect(policies.deposit.text).to.match(/30/)
  })

  it('come cheapest first, over all types and plans', async () => {
    const totals = (await offersOf()).map((offer) => offer.total)
    expect(totals).to.have.length(4)
    expect(totals).to.deep.equal(totals.toSorted((a, b) => a - b))
  })

  it('are for all rooms together: two rooms of one type need two that are free', async () => {
    await sold(14, 2)
    expect((await offersOf(mine, 13))[0]?.free).to.equal(1)
    const { body } = await search({ ...mine, rooms: [pair, { adults: 1, childrenAges: [5] }] }, 13)
    expect(body.offers).to.deep.equal([])
    expect(body.unavailable).to.deep.equal([
      { unitTypeId: house.unitTypeId, ratePlanId: house.ratePlanId, codes: ['sold_out'] },
    ])
    const [both] = await offersOf({ ...mine, rooms: [pair, { adults: 1, childrenAges: [5] }] }, 15)
    // One adult pays ten per cent less, the child a fixed amount; children pay no tourism fee.
    expect(both?.rooms.map((room) => room.total)).to.deep.equal([41_200, 2 * (18_000 + 3_000) + 600])
    expect(both?.total).to.equal(both?.rooms.reduce((all, room) => all + room.total, 0))
  })

  it('say all that speaks against a stay, each code once', async () => {
    await house.inHouse((trx) =>
      moveInventory(
        trx,
        [20, 21].map((day) => ({ poolId: house.poolId, night: house.day(day), sold: 3 })),
      ),
    )
    await openDesk(world, house, 'manager').then((manager) =>
      manager.send('POST', 'rate-changes', {
        propertyId: house.propertyId,
        items: [{ from: house.day(20), to: house.day(21), restrictions: { stopSell: true, minStayThrough: 4 } }],
      }),
    )
    const { body } = await search({ ...mine, rooms: [{ adults: 9, childrenAges: [] }] }, 20)
    expect(body.unavailable[0].codes).to.deep.equal(['occupancy_exceeded', 'stop_sell', 'min_stay_through', 'sold_out'])
  })

  it('count what comes with every room and is limited: without enough of it the stay is sold out, for all who ask', async () => {
    const other = await makeHouse({ tenantId: house.tenantId, units: 3 })
    await other.inHouse((trx) =>
      createExtra(trx, {
        propertyId: other.propertyId,
        code: 'BED',
        name: { 'pt-BR': 'Cama', en: 'Bed' },
        category: 'bed',
        revenueGroup: 'other',
        amount: 1_000,
        basis: 'per_night',
        mandatory: true,
        dailyLimit: 1,
      }),
    )
    const stay = { propertyId: other.propertyId, unitTypeIds: [other.unitTypeId], ratePlanIds: [other.ratePlanId] }
    const [one] = await offersOf(stay)
    expect(one?.rooms[0]?.mandatoryExtras).to.deep.include({ ...one?.rooms[0]?.mandatoryExtras[0], amount: 2_000 })
    const rooms = [pair, pair]
    expect((await search({ ...stay, rooms })).body.unavailable[0].codes).to.deep.equal(['sold_out'])
    const { body: told } = await desk.send('POST', 'availability/explain', {
      propertyId: other.propertyId,
      arrival: house.day(10),
      departure: house.day(12),
      unitTypeId: other.unitTypeId,
      ratePlanId: other.ratePlanId,
      rooms,
    })
    const failed = told.checks.filter((check: { passed: boolean }) => !check.passed)
    expect(failed.map(({ code, date }: { code: string; date: string }) => [code, date])).to.deep.equal([
      ['sold_out', house.day(10)],
      ['sold_out', house.day(11)],
    ])
  })

  describe('around the days that were asked for', () => {
    it('are of the same length, as many days earlier and later as may be, none before today', async () => {
      const found = await offersOf({ ...mine, flexibleDays: 2 }, 1)
      const arrivals = found.map((offer) => offer.arrival).sort()
      expect(arrivals).to.deep.equal([0, 1, 2, 3].map((days) => house.day(days)))
      for (const offer of found) expect(offer.rooms[0]?.nights).to.have.length(2)
    })

    it('are found where the asked days are none, which alone are explained', async () => {
      await sold(31, 3)
      const { body } = await search({ ...mine, flexibleDays: 3 }, 30)
      expect(body.offers.map((offer: Offer) => offer.arrival).sort()).to.deep.equal(
        [27, 28, 29, 32, 33].map((days) => house.day(days)),
      )
      expect(body.unavailable).to.deep.equal([
        { unitTypeId: house.unitTypeId, ratePlanId: house.ratePlanId, codes: ['sold_out'] },
      ])
    })

    it('cost what they cost when they are asked for', async () => {
      const around = await offersOf({ ...mine, flexibleDays: 7 }, 40)
      expect(around).to.have.length(15)
      for (const offer of around.slice(0, 4)) {
        const [same] = await offersOf({ ...mine, arrival: offer.arrival, departure: offer.departure })
        expect(same).to.deep.equal(offer)
      }
    })
  })

  it('begin, for the desk alone, with the night that goes on past midnight until the date has rolled', async () => {
    const late = await makeLateHouse(1)
    const night = await openDesk(world, late, 'receptionist')
    await late.inHouse((trx) =>
      sql(trx, `update rate_plan set min_advance_days = 0, max_advance_days = 0 where property_id = ?`, [
        late.propertyId,
      ]),
    )
    const stay = { propertyId: late.propertyId, arrival: late.day(-1), departure: late.day(1) }
    const ask = (more: object = {}) => night.send('POST', 'availability/search', { ...stay, rooms: [pair], ...more })
    expect((await ask()).body.offers).to.have.length(2)
    const { body: told } = await night.send('POST', 'availability/explain', {
      ...stay,
      unitTypeId: late.unitTypeId,
      ratePlanId: late.ratePlanId,
    })
    expect(told.sellable).to.equal(true)
    const refused = [await ask({ arrival: late.day(-2) }), await ask({ audience: 'portal' })]
    expect(refused.map(({ status, body }) => [status, body.errors[0].message])).to.deep.equal([
      [400, `must not be before today, ${late.day(-1)}`],
      [400, `must not be before today, ${late.day(0)}`],
    ])
  })

  it('to guests are those that guests see', async () => {
    const privatePlanId = await house.inHouse(async (trx) => {
      const [plan] = await sql<{ cancellationPolicyId: string; noShowPolicyId: string }>(
        trx,
        `select cancellation_policy_id, no_show_policy_id from rate_plan where id = ?`,
        [house.ratePlanId],
      )
      return createRatePlan(trx, {
        propertyId: house.propertyId,
        code: 'OWNERS',
        name: { 'pt-BR': 'Donos', en: 'Owners' },
        visibility: 'private',
        cancellationPolicyId: plan?.cancellationPolicyId ?? '',
        noShowPolicyId: plan?.noShowPolicyId ?? '',
        unitTypes: [{ unitTypeId: house.unitTypeId, standardAmount: 1_000 }],
      })
    })
    const plans = async (audience?: string) =>
      new Set((await offersOf(audience ? { audience } : {})).map((offer) => offer.ratePlanId))
    expect(await plans()).to.include(privatePlanId)
    expect(await plans('portal')).to.not.include(privatePlanId)
    expect((await search({ audience: 'portal', departure: house.day(60) })).body.code).to.equal('too_many_nights')
    expect((await search({ departure: house.day(60) })).status).to.equal(200)
    const draft = await makeHouse({ tenantId: house.tenantId, draft: true })
    const toDraft = { propertyId: draft.propertyId }
    expect((await search({ ...toDraft, audience: 'portal' })).status).to.equal(404)
    expect((await offersOf(toDraft)).length).to.be.greaterThan(0)
  })

  it('with a promo code take it off, and refuse one that is no good in one way', async () => {
    await house.inHouse((trx) =>
      createPromoCode(trx, { propertyId: house.propertyId, code: 'TEN', type: 'amount', value: 1_001 }),
    )
    const [offer] = await offersOf({ ...mine, promoCode: 'ten' })
    expect(offer?.rooms[0]?.nights.map((night) => night.amount)).to.deep.equal([19_499, 19_500])
    const { status, body } = await search({ promoCode: 'NOTHING' })
    expect([status, body.code]).to.deep.equal([422, 'promo_code_invalid'])
    const { body: told } = await desk.send('POST', 'availability/explain', {
      propertyId: house.propertyId,
      arrival: house.day(10),
      departure: house.day(12),
      unitTypeId: house.unitTypeId,
      ratePlanId: house.ratePlanId,
      promoCode: 'TEN',
    })
    expect(told.price.map(({ steps }: { steps: { step: string; after: number }[] }) => steps.at(-1))).to.satisfy(
      (last: { step: string; after: number }[]) =>
        last.every(({ step, after }, night) => step === 'promo' && after === [19_499, 19_500][night]),
    )
  })

  it('are asked by members of other houses in vain', async () => {
    const other = await makeHouse({ tenantId: house.tenantId })
    const limited = await openDesk(world, house, 'receptionist', [other.propertyId])
    const { status } = await limited.send('POST', 'availability/search', {
      propertyId: house.propertyId,
      arrival: house.day(1),
      departure: house.day(2),
      rooms: [pair],
    })
    expect(status).to.equal(403)
  })
})
