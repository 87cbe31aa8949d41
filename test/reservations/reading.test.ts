import { expect } from 'chai'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { forgetLimits } from '../auth/support.ts'
import { arrive, makeLateHouse, makeStays, payAll, readStay, setDay } from '../night-audit/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeHold, readBooking } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'

describe('The record of a stay', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  beforeEach(async () => {
    house = await makeLateHouse(1, { units: 3 })
    owner = await openDesk(world, house, 'owner')
    await forgetLimits(world)
  })
  const read = async (id: string, desk = owner) => (await desk.get(`reservations/${id}`)).body
  const note = (id: string, audience: string, text = 'Arrives late', desk = owner) =>
    desk.send('POST', `reservations/${id}/notes`, { text, audience, alertAt: 'check_in' })

  it('shows nights, guests, extras, units and money, with what is owed now and at departure', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -1, nights: 3 })
    const before = await read(id)
    const { total } = await readStay(house, id)
    expect(before).to.include({ status: 'confirmed', total, postedTotal: 0, businessDate: house.day(-1) })
    expect(before.flags).to.include('due_in')
    expect(before.nights.map((night: { date: string }) => night.date)).to.deep.equal([-1, 0, 1].map(house.day))
    expect(before.guests).to.have.lengthOf(1)
    expect(before.guests[0]).to.include({ role: 'primary', guestId: before.primaryGuest.guestId, name: 'Ana Souza' })
    // Of tonight: the room, its fee on top, a day of parking, and the welcome of the whole stay.
    const [night] = before.nights
    const onTop = night.taxes.filter((tax: { included: boolean }) => !tax.included)
    const tonight = night.amount + onTop.reduce((sum: number, tax: { amount: number }) => sum + tax.amount, 0)
    expect(before.folioSummary).to.include({ charges: 0, balance: 0, projected: total })
    expect(before.folioSummary.unposted).to.equal(tonight + 1_003 + 2_999)
    await payAll(house, id)
    await arrive(house, id)
    await setDay(house, 0)
    const inHouse = await read(id)
    expect(inHouse.flags).to.deep.equal(['stay_over'])
    expect(inHouse.folioSummary).to.include({ credits: total, projected: 0, depositDue: 0 })
    expect(inHouse.assignments).to.have.lengthOf(1)
    expect(inHouse.assignments[0]).to.include({ status: 'occupied', from: house.day(-1), to: house.day(2) })
    expect(inHouse.version).to.equal((await readStay(house, id)).version)
    const history = await owner.get(`reservations/${id}/history`)
    expect(history.body.data.map((one: { transition: string }) => one.transition)).to.deep.equal(['T13', 'T8', 'T3'])
  })

  it('is found by its flags and by what its folios owe', async () => {
    const [late = '', here = '', gone = ''] = await makeStays(house, 3, { from: -1, nights: 1 })
    const found = async (query: string) =>
      (await owner.get(`reservations?${query}`)).body.data.map((one: { id: string }) => one.id)
    expect(await found('flag=due_in')).to.have.members([late, here, gone])
    expect(await found('flag=unassigned')).to.have.members([late, here, gone])
    await arrive(house, here)
    await arrive(house, gone)
    await payAll(house, gone)
    await setDay(house, 0)
    expect(await found('flag=overdue_arrival')).to.deep.equal([late])
    expect(await found('flag=due_out')).to.have.members([here, gone])
    expect(await found('flag=unassigned')).to.deep.equal([])
    expect(await found('flag=not_ready')).to.deep.equal([])
    expect(await found('balance=credit')).to.deep.equal([gone])
    expect(await found('balance=zero')).to.have.members([late, here])
    await setDay(house, 1)
    expect(await found('flag=overdue_departure&sort=arrival')).to.have.members([here, gone])
    const relations = await openDesk(world, house, 'relations')
    expect((await relations.get('reservations?balance=due')).status).to.equal(403)
    expect((await relations.get('reservations?flag=unpaid')).status).to.equal(200)
    expect((await owner.get('reservations?flag=hungry')).status).to.equal(400)
  })

  it('keeps amounts from roles without folios, and notes from all but their audience', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -1 })
    for (const audience of ['all', 'front_desk', 'billing', 'relations'])
      expect((await note(id, audience, `for ${audience}`)).status).to.equal(201)
    const relations = await openDesk(world, house, 'relations')
    const reception = await openDesk(world, house, 'receptionist')
    const texts = (body: { notes: { audience: string }[] }) => body.notes.map((one) => one.audience)
    expect(texts(await read(id))).to.deep.equal(['all', 'front_desk', 'billing', 'relations'])
    expect(texts(await read(id, reception))).to.deep.equal(['all', 'front_desk', 'billing'])
    const seen = await read(id, relations)
    expect(texts(seen)).to.deep.equal(['all', 'relations'])
    expect(seen).not.to.have.any.keys('total', 'folioSummary', 'deposits', 'fees')
    expect(seen.nights[0]).not.to.have.any.keys('amount', 'taxes')
    expect((await relations.send('POST', `reservations/${id}/notes`, { text: 'x', audience: 'all' })).status).to.equal(
      403,
    )
    expect(
      (await openDesk(world, house, 'housekeeper').then((desk) => desk.get(`reservations/${id}`))).status,
    ).to.equal(403)
  })

  it('loses a note by those that read it, and by nobody else', async () => {
    const [id = '', other = ''] = await makeStays(house, 2, { from: -1 })
    const { notes } = (await note(id, 'relations')).body
    const [{ id: noteId }] = notes
    const reception = await openDesk(world, house, 'receptionist')
    expect((await reception.send('DELETE', `reservations/${id}/notes/${noteId}`)).status).to.equal(404)
    expect((await owner.send('DELETE', `reservations/${other}/notes/${noteId}`)).status).to.equal(404)
    expect((await owner.send('DELETE', `reservations/${id}/notes/${noteId}`)).body.notes).to.deep.equal([])
    expect((await note(id, 'all', 'card 4111 1111 1111 1111')).body.code).to.equal('card_data_refused')
  })

  it('is not there for another tenant, nor for a caller of another property', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -1 })
    const { bookingId } = await readStay(house, id)
    const elsewhere = await makeHouse()
    const stranger = await openDesk(world, elsewhere, 'owner')
    const second = await makeHouse({ tenantId: house.tenantId })
    const limited = await openDesk(world, house, 'manager', [second.propertyId])
    for (const desk of [stranger, limited])
      for (const path of [`reservations/${id}`, `reservations/${id}/history`, `bookings/${bookingId}`])
        expect((await desk.get(path)).status, path).to.equal(404)
    expect((await note(id, 'all', 'seen', limited)).status).to.equal(404)
    expect((await limited.get('bookings')).body.meta.total).to.equal(0)
  })
})

