import { expect } from 'chai'
import { simulatorHost } from '../../config/channels.ts'
import { grantEntitlement } from '../../db/admin/index.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { storeUnreadable } from '../../db/channels/revisions.ts'
import { makeKey, makeUser, signIn } from '../auth/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { mappingsOf, revisionOf } from './support.ts'

describe('Channels by the API', () => {
  const world = useWorld()
  let house: House
  let other: House
  let neighbour: House
  let manager: string
  let reception: string
  let path: string

  before(async () => {
    house = await makeHouse({ units: 2, suite: true, deposit: null })
    const grant = (tenantId: string) =>
      inPlatform((trx) => grantEntitlement(trx, { tenantId, key: 'channels', reason: 'no plan has it' }))
    neighbour = await makeHouse({ tenantId: house.tenantId, units: 1 })
    other = await makeHouse({ units: 1 })
    await Promise.all([grant(house.tenantId), grant(other.tenantId)])
    const token = async (role: string) => {
      const person = await makeUser({ [house.tenantId]: role })
      return (await signIn(world, person)).token
    }
    manager = await token('manager')
    reception = await token('receptionist')
    path = `/api/tenants/${house.tenantId}`
  })

  let made = 0
  const body = (given: object = {}) => ({
    propertyId: house.propertyId,
    name: 'Channel manager',
    driver: 'simulator',
    endpointUrl: `https://${simulatorHost}/`,
    externalPropertyId: `H${(made += 1)}`,
    credentials: { secret: 'a secret of thirty-two characters' },
    mappings: mappingsOf(house),
    ...given,
  })
  const create = (given: object = {}, token = manager) =>
    world.request('POST', `${path}/channel-connections`, { token, body: body(given) })
  const paused = async () => {
    const { body: connection } = await create()
    await house.inHouse((trx) =>
      sql(trx, `update channel_connection set status = 'paused' where id = ?`, [connection.id]),
    )
    return connection.id as string
  }
  const deliver = (key: string, id: string, given: object = {}, at = path) =>
    world.request('POST', `${at}/channel-bookings`, {
      key,
      body: { channelConnectionId: id, ...revisionOf(house), ...given },
    })

  it('a connection is made, read, changed and ended; its credentials are never shown', async () => {
    const created = await create()
    expect(created.status).to.equal(201)
    expect(created.body).to.include({
      status: 'draft',
      hasCredentials: true,
      buffer: 0,
      horizonDays: 365,
      lagSeconds: 0,
    })
    expect(JSON.stringify(created.body)).to.not.contain('thirty-two')
    const one = `${path}/channel-connections/${created.body.id}`
    const changed = await world.request('PATCH', one, {
      token: manager,
      body: { buffer: 2, mappings: mappingsOf(house).slice(0, 1) },
    })
    expect(changed.body).to.include({ buffer: 2, version: 2 })
    expect(changed.body.mappings).to.deep.equal([{ ...mappingsOf(house)[0], modifierRate: 0, enabled: true }])
    const stale = await world.request('PATCH', one, {
      token: manager,
      body: { buffer: 3 },
      headers: { 'if-match': '"1"' },
    })
    expect(stale.body.code).to.equal('version_conflict')
    expect(
      (await world.request('POST', `${one}/pause`, { token: manager, body: { reason: 'for now' } })).body.code,
    ).to.equal('invalid_transition')
    expect((await world.request('POST', `${one}/activate`, { token: manager })).body.status).to.equal('connecting')
    const closed = await world.request('POST', `${one}/disconnect`, { token: manager, body: { closeOut: true } })
    expect(closed.body.code, 'only what is at work can be closed out').to.equal('invalid_transition')
    const ended = await world.request('POST', `${one}/disconnect`, { token: manager, body: {} })
    expect(ended.body).to.include({ status: 'disconnected', hasCredentials: false })
    expect((await world.request('POST', `${one}/disconnect`, { token: manager, body: {} })).status).to.equal(200)
    const { body: list } = await world.request('GET', `${path}/channel-connections`, { token: manager })
    expect(list.data.map((row: { id: string }) => row.id)).to.not.include(created.body.id)
    expect((await world.request('GET', `${one}/pushes`, { token: reception })).status).to.equal(200)
  })

  it('an endpoint without a body refuses one, and does not look for card numbers in it', async () => {
    const { body: connection } = await create()
    const refused = await world.request('POST', `${path}/channel-connections/${connection.id}/activate`, {
      token: manager,
      body: { extra: '4111 1111 1111 1111' },
    })
    expect([refused.status, refused.body.errors]).to.deep.equal([
      400,
      [{ field: 'extra', message: 'is not known here' }],
    ])
  })

  it('one is not activated without a mapping or credentials, nor made twice for one account', async () => {
    const bare = await create({ mappings: [], externalPropertyId: 'TWICE' })
    const activate = () =>
      world.request('POST', `${path}/channel-connections/${bare.body.id}/activate`, { token: manager })
    expect((await activate()).body.code).to.equal('mapping_missing')
    expect((await create({ externalPropertyId: 'TWICE' })).body.code).to.equal('duplicate_code')
    const silent = await create({ credentials: undefined })
    const { body: refused } = await world.request('POST', `${path}/channel-connections/${silent.body.id}/activate`, {
      token: manager,
    })
    expect(refused.code).to.equal('credentials_missing')
  })

  it('a house is not archived while a channel sells it, however close the two come, and is warned of types that a channel does not know', async () => {
    const retiring = await makeHouse({ tenantId: house.tenantId, units: 1, suite: true, deposit: null })
    const { token: owner } = await signIn(world, await makeUser({ [house.tenantId]: 'owner' }))
    const send = (method: 'GET' | 'POST', route: string, given: object = {}) =>
      world.request(method, `${path}/${route}`, { token: owner, ...(method === 'GET' ? {} : { body: given }) })
    const warnings = async () => {
      const { body } = await send('GET', `properties/${retiring.propertyId}/readiness`)
      return body.warnings.map((warning: { code: string }) => warning.code) as string[]
    }
    const given = { propertyId: retiring.propertyId, mappings: mappingsOf(retiring) }
    await send('POST', `properties/${retiring.propertyId}/suspend`, { reason: 'it closes' })
    const archive = () => send('POST', `properties/${retiring.propertyId}/archive`)
    expect(await warnings(), 'without a channel there is nothing to map').to.not.include('channel_unmapped')
    const half = await create({ ...given, mappings: given.mappings.slice(0, 2) }, owner)
    expect(await warnings()).to.include('channel_unmapped')
    await world.request('PATCH', `${path}/channel-connections/${half.body.id}`, {
      token: owner,
      body: { mappings: given.mappings },
    })
    expect(await warnings()).to.not.include('channel_unmapped')
    const refused = await archive()
    expect([refused.status, refused.body.code, refused.body.errors[0].field]).to.deep.equal([
      422,
      'in_use',
      'channel_connection',
    ])
    await send('POST', `channel-connections/${half.body.id}/disconnect`)
    const [archived, connected] = await Promise.all([archive(), create(given, owner)])
    expect([archived.status, connected.status].filter((status) => status < 300)).to.have.length(1)
    expect([archived.body.code, connected.body.code]).to.include(
      archived.status === 200 ? 'invalid_transition' : 'in_use',
    )
  })

  it('mappings are of what the property sells, both ways once', async () => {
    const [first, second] = mappingsOf(house)
    const mapped = async (mappings: object[]) => (await create({ mappings })).body
    expect((await mapped([first!, first!])).code).to.equal('validation_failed')
    expect((await mapped([first!, { ...second, externalRatePlanId: 'BAR' }])).code).to.equal('validation_failed')
    expect((await mapped([{ ...first, externalRatePlanId: null }])).code).to.equal('validation_failed')
    expect((await mapped([{ ...first, unitTypeId: house.suiteTypeId }, second!])).code).to.equal('validation_failed')
    expect((await mapped([{ ...first, unitTypeId: neighbour.unitTypeId }])).code).to.equal('reference_not_found')
    expect((await mapped([{ ...first, ratePlanId: other.ratePlanId }])).code).to.equal('reference_not_found')
  })

  it('a key of scope channel:deliver delivers, and does nothing else here', async () => {
    const id = await paused()
    const { key } = await makeKey(house.tenantId, ['channel:deliver'])
    const sent = revisionOf(house)
    const first = await deliver(key, id, sent)
    expect(first.status).to.equal(201)
    expect(first.body).to.include({ status: 'received', externalId: sent.externalId })
    expect(first.body.acknowledgedAt, 'the answer is the acknowledgement').to.be.a('string')
    expect(first.body).to.not.have.property('payload')
    const again = await deliver(key, id, { ...sent, total: 1 })
    expect([again.status, again.body.id]).to.deep.equal([200, first.body.id])
    expect((await world.request('GET', `${path}/channel-bookings`, { key })).status).to.equal(403)
    expect((await world.request('GET', `${path}/channel-connections`, { key })).status).to.equal(403)
    expect((await world.request('POST', `${path}/channel-bookings/${first.body.id}/apply`, { key })).status).to.equal(
      403,
    )
  })

  it('five deliveries of one revision at once: one is new, and all answer it', async () => {
    const id = await paused()
    const { key } = await makeKey(house.tenantId, ['channel:deliver'])
    const sent = revisionOf(house)
    const replies = await Promise.all([1, 2, 3, 4, 5].map(() => deliver(key, id, sent)))
    expect(replies.map((reply) => reply.status).toSorted((a, b) => a - b)).to.deep.equal([200, 200, 200, 200, 201])
    expect(new Set(replies.map((reply) => reply.body.id))).to.have.length(1)
  })

  it('card numbers and their codes are refused wherever they stand', async () => {
    const id = await paused()
    const { key } = await makeKey(house.tenantId, ['channel:deliver'])
    for (const given of [
      { notes: 'card 4111 1111 1111 1111' },
      { notes: 'CVV: 123' },
      { booker: { name: '4111111111111111' } },
    ]) {
      const reply = await deliver(key, id, given)
      expect([reply.status, reply.body.code], JSON.stringify(given)).to.deep.equal([400, 'card_data_refused'])
    }
    expect((await deliver(key, id, { rooms: [] })).body.code).to.equal('validation_failed')
  })

  it('another tenant’s connection, and one of a property that the caller does not have, are as if they were not there', async () => {
    const id = await paused()
    const foreign = await makeKey(other.tenantId, ['channel:deliver'])
    expect((await deliver(foreign.key, id, {}, `/api/tenants/${other.tenantId}`)).status).to.equal(404)
    expect((await deliver(foreign.key, id)).status).to.equal(403)
    const { key } = await makeKey(house.tenantId, ['channel:deliver'], { propertyIds: [neighbour.propertyId] })
    expect((await deliver(key, id)).status).to.equal(404)
    const limited = await makeKey(house.tenantId, ['read', 'write'], { propertyIds: [neighbour.propertyId] })
    const one = `${path}/channel-connections/${id}`
    expect((await world.request('GET', one, { key: limited.key })).status).to.equal(404)
    expect((await world.request('GET', `${one}/pushes`, { key: limited.key })).status).to.equal(404)
    expect((await world.request('PATCH', one, { key: limited.key, body: { buffer: 1 } })).status).to.equal(404)
    const { body: list } = await world.request('GET', `${path}/channel-connections`, { key: limited.key })
    expect(list.data).to.deep.equal([])
    const elsewhere = await world.request('POST', `${path}/channel-connections`, { key: limited.key, body: body() })
    expect(elsewhere.status, 'nor is one made there').to.be.oneOf([403, 404])
  })

  it('what a guest told the channel is shown to those who may reveal it, and each look is in the trail', async () => {
    const id = await paused()
    const { key } = await makeKey(house.tenantId, ['channel:deliver'])
    const { body: stored } = await deliver(key, id)
    const look = (token: string) =>
      world.request('GET', `${path}/channel-bookings?channelConnectionId=${id}&include=payload`, { token })
    expect((await look(reception)).status).to.equal(403)
    const shown = await look(manager)
    expect(shown.body.data[0].payload.booker.name).to.equal('Ana Clara Souza')
    const trail = await house.inHouse((trx) =>
      sql(trx, `select action from audit_entry where subject_id = ? and action = 'channel_booking.reveal'`, [
        stored.id,
      ]),
    )
    expect(trail).to.have.length(1)
    await house.inHouse((trx) =>
      storeUnreadable(
        trx,
        { id, propertyId: house.propertyId },
        { externalId: 'ODD', revision: 1, rooms: 'two' },
        'rooms must be a list',
        'odd',
      ),
    )
    const odd = (await look(manager)).body.data.find((row: { externalId: string }) => row.externalId === 'ODD')
    expect([odd.status, odd.payload]).to.deep.equal(['failed', null])
    expect(odd.unreadable, 'somebody may come: it is shown as it came').to.contain('"two"')
    const applied = await world.request('POST', `${path}/channel-bookings/${odd.id}/apply`, { token: reception })
    expect([applied.status, applied.body.code]).to.deep.equal([422, 'unreadable'])
  })

  it('a revision that waits for a mapping is dismissed by a manager, with a reason, or applied by the desk once it is mapped', async () => {
    const id = await paused()
    const { key } = await makeKey(house.tenantId, ['channel:deliver'])
    const { body: stored } = await deliver(key, id, revisionOf(house, { unitType: 'NOWHERE' }))
    const one = `${path}/channel-bookings/${stored.id}`
    const dismiss = (token: string) =>
      world.request('POST', `${one}/dismiss`, { token, body: { reason: 'booked by hand' } })
    expect((await dismiss(manager)).body.code, 'it was not tried yet').to.equal('invalid_transition')
    await world.drain({ kinds: ['channels.apply-booking'] })
    expect((await dismiss(reception)).status).to.equal(403)
    const refused = await world.request('POST', `${one}/apply`, { token: reception })
    expect([refused.status, refused.body.code]).to.deep.equal([422, 'mapping_missing'])
    expect((await dismiss(manager)).body).to.include({ status: 'dismissed', dismissReason: 'booked by hand' })
    expect((await world.request('POST', `${one}/apply`, { token: reception })).body.code).to.equal('invalid_transition')
  })
})
