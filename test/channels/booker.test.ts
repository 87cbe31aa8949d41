import { expect } from 'chai'
import { mintGuestToken } from '../../api/public/guest-booking.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { eventsOf } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { makeConnection, revisionOf } from './support.ts'

describe('The booker of a booking that its channel modifies', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  let connectionId: string

  beforeEach(async () => {
    house = await makeHouse({ units: 3 })
    connectionId = await makeConnection(house, { name: 'booker', secret: 'x'.repeat(20) })
    await house.inHouse((trx) =>
      sql(trx, `update channel_connection set status = 'paused' where id = ?`, [connectionId]),
    )
    owner = await openDesk(world, house, 'owner')
  })

  const deliver = async (given: Parameters<typeof revisionOf>[1]): Promise<string> => {
    const revision = revisionOf(house, { externalId: 'OTA-BOOKER', ...given })
    const reply = await owner.send('POST', 'channel-bookings', { channelConnectionId: connectionId, ...revision })
    expect(reply.status, JSON.stringify(reply.body)).to.equal(201)
    await world.drain({ kinds: ['channels.apply-booking'] })
    const { body } = await owner.get('channel-bookings?externalId=OTA-BOOKER')
    const rows = body.data as { revision: number; status: string; error: string | null }[]
    expect(
      rows.find((row) => row.revision === revision.revision),
      JSON.stringify(body),
    ).to.include({ status: 'applied', error: null })
    return ((await owner.get('bookings?externalReference=OTA-BOOKER')).body.data as { id: string }[])[0]?.id ?? ''
  }
  const read = async (id: string) => {
    const { body } = await owner.get(`bookings/${id}`)
    return body as {
      booker: { guestId: string; name: string }
      reservations: { id: string; status: string; primaryGuest: { guestId: string; name: string } }[]
    }
  }
  const emailOf = async (guestId: string) => (await owner.get(`guests/${guestId}`)).body.email as string | null
  const endsTokens = async (bookingId: string) =>
    (
      await house.inHouse((trx) =>
        sqlOne<{ ends: boolean }>(trx, `select guest_tokens_valid_from is not null as ends from booking where id = ?`, [
          bookingId,
        ]),
      )
    )?.ends
  const modified = { kind: 'modified' as const }

  it('is the one that the revision names, who is the guest of rooms that name none; the former sees it no more', async () => {
    const id = await deliver({})
    const before = await read(id)
    expect(before.booker.name).to.equal('Ana Clara Souza')
    expect(await endsTokens(id)).to.equal(false)
    const booker = { name: 'Rui Prado', email: 'rui@ota.example' }
    await deliver({ ...modified, revision: 2, booker, rooms: 2 })
    const after = await read(id)
    expect(after.booker.name).to.equal('Rui Prado')
    expect(after.reservations.map(({ primaryGuest }) => primaryGuest.guestId)).to.deep.equal([
      after.booker.guestId,
      after.booker.guestId,
    ])
    expect(await emailOf(after.booker.guestId)).to.equal('rui@ota.example')
    expect(await emailOf(before.booker.guestId), 'R5: a profile stays as it is').to.equal('ana.clara@ota.example')
    expect(await eventsOf(house, 'booking.changed')).to.have.lengthOf(1)
    expect(await endsTokens(id)).to.equal(true)
  })

  it('stays where the channel repeats itself, also one whom the desk has named', async () => {
    const id = await deliver({})
    const other = (await owner.send('POST', 'guests', { firstName: 'Bia', lastName: 'Lima' })).body.id as string
    expect((await owner.send('PATCH', `bookings/${id}`, { bookerGuestId: other })).status).to.equal(200)
    await deliver({ ...modified, revision: 2, nights: 3 })
    expect((await read(id)).booker.guestId).to.equal(other)
    await deliver({ ...modified, revision: 3, notes: 'Late' })
    expect((await read(id)).booker.guestId).to.equal(other)
    await house.inHouse((trx) => sql(trx, `update booking set guest_tokens_valid_from = null where id = ?`, [id]))
    await deliver({ ...modified, revision: 4, booker: { name: 'Ana Clara Souza', email: 'ana@other.example' } })
    expect((await read(id)).booker.guestId).to.equal(other)
    expect(await endsTokens(id)).to.equal(false)
  })

  it('cancels at the channel, and not on the portal of the house', async () => {
    const id = await deliver({})
    const { guestToken } = await mintGuestToken(house.tenantId, id, 600)
    const guest = (method: string, path: string, body?: object) =>
      world.request(method, `/api/public/reservations/${path}`, {
        guest: guestToken,
        ...(body ? { body } : {}),
      })
    const own = await guest('GET', 'current')
    expect([own.status, own.body.cancellation]).to.deep.equal([
      200,
      { allowed: false, fee: 0, refund: 0, nextDeadline: null, reason: 'channel_managed' },
    ])
    const refused = await guest('POST', 'cancel', { reason: 'changed_plans', acceptedFee: 0 })
    expect([refused.status, refused.body.code]).to.deep.equal([422, 'channel_managed'])
    expect((await read(id)).reservations.map(({ status }) => status)).to.deep.equal(['confirmed'])
    await deliver({ kind: 'cancelled', revision: 2 })
    expect((await read(id)).reservations.map(({ status }) => status)).to.deep.equal(['cancelled'])
    expect((await guest('GET', 'current')).body.cancellation.reason).to.equal('cancelled')
  })

  it('is found by the address that the channel says by now', async () => {
    const id = await deliver({})
    const indexOf = async () =>
      (
        await house.inHouse((trx) =>
          sqlOne<{ index: string }>(trx, `select encode(email_index, 'hex') as index from booking where id = ?`, [id]),
        )
      )?.index
    const [guestId, index] = [(await read(id)).booker.guestId, await indexOf()]
    await deliver({ ...modified, revision: 2, booker: { name: 'Ana Clara Souza', email: 'ana@other.example' } })
    expect((await read(id)).booker.guestId).to.equal(guestId)
    expect(await indexOf())
      .to.be.a('string')
      .and.not.to.equal(index)
    expect(await endsTokens(id)).to.equal(true)
  })

  it('keeps the guests that a room names, and is one of them by name', async () => {
    const named = (...guestNames: string[]) => [{ ...revisionOf(house).rooms[0]!, guestNames }]
    const id = await deliver({ rooms: named('Caio Reis') })
    await deliver({ ...modified, revision: 2, booker: { name: 'Rui Prado' }, rooms: named('Caio Reis', 'Rui Prado') })
    const { booker, reservations } = await read(id)
    expect(reservations[0]?.primaryGuest.name).to.equal('Caio Reis')
    const { body } = await owner.get(`reservations/${reservations[0]?.id}`)
    expect((body.guests as { guestId: string }[]).map(({ guestId }) => guestId)).to.include(booker.guestId)
    expect(body.guests).to.have.lengthOf(2)
  })
})
