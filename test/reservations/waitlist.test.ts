import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { cancelReservations } from '../../db/reservations/cancel.ts'
import { expireHold } from '../../db/reservations/expire.ts'
import { bookWaitlistEntry, eraseWaitlist } from '../../db/reservations/waitlist.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { refusal } from '../support/refusals.ts'
import { eventsOf, makeHold, outlive } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { rollTo } from '../units/stays.ts'

describe('The waitlist', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  beforeEach(async () => {
    house = await makeHouse({
      units: 1,
      suite: true,
      deposit: null,
      settings: { portal: { holdShare: 10_000 } },
    })
    owner = await openDesk(world, house, 'owner')
    await forgetLimits(world)
  })
  const wish = (more: object = {}) => ({
    propertyId: house.propertyId,
    contact: { name: 'Rui Alves', email: 'rui@example.com', phone: '+5524999991234' },
    arrival: house.day(10),
    departure: house.day(12),
    adults: 2,
    ...more,
  })
  const put = async (more: object = {}): Promise<string> => {
    const { status, body } = await owner.send('POST', 'waitlist', wish(more))
    expect(status, JSON.stringify(body)).to.equal(201)
    return body.id
  }
  const list = async (query = '', desk = owner) => (await desk.get(`waitlist${query}`)).body.data
  const matched = async (id: string) =>
    (await list()).find((one: { id: string; matchedAt: string | null }) => one.id === id)?.matchedAt !== null
  const told = async () => (await eventsOf(house, 'waitlist_entry.matched')).map((one) => one.data['waitlistEntryId'])
  const onlyStandard = () => ({ unitTypeIds: [house.unitTypeId] })
  const release = (bookingId: string) =>
    house.inHouse((trx) => cancelReservations(trx, bookingId, { reason: 'guest_request', terms: 'free' }))

  it('matches a request when nights are given back, and tells it once', async () => {
    const bookingId = await makeHold(house, { from: 10 })
    const id = await put(onlyStandard())
    await world.drain()
    expect(await matched(id)).to.equal(false)
    expect(await told()).to.deep.equal([])
    await release(bookingId)
    await world.drain()
    expect(await matched(id)).to.equal(true)
    expect(await told()).to.deep.equal([id])
    await world.drain()
    expect(await told()).to.deep.equal([id])
  })

  it('tells a request again once it has fitted no more', async () => {
    const id = await put(onlyStandard())
    await world.drain()
    expect(await told()).to.deep.equal([id])
    const bookingId = await makeHold(house, { from: 11 })
    // Nights that are taken ask for no match; the next cause finds that the request fits no more.
    await put({ arrival: house.day(20), departure: house.day(21) })
    await world.drain()
    expect(await matched(id)).to.equal(false)
    await release(bookingId)
    await world.drain()
    expect((await told()).filter((one) => one === id)).to.have.lengthOf(2)
  })

  it('looks at other types, other days and all rooms together, as the request allows', async () => {
    await makeHold(house, { from: 10 })
    const any = await put()
    const flexible = await put({ ...onlyStandard(), flexibleDays: 2 })
    const rigid = await put({ ...onlyStandard(), flexibleDays: 1 })
    const both = await put({ rooms: 2 })
    await world.drain()
    expect(await Promise.all([any, flexible, rigid, both].map(matched))).to.deep.equal([true, true, false, false])
    const order = (await list()).map((one: { id: string }) => one.id)
    expect(order).to.deep.equal([any, flexible, rigid, both])
    await owner.send('PATCH', `waitlist/${both}`, { priority: 1 })
    await world.drain()
    expect((await list()).map((one: { id: string }) => one.id)).to.deep.equal([any, flexible, both, rigid])
    expect(await list('?matched=true')).to.have.lengthOf(2)
    expect(await list(`?arrivalFrom=${house.day(11)}`)).to.deep.equal([])
  })

  it('waits again when the hold that met it comes to nothing, and is met for good by a confirmed one', async () => {
    const id = await put(onlyStandard())
    await world.drain()
    const bookingId = await makeHold(house, { from: 10 })
    const meet = () => house.inHouse((trx) => bookWaitlistEntry(trx, { id, propertyId: house.propertyId, bookingId }))
    await meet()
    expect((await refusal(meet())).code).to.equal('invalid_transition')
    expect(await list()).to.deep.equal([])
    expect((await list('?status=booked'))[0]).to.include({ id, bookingId })
    await outlive(house, bookingId)
    await house.inHouse((trx) => expireHold(trx, bookingId))
    await world.drain()
    expect((await list())[0]).to.include({ id, status: 'waiting', bookingId: null })
    expect((await told()).filter((one) => one === id)).to.have.lengthOf(2)
    const other = await makeHouse({ tenantId: house.tenantId })
    const elsewhere = house.inHouse((trx) => bookWaitlistEntry(trx, { id, propertyId: other.propertyId, bookingId }))
    expect((await refusal(elsewhere)).code).to.equal('reference_not_found')
  })

  it('closes what is past, and forgets the person thirty days later', async () => {
    const today = await put({ arrival: house.day(0), departure: house.day(1) })
    const later = await put({ arrival: house.day(5), departure: house.day(6) })
    await rollTo(house, 1)
    await world.drain()
    // The roll of the tests asks for no match; a new request does.
    await put({ arrival: house.day(7), departure: house.day(8) })
    await world.drain()
    expect((await list('?status=closed'))[0]).to.include({ id: today, closeReason: 'arrival_past' })
    const close = () => owner.send('POST', `waitlist/${later}/close`, { reason: 'Found another house' })
    expect((await close()).body).to.include({ status: 'closed', closeReason: 'Found another house' })
    expect((await close()).status).to.equal(200)
    expect((await owner.send('PATCH', `waitlist/${later}`, { rooms: 2 })).body.code).to.equal('invalid_transition')
    const erase = (ids: string[]) => house.inHouse((trx) => eraseWaitlist(trx, ids))
    await erase([later])
    expect((await list('?status=closed')).map((one: { contact: object | null }) => one.contact === null)).to.include(
      false,
    )
    await house.inHouse((trx) =>
      sql(trx, `update waitlist_entry set closed_at = now() - interval '31 days' where id = ?`, [later]),
    )
    await erase([later])
    const [forgotten] = (await list('?status=closed')).filter((one: { id: string }) => one.id === later)
    expect(forgotten).to.include({ contact: null, note: '' })
  })

  it('refuses what could never be met', async () => {
    const other = await makeHouse({ tenantId: house.tenantId })
    const stranger = await makeHouse()
    const send = async (more: object) => {
      const { status, body } = await owner.send('POST', 'waitlist', wish(more))
      return [status, body.code]
    }
    const gone = [422, 'reference_not_found']
    expect(await send({ unitTypeIds: [other.unitTypeId] })).to.deep.equal(gone)
    expect(await send({ ratePlanId: stranger.ratePlanId })).to.deep.equal(gone)
    expect(await send({ guestId: stranger.unitTypeId })).to.deep.equal(gone)
    expect(await send({ propertyId: stranger.propertyId })).to.deep.equal([404, 'not_found'])
    expect(await send({ adults: 15 })).to.deep.equal([422, 'occupancy_exceeded'])
    for (const bad of [
      { departure: house.day(10) },
      { arrival: house.day(-3) },
      { contact: null },
      { rooms: 10 },
      { flexibleDays: 8 },
      { status: 'booked' },
    ])
      expect((await send(bad))[0], JSON.stringify(bad)).to.equal(400)
    expect(await list()).to.deep.equal([])
  })

  it('belongs to those who book for its property, and masks addresses for those who see guests masked', async () => {
    await put()
    const auditor = await openDesk(world, house, 'auditor')
    for (const desk of [auditor, await openDesk(world, house, 'finance')])
      expect((await list('', desk))[0].contact).to.deep.equal({
        name: 'Rui Alves',
        email: 'r***@e***.com',
        phone: '***1234',
      })
    expect((await auditor.send('POST', 'waitlist', wish())).status).to.equal(403)
    const second = await makeHouse({ tenantId: house.tenantId })
    const limited = await openDesk(world, house, 'receptionist', [second.propertyId])
    expect(await list('', limited)).to.deep.equal([])
    expect((await limited.send('POST', 'waitlist', wish())).status).to.equal(403)
    const stored = await house.inHouse((trx) =>
      sql<{ sealed: Buffer }>(trx, `select sealed from waitlist_entry where sealed is not null`),
    )
    expect(stored.map(({ sealed }) => sealed.toString('latin1')).join()).not.to.match(/rui@|Alves/)
  })
})
