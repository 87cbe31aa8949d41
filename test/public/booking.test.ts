import { expect } from 'chai'
import { signToken, verifyToken } from '../../config/tokens.ts'
import type { Claims } from '../../config/tokens.ts'
import { guestAccessCode } from '../../config/derived-secrets.ts'
import { createApiKey } from '../../db/auth/api-keys.ts'
import { sql } from '../../db/lib/connection.ts'
import { expireHold } from '../../db/reservations/expire.ts'
import { forgetLimits } from '../auth/support.ts'
import { deadlocks } from '../support/deadlocks.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { pay } from '../support/pay.ts'
import { countersOf, miscounted, outlive, portalOf, readBooking } from '../support/stay.ts'
import type { Portal } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'

describe('A guest and a booking, over HTTP', () => {
  const world = useWorld()
  let house: House
  let free: House
  let portal: Portal
  let freePortal: Portal

  const keyOf = async (of: House) =>
    (await of.inHouse((trx) => createApiKey(trx, { name: 'Portal', scopes: ['read', 'write'] }))).key

  before(async () => {
    house = await makeHouse({ units: 30, suite: true, taxes: true })
    free = await makeHouse({ units: 30, deposit: null })
    portal = portalOf(world.request, house, await keyOf(house))
    freePortal = portalOf(world.request, free, await keyOf(free))
  })

  beforeEach(() => forgetLimits(world))

  const quoted = async (from: Portal = portal, options: Parameters<Portal['quote']>[0] = {}): Promise<string> => {
    const { status, body } = await from.quote(options)
    expect(status, JSON.stringify(body)).to.equal(200)
    return body.quote
  }
  const held = async (from: Portal = portal, options: Parameters<Portal['hold']>[1] = {}) => {
    const { status, body } = await from.hold(await quoted(from), options)
    expect(status, JSON.stringify(body)).to.equal(201)
    return body as {
      bookingId: string
      number: string
      guestToken: string
      guestTokenExpiresAt: string
      total: number
      dueNow: number
    }
  }
  const current = (guest: string) => world.request('GET', '/api/public/reservations/current', { guest })
  const confirm = (guest: string) => world.request('POST', '/api/public/reservations/confirm', { guest, body: {} })
  const cancel = (guest: string, body: object = {}) =>
    world.request('POST', '/api/public/reservations/cancel', { guest, body })

  it('asks a portal’s own server for an address that can be read, so that its guests do not count as one', async () => {
    const quote = await quoted()
    for (const address of ['nonsense', '10.0.0.1, 10.0.0.2', '0x7f.1']) {
      const { status, body } = await portal.hold(quote, { address })
      expect([status, body.code, body.errors[0].field], address).to.deep.equal([
        400,
        'validation_failed',
        'X-Client-Ip',
      ])
    }
    expect((await portal.hold(quote, { address: '2001:db8::7' })).status).to.equal(201)
  })

  it('holds as quoted and shows the guest the booking, masked and without anything internal', async () => {
    const { body: quote } = await portal.quote()
    const { status, body, headers } = await portal.hold(quote.quote, { email: 'maria.lima@example.com' })
    expect(status).to.equal(201)
    expect(headers['cache-control']).to.equal('no-store')
    expect(body).to.include({
      status: 'held',
      total: quote.total,
      dueNow: quote.dueNow,
      paid: 0,
      balance: quote.total,
      currency: 'BRL',
    })
    expect(body.booker).to.deep.equal({ firstName: 'Ana', lastName: 'Souza', emailMasked: 'm***@e***.com' })
    expect(body.rooms[0].taxes.map((tax: { amount: number }) => tax.amount)).to.deep.equal(
      quote.rooms[0].taxes.map((tax: { amount: number }) => tax.amount),
    )
    expect(body.policies).to.deep.equal(quote.policies)
    expect(body.schedule.map((one: { amount: number }) => one.amount)).to.deep.equal(
      quote.schedule.map((one: { amount: number }) => one.amount),
    )
    expect(body.cancellation).to.include({ allowed: true, fee: 0, refund: 0 })
    expect(Date.parse(body.holdExpiresAt) - Date.now()).to.be.within(540_000, 601_000)
    expect(Date.parse(body.guestTokenExpiresAt) - Date.now()).to.be.within(7_100_000, 7_201_000)
    expect(JSON.stringify(body)).to.not.match(/maria\.lima|tenantId|unitId|poolId|5524999990000/)
    const again = await current(body.guestToken)
    expect(again.status).to.equal(200)
    // The answer to a hold equals a later read of the same booking.
    const { guestToken: _token, guestTokenExpiresAt: _expiresAt, ...shown } = body
    expect(again.body).to.deep.equal(shown)
  })

  it('answers a repeated hold with the same booking and a new token, 200', async () => {
    const quote = await quoted()
    const who = { email: 'again@example.com' }
    const first = await portal.hold(quote, who)
    const second = await portal.hold(quote, who)
    expect([first.status, second.status]).to.deep.equal([201, 200])
    expect(second.body.bookingId).to.equal(first.body.bookingId)
    expect((await current(second.body.guestToken)).status).to.equal(200)
    const other = await portal.hold(quote, { email: 'else@example.com' })
    expect([other.status, other.body.code]).to.deep.equal([409, 'quote_used'])
  })

  it('keeps no token for an Idempotency-Key, and mints one for the replay', async () => {
    const quote = await quoted()
    const options = { email: 'key@example.com', idempotencyKey: `hold-${Date.now()}` }
    const first = await portal.hold(quote, options)
    const second = await portal.hold(quote, options)
    expect(first.status).to.equal(201)
    expect(second.headers['idempotent-replayed']).to.equal('true')
    expect(second.body.bookingId).to.equal(first.body.bookingId)
    expect((await current(second.body.guestToken)).status).to.equal(200)
  })

  it('refuses quotes that are not ours, and holds that say too little', async () => {
    const quote = await quoted()
    const { guestToken } = await held()
    const forged = `${quote.slice(0, 60)}${quote[60] === 'A' ? 'B' : 'A'}${quote.slice(61)}`
    for (const wrong of [forged, guestToken, 'v4.public.x', 'nothing'])
      expect((await portal.hold(wrong)).body).to.include({ statusCode: 422, code: 'quote_invalid' })
    const read = await verifyToken('quote', quote)
    const { iss: _iss, aud: _aud, iat: _iat, exp: _exp, ...claims } = read.ok ? read.claims : ({} as Claims)
    const past = await signToken('quote', claims, 15 * 60, new Date(Date.now() - 16 * 60_000))
    expect((await portal.hold(past)).body).to.include({ statusCode: 422, code: 'quote_expired' })
    expect((await portal.hold(quote, { body: { acceptedTerms: 'old' } })).body).to.include({
      statusCode: 409,
      code: 'terms_changed',
    })
    const bare = await portal.hold(quote, {
      body: { booker: { firstName: 'Ana', lastName: 'Souza', email: 'ana@example.com' } },
    })
    expect(bare.status).to.equal(400)
    expect(bare.body.errors).to.deep.equal([{ field: 'booker.phone', message: 'is required' }])
    const cpf = {
      firstName: 'Ana',
      lastName: 'Souza',
      email: 'ana@example.com',
      phone: '+5524999990000',
      document: { type: 'cpf', number: '111.111.111-11' },
    }
    expect((await portal.hold(quote, { body: { booker: cpf } })).body.errors[0].field).to.equal(
      'booker.document.number',
    )
    const crowd = Array.from({ length: 3 }, () => ({ firstName: 'A', lastName: 'B' }))
    expect((await portal.hold(quote, { body: { guests: [crowd] } })).body.errors[0].field).to.equal('guests.0')
    expect((await portal.hold(quote, { body: { unknown: 1 } })).status).to.equal(400)
    expect((await world.request('POST', '/api/public/reservations/hold', { body: {} })).status).to.equal(400)
    expect((await portal.hold(quote, { body: { requests: 'card 4111 1111 1111 1111' } })).body.code).to.equal(
      'card_data_refused',
    )
  })

  it('confirms what has nothing due, repeats harmlessly, and wants payment for the rest', async () => {
    const { guestToken, bookingId } = await held(freePortal)
    const { status, body } = await confirm(guestToken)
    expect([status, body.status]).to.deep.equal([200, 'confirmed'])
    expect((await confirm(guestToken)).body).to.include({ status: 'confirmed', bookingId })
    const other = await held()
    expect((await confirm(other.guestToken)).body).to.include({ statusCode: 422, code: 'payment_required' })
    await outlive(house, other.bookingId)
    await house.inHouse((trx) => expireHold(trx, other.bookingId))
    expect((await confirm(other.guestToken)).body).to.include({ statusCode: 409, code: 'hold_expired' })
    expect((await current(other.guestToken)).body).to.include({ status: 'expired', holdExpiresAt: null, dueNow: 0 })
  })

  it('confirms by itself when the payment arrives, and cancels with the fee that the guest accepts', async () => {
    const { guestToken, bookingId, dueNow } = await held()
    await pay(house, bookingId)
    await world.drain({ kinds: ['inventory.confirm-paid', 'inventory.assign'] })
    const { body } = await current(guestToken)
    expect(body).to.include({ status: 'confirmed', paid: dueNow, dueNow: 0, holdExpiresAt: null })
    expect(body.payments).to.have.length(1)
    expect(body.payments[0]).to.include({ method: 'card', amount: dueNow, status: 'paid' })
    const assigned = await house.inHouse((trx) =>
      sql(trx, `select 1 from unit_assignment a join reservation r on r.id = a.reservation_id where r.booking_id = ?`, [
        bookingId,
      ]),
    )
    expect(assigned).to.have.length(1)
    const ended = await cancel(guestToken, { reason: 'health' })
    expect(ended.body).to.include({ status: 'cancelled', paid: 0 })
    expect(ended.body.payments[0].status).to.equal('refunding')
    expect(ended.body.cancellation).to.include({ allowed: false, reason: 'cancelled' })
    expect((await readBooking(house, bookingId)).rooms[0]?.cancelReason).to.equal('illness')
    expect((await cancel(guestToken)).status).to.equal(200)
  })

  it('shows nobody another booking', async () => {
    const mine = await held()
    const theirs = await held()
    const room = (await readBooking(house, theirs.bookingId)).rooms[0]?.id
    expect((await cancel(mine.guestToken, { reservationIds: [room] })).body).to.include({
      statusCode: 404,
      code: 'not_found',
    })
    expect((await current('')).body).to.include({ statusCode: 401, code: 'guest_token_missing' })
    expect((await current('v4.public.x')).body).to.include({ statusCode: 401, code: 'guest_token_invalid' })
    await house.inHouse((trx) =>
      sql(trx, `update booking set guest_tokens_valid_from = now() + interval '1 minute' where id = ?`, [
        mine.bookingId,
      ]),
    )
    expect((await current(mine.guestToken)).body).to.include({ statusCode: 401, code: 'guest_token_invalid' })
  })

  it('lets the booker back in by a code, which only a mail tells, five tries long', async () => {
    const { number, bookingId } = await held(freePortal, { email: 'back@example.com' })
    const access = (body: object) =>
      world.request('POST', '/api/public/reservations/access', {
        body: { propertyId: free.propertyId, number, ...body },
      })
    const verify = (code: string, typed = number) =>
      world.request('POST', '/api/public/reservations/access/verify', {
        body: { propertyId: free.propertyId, number: typed, code },
      })
    const wrong = await access({ email: 'wrong@example.com' })
    const begun = Date.now()
    const right = await access({ email: 'BACK@example.com' })
    expect(Date.now() - begun).to.be.at.least(240)
    expect([wrong.status, right.status]).to.deep.equal([200, 200])
    expect(wrong.body).to.deep.equal(right.body)
    const codes = await free.inHouse((trx) =>
      sql<{ id: string }>(trx, `select id from guest_access_code where booking_id = ?`, [bookingId]),
    )
    expect(codes).to.have.length(1)
    const messages = await free.inHouse((trx) =>
      sql(trx, `select dedupe_key from message where dedupe_key like 'code-%'`),
    )
    expect(messages).to.deep.equal([{ dedupeKey: `code-${codes[0]?.id}` }])
    const code = guestAccessCode(codes[0]?.id ?? '')
    expect((await verify(code === '000000' ? '000001' : '000000')).body).to.include({
      statusCode: 401,
      code: 'code_invalid',
    })
    const { body } = await verify(code, `${number.slice(0, 4).toLowerCase()}-${number.slice(4)}`)
    expect((await current(body.guestToken)).body.bookingId).to.equal(bookingId)
    expect(Date.parse(body.guestTokenExpiresAt) - Date.now()).to.be.within(3_540_000, 3_601_000)
    expect((await verify(code)).body.code).to.equal('code_invalid')
  })

  it('gives the last unit to one of 60 guests over HTTP', async () => {
    const suite = { unitTypeId: house.suiteTypeId ?? '', from: 60 }
    const quotes = await Promise.all(Array.from({ length: 60 }, () => quoted(portal, suite)))
    const replies = await Promise.all(quotes.map((quote) => portal.hold(quote)))
    expect(replies.filter((one) => one.status === 201)).to.have.length(1)
    expect(replies.filter((one) => one.status === 409 && one.body.code === 'sold_out')).to.have.length(59)
    expect(await countersOf(house, 60, house.suitePoolId ?? '')).to.include({ held: 1, sold: 0 })
    expect(await miscounted(house)).to.deep.equal([])
    expect(await deadlocks()).to.equal(0)
  }).timeout(60_000)
})
