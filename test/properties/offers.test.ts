import { expect } from 'chai'
import { sqlOne } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { fee, freeUntil, openDesk } from './support.ts'
import type { Desk } from './support.ts'

describe('The staff of a house that offers', () => {
  const world = useWorld()
  let house: House
  let owner: Desk

  before(async () => {
    house = await makeHouse({ units: 4 })
    owner = await openDesk(world, house, 'owner')
  })
  beforeEach(() => forgetLimits(world))

  const quote = (extras: { extraId: string; quantity: number }[] = []) =>
    world.request('POST', '/api/public/quotes', {
      body: {
        propertyId: house.propertyId,
        arrival: house.day(40),
        departure: house.day(41),
        rooms: [{ unitTypeId: house.unitTypeId, ratePlanId: house.ratePlanId, adults: 2, childrenAges: [], extras }],
      },
    })
  const count = async (table: string, condition: string) =>
    (await sqlOne<{ n: number }>(world.database.admin, `select count(*)::int as n from ${table} where ${condition}`))?.n

  describe('keeps policies', () => {
    it('whose rules of another kind, or in another order, are refused', async () => {
      const policy = { propertyId: house.propertyId, code: 'WRONG', name: 'Wrong', kind: 'no_show' }
      const kind = await owner.send('POST', 'policies', { ...policy, rules: freeUntil(24) })
      expect([kind.status, kind.body.errors[0].field]).to.deep.equal([400, 'rules.fee'])
      const rules = { ...freeUntil(24), tiers: [...freeUntil(24).tiers, ...freeUntil(48).tiers] }
      const order = await owner.send('POST', 'policies', { ...policy, kind: 'cancellation', rules })
      expect([order.status, order.body.code]).to.deep.equal([422, 'rule_violated'])
      const share = { ...freeUntil(24), after: fee('percent', 10_001) }
      const beyond = await owner.send('POST', 'policies', { ...policy, kind: 'cancellation', rules: share })
      expect([beyond.status, beyond.body.errors[0].field]).to.deep.equal([422, 'rules.after.value'])
    })

    it('of which new rules are a new version, a new name is none, and guests are told the newest', async () => {
      const [flexible] = (await owner.get(`policies?propertyId=${house.propertyId}&kind=cancellation`)).body.data as {
        id: string
        code: string
      }[]
      expect(flexible?.code).to.equal('FLEX')
      const named = await owner.send('PATCH', `policies/${flexible?.id}`, { name: 'Two days' })
      expect([named.body.currentVersion, named.body.versions.length]).to.deep.equal([1, 1])
      const ruled = await owner.send('PATCH', `policies/${flexible?.id}`, { rules: freeUntil(48) })
      expect([ruled.body.currentVersion, ruled.body.rules]).to.deep.equal([2, freeUntil(48)])
      expect(ruled.body.versions.map((version: { number: number }) => version.number)).to.deep.equal([2, 1])
      const quoted = await quote()
      expect(quoted.body.policies.cancellation.tiers).to.have.length(2)
    })

    it('and retires those alone that no active plan needs', async () => {
      const kinds = (await owner.get(`policies?propertyId=${house.propertyId}&kind=no_show`)).body.data
      const used = await owner.send('POST', `policies/${kinds[0].id}/archive`)
      expect([used.status, used.body.code]).to.deep.equal([422, 'in_use'])
      expect(used.body.errors.map((error: { message: string }) => error.message)).to.deep.equal(['FLEX', 'SAVER'])
      const policy = { propertyId: house.propertyId, code: 'SPARE', name: 'Spare', kind: 'cancellation' }
      const { body } = await owner.send('POST', 'policies', { ...policy, rules: freeUntil(24) })
      for (const _ of [1, 2]) {
        const gone = await owner.send('POST', `policies/${body.id}/archive`)
        expect([gone.status, gone.body.status, gone.body.version]).to.deep.equal([200, 'archived', 2])
      }
      const change = await owner.send('PATCH', `policies/${body.id}`, { name: 'Never' })
      expect([change.status, change.body.code]).to.deep.equal([409, 'invalid_transition'])
    })
  })

  describe('sells extras', () => {
    const boat = (change: Record<string, unknown> = {}) => ({
      propertyId: house.propertyId,
      code: 'BOAT',
      name: { 'pt-BR': 'Barco', en: 'Boat' },
      category: 'activity',
      revenueGroup: 'tours',
      amount: 15_000,
      basis: 'per_stay',
      maxQuantity: 4,
      ...change,
    })
    let id: string

    it('whose daily limit guards each day, and is not lowered below what is sold', async () => {
      const { status, body } = await owner.send('POST', 'extras', boat({ dailyLimit: 3 }))
      expect([status, body.dailyLimit]).to.deep.equal([201, 3])
      id = body.id as string
      expect((await quote([{ extraId: id, quantity: 3 }])).status).to.equal(200)
      expect((await quote([{ extraId: id, quantity: 4 }])).body.code).to.equal('sold_out')
      const higher = await owner.send('PATCH', `extras/${id}`, { dailyLimit: 4, amount: 16_000 })
      expect([higher.body.dailyLimit, higher.body.poolId]).to.deep.equal([4, body.poolId])
      expect((await quote([{ extraId: id, quantity: 4 }])).status).to.equal(200)
      const { body: quoted } = await quote([{ extraId: id, quantity: 2 }])
      const held = await world.request('POST', '/api/public/reservations/hold', {
        body: {
          quote: quoted.quote,
          booker: { firstName: 'Ana', lastName: 'Souza', email: 'ana@example.com', phone: '+5524999990000' },
          acceptedTerms: house.termsVersion,
        },
      })
      expect(held.status).to.equal(201)
      const lower = await owner.send('PATCH', `extras/${id}`, { dailyLimit: 1 })
      expect([lower.status, lower.body.code, lower.body.errors[0].field]).to.deep.equal([
        409,
        'sold_out',
        `nights.${house.day(40)}`,
      ])
      const none = await owner.send('PATCH', `extras/${id}`, { dailyLimit: null })
      expect([none.status, none.body.code]).to.deep.equal([422, 'in_use'])
    })

    it('and stops to, without touching what was ordered', async () => {
      const twice = await owner.send('POST', 'extras', boat())
      expect([twice.status, twice.body.code]).to.deep.equal([409, 'duplicate_code'])
      expect((await owner.send('POST', `extras/${id}/archive`)).body.status).to.equal('archived')
      const refused = await quote([{ extraId: id, quantity: 1 }])
      expect([refused.status, refused.body.code]).to.deep.equal([422, 'extra_unavailable'])
      expect(await count('reservation_extra', `extra_id = '${id}' and status = 'active'`)).to.equal(1)
      expect((await owner.get(`extras?propertyId=${house.propertyId}`)).body.data).to.deep.equal([])
    })

    it('of the types of its own house alone, in the language of the house', async () => {
      const other = await makeHouse({ tenantId: house.tenantId })
      const foreign = await owner.send('POST', 'extras', boat({ code: 'X', unitTypeIds: [other.unitTypeId] }))
      expect([foreign.status, foreign.body.errors[0].field]).to.deep.equal([422, 'unitTypeIds.0'])
      const english = await owner.send('POST', 'extras', boat({ code: 'X', name: { en: 'Boat' } }))
      expect([english.status, english.body.errors[0].field]).to.deep.equal([400, 'name.pt-BR'])
    })
  })
})
