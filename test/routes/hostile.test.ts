import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { makeKey, makeUser, signIn } from '../auth/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { portalOf } from '../support/stay.ts'
import type { Portal } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'

describe('what an attacker would try', () => {
  const world = useWorld()
  let house: House
  let portal: Portal

  before(async () => {
    house = await makeHouse({ units: 20 })
    portal = portalOf(world.request, house, (await makeKey(house.tenantId, ['read', 'write'])).key)
  })

  const quoted = async (): Promise<string> => (await portal.quote()).body.quote

  it('cannot keep the process busy with a text that is far too long for its pattern', async function () {
    this.timeout(20_000)
    const quote = await quoted()
    // Going back over such a text at each of its letters would outlast the time that a test has.
    const { status, body } = await portal.hold(quote, {
      body: { booker: { firstName: `${'a'.repeat(120_000)}<`, lastName: 'Souza', email: 'ana@example.com' } },
    })
    expect([status, body.code]).to.deep.equal([400, 'validation_failed'])
  })

  it('cannot break a query with an offset of time that no zone has', async () => {
    const { token } = await signIn(world, await makeUser({ [house.tenantId]: 'owner' }))
    for (const instant of ['2026-11-20T12:00:00+16:00', '2026-11-20T12:00:00-23:59']) {
      const list = `/api/tenants/${house.tenantId}/reservations?updatedSince=${encodeURIComponent(instant)}`
      const { status, body } = await world.request('GET', list, { token })
      expect([status, body.code, body.errors?.[0]?.field], instant).to.deep.equal([
        400,
        'validation_failed',
        'updatedSince',
      ])
    }
  })

  it('finds no value of a statement in the error of a statement that failed', async () => {
    const error = await world.database.service.raw(`select ?::text, 1 / ?::int`, ['ana@example.com', 0]).then(
      () => null,
      (failure: Error) => failure,
    )
    expect(error?.message).to.include('division by zero')
    expect(`${error?.message} ${error?.stack}`).not.to.include('ana@example.com')
  })

  it('is refused with 403 where it names a property that it is not given, in the query', async () => {
    const other = await makeHouse({ tenantId: house.tenantId })
    const { key } = await makeKey(house.tenantId, ['read'], { propertyIds: [other.propertyId] })
    for (const list of ['reservations', 'financial/ledger-entries', 'financial/chart-of-accounts']) {
      const path = `/api/tenants/${house.tenantId}/${list}?propertyId=`
      const { status, body } = await world.request('GET', path + house.propertyId, { key })
      expect([status, body.code, body.error], list).to.deep.equal([403, 'forbidden', 'ForbiddenException'])
      expect((await world.request('GET', path + other.propertyId, { key })).status, list).to.equal(200)
    }
  })

  it('cannot fill the table of kept replies with quotes, which cost nothing and change nothing', async () => {
    const kept = () => world.database.admin('kept_reply').count('* as rows').first()
    const before = await kept()
    const room = { unitTypeId: house.unitTypeId, ratePlanId: house.ratePlanId, adults: 2, childrenAges: [], extras: [] }
    const body = { propertyId: house.propertyId, arrival: house.day(20), departure: house.day(22), rooms: [room] }
    const ask = () => world.request('POST', '/api/public/quotes', { body, idempotencyKey: 'the-same' })
    const [first, second] = [await ask(), await ask()]
    expect([first.status, second.status]).to.deep.equal([200, 200])
    expect(second.body.quote).not.to.equal(first.body.quote)
    expect(await kept()).to.deep.equal(before)
  })

  it('gets no new token from an old Idempotency-Key once the tokens of the booking were called back', async () => {
    const quote = await quoted()
    const options = { email: 'called-back@example.com', idempotencyKey: 'called-back' }
    const { body: held } = await portal.hold(quote, options)
    await house.inHouse((trx) =>
      sql(trx, `update booking set guest_tokens_valid_from = now() + interval '1 minute' where id = ?`, [
        held.bookingId,
      ]),
    )
    const again = await portal.hold(quote, options)
    expect([again.status, again.body.guestToken]).to.deep.equal([409, undefined])
  })
})

describe('two strangers behind one address', () => {
  const world = useWorld()
  let house: House

  before(async () => {
    house = await makeHouse({ units: 20 })
  })

  it('do not meet on one Idempotency-Key: neither reads the other’s reply, nor stands in its way', async () => {
    const portal = portalOf(world.request, house)
    const hold = async (email: string) => portal.hold((await portal.quote()).body.quote, { email, idempotencyKey: '1' })
    const first = await hold('one@example.com')
    const second = await hold('two@example.com')
    expect([first.status, second.status]).to.deep.equal([201, 201])
    expect(second.body.bookingId).not.to.equal(first.body.bookingId)
    expect(second.headers['idempotent-replayed']).to.equal(undefined)
  })

  it('are each answered again alone: the same request with the same key is a replay', async () => {
    const portal = portalOf(world.request, house)
    const { quote } = (await portal.quote()).body
    const options = { email: 'again@example.com', idempotencyKey: '1' }
    const first = await portal.hold(quote, options)
    const second = await portal.hold(quote, options)
    expect([second.status, second.headers['idempotent-replayed']]).to.deep.equal([201, 'true'])
    expect(second.body.bookingId).to.equal(first.body.bookingId)
  })
})
