import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { cancelReservations } from '../../db/reservations/cancel.ts'
import { amendReservation } from '../../db/reservations/amend.ts'
import { countNights, recountNights } from '../../db/units/recount.ts'
import { forgetLimits } from '../auth/support.ts'
import { arrive, closeOpenDay, makeLateHouse } from '../night-audit/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import type { House } from '../support/factories.ts'
import { countersOf, eventsOf } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { deskOf } from './desk.ts'

describe('A rooming list', () => {
  const world = useWorld()
  let house: House
  let manager: Desk
  let id: string
  beforeEach(async function () {
    this.timeout(30_000)
    await forgetLimits(world)
    house = await makeLateHouse(1, { units: 4, suite: true })
    manager = await openDesk(world, house, 'manager')
    id = await group(3)
  })
  const { healthy } = deskOf(() => house)
  const override = { rules: ['availability', 'balance'], reason: 'the group says so' }

  let made = 0
  /** A confirmed group of the house's next two nights. */
  const group = async (quantity: number, change: object = {}) => {
    made += 1
    const rooms = { from: house.day(-1), to: house.day(1) }
    const { body } = await manager.send('POST', 'groups', {
      propertyId: house.propertyId,
      code: `LIST${made}`,
      name: 'A wedding',
      arrival: house.day(-1),
      departure: house.day(1),
      ratePlanId: house.ratePlanId,
      allotment: {
        nights: [
          { unitTypeId: house.unitTypeId, ...rooms, quantity, amount: 18_000 },
          { unitTypeId: house.suiteTypeId, ...rooms, quantity: 1 },
        ],
      },
      ...change,
    })
    const confirmed = await manager.send('POST', `groups/${body.id}/confirm`, {})
    expect(confirmed.status, JSON.stringify(confirmed.body)).to.equal(200)
    return body.id as string
  }
  const row = (rowKey: string, change: object = {}) => ({
    rowKey,
    unitTypeId: house.unitTypeId,
    arrival: house.day(-1),
    departure: house.day(1),
    adults: 2,
    childrenAges: [],
    guests: [
      { firstName: 'Ana', lastName: `Souza ${rowKey}` },
      { firstName: 'Rui', lastName: `Souza ${rowKey}` },
    ],
    ...change,
  })
  const send = (rows: object[], dryRun = false, of = id) =>
    manager.send('POST', `groups/${of}/rooming-list`, { rows, ...(dryRun ? { dryRun } : {}) })
  const results = (body: { rows: { result: string }[] }) => body.rows.map((one) => one.result)
  const bookings = async () =>
    house.inHouse((trx) =>
      sql<{ id: string; reservationId: string; total: number }>(
        trx,
        `select b.id, r.id as reservation_id, r.total from booking b join reservation r on r.booking_id = b.id where b.group_id is not null
         order by b.group_row_key`,
      ),
    )
  const exact = async () => {
    expect(
      await house.inHouse((trx) => recountNights(trx, house.propertyId, house.day(-1), house.day(20))),
    ).to.deep.equal([])
    const counted = await house.inHouse((trx) => countNights(trx, house.propertyId, house.day(-1), house.day(20)))
    expect(counted.every((one) => one.allotted >= 0)).to.equal(true)
  }
  const night = async (day = 0) => {
    const { allotted, sold } = await countersOf(house, day)
    return { allotted, sold }
  }
  const pickup = async () =>
    ((await manager.get(`groups/${id}`)).body.pickup as { allotted: number; pickedUp: number; unitTypeId: string }[])
      .filter((one) => one.unitTypeId === house.unitTypeId)
      .map((one) => [one.allotted, one.pickedUp])

  it('is tried without a trace, imported whole, and repeated without a change', async () => {
    const rows = [row('r1'), row('r2', { adults: 1, guests: [{ firstName: 'Eva', lastName: 'Lima' }] })]
    const dry = await send(rows, true)
    expect([dry.status, results(dry.body)], JSON.stringify(dry.body)).to.deep.equal([200, ['created', 'created']])
    expect(await bookings()).to.deep.equal([])
    expect(await eventsOf(house, 'booking.created')).to.deep.equal([])
    expect(await night()).to.deep.equal({ allotted: 3, sold: 0 })
    const both = await Promise.all([send(rows), send(rows)])
    expect(both.map(({ body }) => results(body).join()).sort((a, b) => a.localeCompare(b))).to.deep.equal([
      'created,created',
      'unchanged,unchanged',
    ])
    expect(await night()).to.deep.equal({ allotted: 1, sold: 2 })
    expect(await pickup()).to.deep.equal([
      [3, 2],
      [3, 2],
    ])
    const [first] = await bookings()
    await manager.send('PATCH', `bookings/${first?.id}`, { language: 'es' })
    for (const [type, count] of [
      ['booking.created', 2],
      ['booking.changed', 1],
    ] as const)
      expect((await eventsOf(house, type)).map(({ data }) => data['groupId'])).to.deep.equal(Array(count).fill(id))
    // At the price of the group, with the fee of two persons on each night and the extras that come with every stay.
    expect(first?.total).to.equal(2 * (18_000 + 600 + 1_003) + 2_999)
    await exact()
  })

  it('names guests anew while a stay is confirmed, and refuses other dates without doing anything', async () => {
    await house.inHouse((trx) =>
      sql(trx, `update property set settings = settings || '{"registration": {"mode": "warn"}}'`),
    )
    await send([row('r1'), row('r2')])
    const [first] = await bookings()
    const people = () =>
      house.inHouse((trx) =>
        sql<{ id: string; name: string; role: string; form: string }>(
          trx,
          `select f.reservation_guest_id as id, g.first_name as name, x.role, f.status as form from guest_registration f
           join guest g on g.id = f.guest_id left join reservation_guest x on x.id = f.reservation_guest_id where f.reservation_id = ? order by name`,
          [first?.reservationId],
        ),
      )
    const rui = (await people()).find((one) => one.name === 'Rui')
    const renamed = await send([
      row('r1', { guests: [{ firstName: 'Lia', lastName: 'Reis' }, row('r1').guests[1]] }),
      row('r2'),
    ])
    expect(results(renamed.body)).to.deep.equal(['changed', 'unchanged'])
    // The form of a guest who comes no more ends, a new guest has one, and another's goes on.
    expect((await people()).map(({ name, role, form }) => [name, role, form])).to.deep.equal([
      ['Ana', null, 'cancelled'],
      ['Lia', 'primary', 'pending'],
      ['Rui', 'companion', 'pending'],
    ])
    expect((await people()).find((one) => one.name === 'Rui')?.id).to.equal(rui?.id)
    expect(await eventsOf(house, 'reservation.guests_changed')).to.have.lengthOf(1)
    const refused = await send([row('r1', { departure: house.day(2) }), row('r3')])
    expect([refused.status, refused.body.code]).to.deep.equal([422, 'rooming_list_invalid'])
    expect(refused.body.errors).to.deep.equal([{ field: 'rows.0.departure', message: 'use_amendment' }])
    const { body: barred } = await manager.send('POST', 'guests', { firstName: 'Max', lastName: 'Barred' })
    await manager.send('POST', `guests/${barred.id}/blocks`, { level: 'refuse', reason: 'Broke the door' })
    const strange = [
      row('r1', { guests: [{ guestId: barred.id }] }),
      row('r2', { guests: [{ guestId: house.poolId }] }),
    ]
    const kept = await send(strange)
    expect(kept.body.errors.map((one: { field: string }) => one.field)).to.deep.equal([
      'rows.0.blockers.guest_barred',
      'rows.1.guests.0.guestId',
    ])
    expect((await people()).map(({ name, role }) => [name, role])).to.deep.include(['Lia', 'primary'])
    expect(await bookings()).to.have.lengthOf(2)
    await exact()
  })

  it('takes free rooms beyond the allotment, and none where one row finds nothing', async () => {
    const four = ['r1', 'r2', 'r3', 'r4'].map((key) => row(key))
    const bad = await send([...four, row('r5')])
    expect([bad.status, bad.body.code]).to.deep.equal([422, 'rooming_list_invalid'])
    expect(bad.body.errors[0].field).to.match(/^rows\.4\./)
    expect(await bookings()).to.deep.equal([])
    expect((await send(four)).status).to.equal(200)
    expect(await night()).to.deep.equal({ allotted: 0, sold: 4 })
    const all = await bookings()
    // The fourth room is sold at the plan of the group.
    expect(all.map((one) => one.total)).to.deep.equal([
      ...[1, 2, 3].map(() => 2 * (18_000 + 600 + 1_003) + 2_999),
      2 * (20_000 + 600 + 1_003) + 2_999,
    ])
    for (const [change, field] of [
      [{ unitTypeId: house.poolId }, 'rows.0'],
      [{ adults: 9 }, 'rows.0'],
      [{ departure: house.day(-1) }, 'rows.0.departure'],
      [{ adults: 1 }, 'rows.0.guests'],
    ] as const) {
      const { body } = await send([row('r9', change)])
      expect(body.code, JSON.stringify(body)).to.equal('rooming_list_invalid')
      expect(body.errors[0].field.startsWith(field), body.errors[0].field).to.equal(true)
    }
    await exact()
  })

  it('gives nights back to the allotment, and after the release to free sale', async () => {
    await send([row('r1'), row('r2'), row('r3')])
    const [one, two, three] = await bookings()
    const cancel = (bookingId = '') =>
      house.inHouse((trx) => cancelReservations(trx, bookingId, { terms: 'free', reason: 'guest_request' }))
    await cancel(one?.id)
    expect(await night()).to.deep.equal({ allotted: 1, sold: 2 })
    expect(await pickup()).to.deep.equal([
      [3, 2],
      [3, 2],
    ])
    await house.inHouse((trx) => amendReservation(trx, two?.reservationId ?? '', { departure: house.day(0) }))
    expect(await night()).to.deep.equal({ allotted: 2, sold: 1 })
    await manager.send('POST', `groups/${id}/release`, {})
    expect(await night()).to.deep.equal({ allotted: 0, sold: 1 })
    await cancel(three?.id)
    expect(await night()).to.deep.equal({ allotted: 0, sold: 0 })
    expect(await pickup()).to.deep.equal([
      [1, 1],
      [0, 0],
    ])
    await exact()
    await healthy()
  })

  it('gives the nights back of a guest who moves to another type, once', async () => {
    await send([row('r1')])
    const [one] = await bookings()
    const stay = one?.reservationId ?? ''
    await arrive(house, stay)
    const { body: suites } = await manager.get(`units?propertyId=${house.propertyId}&unitTypeId=${house.suiteTypeId}`)
    const unit = suites.data[0]?.id as string
    const moved = await manager.send('POST', `reservations/${stay}/move`, { unitId: unit, reason: 'upgrade', override })
    expect(moved.status, JSON.stringify(moved.body)).to.equal(200)
    const back = { allotted: 3, sold: 0 }
    expect([await night(-1), await night(0)]).to.deep.equal([back, back])
    expect(await pickup()).to.deep.equal([
      [3, 0],
      [3, 0],
    ])
    await exact()
    const left = await manager.send('POST', `reservations/${stay}/check-out`, { early: true, override })
    expect(left.status, JSON.stringify(left.body)).to.equal(200)
    expect(await pickup()).to.deep.equal([
      [3, 0],
      [3, 0],
    ])
    await exact()
    await healthy()
  })

  it('is fought for with a release and others who want the last rooms, and the counters stay exact', async () => {
    const rows = ['a', 'b', 'c', 'd'].map((key) => row(key))
    const other = await group(1, { allotment: { nights: [] } })
    await Promise.all([
      send(rows.slice(0, 2)),
      manager.send('POST', `groups/${id}/release`, {}),
      send(rows.slice(1, 4)),
      send(rows, false, other),
      manager.send('PUT', `groups/${id}/allotment`, { nights: [] }),
    ])
    await exact()
    const { sold } = await night()
    expect(sold).to.equal((await bookings()).length)
  })

  it('is paid by the master folio as the routing says, night by night, and cancelled whole', async () => {
    await send([row('r1'), row('r2', { unitTypeId: house.suiteTypeId })])
    const [one, two] = await bookings()
    const master = (await manager.get(`folios?groupId=${id}`)).body.data[0].id as string
    const read = async (folio: string) => (await manager.get(`folios/${folio}`)).body
    const own = async (reservationId = '') =>
      (await manager.get(`folios?reservationId=${reservationId}`)).body.data[0] as { id: string; balance: number }
    const nights = 2 * (18_000 + 600)
    const suites = 2 * (40_000 + 600)
    expect(await read(master)).to.include({ projected: nights + suites, stage: 'deposit' })
    expect(await read((await own(one?.reservationId)).id)).to.include({ projected: 2 * 1_003 + 2_999 })
    for (const each of [one, two]) await arrive(house, each?.reservationId ?? '')
    expect(await read(master)).to.include({ stage: 'guest' })
    await closeOpenDay(house)
    expect(await read(master)).to.include({ balance: (nights + suites) / 2, projected: nights + suites })
    expect((await own(one?.reservationId)).balance).to.equal(1_003 + 2_999)
    await healthy()
    const blocked = await manager.send('POST', `groups/${id}/cancel`, { reason: 'other', cancelReservations: true })
    expect(blocked.body.code).to.be.oneOf(['already_arrived', 'transition_blocked'])
    const free = await group(1, { arrival: house.day(10), departure: house.day(12), allotment: { nights: [] } })
    await send([row('x', { arrival: house.day(10), departure: house.day(11) })], false, free)
    const stands = await manager.send('POST', `groups/${free}/cancel`, { reason: 'other' })
    expect(stands.body.code).to.equal('transition_blocked')
    const gone = await manager.send('POST', `groups/${free}/cancel`, {
      reason: 'other',
      cancelReservations: true,
      waiveFees: true,
    })
    expect([gone.status, gone.body.status], JSON.stringify(gone.body)).to.deep.equal([200, 'cancelled'])
    expect(await night(10)).to.deep.equal({ allotted: 0, sold: 0 })
    await exact()
  })
})
