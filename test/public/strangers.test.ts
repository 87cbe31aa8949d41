import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { createApiKey } from '../../db/auth/api-keys.ts'
import { changeSettings } from '../../db/properties/house/properties/settings.ts'
import { forgetLimits, roomInMinute } from '../auth/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { portalOf } from '../support/stay.ts'
import type { Portal } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'

describe('What a portal is told when it repeats, hurries or says too little', () => {
  const world = useWorld()
  let house: House
  let portal: Portal
  let key: string

  before(async () => {
    house = await makeHouse({ units: 30, deposit: null })
    key = (await house.inHouse((trx) => createApiKey(trx, { name: 'Portal', scopes: ['read', 'write'] }))).key
    portal = portalOf(world.request, house, key)
  })

  beforeEach(() => forgetLimits(world))

  const quoted = async (): Promise<string> => (await portal.quote()).body.quote
  const release = (guest: string) =>
    world.request('POST', '/api/public/reservations/cancel', { guest, key, body: { acceptedFee: 0 } })

  it('has the tenth hold of an address in an hour again when it repeats it, and no eleventh', async () => {
    const address = '2001:db8:0:1::7'
    const holds = []
    for (let n = 0; n < 10; n += 1) {
      const hold = { quote: await quoted(), email: `${randomUUID()}@guests.example` }
      const { status, body } = await portal.hold(hold.quote, { ...hold, address })
      expect(status, JSON.stringify(body)).to.equal(201)
      holds.push({ ...hold, number: body.number })
      if (n < 9) await release(body.guestToken)
    }
    const last = holds.at(-1)!
    for (const changed of [{}, { requests: 'A quiet room, please' }]) {
      const again = await portal.hold(last.quote, { email: last.email, address, body: changed })
      expect([again.status, again.body.number]).to.deep.equal([200, last.number])
    }
    const next = await portal.hold(await quoted(), { address })
    expect([next.status, next.body.code]).to.deep.equal([429, 'hold_limit'])
    expect(Number(next.headers['retry-after'])).to.be.within(3_000, 3_600)
  })

  it('has its hold again though the house has changed its terms since, which only new guests must read', async () => {
    const own = await makeHouse({ units: 3, deposit: null })
    const itsKey = (await own.inHouse((trx) => createApiKey(trx, { name: 'Portal', scopes: ['read', 'write'] }))).key
    const { quote, hold } = portalOf(world.request, own, itsKey)
    const [first, second] = [(await quote()).body.quote, (await quote()).body.quote]
    const email = `${randomUUID()}@guests.example`
    const { body: held } = await hold(first, { email })
    await own.inHouse((trx) => changeSettings(trx, own.propertyId, { portal: { terms: { 'pt-BR': 'Outros termos' } } }))
    const again = await hold(first, { email })
    expect([again.status, again.body.number]).to.deep.equal([200, held.number])
    const other = await hold(second)
    expect([other.status, other.body.code]).to.deep.equal([409, 'terms_changed'])
  })

  it('has one hold, and a token each time, where the same is sent twenty times at once', async () => {
    const hold = { email: `${randomUUID()}@guests.example`, address: '2001:db8:0:2::7' }
    const quote = await quoted()
    const replies = await Promise.all(Array.from({ length: 20 }, () => portal.hold(quote, hold)))
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([...Array(19).fill(200), 201])
    expect(new Set(replies.map(({ body }) => body.number)).size).to.equal(1)
    expect(replies.every(({ body }) => typeof body.guestToken === 'string')).to.equal(true)
  })

  it('has its hold beside many requests of the same address, at once, that cannot be read', async () => {
    const address = '2001:db8:0:3::7'
    const quote = await quoted()
    const wrong = Array.from({ length: 40 }, (_, n) =>
      portal.hold(quote, { address, body: { guests: `no list ${n}` } }),
    )
    const good = await portal.hold(quote, { address })
    expect([good.status, good.body.code]).to.deep.equal([201, undefined])
    expect(new Set((await Promise.all(wrong)).map(({ status }) => status))).to.deep.equal(new Set([400]))
  })

  for (const path of ['quotes', 'reservations/access', 'reservations/access/verify'])
    it(`is told by ${path} that it named no property, which is no house that is gone`, async () => {
      for (const [body, message] of [
        [{}, 'is required'],
        [[], 'is required'],
        [{ propertyID: house.propertyId }, 'is required'],
        [{ propertyId: 7 }, 'must be a string'],
      ] as const) {
        const reply = await world.request('POST', `/api/public/${path}`, { body, key })
        expect([reply.status, reply.body.code, reply.body.errors]).to.deep.equal([
          400,
          'validation_failed',
          [{ field: 'propertyId', message }],
        ])
      }
    })

  it('may ask for codes of many guests a minute by its key; who has none, five times', async () => {
    const ask = (credential: { key?: string }) =>
      world.request('POST', '/api/public/reservations/access/verify', {
        body: { propertyId: house.propertyId, number: 'ABCD0000', code: '000000' },
        ...credential,
      })
    const keyed = await Promise.all(Array.from({ length: 7 }, () => ask({ key })))
    expect(keyed.map(({ status, headers }) => [status, headers['x-ratelimit-limit']])).to.deep.equal(
      Array(7).fill([401, '1000']),
    )
    await roomInMinute(5)
    const bare = await Promise.all(Array.from({ length: 7 }, () => ask({})))
    expect(bare.filter(({ status }) => status === 429)).to.have.length(2)
  })

  it('is told where it stands also when it sent no guest token', async () => {
    const { status, body, headers } = await world.request('GET', '/api/public/reservations/current')
    expect([status, body.code]).to.deep.equal([401, 'guest_token_missing'])
    expect([headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]).to.deep.equal(['120', '119'])
  })
})
