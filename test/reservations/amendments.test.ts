import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { countersOf, eventsOf, miscounted } from '../support/stay.ts'
import { stored } from '../units/stays.ts'
import { useWorld } from '../support/world.ts'

const atTheDoor = { rules: ['early_check_in', 'unit_condition'], reason: 'a test' }

describe('A change of a stay', () => {
  const world = useWorld()
  let house: House
  let reception: Desk
  let manager: Desk

  beforeEach(async () => {
    house = await makeHouse({ units: 2, suite: true, deposit: null })
    reception = await openDesk(world, house, 'receptionist')
    manager = await openDesk(world, house, 'manager')
  })
  const book = async (from = 10, nights = 2) => {
    const { body } = await reception.send('POST', 'bookings', {
      propertyId: house.propertyId,
      source: 'phone',
      booker: { firstName: 'Bia' },
      rooms: [
        {
          unitTypeId: house.unitTypeId,
          ratePlanId: house.ratePlanId,
          arrival: house.day(from),
          departure: house.day(from + nights),
          adults: 2,
          childrenAges: [],
        },
      ],
    })
    return body.reservations[0].id as string
  }
  const propose = (id: string, changes: object, more: object = {}) =>
    reception.send('POST', `reservations/${id}/amendments`, { changes, ...more })
  const accept = (id: string, amendmentId: string, body: object = {}, by = reception) =>
    by.send('POST', `reservations/${id}/amendments/${amendmentId}/accept`, body)

  it('is priced without taking anything, accepted at that price, and once', async () => {
    const id = await book()
    const before = await stored(house)
    const { status, body } = await propose(id, { departure: house.day(13) })
    expect([status, body.difference, body.feasible, body.status], JSON.stringify(body)).to.deep.equal([
      201,
      20_000,
      true,
      'proposed',
    ])
    expect(body.nights.map((night: { change: string }) => night.change)).to.deep.equal(['kept', 'kept', 'added'])
    expect(await stored(house)).to.deep.equal(before)
    const both = await Promise.all([accept(id, body.amendmentId), accept(id, body.amendmentId)])
    expect(both.map((one) => [one.status, one.body.total])).to.deep.equal([
      [200, 60_000],
      [200, 60_000],
    ])
    expect(await countersOf(house, 12)).to.include({ sold: 1 })
    expect(await eventsOf(house, 'reservation.amended')).to.have.lengthOf(1)
    expect((await reception.get(`reservations/${id}/amendments/${body.amendmentId}`)).body.status).to.equal('accepted')
    expect(await miscounted(house)).to.deep.equal([])
  })

  it('leaves no more guests named than the party has', async () => {
    const id = await book()
    expect((await reception.send('POST', `reservations/${id}/guests`, { firstName: 'Rui' })).status).to.equal(201)
    const fewer = await propose(id, { adults: 1 })
    expect([fewer.status, fewer.body.code], JSON.stringify(fewer.body)).to.deep.equal([422, 'occupancy_exceeded'])
    const { guests } = (await reception.get(`reservations/${id}`)).body
    const companion = guests.find((one: { role: string }) => one.role === 'companion')
    await reception.send('DELETE', `reservations/${id}/guests/${companion.id}`)
    const { body } = await propose(id, { adults: 1 })
    expect((await accept(id, body.amendmentId)).body.adults).to.equal(1)
  })

  it('is stale once the stay has changed, and over after half an hour', async () => {
    const id = await book()
    const { body: first } = await propose(id, { departure: house.day(13) })
    const { body: second } = await propose(id, { departure: house.day(14) })
    expect((await accept(id, second.amendmentId)).status).to.equal(200)
    expect((await accept(id, first.amendmentId)).body.code).to.equal('amendment_stale')
    const { body: third } = await propose(id, { departure: house.day(13) })
    await house.inHouse((trx) => sql(trx, `update amendment set expires_at = now() where id = ?`, [third.amendmentId]))
    expect((await accept(id, third.amendmentId)).body.code).to.equal('amendment_expired')
    const { body: fourth } = await propose(id, { departure: house.day(15) })
    await house.inHouse((trx) =>
      sql(trx, `update rate_plan_unit_type set standard_amount = standard_amount + 1 where rate_plan_id = ?`, [
        house.ratePlanId,
      ]),
    )
    await house.inHouse((trx) =>
      sql(trx, `update property set public_version = public_version + 1 where id = ?`, [house.propertyId]),
    )
    expect((await accept(id, fourth.amendmentId)).body.code).to.equal('amendment_stale')
    expect((await reception.get(`reservations/${id}`)).body.departure).to.equal(house.day(14))
  })

  it('says which nights are sold out, and takes them by those who may oversell alone', async () => {
    const id = await book()
    await book(12, 1)
    await book(12, 1)
    const { body } = await propose(id, { departure: house.day(13) })
    expect([body.feasible, body.shortNights, body.needsOverride]).to.deep.equal([
      false,
      [house.day(12)],
      ['availability'],
    ])
    expect((await accept(id, body.amendmentId)).body.code).to.equal('sold_out')
    const override = { rules: ['availability'], reason: 'a guest of the house' }
    expect((await accept(id, body.amendmentId, { override })).status).to.equal(403)
    expect((await accept(id, body.amendmentId, { override }, manager)).body.overbooked).to.equal(true)
    expect(await countersOf(house, 12)).to.include({ sold: 3, forced: 1 })
  })

  it('tells that a night was oversold which was still free when the change was priced', async () => {
    const id = await book()
    const { body } = await propose(id, { departure: house.day(13) })
    expect(body.feasible).to.equal(true)
    await book(12, 1)
    await book(12, 1)
    const override = { rules: ['availability', 'restriction'], reason: 'a guest of the house' }
    expect((await accept(id, body.amendmentId, { override }, manager)).body.overbooked).to.equal(true)
    const { body: history } = await manager.get(`reservations/${id}/history`)
    expect(history.data[0].override).to.deep.equal({ ...override, rules: ['availability'] })
  })

  it('keeps the price for a better type where the desk says so, and sets prices by hand within the limit of the role', async () => {
    const id = await book()
    const { body: dear } = await propose(id, { unitTypeId: house.suiteTypeId })
    expect(dear.difference).to.equal(40_000)
    const { body: upgrade } = await propose(id, { unitTypeId: house.suiteTypeId }, { price: 'keep' })
    expect([upgrade.difference, upgrade.feasible]).to.deep.equal([0, true])
    expect((await accept(id, upgrade.amendmentId)).status).to.equal(200)
    expect(await countersOf(house, 10, house.suitePoolId ?? '')).to.include({ sold: 1 })
    const manual = (amount: number) => propose(id, { manualNights: [{ date: house.day(10), amount }] })
    const override = { rules: ['price'], reason: 'a long stay' }
    const { body: low } = await manual(27_999)
    const refused = await accept(id, low.amendmentId, { override }, manager)
    expect([refused.status, refused.body.code], JSON.stringify(refused.body)).to.deep.equal([
      403,
      'override_not_permitted',
    ])
    const { body: right } = await manual(28_000)
    expect((await accept(id, right.amendmentId)).body.code).to.equal('transition_blocked')
    const done = await accept(id, right.amendmentId, { override }, manager)
    expect([done.status, done.body.total], JSON.stringify(done.body)).to.deep.equal([200, 48_000])
    expect(await miscounted(house)).to.deep.equal([])
  })

  it('to another type moves a guest who is in the house on its day, or is refused', async () => {
    const id = await book(0, 3)
    expect((await reception.send('POST', `reservations/${id}/check-in`, { override: atTheDoor })).status).to.equal(200)
    const suite = { unitTypeId: house.suiteTypeId, from: house.day(1) }
    const { body: staying } = await propose(id, suite)
    expect([staying.unit, staying.feasible], JSON.stringify(staying)).to.deep.equal(['conflict', false])
    const refused = await accept(id, staying.amendmentId)
    expect([refused.status, refused.body.code]).to.deep.equal([409, 'unit_conflict'])
    expect((await propose(id, { ...suite, from: house.day(0), allowMove: true })).body.unit).to.equal('conflict')
    const { body: moving } = await propose(id, { ...suite, allowMove: true })
    expect([moving.unit, moving.feasible], JSON.stringify(moving)).to.deep.equal(['moves', true])
    expect((await accept(id, moving.amendmentId)).status).to.equal(200)
    const rows = await house.inHouse((trx) =>
      sql(
        trx,
        `select a.status, a.starts_on, a.ends_on, u.unit_type_id from unit_assignment a join unit u on u.id = a.unit_id where a.reservation_id = ? and a.status <> 'released'
         order by a.starts_on`,
        [id],
      ),
    )
    expect(rows).to.deep.equal([
      { status: 'occupied', startsOn: house.day(0), endsOn: house.day(1), unitTypeId: house.unitTypeId },
      { status: 'proposed', startsOn: house.day(1), endsOn: house.day(3), unitTypeId: house.suiteTypeId },
    ])
    expect(await miscounted(house)).to.deep.equal([])
  })
})
