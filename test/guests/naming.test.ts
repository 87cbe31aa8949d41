import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { receiveMessage } from '../../db/ocp/index.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { forgetLimits } from '../auth/support.ts'
import { eventsOf, makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { useGuests } from './support.ts'

describe('Guests whom other modules name', () => {
  const world = useWorld()
  const desk = useGuests(world)
  const { call, create, rows } = desk
  beforeEach(() => forgetLimits(world))

  const merge = (survivor: string, mergedGuestId: string) =>
    call('POST', `guests/${survivor}/merge`, { mergedGuestId, reason: 'One person' })

  it('are meant by the survivor, and refused once erased, wherever another module names a guest', async () => {
    const { house } = desk
    const [survivor, merged, erased] = [
      await create({ email: 's@example.com' }),
      await create({ email: 'm@example.com' }),
      await create({ email: 'e@example.com' }),
    ]
    await merge(survivor, merged)
    const owner = { role: 'owner' }
    const asked = { guestId: erased, kind: 'erasure', channel: 'email' }
    const { body: request } = await call('POST', 'privacy-requests', asked, owner)
    const approval = { identityMethod: 'document', planHash: request.plan.hash }
    await call('POST', `privacy-requests/${request.id}/approve`, approval, owner)
    const { propertyId } = house
    const person = { kind: 'person', legalName: 'Ana Lima', currency: 'BRL' }
    const { body: customer } = await call('POST', 'accounts-receivable/customers', person, owner)
    const [conversation] = await rows<{ id: string }>(
      `insert into conversation (property_id, kind, address_index) values (?, 'email', decode(repeat('07', 16), 'hex')) returning id`,
      [propertyId],
    )
    const item = { propertyId, direction: 'found', category: 'clothing', description: 'A scarf' }
    const naming: [string, string, object][] = [
      ['POST', 'ocp/messages', { propertyId, text: { text: 'Welcome' } }],
      ['PATCH', `ocp/conversations/${conversation?.id}`, {}],
      ['POST', 'payments/methods', { consentTextVersion: '1' }],
      ['POST', 'accounts-receivable/customers', person],
      ['PATCH', `accounts-receivable/customers/${customer.id}`, {}],
      ['POST', 'issues/lost-items', item],
    ]
    for (const [method, path, body] of naming) {
      const name = (guestId: string) => call(method, path, { ...body, guestId }, owner)
      const refused = await name(erased)
      expect([refused.status, refused.body.code], `${path} ${JSON.stringify(refused.body)}`).to.deep.equal([
        409,
        'guest_erased',
      ])
      expect(refused.body.errors[0].field, path).to.equal('guestId')
      const strange = await name(propertyId)
      expect(strange.body.code, path).to.equal('reference_not_found')
      const done = await name(merged)
      expect(JSON.stringify(done.body), `${path} ${done.status}`).to.contain(survivor).and.not.contain(merged)
      if (path === 'accounts-receivable/customers') await rows(`delete from customer where guest_id = ?`, [survivor])
    }
  })

  it('bring notes and warnings of all of them to the desk that books them, reads the lists and checks them in', async () => {
    const { propertyId, unitTypeId, ratePlanId, today, day } = desk.house
    const [survivor, merged, later] = [await create(), await create(), await create()]
    const note = (alertAt: string, text: string, audience = 'front_desk') =>
      call('POST', `guests/${merged}/notes`, { text, audience, alertAt })
    await note('booking', 'Wants the garden')
    await note('booking', 'Pays late', 'billing')
    await note('check_in', 'Signs in German')
    await call('POST', `guests/${merged}/blocks`, { level: 'warn', reason: 'Loud' })
    await merge(survivor, merged)
    const room = { unitTypeId, ratePlanId, arrival: today, departure: day(1), adults: 2, childrenAges: [] }
    const book = (guestId: string, role: string) =>
      call('POST', 'bookings', { propertyId, source: 'desk', booker: { guestId }, rooms: [room] }, { role })
    const texts = (alerts: { text: string }[]) => alerts.map((one) => one.text)
    const made = await book(survivor, 'receptionist')
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    expect(texts(made.body.alerts)).to.deep.equal(['Wants the garden', 'Pays late'])
    expect(made.body.warnings.map((one: { code: string }) => one.code)).to.deep.equal(['guest_warned'])
    const [{ id }] = made.body.reservations
    const atDoor = async (role: string) => {
      const { body } = await call('GET', `reservations/${id}/transitions`, undefined, { role })
      return texts(body.commands.find((one: { id: string }) => one.id === 'T13').alerts)
    }
    expect([await atDoor('manager'), await atDoor('finance')]).to.deep.equal([['Signs in German'], []])
    const { body: arrivals } = await call('GET', `front-desk/arrivals?propertyId=${propertyId}`)
    expect(
      texts(arrivals.data.find((one: { reservationId: string }) => one.reservationId === id).alerts),
    ).to.deep.equal(['Signs in German'])
    const override = { rules: ['early_check_in', 'unit_condition'], reason: 'Tired' }
    const entered = await call('POST', `reservations/${id}/check-in`, { override })
    expect([entered.body.status, entered.body.warnings?.map((one: { code: string }) => one.code)]).to.deep.equal([
      'checked_in',
      ['guest_warned', 'registration_incomplete'],
    ])
    expect((await call('POST', `reservations/${id}/check-in`, { override })).body.warnings).to.deep.equal([])
    const other = await book(later, 'manager')
    expect([other.body.alerts, other.body.warnings]).to.deep.equal([[], []])
    const stay = other.body.reservations[0].id
    const added = await call('POST', `reservations/${stay}/guests`, { guestId: merged })
    expect(texts(added.body.alerts), 'whoever is added').to.include('Wants the garden')
    expect(added.body.warnings).to.have.length(1)
    const [first, second] = [await create(), await create()]
    const { body: third } = await book(second, 'manager')
    await merge(first, second)
    const twice = await call('POST', `reservations/${third.reservations[0].id}/guests`, { guestId: first })
    expect(twice.body.code, 'one person').to.equal('duplicate')
  })

  it('are found at the desk by each name of theirs with the stays of all their profiles', async () => {
    const { propertyId, unitTypeId, ratePlanId, day } = desk.house
    const [survivor, merged] = [
      await create({ firstName: 'Quirino', lastName: 'Alves' }),
      await create({ firstName: 'Kirineu', lastName: 'Alvim' }),
    ]
    const room = { unitTypeId, ratePlanId, arrival: day(20), departure: day(21), adults: 2, childrenAges: [] }
    const booking = { propertyId, source: 'desk', booker: { guestId: merged }, rooms: [room] }
    const { body: made } = await call('POST', 'bookings', booking)
    await merge(survivor, merged)
    for (const q of ['Quirino', 'kirineu alvim']) {
      const find = async (path: string) => (await call('GET', `${path}q=${encodeURIComponent(q)}`)).body.data
      expect(
        (await find('bookings?')).map(({ id }: { id: string }) => id),
        q,
      ).to.deep.equal([made.id])
      expect(
        (await find('reservations?')).map(({ id }: { id: string }) => id),
        q,
      ).to.deep.equal([made.reservations[0].id])
      const arrivals = await find(`front-desk/arrivals?propertyId=${propertyId}&date=${day(20)}&`)
      expect(
        arrivals.map((one: { reservationId: string }) => one.reservationId),
        q,
      ).to.deep.equal([made.reservations[0].id])
    }
  })

  it('are told of by what they agreed to with their booking', async () => {
    const { house } = desk
    const told = async () => (await eventsOf(house, 'guest.consent_changed')).map(({ data }) => data)
    const before = await told()
    const bookingId = await makeHold(house, { words: { marketing: { email: true, sms: false } } })
    await house.inHouse((trx) => confirmBooking(trx, bookingId))
    const [booking] = await rows<{ guestId: string }>(`select booker_guest_id as guest_id from booking where id = ?`, [
      bookingId,
    ])
    expect((await told()).slice(before.length)).to.have.deep.members([
      { guestId: booking?.guestId, purpose: 'marketing_email', decision: 'granted' },
      { guestId: booking?.guestId, purpose: 'marketing_sms', decision: 'withdrawn' },
    ])
    const kept = `select purpose, decision, source, text_version from guest_consent where guest_id = ? order by purpose`
    expect(
      (await rows<{ purpose: string; source: string }>(kept, [booking?.guestId])).map(({ purpose, source }) => [
        purpose,
        source,
      ]),
    ).to.deep.equal([
      ['marketing_email', 'portal'],
      ['marketing_sms', 'portal'],
    ])
  })

  it('are meant by the survivor when they write from the address of a merged profile, whose stay it is about', async () => {
    const { propertyId, unitTypeId, ratePlanId, day } = desk.house
    const [survivor, merged] = [
      await create({ email: 'now@example.com' }),
      await create({ email: 'before@example.com' }),
    ]
    const room = { unitTypeId, ratePlanId, arrival: day(20), departure: day(21), adults: 1, childrenAges: [] }
    const booked = await call('POST', 'bookings', {
      propertyId,
      source: 'desk',
      booker: { guestId: merged },
      rooms: [room],
    })
    expect(booked.status, JSON.stringify(booked.body)).to.equal(201)
    await merge(survivor, merged)
    await desk.house.inHouse((trx) =>
      receiveMessage(trx, propertyId, 'email', {
        providerId: randomUUID(),
        from: 'before@example.com',
        subject: null,
        text: 'We come late',
        attachments: [],
        isOptOut: false,
      }),
    )
    const { body } = await call('GET', `ocp/conversations?guestId=${survivor}`)
    expect(
      body.data.map((one: Record<string, unknown>) => [one.guestId, one.reservationId]),
      JSON.stringify(body),
    ).to.deep.equal([[survivor, booked.body.reservations[0].id]])
  })

  it('are checked against the blocklist as the new booker, and the rule that lets them pass is kept', async () => {
    const { propertyId, unitTypeId, ratePlanId, day } = desk.house
    const [first, barred, warned] = [await create(), await create(), await create()]
    await call('POST', `guests/${barred}/blocks`, { level: 'refuse', reason: 'Broke a chair' })
    await call('POST', `guests/${warned}/blocks`, { level: 'warn', reason: 'Loud' })
    const room = { unitTypeId, ratePlanId, arrival: day(30), departure: day(31), adults: 2, childrenAges: [] }
    const asked = { propertyId, source: 'desk', booker: { guestId: first }, rooms: [room] }
    const { body: booking } = await call('POST', 'bookings', asked)
    const change = (bookerGuestId: string, more: object = {}, role = 'manager') =>
      call('PATCH', `bookings/${booking.id}`, { bookerGuestId, ...more }, { role })
    const refused = await change(barred)
    expect([refused.status, refused.body.errors?.[0].field]).to.deep.equal([422, 'blockers.guest_barred'])
    const told = await change(warned)
    expect([told.status, told.body.warnings?.map((one: { code: string }) => one.code)]).to.deep.equal([
      200,
      ['guest_warned'],
    ])
    const override = { rules: ['barred_guest'], reason: 'Paid for the chair' }
    expect((await change(barred, { override }, 'receptionist')).body.code).to.equal('override_not_permitted')
    const passed = await change(barred, { override })
    expect([passed.status, passed.body.booker?.guestId], JSON.stringify(passed.body)).to.deep.equal([200, barred])
    const stay = booking.reservations[0].id as string
    const { body: history } = await call('GET', `reservations/${stay}/history`)
    expect(history.data[0]).to.deep.include({ command: 'change_booker', from: 'confirmed', to: 'confirmed', override })
    const { body: preview } = await call('GET', `reservations/${stay}/transitions`)
    const arriving = preview.commands.find((one: { id: string }) => one.id === 'T13')
    expect(arriving.blockers.map((one: { code: string }) => one.code)).to.include('guest_barred')
    await call('POST', `reservations/${stay}/guests`, { guestId: barred, override })
    const { body: then } = await call('GET', `reservations/${stay}/history`)
    expect(then.data[0]).to.deep.include({ command: 'add_guest', override })
  })

  it('stay while anything names them, whatever module it is of', async () => {
    const { propertyId, unitTypeId, ratePlanId, day } = desk.house
    const owner = () => ({ role: 'owner', idempotencyKey: randomUUID() })
    const room = { unitTypeId, ratePlanId, arrival: day(5), departure: day(6), adults: 2, childrenAges: [] }
    const other = await create()
    const { body: booking } = await call('POST', 'bookings', {
      propertyId,
      source: 'desk',
      booker: { guestId: other },
      rooms: [room],
    })
    const reservationId = booking.reservations[0].id as string
    const naming: [string, (guestId: string) => [string, object]][] = [
      ['booker', (guestId) => ['bookings', { propertyId, source: 'desk', booker: { guestId }, rooms: [room] }]],
      ['companion', (guestId) => [`reservations/${reservationId}/guests`, { guestId }]],
      ['payer', (payerGuestId) => ['folios', { propertyId, kind: 'guest', reservationId, label: 'x', payerGuestId }]],
      ['quote', (guestId) => ['quotes', { propertyId, guestId, rooms: [room] }]],
      [
        'waitlist',
        (guestId) => [
          'waitlist',
          { propertyId, guestId, unitTypeIds: [unitTypeId], arrival: day(5), departure: day(6), adults: 1 },
        ],
      ],
      ['message', (guestId) => ['ocp/messages', { propertyId, guestId, text: { text: 'Welcome' } }]],
      [
        'lost item',
        (guestId) => [
          'issues/lost-items',
          { propertyId, guestId, direction: 'found', category: 'clothing', description: 'A scarf' },
        ],
      ],
      [
        'customer',
        (guestId) => [
          'accounts-receivable/customers',
          { kind: 'person', legalName: 'Ana Lima', currency: 'BRL', guestId },
        ],
      ],
      ['request', (guestId) => ['privacy-requests', { guestId, kind: 'access', channel: 'email' }]],
    ]
    for (const [what, asked] of naming) {
      const id = await create({ email: `${randomUUID().slice(0, 8)}@example.com` })
      const [path, body] = asked(id)
      const made = await call('POST', path, body, owner())
      expect(made.status, `${what} ${JSON.stringify(made.body)}`).to.equal(201)
      const kept = await call('DELETE', `guests/${id}`)
      expect([kept.status, kept.body.code], what).to.deep.equal([409, 'guest_in_use'])
    }
    // A merge that was undone is history of both.
    const [survivor, merged] = [await create(), await create()]
    await call('POST', `guests/${survivor}/merge`, { mergedGuestId: merged, reason: 'One person' })
    expect((await call('DELETE', `guests/${merged}`)).body.code).to.equal('guest_merged')
    await call('POST', `guests/${merged}/unmerge`, { reason: 'Two people' })
    for (const id of [survivor, merged])
      expect((await call('DELETE', `guests/${id}`)).body.code).to.equal('guest_in_use')
  })
})
