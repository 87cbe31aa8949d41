import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { cancelReservations } from '../../db/reservations/cancel.ts'
import { recountNights } from '../../db/units/recount.ts'
import { sql } from '../../db/lib/connection.ts'
import { forgetLimits, makeKey } from '../auth/support.ts'
import { arrive, makeLateHouse, setDay } from '../night-audit/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import type { House } from '../support/factories.ts'
import { gatewaySays } from '../support/pay.ts'
import { countersOf } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { deskOf } from './desk.ts'

describe('A booking by the desk for a group', () => {
  const world = useWorld()
  let house: House
  let manager: Desk
  let reception: Desk
  let groupId = ''
  beforeEach(async () => {
    await forgetLimits(world)
    house = await makeLateHouse(1, { units: 4 })
    manager = await openDesk(world, house, 'manager')
    reception = await openDesk(world, house, 'receptionist')
    const nights = { unitTypeId: house.unitTypeId, from: house.day(0), to: house.day(1), quantity: 1, amount: 15_000 }
    const made = await manager.send('POST', 'groups', {
      propertyId: house.propertyId,
      code: 'WED',
      name: 'A wedding',
      arrival: house.day(0),
      departure: house.day(2),
      ratePlanId: house.ratePlanId,
      allotment: { nights: [nights] },
    })
    groupId = made.body.id
  })
  const { healthy } = deskOf(() => house)
  const confirm = () => manager.send('POST', `groups/${groupId}/confirm`, {})
  const room = (change: object = {}) => ({
    unitTypeId: house.unitTypeId,
    ratePlanId: house.ratePlanId,
    arrival: house.day(0),
    departure: house.day(2),
    adults: 2,
    childrenAges: [],
    ...change,
  })
  const book = (change: object = {}) =>
    reception.send('POST', 'bookings', {
      propertyId: house.propertyId,
      booker: { firstName: 'Ana', lastName: 'Souza' },
      rooms: [room(), room()],
      source: 'phone',
      groupId,
      ...change,
    })
  const exact = async () => {
    expect(
      await house.inHouse((trx) => recountNights(trx, house.propertyId, house.day(0), house.day(20))),
    ).to.deep.equal([])
    await healthy()
  }
  const counters = async (day: number) => {
    const { allotted, sold } = await countersOf(house, day)
    return [allotted, sold]
  }

  it('takes nights of the allotment at their price, and others at the plan of the group', async () => {
    await confirm()
    const { status, body } = await book()
    expect(status, JSON.stringify(body)).to.equal(201)
    expect(body).to.include({ groupId, source: 'phone' })
    const [first, second] = body.reservations as { id: string; roomTotal: number }[]
    expect([first?.roomTotal, second?.roomTotal]).to.deep.equal([35_000, 40_000])
    expect([await counters(0), await counters(1)]).to.deep.equal([
      [0, 2],
      [0, 2],
    ])
    const pickup = () => manager.get(`groups/${groupId}`).then(({ body: read }) => read.pickup)
    expect(await pickup()).to.deep.include.members([
      { date: house.day(0), unitTypeId: house.unitTypeId, amount: 15_000, allotted: 1, pickedUp: 1, remaining: 0 },
    ])
    expect((await manager.get(`bookings?groupId=${groupId}`)).body.data).to.have.lengthOf(1)
    await house.inHouse((trx) => cancelReservations(trx, body.id, { terms: 'free', reason: 'guest_request' }))
    expect([await counters(0), await counters(1)]).to.deep.equal([
      [1, 0],
      [0, 0],
    ])
    await exact()
  })

  it('keeps the rooms that are picked up in its allotment', async () => {
    await confirm()
    await book()
    const rooms = (quantity: number) => ({
      nights: [{ unitTypeId: house.unitTypeId, from: house.day(0), to: house.day(1), quantity, amount: 15_000 }],
    })
    for (const body of [rooms(0), { nights: [] }]) {
      const below = await manager.send('PUT', `groups/${groupId}/allotment`, body)
      expect([below.status, below.body.code], JSON.stringify(below.body)).to.deep.equal([409, 'allotment_in_use'])
    }
    expect((await manager.send('PUT', `groups/${groupId}/allotment`, rooms(1))).status).to.equal(200)
    await exact()
  })

  it('takes further nights and rooms of the allotment, also where it comes back, in a house that is full without it', async () => {
    const whole = { unitTypeId: house.unitTypeId, from: house.day(0), to: house.day(2), quantity: 4, amount: 15_000 }
    expect((await manager.send('PUT', `groups/${groupId}/allotment`, { nights: [whole] })).status).to.equal(200)
    await confirm()
    const oneNight = { departure: house.day(1) }
    const { body: booking } = await book({ rooms: [room(oneNight)] })
    const stay = booking.reservations[0] as { id: string; roomTotal: number }
    expect([stay.roomTotal, await counters(0), await counters(1)]).to.deep.equal([15_000, [3, 1], [4, 0]])
    const asked = { changes: { departure: house.day(2) } }
    const proposed = (await reception.send('POST', `reservations/${stay.id}/amendments`, asked)).body
    expect(proposed, JSON.stringify(proposed)).to.deep.include({ feasible: true, shortNights: [], needsOverride: [] })
    expect(proposed.nights.map((one: { after: number }) => one.after)).to.deep.equal([15_000, 15_000])
    const accept = `reservations/${stay.id}/amendments/${proposed.amendmentId}/accept`
    const longer = await reception.send('POST', accept, {})
    expect([longer.status, longer.body.roomTotal, await counters(1)]).to.deep.equal([200, 30_000, [3, 1]])
    const added = await reception.send('POST', `bookings/${booking.id}/reservations`, room(oneNight))
    expect([added.status, added.body.roomTotal, await counters(0)], JSON.stringify(added.body)).to.deep.equal([
      201,
      15_000,
      [2, 2],
    ])
    await house.inHouse((trx) =>
      cancelReservations(trx, booking.id, { reservationIds: [stay.id], terms: 'free', reason: 'guest_request' }),
    )
    expect([await counters(0), await counters(1)]).to.deep.equal([
      [3, 1],
      [4, 0],
    ])
    const { body: preview } = await manager.get(`reservations/${stay.id}/transitions`)
    expect(preview.commands[0], JSON.stringify(preview)).to.include({ id: 'T20', allowed: true })
    const back = await manager.send('POST', `reservations/${stay.id}/reinstate`, { reason: 'They come after all' })
    expect([back.status, await counters(0), await counters(1)], JSON.stringify(back.body)).to.deep.equal([
      200,
      [2, 2],
      [3, 1],
    ])
    await exact()
  })

  it('moves money between its rooms and the master folio of the group, and to no other', async () => {
    const { masterFolioId } = (await confirm()).body
    const { body } = await book({ rooms: [room()] })
    const folioOf = async (id: string) => (await manager.get(`reservations/${id}`)).body.folioSummary.folios[0].id
    const own = await folioOf(body.reservations[0].id)
    const card = { method: 'card', cardToken: 'success', amount: 10_000, currency: 'BRL' }
    const asked = { ...card, targetType: 'folio', targetId: masterFolioId }
    const paid = await reception.send('POST', 'payments', asked, { idempotencyKey: randomUUID() })
    expect(paid.status, JSON.stringify(paid.body)).to.equal(201)
    await gatewaySays(house, paid.body.id, 'captured')
    const payment = (await manager.get(`folios/${masterFolioId}/lines?kind=payment`)).body.data[0].id as string
    const move = (from: string, toFolioId: string, lineId: string, amount: number) =>
      reception.send(
        'POST',
        `folios/${from}/transfers`,
        { toFolioId, lines: [{ lineId, amount }] },
        { idempotencyKey: randomUUID() },
      )
    const moved = await move(masterFolioId, own, payment, 4_000)
    expect([moved.status, moved.body.folio?.credits, moved.body.toFolio?.credits]).to.deep.equal([201, 6_000, 4_000])
    const alone = await book({ rooms: [room()], groupId: undefined })
    const other = await folioOf(alone.body.reservations[0].id)
    expect((await move(masterFolioId, other, payment, 1)).body.code).to.equal('line_not_transferable')
    await exact()
  })

  it('has further folios of the group, which leave deposits with its first guest and close with it', async () => {
    const open = (change: object) =>
      reception.send(
        'POST',
        'folios',
        { propertyId: house.propertyId, kind: 'group', groupId, ...change },
        { idempotencyKey: randomUUID() },
      )
    expect((await open({})).body.code).to.equal('invalid_transition')
    const { number, masterFolioId } = (await confirm()).body
    const [bar, firm] = [await open({ label: 'Bar' }), await open({ kind: 'company' })]
    expect([bar.status, firm.status], JSON.stringify([bar.body, firm.body])).to.deep.equal([201, 201])
    expect([bar.body.number, firm.body.number]).to.deep.equal([`${number}-2`, `${number}-3`])
    expect(bar.body).to.include({ groupId, kind: 'group', stage: 'deposit' })
    for (const wrong of [{ groupId: undefined }, { kind: 'house' }, { reservationId: randomUUID() }])
      expect((await open(wrong)).body.code, JSON.stringify(wrong)).to.equal('validation_failed')
    expect((await open({ groupId: randomUUID() })).body.errors[0].field).to.equal('groupId')
    await manager.send('PATCH', `groups/${groupId}`, { routing: { categories: [] } })
    const { body } = await book({ rooms: [room()] })
    const [stay] = body.reservations
    const stages = async () => {
      const { data } = (await manager.get(`folios?groupId=${groupId}`)).body as { data: { stage: string }[] }
      return [...new Set(data.map((one) => one.stage))]
    }
    expect(await stages()).to.deep.equal(['deposit'])
    await setDay(house, 0)
    await arrive(house, stay.id)
    expect(await stages()).to.deep.equal(['guest'])
    // A group that comes to nothing leaves no folio open.
    const made = await manager.send('POST', 'groups', {
      propertyId: house.propertyId,
      code: 'NONE',
      name: 'A meeting',
      arrival: house.day(0),
      departure: house.day(1),
      ratePlanId: house.ratePlanId,
    })
    await manager.send('POST', `groups/${made.body.id}/confirm`, {})
    await open({ groupId: made.body.id })
    await manager.send('POST', `groups/${made.body.id}/cancel`, { reason: 'changed_plans' })
    const left = (await manager.get(`folios?groupId=${made.body.id}`)).body.data as { status: string }[]
    expect(left.map((one) => one.status)).to.deep.equal(['closed', 'closed'])
    expect(masterFolioId).to.be.a('string')
  })

  it('is cancelled with its group without a fee by those alone who have the rule for that', async () => {
    await confirm()
    const { body } = await book({ rooms: [room()] })
    const [stay] = body.reservations
    await house.inHouse((trx) =>
      sql(
        trx,
        `update reservation set policies = jsonb_set(policies, '{cancellation,rules}',
           '{"tiers": [], "after": {"type": "full", "value": 0, "of": "total"}, "graceHoursAfterBooking": 0, "earlyDeparture": {"type": "none", "value": 0, "of": "total"}}')
         where id = ?`,
        [stay.id],
      ),
    )
    const { key } = await makeKey(house.tenantId, ['read', 'write'])
    const path = `/api/tenants/${house.tenantId}/groups/${groupId}/cancel`
    for (const terms of [{ reason: 'changed_plans', waiveFees: true }, { reason: 'property_fault' }]) {
      const refused = await world.request('POST', path, { key, body: { ...terms, cancelReservations: true } })
      expect([refused.status, refused.body.code]).to.deep.equal([403, 'override_not_permitted'])
    }
    const waived = { reason: 'changed_plans', waiveFees: true, cancelReservations: true }
    expect((await manager.send('POST', `groups/${groupId}/cancel`, waived)).status).to.equal(200)
    const shown = (await manager.get(`reservations/${stay.id}`)).body
    expect([shown.status, shown.feeAmount]).to.deep.equal(['cancelled', 0])
    await exact()
  })

  it('shares the last room of the allotment between two desks at once', async () => {
    await confirm()
    const both = await Promise.all([book({ rooms: [room()] }), book({ rooms: [room()] })])
    expect(both.map((one) => one.status)).to.deep.equal([201, 201])
    const totals = both.map(({ body }) => body.reservations[0].roomTotal as number).sort((a, b) => a - b)
    expect(totals).to.deep.equal([35_000, 40_000])
    await exact()
  })

  it('is refused for a group that is not confirmed, is of another house, or has another plan, and leaves nothing', async () => {
    expect((await book()).body.code).to.equal('invalid_transition')
    await confirm()
    const other = await makeLateHouse(1, { units: 1 })
    const elsewhere = await openDesk(world, other, 'receptionist')
    const stranger = await elsewhere.send('POST', 'bookings', {
      propertyId: other.propertyId,
      booker: { firstName: 'Ana', lastName: 'Souza' },
      rooms: [{ ...room(), unitTypeId: other.unitTypeId, ratePlanId: other.ratePlanId }],
      source: 'phone',
      groupId,
    })
    expect([stranger.status, stranger.body.code]).to.deep.equal([422, 'reference_not_found'])
    for (const change of [
      { hold: { kind: 'option' } },
      { promoCode: 'SUMMER' },
      { rooms: [room({ ratePlanId: groupId })] },
    ])
      expect((await book(change)).body.code, JSON.stringify(change)).to.equal('validation_failed')
    const soldOut = await book({ rooms: Array.from({ length: 5 }, () => room()) })
    expect([soldOut.status, soldOut.body.code]).to.deep.equal([409, 'sold_out'])
    expect((await manager.get(`bookings?groupId=${groupId}`)).body.data).to.deep.equal([])
    expect(await counters(0)).to.deep.equal([1, 0])
    await exact()
  })
})
