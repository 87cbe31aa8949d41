import { expect } from 'chai'
import { forgetLimits } from '../auth/support.ts'
import { arrive, makeLateHouse, makeStays, payAll, readStay, setDay } from '../night-audit/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { statementsOf } from '../support/statements.ts'
import { useWorld } from '../support/world.ts'
import { deskOf } from './desk.ts'

type Row = { reservationId: string; done: boolean; alerts: { text: string }[]; unit: { name: string; ready: boolean } }

describe('The front desk', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  beforeEach(async () => {
    house = await makeLateHouse(1, { units: 6 })
    owner = await openDesk(world, house, 'owner')
    await forgetLimits(world)
  })
  const { leave } = deskOf(() => house)
  const ask = (what: string, query = '', desk = owner) =>
    desk.get(`front-desk/${what}?propertyId=${house.propertyId}${query}`)
  const rows = async (what: string, query = ''): Promise<Row[]> => {
    const { status, body } = await ask(what, query)
    expect(status, JSON.stringify(body)).to.equal(200)
    return body.data
  }
  const shown = async (what: string, query = '') =>
    (await rows(what, query)).map((row) => [row.reservationId, row.done])

  it('lists who comes, who goes and who is there, and counts them', async () => {
    const [here = '', gone = '', late = ''] = await makeStays(house, 3, { from: -1, nights: 1 })
    const [coming = ''] = await makeStays(house, 1, { from: 0, nights: 2 })
    await arrive(house, here)
    await arrive(house, gone)
    expect(await shown('arrivals')).to.deep.equal([[late, false], ...[here, gone].sort().map((id) => [id, true])])
    await payAll(house, gone)
    await setDay(house, 0)
    await leave(gone)
    expect(await shown('arrivals')).to.deep.equal([
      [late, false],
      [coming, false],
    ])
    expect(await shown('departures')).to.deep.equal([
      [here, false],
      [gone, true],
    ])
    expect(await shown('in-house')).to.deep.equal([[here, false]])
    const { body } = await ask('summary')
    const { total } = await readStay(house, here)
    expect(body).to.deep.include({
      businessDate: house.today,
      arrivals: { expected: 1, done: 0, overdue: 1, unassigned: 1, notReady: 0 },
      departures: { expected: 1, done: 1, overdue: 0 },
      inHouse: { reservations: 1, adults: 2, children: 0 },
      held: 0,
      overbookedNights: 0,
      balanceDue: 0,
    })
    // Of six rooms one is sold tonight.
    expect(body.occupancy).to.deep.equal({ sold: 1, capacity: 6, blocked: 0, rate: 1_667 })
    expect(total).to.be.above(0)
    const before = (await ask('summary', `&date=${house.day(-1)}`)).body
    expect(before.arrivals).to.include({ expected: 1, done: 2, overdue: 0 })
    expect(before.inHouse.reservations).to.equal(2)
    const after = (await ask('summary', `&date=${house.day(1)}`)).body
    expect(after.inHouse.reservations).to.equal(1)
    expect(after.arrivals).to.include({ expected: 0, overdue: 0 })
    expect((await rows('departures', `&date=${house.day(2)}`)).map((row) => row.reservationId)).to.deep.equal([coming])
  })

  it('says which unit is not ready, what is owed, and what is to be told at this moment', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -1, nights: 1 })
    const send = (audience: string, alertAt: string) =>
      owner.send('POST', `reservations/${id}/notes`, { text: `${audience} at ${alertAt}`, audience, alertAt })
    for (const alertAt of ['none', 'check_in', 'check_out']) await send('front_desk', alertAt)
    await send('relations', 'check_in')
    const texts = async (desk: Desk, what: string) =>
      (await ask(what, '', desk)).body.data[0].alerts.map((one: { text: string }) => one.text)
    const reception = await openDesk(world, house, 'receptionist')
    expect(await texts(reception, 'arrivals')).to.deep.equal(['front_desk at check_in'])
    expect(await texts(owner, 'arrivals')).to.deep.equal(['front_desk at check_in', 'relations at check_in'])
    await arrive(house, id)
    await setDay(house, 0)
    expect(await texts(reception, 'departures')).to.deep.equal(['front_desk at check_out'])
    const [row] = await rows('in-house')
    expect(row).to.deep.include({ alerts: [], flags: ['due_out'], balance: 0, depositDue: 0 })
    expect(row?.unit).to.deep.include({ name: '101', ready: false })
    const finance = await openDesk(world, house, 'relations')
    expect((await ask('in-house', '', finance)).body.data[0]).not.to.have.any.keys('balance', 'depositDue')
    expect((await ask('summary', '', finance)).body).not.to.have.property('balanceDue')
  })

  it('finds a guest, a unit or a number, and stays of a flag', async () => {
    const [id = ''] = await makeStays(house, 2, { from: -1 })
    await arrive(house, id)
    expect(await shown('arrivals', '&q=101')).to.deep.equal([[id, true]])
    expect(await shown('arrivals', '&q=souza')).to.have.lengthOf(2)
    expect(await shown('arrivals', '&q=nobody')).to.deep.equal([])
    expect(await shown('arrivals', '&flag=unassigned')).to.have.lengthOf(1)
    expect(await shown('in-house', '&flag=overdue_departure')).to.deep.equal([])
  })

  it('reads as many statements for many stays as for one', async () => {
    await makeStays(house, 1, { from: -1 })
    // The first request of a session also notes that it is used.
    await ask('arrivals')
    const one = (await statementsOf(() => ask('arrivals'))).length
    await makeStays(house, 5, { from: -1 })
    const six = (await statementsOf(() => ask('arrivals'))).length
    expect(six).to.equal(one)
  })

  it('belongs to the readers of its property alone', async () => {
    const second = await makeHouse({ tenantId: house.tenantId })
    const limited = await openDesk(world, house, 'receptionist', [second.propertyId])
    for (const what of ['arrivals', 'departures', 'in-house', 'summary']) {
      expect((await ask(what, '', limited)).status, what).to.equal(403)
      expect((await owner.get(`front-desk/${what}`)).status).to.equal(400)
      expect((await owner.get(`front-desk/${what}?propertyId=${(await makeHouse()).propertyId}`)).status).to.equal(404)
    }
    const attendant = await openDesk(world, house, 'housekeeper')
    expect((await ask('arrivals', '', attendant)).status).to.equal(403)
  })
})
