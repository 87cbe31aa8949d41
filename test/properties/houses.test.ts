import { expect } from 'chai'
import { forgetLimits } from '../auth/support.ts'
import { sqlOne } from '../../db/lib/connection.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { freeUntil, openDesk } from './support.ts'
import type { Desk } from './support.ts'

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
      const silent = await owner.send('POST', `properties/${id}/suspend`, { reason: '     ' })
      expect([silent.status, silent.body.errors]).to.deep.equal([
        400,
        [{ field: 'reason', message: 'must not be blank or hold control characters' }],
      ])
      for (const [change, field] of [
        [{ description: { en: 'A house' } }, 'description.pt-BR'],
        [{ description: { 'pt-BR': 'Uma casa', 'no locale': 'A house' } }, 'description.no locale'],
        [{ description: { 'pt-BR': '\u3000 ' } }, 'description.pt-BR'],
        [{ name: '   ' }, 'name'],
        [{ address: { countryCode: 'XX' } }, 'address.countryCode'],
        [{ locales: ['pt-BR', 'xx'] }, 'locales.1'],
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

    it('that is told to connect the authority of its country until it has', async () => {
      const isTold = async () =>
        (await owner.get(`${ofHouse()}/readiness`)).body.warnings.some(
          ({ code }: { code: string }) => code === 'guest_registration_not_connected',
        )
      const set = (registration: object) => owner.send('PATCH', `${ofHouse()}/settings`, { registration })
      expect(await isTold()).to.equal(true)
      const connected = await set({
        authority: 'open',
        endpointUrl: 'https://authority.example/v1',
        credentials: 'a secret of the authority',
      })
      expect([connected.status, await isTold()]).to.deep.equal([200, false])
      await set({ authority: 'none', endpointUrl: null, credentials: null })
      expect(await isTold()).to.equal(true)
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
    it('and another country judges the tax number that stands', async () => {
      const { address, legalDocument } = (await owner.get(ofHouse())).body
      const move = (change: object) => owner.send('PATCH', ofHouse(), change)
      expect((await move({ address: { countryCode: 'PT' }, legalDocument: 'PT501' })).status).to.equal(200)
      const back = await move({ address })
      expect([back.status, back.body.errors[0].field]).to.deep.equal([400, 'legalDocument'])
      expect((await move({ address, legalDocument })).status).to.equal(200)
    })

    it('and lists what is done in a room by the kinds of tasks there are, each item once', async () => {
      const item = { key: 'beds', text: 'Beds' }
      const write = (checklists: object) => owner.send('PATCH', ofHouse('/settings'), { housekeeping: { checklists } })
      expect((await write({ departur: [item] })).status).to.equal(400)
      const twice = await write({ departure: [item, item] })
      expect([twice.status, twice.body.errors[0].field]).to.deep.equal([400, 'housekeeping.checklists.departure.1.key'])
      expect((await write({ departure: [item] })).status).to.equal(200)
    })

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

    it('and opens what is archived again, on the business day that it has', async () => {
      const retired = await makeHouse({ tenantId: house.tenantId })
      const of = (move: string) => `properties/${retired.propertyId}${move}`
      for (const move of ['/suspend', '/archive'])
        expect(
          (await owner.send('POST', of(move), move === '/suspend' ? { reason: 'it was sold' } : undefined)).status,
        ).to.equal(200)
      const again = await owner.send('POST', of('/go-live'))
      expect([again.status, again.body.status]).to.deep.equal([200, 'live'])
      const { body } = await owner.send('GET', of(''))
      expect([body.status, body.businessDate]).to.deep.equal(['live', again.body.businessDate])
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
})
