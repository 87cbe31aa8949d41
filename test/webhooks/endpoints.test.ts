import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { ruleBrokenBy } from '../../config/outgoing-address.ts'
import { sql } from '../../db/lib/connection.ts'
import { makeUser, signIn } from '../auth/support.ts'
import { deskOf, openDesk, useOwner } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import { flow, grantWebhooks, raiseIn, useReceiver } from './support.ts'

describe('webhook endpoints', function () {
  this.timeout(30_000)
  const receiver = useReceiver()
  const all = useOwner({ units: 1 }, { anew: true, more: () => ({}) })
  beforeEach(() => grantWebhooks(all.house.tenantId))

  const create = (given: object = {}, desk: Desk = all.owner) =>
    desk.send('POST', 'webhooks/endpoints', { url: receiver.url(), types: ['*'], ...given })
  const stored = () =>
    sql<{ id: string }>(all.world.database.admin, `select id from webhook_endpoint where tenant_id = ?`, [
      all.house.tenantId,
    ])

  it('show their secret once, and keep it sealed', async () => {
    const key = randomUUID()
    const body = { url: receiver.url(), types: ['*'] }
    const made = await all.owner.send('POST', 'webhooks/endpoints', body, { idempotencyKey: key })
    expect(made.body.secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const repeated = await all.owner.send('POST', 'webhooks/endpoints', body, { idempotencyKey: key })
    expect([repeated.status, repeated.body.id, repeated.body.secret]).to.deep.equal([201, made.body.id, null])
    expect((await all.owner.get(`webhooks/endpoints/${made.body.id}`)).body).not.to.have.property('secret')
    const [row] = await sql<{ whole: string }>(
      all.world.database.admin,
      `select e::text as whole from webhook_endpoint e where id = ?`,
      [made.body.id],
    )
    const raw = Buffer.from((made.body.secret as string).slice(6), 'base64')
    expect(row?.whole).not.to.include(raw.toString('hex')).and.not.to.include(made.body.secret)
  })

  it('take no address that is private, not https, or has credentials or another port; nothing is stored', async () => {
    const wrong: Record<string, RegExp> = {
      'http://hooks.example/': /^scheme/,
      'ftp://hooks.example/': /^scheme/,
      'https://me:secret@hooks.example/': /^user info/,
      'https://me@hooks.example/': /^user info/,
      'https://hooks.example:22/': /^port/,
      'https://127.1/': /^private/,
      'https://2130706433/': /^private/,
      'https://0x7f.1/': /^private/,
      'https://[::1]/': /^private/,
      'https://[::ffff:7f00:1]/': /^private/,
      'https://[::7f00:1]/': /^private/,
      'https://169.254.169.254/latest': /^private/,
      'https://１２７.０.０.１/': /^private/,
      'https://localhost./': /^(private|name)/,
      'https://nothing.invalid/': /^name/,
    }
    for (const [url, rule] of Object.entries(wrong)) {
      const { status, body } = await create({ url })
      expect([status, body.code], url).to.deep.equal([422, 'address_refused'])
      expect(body.errors[0].field).to.equal('url')
      expect(body.errors[0].message, url).to.match(rule)
    }
    for (const url of [
      '',
      'nonsense',
      'https://',
      'https://a b.example/',
      'https://a.example/\u0000',
      receiver.url(`/${'a'.repeat(2_000)}`),
    ])
      expect((await create({ url })).status, url).to.equal(400)
    expect(await stored()).to.deep.equal([])
    const { body } = await create()
    const changed = await all.owner.send('PATCH', `webhooks/endpoints/${body.id}`, { url: 'https://10.0.0.1/' })
    expect([changed.status, changed.body.code]).to.deep.equal([422, 'address_refused'])
    expect((await all.owner.get(`webhooks/endpoints/${body.id}`)).body.url).to.equal(receiver.url())
  })

  it('may have any address where private ones are allowed, and no name with one private address elsewhere', async () => {
    const resolve = () =>
      Promise.resolve([
        { address: '93.184.216.34', family: 4 },
        { address: '10.0.0.1', family: 4 },
      ])
    expect(await ruleBrokenBy(new URL('https://two.example/'), { resolve })).to.equal('address_not_public')
    expect(await ruleBrokenBy(new URL('https://two.example:8443/'), { resolve })).to.equal('address_not_public')
    for (const url of ['http://127.0.0.1:9999/', 'http://two.example/', 'https://[::1]:8080/'])
      expect(await ruleBrokenBy(new URL(url), { resolve, allowPrivate: true }), url).to.equal(null)
    expect(await ruleBrokenBy(new URL('ftp://two.example/'), { resolve, allowPrivate: true })).to.equal('not_https')
  })

  it('choose among types that exist, and that their author may read', async () => {
    for (const types of [['nothing.happened'], ['nothing.*'], ['promo_code.created', 'promo_code.exploded']]) {
      const { status, body } = await create({ types })
      expect([status, body.code], types.join()).to.deep.equal([400, 'type_unknown'])
    }
    for (const types of [
      [],
      ['*', '*'],
      ['PROMO'],
      ['promo_code.created '],
      'x'
        .repeat(101)
        .split('')
        .map((_, i) => `a.b${i}`),
    ])
      expect((await create({ types })).status, JSON.stringify(types)).to.equal(400)
    const inactive = await create({ types: ['channel.connected'] })
    expect([inactive.status, inactive.body.code]).to.deep.equal([403, 'feature_not_enabled'])
    expect(await stored()).to.deep.equal([])
  })

  /** The desk of a key that saves endpoints, and reads units. */
  const openKey = async (...more: string[]) => {
    await sql(all.world.database.admin, `update session set reauthenticated_at = now()`)
    const scopes = ['webhooks:read', 'webhooks:write', 'units:read', ...more]
    const made = await all.owner.send('POST', 'api-keys', { name: 'integration', scopes })
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    const address = (path: string) => `/api/tenants/${all.house.tenantId}/${path}`
    const { id, key } = made.body as { id: string; key: string }
    const desk: Desk = {
      get: (path) => all.world.request('GET', address(path), { key }),
      send: (method, path, body = {}) => all.world.request(method, address(path), { key, body }),
    }
    const become = async (changed: object) => {
      const { status, body } = await all.owner.send('PATCH', `api-keys/${id}`, changed)
      expect(status, JSON.stringify(body)).to.equal(200)
    }
    return { desk, become }
  }
  const refused = async (asked: Promise<{ status: number; body: { code?: string } }>) => {
    const { status, body } = await asked
    expect([status, body.code]).to.deep.equal([403, 'forbidden'])
  }
  const change = (desk: Desk, { id }: { id: string }, body: object) =>
    desk.send('PATCH', `webhooks/endpoints/${id}`, body)

  it('and the feed tell no role of what it may not read', async () => {
    const permissions = ['WebhookEndpoint', 'Event', 'Unit'].map((subject) => ({ subject, actions: ['read'] }))
    const made = await all.owner.send('POST', 'roles', { key: 'integrator', name: 'Integrator', permissions })
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    const person = await makeUser({ [all.house.tenantId]: 'stock' })
    expect((await all.owner.send('PATCH', `users/${person.userId}`, { role: 'integrator' })).status).to.equal(200)
    const desk = deskOf(all.world, all.house.tenantId, (await signIn(all.world, person)).token)
    await refused(create({ types: ['unit.*'] }, desk))
    for (const types of ['promo_code.created', 'promo_code.*', 'unit.created,promo_code.created'])
      await refused(desk.get(`events?types=${types}`))
    expect((await desk.get('events?types=unit.*')).status).to.equal(200)
    expect(await stored()).to.deep.equal([])
  })

  it('of others are not led elsewhere by keys that may not read what they tell of', async () => {
    const { desk, become } = await openKey()
    const elsewhere = receiver.url('/elsewhere')
    const named = (await create({ types: ['promo_code.created', 'unit.*'] })).body
    for (const body of [{ url: elsewhere }, { description: 'mine' }, { propertyIds: [all.house.propertyId] }])
      await refused(change(desk, named, body))
    const whole = (await create({ types: ['*'] })).body
    expect((await change(desk, whole, { description: 'all of it' })).status).to.equal(200)
    await raiseIn(all.house.tenantId)
    await flow()
    const told = () => receiver.events().filter(({ body }) => body.includes('"type":"promo_code.'))
    expect(told().map(({ path }) => path)).to.deep.equal(['/', '/'])
    receiver.heard.splice(0)
    // At its new address it tells what both may read.
    expect((await change(desk, whole, { url: elsewhere })).status).to.equal(200)
    await raiseIn(all.house.tenantId)
    await flow()
    expect(told().map(({ path }) => path)).to.deep.equal(['/'])
    expect(receiver.events().some(({ path }) => path === '/elsewhere')).to.equal(true)
    // Of one house alone, it does not send on what happens in all.
    await become({ propertyIds: [all.house.propertyId] })
    const mine = (await create({ types: ['unit.*'] })).body
    await refused(change(desk, mine, { url: elsewhere }))
    const narrowed = await change(desk, mine, { url: elsewhere, propertyIds: [] })
    expect(narrowed.body).to.deep.include({ url: elsewhere, propertyIds: [all.house.propertyId] })
  })

  it('mean what their author could read when their types were saved, whatever becomes of the author', async () => {
    const { desk, become } = await openKey('properties:read')
    const named = (await create({ types: ['promo_code.created'] }, desk)).body
    const whole = (await create({ types: ['*'], url: receiver.url('/whole') }, desk)).body
    await become({ scopes: ['webhooks:read', 'webhooks:write', 'units:read'] })
    await raiseIn(all.house.tenantId)
    await flow()
    const told = () =>
      receiver
        .events()
        .filter(({ body }) => body.includes('"type":"promo_code.'))
        .map(({ path }) => path)
    expect(told()).to.have.members(['/', '/whole'])
    // The new scopes count for reading and saving from now on.
    await refused(change(desk, named, { url: receiver.url('/other') }))
    await refused(desk.get('events?types=promo_code.*'))
    const replay = { fromSequence: 1, types: ['promo_code.created'] }
    await refused(desk.send('POST', `webhooks/endpoints/${named.id}/replay`, replay))
    const seen = (await desk.get('webhooks/deliveries?limit=100')).body.data as { type: string }[]
    expect(seen.filter(({ type }) => type.startsWith('promo_code.'))).to.deep.equal([])
    const [delivery] = await sql<{ id: string }>(
      all.world.database.admin,
      `select id from webhook_delivery where tenant_id = ? and type = 'promo_code.created' limit 1`,
      [all.house.tenantId],
    )
    expect((await desk.get(`webhooks/deliveries/${delivery?.id}`)).status).to.equal(404)
    expect((await desk.send('POST', `webhooks/deliveries/${delivery?.id}/redeliver`)).status).to.equal(404)
    expect((await change(desk, whole, { types: ['*'] })).status).to.equal(200)
    receiver.heard.splice(0)
    await raiseIn(all.house.tenantId)
    await flow()
    expect(told()).to.deep.equal(['/'])
  })

  it('of a key tell of what its scopes read', async () => {
    await sql(all.world.database.admin, `update session set reauthenticated_at = now()`)
    const { body: made } = await all.owner.send('POST', 'api-keys', {
      name: 'integration',
      scopes: ['webhooks:read', 'webhooks:write', 'units:read'],
    })
    const request = (method: string, path: string, body?: unknown) =>
      all.world.request(method, `/api/tenants/${all.house.tenantId}/${path}`, {
        key: made.key as string,
        ...(body === undefined ? {} : { body }),
      })
    const unreadable = [['promo_code.created'], ['promo_code.*'], ['unit.*', 'promo_code.created']]
    for (const types of unreadable) {
      const refused = await request('POST', 'webhooks/endpoints', { url: receiver.url(), types })
      expect([refused.status, refused.body.code], types.join()).to.deep.equal([403, 'forbidden'])
      expect(refused.body.errors[0].field).to.equal(`types.${types.length - 1}`)
    }
    expect(await stored()).to.deep.equal([])
    const allowed = await request('POST', 'webhooks/endpoints', { url: receiver.url(), types: ['*'] })
    expect(allowed.status).to.equal(201)
    const changed = await request('PATCH', `webhooks/endpoints/${allowed.body.id}`, { types: ['promo_code.*'] })
    expect([changed.status, changed.body.code]).to.deep.equal([403, 'forbidden'])
    expect((await request('GET', `webhooks/endpoints/${allowed.body.id}`)).body.types).to.deep.equal(['*'])
    await raiseIn(all.house.tenantId)
    await flow()
    expect(receiver.events().filter(({ body }) => body.includes('"type":"promo_code.'))).to.deep.equal([])
    const seen = (await request('GET', 'events')).body.data as { type: string }[]
    expect(seen.filter(({ type }) => type.startsWith('promo_code.'))).to.deep.equal([])
    const types = (await request('GET', 'webhooks/event-types?limit=100')).body.data as { module: string }[]
    expect([...new Set(types.map(({ module }) => module))].sort()).to.deep.equal(['admin', 'units', 'webhooks'])
    const deliveries = await request('GET', 'webhooks/deliveries')
    expect(deliveries.status).to.equal(200)
  })

  it('are ten of a tenant at most, however many are made at once', async () => {
    const replies = await Promise.all(Array.from({ length: 14 }, () => create()))
    expect(replies.filter(({ status }) => status === 201)).to.have.length(10)
    expect(new Set(replies.filter(({ status }) => status !== 201).map(({ body }) => body.code))).to.deep.equal(
      new Set(['endpoint_limit']),
    )
    expect(await stored()).to.have.length(10)
  })

  it('belong to their tenant, and change by who has read them as they stand', async () => {
    const { body: made } = await create()
    const stranger = await makeHouse({ units: 1 })
    await grantWebhooks(stranger.tenantId)
    const other = await openDesk(all.world, stranger, 'owner')
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/pause'],
      ['POST', '/resume'],
      ['POST', '/test'],
      ['POST', '/rotate-secret'],
    ] as const)
      expect(
        (await other.send(method, `webhooks/endpoints/${made.id}${path}`, {})).status,
        `${method} ${path}`,
      ).to.equal(404)
    const unknown = await create({ propertyIds: [stranger.propertyId] })
    expect([unknown.status, unknown.body.code]).to.deep.equal([422, 'reference_not_found'])
    const stale = await all.owner.send(
      'PATCH',
      `webhooks/endpoints/${made.id}`,
      { description: 'late' },
      { headers: { 'if-match': '"9"' } },
    )
    expect([stale.status, stale.body.code]).to.deep.equal([409, 'version_conflict'])
    const changed = await all.owner.send('PATCH', `webhooks/endpoints/${made.id}`, {
      description: 'The channel manager',
      types: ['reservation.*'],
      propertyIds: [all.house.propertyId],
    })
    expect(changed.body).to.deep.include({
      description: 'The channel manager',
      types: ['reservation.*'],
      propertyIds: [all.house.propertyId],
      version: 2,
    })
    const manager = await openDesk(all.world, all.house, 'manager')
    expect((await manager.get('webhooks/endpoints')).body.data).to.have.length(1)
    expect((await create({}, manager)).status).to.equal(403)
  })
})
