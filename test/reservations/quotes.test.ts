import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { purgeQuotes } from '../../db/reservations/quotes.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { countersOf, eventsOf, makeHold, portalOf } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'

describe('Quotes of the desk', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  beforeEach(async () => {
    house = await makeHouse({ units: 2, suite: true, deposit: null, settings: { portal: { holdShare: 10_000 } } })
    owner = await openDesk(world, house, 'owner')
    await forgetLimits(world)
  })
  const room = (from: number, until: number, more: object = {}) => ({
    unitTypeId: house.unitTypeId,
    ratePlanId: house.ratePlanId,
    arrival: house.day(from),
    departure: house.day(until),
    adults: 2,
    childrenAges: [],
    ...more,
  })
  const ask = (rooms: object[], more: object = {}, desk = owner) =>
    desk.send('POST', 'quotes', { propertyId: house.propertyId, rooms, ...more })
  const quote = async (rooms: object[], more: object = {}) => {
    const { status, body } = await ask(rooms, more)
    expect(status, JSON.stringify(body)).to.equal(201)
    return body
  }
  const read = async (id: string) => (await owner.get(`quotes/${id}`)).body
  const book = (quoteId: string, more: object = {}) =>
    owner.send('POST', 'bookings', {
      propertyId: house.propertyId,
      booker: { firstName: 'Ana', lastName: 'Souza' },
      source: 'phone',
      quoteId,
      ...more,
    })
  const raise = (amount: number) =>
    house.inHouse(async (trx) => {
      await sql(trx, `update rate_plan_unit_type set standard_amount = ? where rate_plan_id = ?`, [
        amount,
        house.ratePlanId,
      ])
      await sql(trx, `update property set public_version = public_version + 1 where id = ?`, [house.propertyId])
    })

  it('freeze the price of rooms with days of their own, and take nothing', async () => {
    const made = await quote([room(10, 12), room(11, 14, { adults: 1 })], { hours: 48 })
    // A single adult pays a tenth less.
    expect(made).to.include({ status: 'open', total: 2 * 20_000 + 3 * 18_000, feasible: true, token: null })
    expect(made.rooms.map((one: { total: number }) => one.total)).to.deep.equal([40_000, 54_000])
    expect(new Date(made.expiresAt).getTime() - new Date(made.createdAt).getTime()).to.be.closeTo(48 * 3_600_000, 5_000)
    expect((await countersOf(house, 11)).held).to.equal(0)
    await raise(99_000)
    expect((await read(made.id)).total).to.equal(94_000)
    const { status, body } = await book(made.id, { quoted: [{ arrivalTime: '22:00' }] })
    expect(status, JSON.stringify(body)).to.equal(201)
    expect(body).to.include({ total: 94_000, quoteId: made.id })
    expect(body.reservations.map((one: { arrivalTime: string }) => one.arrivalTime)).to.deep.equal(['22:00', null])
    expect(await read(made.id)).to.include({ status: 'used', bookingId: body.id, feasible: false })
    expect((await eventsOf(house, 'quote.used')).map((one) => one.data['bookingId'])).to.deep.equal([body.id])
  })

  it('make one booking, whoever asks at the same time', async () => {
    const made = await quote([room(10, 12)])
    const replies = await Promise.all([book(made.id), book(made.id), book(made.id)])
    expect(replies.filter((one) => one.status === 201)).to.have.lengthOf(1)
    for (const { body } of replies.filter((one) => one.status !== 201)) expect(body.code).to.equal('quote_used')
    expect((await countersOf(house, 10)).sold).to.equal(1)
    expect(await eventsOf(house, 'quote.used')).to.have.lengthOf(1)
  })

  it('say what stands against them now, and are judged again when they are booked', async () => {
    const made = await quote([room(10, 12), room(10, 12)])
    await makeHold(house, { from: 11, nights: 1 })
    const seen = await read(made.id)
    expect(seen).to.include({ status: 'open', feasible: false })
    expect(seen.problems).to.deep.equal([{ field: `nights.${house.day(11)}`, message: 'is sold out' }])
    expect((await book(made.id)).body.code).to.equal('sold_out')
    expect((await ask([room(10, 12), room(10, 12)])).body.code).to.equal('sold_out')
    expect(
      (await ask([room(10, 12), room(10, 12)], { override: { rules: ['availability'], reason: 'a regular' } })).status,
    ).to.equal(201)
    expect((await countersOf(house, 10)).sold).to.equal(0)
  })

  it('of one stay are taken by the portal, whatever it may see', async () => {
    await house.inHouse(async (trx) => {
      await sql(trx, `update rate_plan set visibility = 'private' where id = ?`, [house.ratePlanId])
      await sql(trx, `update property set public_version = public_version + 1 where id = ?`, [house.propertyId])
    })
    const made = await quote([room(10, 12)])
    expect(made.token).to.be.a('string')
    const portal = portalOf(world.request, house)
    const held = await portal.hold(made.token, { email: 'rui@example.com' })
    expect(held.status, JSON.stringify(held.body)).to.equal(201)
    expect(held.body.total ?? held.body.booking?.total).to.equal(40_000)
    expect(await read(made.id)).to.include({ status: 'used', token: null })
    expect(await eventsOf(house, 'quote.used')).to.have.lengthOf(1)
    const again = await portal.hold(made.token, { email: 'other@example.com' })
    expect(again.body.code).to.equal('quote_used')
    expect((await book(made.id)).body.code).to.equal('quote_used')
  })

  it('end, and are not booked afterwards', async () => {
    const made = await quote([room(10, 12)])
    const endedAgo = (ago: string) =>
      world.database.admin.transaction(async (trx) => {
        // A quote is written once.
        await trx.raw(`alter table quote disable trigger only_erased`)
        await trx.raw(`update quote set expires_at = now() - cast(? as interval) where id = ?`, [ago, made.id])
        await trx.raw(`alter table quote enable trigger only_erased`)
      })
    await endedAgo('1 second')
    expect(await read(made.id)).to.include({ status: 'expired', token: null, feasible: false })
    expect((await book(made.id)).body.code).to.equal('quote_expired')
    expect((await owner.get('quotes?status=expired')).body.meta.total).to.equal(1)
    expect((await owner.get('quotes?status=open')).body.meta.total).to.equal(0)
    const purge = () => house.inHouse((trx) => purgeQuotes(trx, [made.id]))
    await purge()
    expect((await owner.get(`quotes/${made.id}`)).status).to.equal(200)
    await endedAgo('181 days')
    await purge()
    expect((await owner.get(`quotes/${made.id}`)).status).to.equal(404)
  })

  it('take a price by hand by those who may, and no lower than they may go', async () => {
    const manual = (amount: number) => [room(10, 12, { manualNights: [{ date: house.day(11), amount }] })]
    const price = { override: { rules: ['price'], reason: 'a regular' } }
    const manager = await openDesk(world, house, 'manager')
    const reception = await openDesk(world, house, 'receptionist')
    expect((await ask(manual(15_000))).body.code).to.equal('transition_blocked')
    expect((await ask(manual(15_000), price, reception)).body.code).to.equal('override_not_permitted')
    expect((await ask(manual(13_999), price, manager)).body.code).to.equal('override_not_permitted')
    const { status, body } = await ask(manual(14_000), price, manager)
    expect([status, body.total]).to.deep.equal([201, 34_000])
    expect((await book(body.id)).body.total).to.equal(34_000)
  })

  it('name records of the tenant, and belong to callers of their property', async () => {
    const other = await makeHouse()
    const second = await makeHouse({ tenantId: house.tenantId })
    const made = await quote([room(10, 12)])
    expect((await ask([room(10, 12)], { guestId: other.unitTypeId })).body.code).to.equal('reference_not_found')
    expect((await ask([room(10, 12)], { companyId: other.unitTypeId })).body.code).to.equal('reference_not_found')
    expect((await ask([room(10, 10)])).status).to.equal(400)
    expect((await ask([room(-3, 2)])).status).to.equal(400)
    expect((await ask([])).status).to.equal(400)
    const limited = await openDesk(world, house, 'receptionist', [second.propertyId])
    expect((await limited.get(`quotes/${made.id}`)).status).to.equal(404)
    expect((await limited.get('quotes')).body.meta.total).to.equal(0)
    expect((await ask([room(10, 12)], {}, limited)).status).to.equal(403)
    const elsewhere = { propertyId: second.propertyId, booker: { firstName: 'Ana' }, source: 'phone', quoteId: made.id }
    expect((await owner.send('POST', 'bookings', elsewhere)).body.code).to.equal('quote_invalid')
    expect((await owner.send('POST', 'bookings', { ...elsewhere, quoteId: undefined })).status).to.equal(400)
  })
})
