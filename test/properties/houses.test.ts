import { expect } from 'chai'
import { forgetLimits } from '../auth/support.ts'
import { sqlOne } from '../../db/connection.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { openDesk } from './support.ts'
import type { Desk } from './support.ts'

const fee = (type: string, value = 0) => ({ type, value, of: 'total' })
const freeUntil = (hours: number) => ({
  tiers: [{ hoursBeforeArrival: hours, fee: fee('none') }],
  after: fee('full'),
  graceHoursAfterBooking: 0,
  earlyDeparture: fee('none'),
})

describe('The staff of a house', () => {
  const world = useWorld()
  let house: House
  let owner: Desk

  before(async () => {
    house = await makeHouse({ units: 4 })
    owner = await openDesk(world, house, 'owner')
  })
  beforeEach(() => forgetLimits(world))

  const ofHouse = (more = '') => `properties/${house.propertyId}${more}`
  const config = async () => (await world.request('GET', `/api/public/property/${house.propertyId}/config`)).body
  const newProperty = (change: Record<string, unknown> = {}) => ({
    code: 'NEW-1',
    slug: 'a-new-house',
    name: 'A new house',
    kind: 'inn',
    timezone: 'America/Sao_Paulo',
    currency: 'BRL',
    locales: ['pt-BR', 'en'],
    description: { 'pt-BR': 'Uma casa nova' },
    ...change,
  })
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

  describe('sets a property up', () => {
    let id: string

    it('as a draft of its own book, whose code and slug nobody else has', async () => {
      const { status, body } = await owner.send('POST', 'properties', newProperty())
      expect(status).to.equal(201)
      expect(body).to.include({ status: 'draft', bookId: house.bookId, businessDate: null, version: 1 })
      expect(body.settings.portal).to.include({ enabled: false, maxRooms: 4 })
      id = body.id as string
      for (const change of [{ slug: 'another-one' }, { code: 'NEW-2' }]) {
        const again = await owner.send('POST', 'properties', newProperty(change))
        expect([again.status, again.body.code]).to.deep.equal([409, 'duplicate_code'])
      }
      const foreign = await owner.send('POST', 'properties', newProperty({ code: 'USD', slug: 'usd', currency: 'USD' }))
      expect([foreign.status, foreign.body.code]).to.deep.equal([422, 'currency_mismatch'])
    })

    it('with texts that all guests can fall back to, and a tax number that can be one', async () => {
      for (const [change, field] of [
        [{ description: { en: 'A house' } }, 'description.pt-BR'],
        [{ address: { countryCode: 'BR' }, legalDocument: '11222333000180' }, 'legalDocument'],
      ] as const) {
        const { status, body } = await owner.send('PATCH', `properties/${id}`, change)
        expect([status, body.errors[0].field]).to.deep.equal([400, field])
      }
    })

    it('and may change its zone only while nothing has a date, its currency never', async () => {
      expect((await owner.send('PATCH', `properties/${id}`, { timezone: 'America/Manaus' })).body.timezone).to.equal(
        'America/Manaus',
      )
      for (const [path, change] of [
        [ofHouse(), { timezone: 'America/Manaus' }],
        [`properties/${id}`, { currency: 'USD' }],
      ] as const) {
        const { status, body } = await owner.send('PATCH', path, change)
        expect([status, body.code]).to.deep.equal([422, 'locked_field'])
      }
    })

    it('that cannot be sold before it is ready; what is missing is named', async () => {
      const readiness = await owner.get(`properties/${id}/readiness`)
      const codes = (list: { code: string }[]) => list.map((one) => one.code)
      expect(readiness.body.ready).to.equal(false)
      expect(codes(readiness.body.blockers)).to.include.members([
        'unit_type_missing',
        'unit_missing',
        'rate_plan_missing',
        'address_incomplete',
        'hours_missing',
        'tax_undeclared',
      ])
      expect(codes(readiness.body.warnings)).to.include('gallery_small')
      const { status, body } = await owner.send('POST', `properties/${id}/go-live`)
      expect([status, body.code]).to.deep.equal([422, 'not_ready'])
      expect(body.errors.map((error: { field: string }) => error.field)).to.deep.equal(codes(readiness.body.blockers))
    })

    it('that is read only once it is archived, and listed only where that is asked for', async () => {
      for (const _ of [1, 2]) {
        const { status, body } = await owner.send('POST', `properties/${id}/archive`)
        expect([status, body.status, body.version]).to.deep.equal([200, 'archived', 3])
      }
      for (const [method, path, body] of [
        ['PATCH', `properties/${id}`, { name: 'Other' }],
        ['PATCH', `properties/${id}/settings`, { holds: { checkoutMinutes: 12 } }],
        ['POST', 'policies', { propertyId: id, code: 'X', name: 'X', kind: 'cancellation', rules: freeUntil(1) }],
      ] as const) {
        const refused = await owner.send(method, path, body)
        expect([refused.status, refused.body.code]).to.deep.equal([409, 'invalid_transition'])
      }
      const listed = async (query: string) =>
        (await owner.get(`properties${query}`)).body.data.map((property: { id: string }) => property.id)
      expect(await listed('')).to.deep.equal([house.propertyId])
      expect(await listed('?status=archived')).to.deep.equal([id])
      expect(await listed('?q=NEW')).to.deep.equal([])
    })
  })

  describe('changes a property', () => {
    it('under the version that was read: of ten changes at once one is made', async () => {
      const { headers } = await owner.get(ofHouse())
      const replies = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          owner.send('PATCH', ofHouse(), { cleaningMinutes: n }, { headers: { 'if-match': headers.etag ?? '' } }),
        ),
      )
      expect(replies.filter(({ status }) => status === 200)).to.have.length(1)
      expect(replies.filter(({ body }) => body.code === 'version_conflict')).to.have.length(9)
    })

    it('and guests see it at once, though their portal keeps what it was told', async () => {
      expect((await config()).portal.maxNights).to.equal(30)
      const { body } = await owner.send('PATCH', ofHouse('/settings'), { portal: { maxNights: 9 } })
      expect(body.settings.portal).to.include({ maxNights: 9, maxRooms: 4, enabled: true })
      expect((await config()).portal.maxNights).to.equal(9)
      await owner.send('PATCH', ofHouse(), { description: { 'pt-BR': 'Outra' } })
      expect((await config()).description).to.equal('Outra')
    })

    it('but asks every guest for a name and an address', async () => {
      const { status, body } = await owner.send('PATCH', ofHouse('/settings'), {
        portal: { requiredGuestFields: ['firstName', 'phone'] },
      })
      expect([status, body.errors[0].message]).to.deep.equal([400, 'must hold lastName, email'])
    })

    it('and stops its sales, with a reason that is kept; it is not archived over open business', async () => {
      await makeHold(house)
      const live = await owner.send('POST', ofHouse('/archive'))
      expect([live.status, live.body.code]).to.deep.equal([409, 'invalid_transition'])
      const stopped = await owner.send('POST', ofHouse('/suspend'), { reason: 'water in the cellar' })
      expect([stopped.status, stopped.body.status]).to.deep.equal([200, 'suspended'])
      expect((await config()).sales).to.equal('closed')
      expect(await count('audit_entry', `reason = 'water in the cellar'`)).to.equal(1)
      const open = await owner.send('POST', ofHouse('/archive'))
      expect([open.status, open.body.code, open.body.errors[0].field]).to.deep.equal([422, 'in_use', 'reservation'])
      const again = await owner.send('POST', ofHouse('/go-live'))
      expect([again.status, again.body.status]).to.deep.equal([200, 'live'])
      expect((await config()).sales).to.equal('open')
    })
  })

  describe('with some properties only', () => {
    let other: House
    let manager: Desk

    before(async () => {
      other = await makeHouse({ tenantId: house.tenantId })
      manager = await openDesk(world, house, 'manager', [house.propertyId])
    })

    it('does not see, find or name the others', async () => {
      const { body } = await manager.get('properties')
      expect(body.data.map((property: { id: string }) => property.id)).to.deep.equal([house.propertyId])
      expect((await manager.get(`properties/${other.propertyId}`)).status).to.equal(404)
      expect((await manager.send('PATCH', `properties/${other.propertyId}`, { name: 'Mine' })).status).to.equal(404)
      const policies = (await owner.get(`policies?propertyId=${other.propertyId}`)).body.data as { id: string }[]
      expect(policies.length).to.be.greaterThan(0)
      expect((await manager.get(`policies?propertyId=${other.propertyId}`)).status).to.equal(403)
      expect((await manager.get(`policies/${policies[0]?.id}`)).status).to.equal(404)
      expect((await manager.send('PATCH', `policies/${policies[0]?.id}`, { name: 'Mine' })).status).to.equal(404)
      const mine = (await manager.get('policies?limit=100')).body.data as { propertyId: string }[]
      expect(new Set(mine.map((policy) => policy.propertyId))).to.deep.equal(new Set([house.propertyId]))
    })

    it('does not add to them', async () => {
      const made = await manager.send('POST', 'properties', newProperty({ code: 'MINE', slug: 'mine' }))
      expect([made.status, made.body.code]).to.deep.equal([403, 'forbidden'])
      const policy = { code: 'MINE', name: 'M', kind: 'cancellation', rules: freeUntil(1) }
      expect((await manager.send('POST', 'policies', { ...policy, propertyId: other.propertyId })).status).to.equal(403)
    })
  })

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
