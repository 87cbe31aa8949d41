import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { confirmPaid } from '../../db/reservations/confirm-paid.ts'
import { expireHold } from '../../db/reservations/expire.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { pay } from '../support/pay.ts'
import { countersOf, eventsOf, miscounted, outlive, readBooking } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'

describe('The desk books', () => {
  const world = useWorld()
  let house: House
  let free: House
  let reception: Desk
  let manager: Desk

  before(async () => {
    house = await makeHouse({ units: 10, taxes: true })
    free = await makeHouse({ tenantId: house.tenantId, units: 10, deposit: null, taxes: true })
    reception = await openDesk(world, house, 'receptionist')
    manager = await openDesk(world, house, 'manager')
  })
  const room = (of: House, change: object = {}) => ({
    unitTypeId: of.unitTypeId,
    ratePlanId: of.ratePlanId,
    arrival: of.day(10),
    departure: of.day(12),
    adults: 2,
    childrenAges: [],
    ...change,
  })
  const body = (of: House, change: object = {}) => ({
    propertyId: of.propertyId,
    source: 'phone',
    booker: { firstName: 'Bia', lastName: 'Lima', email: 'bia@example.com' },
    rooms: [room(of)],
    ...change,
  })
  const book = (of: House, change: object = {}, by = reception) => by.send('POST', 'bookings', body(of, change))
  const codes = (reply: { body: { errors?: { field: string }[] } }) =>
    (reply.body.errors ?? []).map(({ field }) => field)

  it('confirms rooms with their guests, folios and events at once, each on its own days', async () => {
    const { status, body: made } = await book(free, {
      rooms: [
        room(free, {
          guests: [{ firstName: 'Rui', lastName: 'Lima', age: 44 }, { firstName: 'Nina' }],
          arrivalTime: '18:00',
        }),
        room(free, { arrival: free.day(11), departure: free.day(14), requests: 'a cot' }),
      ],
    })
    expect([status, made.status, made.source, made.reservations.length]).to.deep.equal([201, 'confirmed', 'phone', 2])
    const { rooms, folios, bookerGuestId } = await readBooking(free, made.id)
    expect(rooms.map((one) => [one.status, one.arrival, one.departure])).to.deep.equal([
      ['confirmed', free.day(10), free.day(12)],
      ['confirmed', free.day(11), free.day(14)],
    ])
    expect(rooms[0]?.primaryGuestId).not.to.equal(bookerGuestId)
    expect(rooms[1]?.primaryGuestId).to.equal(bookerGuestId)
    expect(folios.map((one) => one.stage)).to.deep.equal(['deposit', 'deposit'])
    const shown = await reception.get(`reservations/${rooms[1]?.id}`)
    expect(shown.body).to.include({ requests: 'a cot' })
    expect(await countersOf(free, 11)).to.include({ sold: 2, held: 0 })
    expect(await miscounted(free)).to.deep.equal([])
    expect(
      (await eventsOf(free, 'booking.created')).filter(({ data }) => data['bookingId'] === made.id),
    ).to.have.lengthOf(1)
  })

  it('names the place of a person or a unit that it does not know, in a booking, a room and a stay', async () => {
    const strange = free.propertyId
    const named = { guests: [{ firstName: 'Rui' }, { guestId: strange }] }
    const tried: [object, string][] = [
      [{ booker: { guestId: strange } }, 'booker.guestId'],
      [{ rooms: [room(free), room(free, named)] }, 'rooms.1.guests.1.guestId'],
      [{ rooms: [room(free), room(free, { unitId: strange })] }, 'rooms.1.unitId'],
      [
        { source: 'walk_in', checkIn: { unitId: strange }, rooms: [room(free, { arrival: free.today })] },
        'checkIn.unitId',
      ],
    ]
    for (const [change, field] of tried) {
      const { status, body: refused } = await book(free, change)
      expect([status, codes({ body: refused })], JSON.stringify(refused)).to.deep.equal([422, [field]])
    }
    const { body: made } = await book(free)
    const added = await reception.send('POST', `bookings/${made.id}/reservations`, room(free, named))
    expect(codes(added)).to.deep.equal(['guests.1.guestId'])
    const unit = await reception.send('POST', `bookings/${made.id}/reservations`, room(free, { unitId: strange }))
    expect(codes(unit)).to.deep.equal(['unitId'])
    const guest = await reception.send('POST', `reservations/${made.reservations[0].id}/guests`, { guestId: strange })
    expect(codes(guest)).to.deep.equal(['guestId'])
  })

  it('takes all rooms or none: where the last one is sold out nothing is left of the others', async () => {
    const small = await makeHouse({ tenantId: house.tenantId, units: 2, deposit: null })
    const { status, body: refused } = await book(small, { rooms: [room(small), room(small), room(small)] })
    expect([status, refused.code]).to.deep.equal([409, 'sold_out'])
    expect(await countersOf(small, 10)).to.include({ sold: 0 })
    const rows = await small.inHouse((trx) =>
      sql(trx, `select 1 from booking where property_id = ?`, [small.propertyId]),
    )
    expect(rows).to.deep.equal([])
    const both = await Promise.all([1, 2, 3].map(() => book(small)))
    expect(both.map((one) => one.status)).to.have.members([201, 201, 409])
    expect(await miscounted(small)).to.deep.equal([])
  })

  it('oversells by those who may, and flags the stay; a receptionist may not', async () => {
    const small = await makeHouse({ tenantId: house.tenantId, units: 1, deposit: null })
    await book(small)
    const override = { rules: ['availability'], reason: 'a guest of the house' }
    const refused = await book(small, { override })
    expect([refused.status, refused.body.code]).to.deep.equal([403, 'override_not_permitted'])
    const { status, body: made } = await book(small, { override }, manager)
    expect([status, made.reservations[0].overbooked]).to.deep.equal([201, true])
    expect(await countersOf(small, 10)).to.include({ sold: 2, forced: 1 })
    const events = await small.inHouse((trx) =>
      sql<{ override: object }>(
        trx,
        `select override from reservation_event where reservation_id = ? and transition = 'T4'`,
        [made.reservations[0].id],
      ),
    )
    expect(events[0]?.override).to.deep.equal(override)
  })

  it('confirms a stay whose deposit is due only where that is waived, and holds it until its money comes otherwise', async () => {
    const refused = await book(house)
    expect([refused.status, refused.body.code, codes(refused)]).to.deep.equal([
      422,
      'transition_blocked',
      ['blockers.deposit_missing'],
    ])
    const waived = await book(house, { override: { rules: ['deposit'], reason: 'a known company' } }, manager)
    expect([waived.status, waived.body.status]).to.deep.equal([201, 'confirmed'])
    const held = await book(house, { hold: { kind: 'payment' } })
    expect([held.status, held.body.status, held.body.hold.kind]).to.deep.equal([201, 'held', 'payment'])
    await pay(house, held.body.id)
    await house.inHouse((trx) => confirmPaid(trx, held.body.id))
    expect((await reception.get(`bookings/${held.body.id}`)).body).to.include({ status: 'confirmed', hold: null })
    expect(await miscounted(house)).to.deep.equal([])
  })

  it('holds options until an instant within the days of the house, moves their end, confirms and lets them expire', async () => {
    const late = await book(free, { hold: { kind: 'option', until: `${free.day(10)}T12:00:00.000Z` } })
    expect([late.status, late.body.code]).to.deep.equal([422, 'hold_too_long'])
    const { body: held } = await book(free, { hold: { kind: 'option', until: `${free.day(2)}T12:00:00.000Z` } })
    expect([held.status, held.hold.expiresAt]).to.deep.equal(['held', `${free.day(2)}T12:00:00.000Z`])
    const extend = (until: string) => reception.send('POST', `bookings/${held.id}/extend-hold`, { until })
    expect((await extend(`${free.day(9)}T12:00:00.000Z`)).body.hold.expiresAt).to.equal(`${free.day(9)}T12:00:00.000Z`)
    expect((await extend(`${free.day(12)}T12:00:00.000Z`)).body.code).to.equal('hold_too_long')
    const confirm = () => reception.send('POST', `bookings/${held.id}/confirm`, {})
    const asked = await Promise.all([confirm(), confirm()])
    expect(asked.map((one) => [one.status, one.body.status])).to.deep.equal([
      [200, 'confirmed'],
      [200, 'confirmed'],
    ])
    const { body: other } = await book(free, { hold: { kind: 'option' } })
    await outlive(free, other.id)
    expect((await reception.send('POST', `bookings/${other.id}/confirm`, {})).body.code).to.equal('hold_expired')
    expect(await free.inHouse((trx) => expireHold(trx, other.id))).to.equal('expired')
    expect(await miscounted(free)).to.deep.equal([])
  })

  it('sets prices by hand within the limit of the role, and stands by an expected total', async () => {
    const manual = (amount: number, rules: string[] = ['price']) => ({
      rooms: [room(free, { manualNights: [{ date: free.day(10), amount }] })],
      override: { rules, reason: 'a long stay' },
    })
    expect((await book(free, manual(19_000))).body.code).to.equal('override_not_permitted')
    const tooLow = await book(free, manual(13_999), manager)
    expect([tooLow.status, tooLow.body.code]).to.deep.equal([403, 'override_not_permitted'])
    const { status, body: made } = await book(free, manual(14_000), manager)
    expect([status, made.reservations[0].roomTotal]).to.deep.equal([201, 34_000])
    const unsaid = await book(free, { ...manual(19_000, ['fee']) }, manager)
    expect(codes(unsaid)).to.deep.equal(['blockers.manual_price'])
    const changed = await book(free, { rooms: [room(free, { expectedTotal: 1 })] })
    expect([changed.status, changed.body.code]).to.deep.equal([409, 'price_changed'])
  })

  it('adds a room to the live hold of a booking, confirms one added to a confirmed booking, and counts to nine live ones', async () => {
    const { body: held } = await book(free, { hold: { kind: 'option' } })
    const add = (id: string) =>
      reception.send(
        'POST',
        `bookings/${id}/reservations`,
        room(free, { arrival: free.day(40), departure: free.day(41) }),
      )
    expect([(await add(held.id)).body.status]).to.deep.equal(['held'])
    const { body: made } = await book(free)
    for (let more = 1; more < 9; more += 1) expect((await add(made.id)).body.status).to.equal('confirmed')
    const tenth = await add(made.id)
    expect([tenth.status, tenth.body.code]).to.deep.equal([400, 'too_many_rooms'])
    const [first] = made.reservations
    await reception.send('POST', `reservations/${first.id}/cancel`, { reason: 'changed_plans', acceptedFee: 0 })
    expect((await add(made.id)).status).to.equal(201)
    expect(await miscounted(free)).to.deep.equal([])
  })

  it('adds no room to a hold that has ended, before anything has swept it away', async () => {
    const { body: held } = await book(free, { hold: { kind: 'option' } })
    await outlive(free, held.id)
    const late = await reception.send('POST', `bookings/${held.id}/reservations`, room(free))
    expect([late.status, late.body.code]).to.deep.equal([409, 'hold_expired'])
    expect(await free.inHouse((trx) => expireHold(trx, held.id))).to.equal('expired')
    expect(await miscounted(free)).to.deep.equal([])
  })

  it('refuses a barred guest, unless a manager says otherwise, and names all that stands in the way at once', async () => {
    const { body: known } = await book(free)
    const guestId = known.booker.guestId
    await free.inHouse((trx) =>
      sql(
        trx,
        `insert into guest_block (guest_id, level, starts_on, sealed, created_by) values (?, 'refuse', ?, 'x', ?)`,
        [guestId, free.day(-5), guestId],
      ),
    )
    const again = { booker: { guestId } }
    expect(codes(await book(house, again))).to.have.members(['blockers.guest_barred', 'blockers.deposit_missing'])
    const override = { rules: ['barred_guest'], reason: 'talked it over' }
    expect((await book(free, { ...again, override }, manager)).status).to.equal(201)
  })

  it('walks a guest in with one call, in a unit, or leaves nothing', async () => {
    const walkIn = (change: object = {}) =>
      book(free, {
        source: 'walk_in',
        checkIn: {},
        rooms: [room(free, { arrival: free.today, departure: free.day(1) })],
        ...change,
      })
    const refused = await walkIn()
    expect(refused.body.code).to.equal('transition_blocked')
    expect(codes(refused)).to.include('blockers.unit_condition_not_allowed')
    expect(await countersOf(free, 0)).to.include({ sold: 0 })
    const override = { rules: ['early_check_in', 'unit_condition'], reason: 'stands at the desk' }
    const { status, body: made } = await walkIn({ override, checkIn: { unitId: free.unitIds[4] } })
    expect([status, made.status, made.reservations[0].unit.unitId]).to.deep.equal([201, 'checked_in', free.unitIds[4]])
    expect(await miscounted(free)).to.deep.equal([])
  })

  it('changes booker and reference of a booking; another booker ends what the one before could see', async () => {
    const { body: made } = await book(free, { externalReference: 'A 1' })
    const { body: other } = await book(free, { booker: { firstName: 'Caio' } })
    const changed = await reception.send('PATCH', `bookings/${made.id}`, {
      bookerGuestId: other.booker.guestId,
      externalReference: 'B 2',
    })
    expect([changed.status, changed.body.booker.guestId, changed.body.externalReference]).to.deep.equal([
      200,
      other.booker.guestId,
      'B 2',
    ])
    expect((await readBooking(free, made.id)).guestTokensValidFrom).not.to.equal(null)
    // A reference is free text, and does not leave by events.
    const [told] = await free.inHouse((trx) =>
      sql<{ changed: unknown }>(
        trx,
        `select changed from event where type = 'booking.changed' and entity ->> 'id' = ?`,
        [made.id],
      ),
    )
    expect(told?.changed).to.deep.equal([
      { field: 'bookerGuestId', before: made.booker.guestId, after: other.booker.guestId },
      { field: 'externalReference', before: null, after: null },
    ])
    const stale = await reception.send(
      'PATCH',
      `bookings/${made.id}`,
      { language: 'en' },
      { headers: { 'if-match': '"1"' } },
    )
    expect([stale.status, stale.body.code]).to.deep.equal([409, 'version_conflict'])
  })

  it('cancels what stands of a booking by its policy, waives the fee by those who may, and nothing while a guest is in the house', async () => {
    const override = { rules: ['deposit'], reason: 'pays on arrival' }
    const soon = { rooms: [room(house, { arrival: house.day(1), departure: house.day(2) })], override }
    const { body: made } = await book(house, soon, manager)
    const cancel = (change: object, by = reception) =>
      by.send('POST', `bookings/${made.id}/cancel`, { reason: 'illness', ...change })
    const asked = await cancel({})
    expect([asked.status, asked.body.code]).to.deep.equal([409, 'fee_changed'])
    expect(codes(await cancel({ fee: 0 }, manager))).to.deep.equal(['blockers.fee_lowered'])
    const waive = { fee: 0, override: { rules: ['fee'], reason: 'a regular guest' } }
    expect((await cancel(waive)).status).to.equal(403)
    const done = await cancel(waive, manager)
    expect([done.status, done.body.status]).to.deep.equal([200, 'cancelled'])
    expect((await cancel({})).status).to.equal(200)
    expect((await cancel({ reason: 'other' })).body.code).to.equal('validation_failed')
    expect(await miscounted(house)).to.deep.equal([])
  })
})