describe('Bookings', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  before(async () => {
    house = await makeHouse({ units: 9, deposit: null })
    owner = await openDesk(world, house, 'owner')
  })
  beforeEach(() => forgetLimits(world))
  const ids = async (query: string) =>
    (await owner.get(`bookings${query}`)).body.data.map((one: { id: string }) => one.id)

  it('are listed with their rooms, and found by number, hold, source and name', async () => {
    const held = await makeHold(house, { rooms: 2, from: 20 })
    const confirmed = await makeHold(house, {
      from: 25,
      words: { booker: { firstName: 'Íris', lastName: 'Lopes', email: 'iris@example.com', phone: '+5524999990000' } },
    })
    await house.inHouse((trx) => confirmBooking(trx, confirmed))
    const { body } = await owner.get('bookings')
    expect(body.meta.total).to.equal(2)
    const [, two] = body.data
    expect(two).to.include({ id: held, status: 'held', balance: 0, credit: 0 })
    expect(two.hold.kind).to.equal('checkout')
    expect(two.reservations.map((room: { number: string }) => room.number)).to.deep.equal([
      `${two.number}-1`,
      `${two.number}-2`,
    ])
    expect(two.projected).to.equal(two.total)
    const one = (await owner.get(`bookings/${held}`)).body
    expect(one).to.deep.equal(two)
    expect(await ids(`?q=${two.number}-2`)).to.deep.equal([held])
    expect(await ids('?source=walk_in')).to.deep.equal([])
    expect(await ids('?held=true&sort=createdAt')).to.deep.equal([held])
    expect(await ids('?held=false')).to.deep.equal([confirmed])
    expect(await ids(`?q=${encodeURIComponent('lopes iris')}`)).to.deep.equal([confirmed])
    expect(body.data[0].booker.name).to.equal('Íris Lopes')
    expect(body.data[0].hold).to.equal(null)
    expect(await ids('?createdTo=2001-01-01')).to.deep.equal([])
    expect((await readBooking(house, held)).number).to.equal(two.number)
  })
})
