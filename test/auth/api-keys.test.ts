import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { inPlatform, sql } from '../../db/connection.ts'
import { enqueue } from '../../db/enqueue.ts'
import { readUserMail } from '../../db/ocp/user-mail.ts'
import { warnExpiringKeys } from '../../jobs/maintenance.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { forgetLimits, makeTenant, makeUser, signIn } from './support.ts'
import type { Person } from './support.ts'

type Made = { id: string; key: string; keyId: string; name: string; expiresAt: string; version: number } & Record<
  string,
  unknown
>
const days = (count: number) => count * 86_400_000

describe('a tenant’s API keys', () => {
  const world = useWorld()
  let tenantId: string
  let owner: Person
  let token: string
  let house: House
  before(async () => {
    tenantId = await makeTenant('Enterprise')
    house = await makeHouse({ tenantId })
    owner = await makeUser({ [tenantId]: 'owner' })
    token = (await signIn(world, owner)).token
  })
  beforeEach(async () => {
    await forgetLimits(world)
    await proven(true)
  })

  const proven = async (is: boolean) => {
    await sql(
      world.database.admin,
      `update session set reauthenticated_at = case when ? then now() else now() - interval '1 hour' end where user_id = ?`,
      [is, owner.userId],
    )
    await world.redis.flushall()
  }
  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    world.request(method, `/api/tenants/${tenantId}/api-keys${path}`, {
      token,
      headers,
      ...(body === undefined ? {} : { body }),
    })
  const make = async (given: Record<string, unknown> = {}): Promise<Made> => {
    const { status, body } = await call('POST', '', {
      name: `key ${randomUUID().slice(0, 8)}`,
      scopes: ['read', 'write'],
      ...given,
    })
    expect(status, JSON.stringify(body)).to.equal(201)
    return body as Made
  }
  const use = async (key: string, path = 'guests') => {
    const { status, body } = await world.request('GET', `/api/tenants/${tenantId}/${path}`, { key })
    return [status, body.code]
  }
  const events = async (id: string) =>
    (
      await sql<{ type: string }>(
        world.database.admin,
        `select type from event where entity->>'id' = ? order by occurred_at, id`,
        [id],
      )
    ).map(({ type }) => type)

  it('are made once and shown once: a list, and a repeated request, know the hint alone', async () => {
    const body = {
      name: 'Portal',
      scopes: ['guests:read', 'reservations:write'],
      cidrs: ['127.0.0.0/8', '2001:db8::1'],
    }
    const first = await call('POST', '', body, { 'idempotency-key': 'make-1' })
    expect(first.status).to.equal(201)
    const { key, ...made } = first.body as Made
    expect(Date.parse(made.expiresAt) - Date.now()).to.be.within(days(364), days(367))
    expect(made).to.deep.include({ status: 'active', propertyIds: null, createdBy: owner.userId, lastUsedAt: null })
    expect(await use(key)).to.deep.equal([200, undefined])
    const again = await call('POST', '', body, { 'idempotency-key': 'make-1' })
    expect([again.status, again.body]).to.deep.equal([201, { ...made, key: null }])
    const { body: page } = await call('GET', '?status=active')
    const shown = page.data.find(({ id }: Made) => id === made.id)
    expect(shown).to.deep.equal({ ...made })
    // What is kept for a repeated request is sealed, and what it is answered with shows that the key is not in it.
    expect(JSON.stringify([page, again.body])).to.not.include(key.slice(18, 60))
    expect(await events(made.id)).to.deep.equal(['api_key.created'])
  })

  it('are refused with unknown scopes, networks that are none, a life over two years, a name that is taken', async () => {
    const { name } = await make()
    const bad: [Record<string, unknown>, number, string][] = [
      [{ scopes: ['auth:read'] }, 400, 'validation_failed'],
      [{ scopes: ['admin:write'] }, 400, 'validation_failed'],
      [{ scopes: ['*'] }, 400, 'validation_failed'],
      [{ scopes: [] }, 400, 'validation_failed'],
      [{ cidrs: ['10.0.0.1/8'] }, 400, 'validation_failed'],
      [{ cidrs: ['10.0.0.0/33'] }, 400, 'validation_failed'],
      [{ cidrs: ['0x7f.1'] }, 400, 'validation_failed'],
      [{ cidrs: ['fe80::1%eth0'] }, 400, 'validation_failed'],
      [{ cidrs: Array.from({ length: 21 }, (_, n) => `10.0.${n}.0/24`) }, 400, 'validation_failed'],
      [{ expiresAt: new Date(Date.now() + days(732)).toISOString() }, 400, 'validation_failed'],
      [{ expiresAt: new Date(Date.now() - 1).toISOString() }, 400, 'validation_failed'],
      [{ propertyIds: [randomUUID()] }, 422, 'reference_not_found'],
      [{ name }, 409, 'duplicate_name'],
    ]
    for (const [given, status, code] of bad) {
      const reply = await call('POST', '', { name: randomUUID(), scopes: ['read'], ...given })
      expect([reply.status, reply.body.code], JSON.stringify(given)).to.deep.equal([status, code])
    }
    expect((await make({ expiresAt: new Date(Date.now() + days(730)).toISOString() })).status).to.equal('active')
  })

  it('need a fresh proof of identity to be made, rotated or widened, and none to be narrowed or revoked', async () => {
    const made = await make({
      scopes: ['guests:read', 'units:read'],
      cidrs: ['127.0.0.0/8'],
      propertyIds: [house.propertyId],
    })
    await proven(false)
    const refused = [
      await call('POST', '', { name: 'x', scopes: ['read'] }),
      await call('POST', `/${made.id}/rotate`, {}),
      await call('PATCH', `/${made.id}`, { scopes: ['read'] }),
      await call('PATCH', `/${made.id}`, { scopes: ['guests:read', 'guests:reveal'] }),
      await call('PATCH', `/${made.id}`, { propertyIds: null }),
      await call('PATCH', `/${made.id}`, { cidrs: [] }),
      await call('PATCH', `/${made.id}`, { cidrs: ['127.0.0.0/8', '10.0.0.0/8'] }),
      await call('PATCH', `/${made.id}`, { expiresAt: new Date(Date.now() + days(700)).toISOString() }),
    ]
    for (const { status, body } of refused)
      expect([status, body.code]).to.deep.equal([403, 'reauthentication_required'])
    const narrower = await call('PATCH', `/${made.id}`, {
      name: 'Narrow',
      scopes: ['guests:read'],
      cidrs: ['127.0.0.1'],
      expiresAt: new Date(Date.now() + days(3)).toISOString(),
    })
    expect([narrower.status, narrower.body.scopes, narrower.body.cidrs]).to.deep.equal([
      200,
      ['guests:read'],
      ['127.0.0.1/32'],
    ])
    expect((await call('POST', `/${made.id}/revoke`, {})).status).to.equal(200)
  })

  it('that are narrowed or revoked are so at the next use, though Redis remembers; a stale version is 409', async () => {
    const { id, key, version } = await make()
    expect(await use(key)).to.deep.equal([200, undefined])
    const stale = await call('PATCH', `/${id}`, { scopes: ['units:read'] }, { 'if-match': `"${version + 1}"` })
    expect([stale.status, stale.body.code]).to.deep.equal([409, 'version_conflict'])
    expect((await call('PATCH', `/${id}`, { scopes: ['units:read'] })).body.version).to.equal(version + 1)
    expect(await use(key)).to.deep.equal([403, 'scope_missing'])
    await call('PATCH', `/${id}`, { scopes: ['guests:read'], propertyIds: [house.propertyId] })
    expect(await use(key)).to.deep.equal([200, undefined])
    await call('PATCH', `/${id}`, { cidrs: ['203.0.113.0/24'] })
    expect(await use(key)).to.deep.equal([403, 'address_not_allowed'])
    await call('PATCH', `/${id}`, { cidrs: [] })
    expect((await call('POST', `/${id}/revoke`, {})).body).to.deep.include({
      status: 'revoked',
      revokedBy: owner.userId,
    })
    expect(await use(key)).to.deep.equal([401, 'unauthenticated'])
    expect((await call('POST', `/${id}/revoke`, {})).status).to.equal(200)
    for (const late of [await call('PATCH', `/${id}`, { name: 'late' }), await call('POST', `/${id}/rotate`, {})])
      expect([late.status, late.body.code]).to.deep.equal([409, 'invalid_transition'])
    expect(await events(id)).to.deep.equal(['api_key.created', 'api_key.revoked'])
    const [row] = await sql<{ n: number }>(
      world.database.admin,
      `select count(*) as n from audit_entry where subject_id = ? and subject_type = 'ApiKey'`,
      [id],
    )
    expect(row?.n).to.equal(7)
  })

  it('rotated go on beside the new one until the overlap is over, and no longer than they would have', async () => {
    const { id, key, name } = await make({ cidrs: ['127.0.0.0/8'] })
    const { status, body: next } = await call('POST', `/${id}/rotate`, { overlapHours: 2 }, { 'idempotency-key': 'r1' })
    expect([status, next.name, next.replacesId, next.cidrs]).to.deep.equal([200, name, id, ['127.0.0.0/8']])
    expect(next.key).to.not.equal(key)
    expect((await call('POST', `/${id}/rotate`, { overlapHours: 2 }, { 'idempotency-key': 'r1' })).body).to.deep.equal({
      ...next,
      key: null,
    })
    expect([await use(key), await use(next.key)]).to.deep.equal([
      [200, undefined],
      [200, undefined],
    ])
    const again = await call('POST', `/${id}/rotate`, {})
    expect([again.status, again.body.code]).to.deep.equal([409, 'invalid_transition'])
    // Its end, a second away on either side: the clock of the record is moved, not ours.
    const endsIn = async (seconds: number) => {
      await sql(world.database.admin, `update api_key set expires_at = now() + make_interval(secs => ?) where id = ?`, [
        seconds,
        id,
      ])
      await world.redis.flushall()
    }
    const { body: page } = await call('GET', '?limit=100')
    const old = page.data.find((one: Made) => one.id === id)
    expect(Date.parse(old.expiresAt) - Date.now()).to.be.within(7_190_000, 7_200_000)
    await endsIn(1)
    expect(await use(key)).to.deep.equal([200, undefined])
    await endsIn(-1)
    expect(await use(key)).to.deep.equal([401, 'unauthenticated'])
    expect(await use(next.key)).to.deep.equal([200, undefined])
    expect(await events(next.id)).to.deep.equal(['api_key.rotated'])
    const short = await make({ expiresAt: new Date(Date.now() + 3_600_000).toISOString() })
    await call('POST', `/${short.id}/rotate`, {})
    const { body: later } = await call('GET', '?limit=100')
    expect(later.data.find((one: Made) => one.id === short.id).expiresAt).to.equal(short.expiresAt)
    for (const overlapHours of [-1, 169, 1.5])
      expect((await call('POST', `/${next.id}/rotate`, { overlapHours })).status).to.equal(400)
    expect((await call('POST', `/${next.id}/rotate`, { overlapHours: 0 })).status).to.equal(200)
    expect(await use(next.key)).to.deep.equal([401, 'unauthenticated'])
  })

  it('rotated twice at once have one successor', async () => {
    const { id } = await make()
    const replies = await Promise.all([1, 2, 3].map(() => call('POST', `/${id}/rotate`, {})))
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([200, 409, 409])
  })

  it('are listed by what they are: active, revoked, expired; a name is free again once its key is over', async () => {
    const [expired, revoked] = [await make({ name: 'Over' }), await make({ name: 'Gone' })]
    await sql(world.database.admin, `update api_key set expires_at = now() - interval '1 second' where id = ?`, [
      expired.id,
    ])
    await call('POST', `/${revoked.id}/revoke`, {})
    const names = async (status: string) =>
      (await call('GET', `?status=${status}&limit=100`)).body.data.map(({ id }: Made) => id) as string[]
    expect(await names('expired'))
      .to.include(expired.id)
      .and.not.include(revoked.id)
    expect(await names('revoked'))
      .to.include(revoked.id)
      .and.not.include(expired.id)
    expect(await names('active'))
      .to.not.include(expired.id)
      .and.not.include(revoked.id)
    expect((await make({ name: 'Over' })).name).to.equal('Over')
    expect((await make({ name: 'Gone' })).name).to.equal('Gone')
  })

  it('of others are not there, and who has some properties gives no others', async () => {
    const other = await makeTenant()
    const foreign = await signIn(world, await makeUser({ [other]: 'owner' }))
    const { id, key } = await make()
    const path = `/api/tenants/${other}/api-keys/${id}`
    for (const [method, suffix] of [
      ['PATCH', ''],
      ['POST', '/rotate'],
      ['POST', '/revoke'],
    ] as const)
      expect((await world.request(method, path + suffix, { token: foreign.token, body: {} })).status).to.equal(404)
    const admin = await makeUser({ [tenantId]: 'admin' })
    await sql(world.database.admin, `update membership set all_properties = false where user_id = ?`, [admin.userId])
    await sql(
      world.database.admin,
      `insert into membership_property (tenant_id, membership_id, property_id) select tenant_id, id, ? from membership where user_id = ?`,
      [house.propertyId, admin.userId],
    )
    const limited = (await signIn(world, admin)).token
    const as = (method: string, suffix: string, body?: unknown) =>
      world.request(method, `/api/tenants/${tenantId}/api-keys${suffix}`, {
        token: limited,
        ...(body === undefined ? {} : { body }),
      })
    const given = { scopes: ['guests:read'] }
    expect((await as('POST', '', { name: 'all', ...given })).body.code).to.equal('forbidden')
    expect((await as('POST', '', { name: 'other', ...given, propertyIds: [randomUUID()] })).body.code).to.equal(
      'forbidden',
    )
    const own = await as('POST', '', { name: 'own', ...given, propertyIds: [house.propertyId] })
    expect(own.status).to.equal(201)
    expect((await as('PATCH', `/${own.body.id}`, { propertyIds: null })).body.code).to.equal('forbidden')
    expect((await as('POST', `/${id}/revoke`, {})).status).to.equal(404)
    const seen = (await as('GET', '?limit=100')).body.data as Made[]
    expect(seen.map((one) => one.id)).to.include(own.body.id)
    for (const one of seen) expect(one.propertyIds).to.deep.equal([house.propertyId])
    expect(await use(key)).to.deep.equal([200, undefined])
  })

  it('that expire soon are told of to owner and admins, once 30 and once 7 days before', async () => {
    const house2 = await makeTenant()
    const people = [
      await makeUser({ [house2]: 'owner' }),
      await makeUser({ [house2]: 'admin' }),
      await makeUser({ [house2]: 'manager' }),
    ]
    const [boss] = people
    if (!boss) throw new Error('an owner was made')
    const session = await signIn(world, boss)
    const { body } = await world.request('POST', `/api/tenants/${house2}/api-keys`, {
      token: session.token,
      body: { name: 'Channel "A"', scopes: ['read'] },
    })
    const expiresIn = (count: number) =>
      sql(world.database.admin, `update api_key set expires_at = now() + make_interval(days => ?) where id = ?`, [
        count,
        body.id,
      ])
    const told = async () => {
      await inPlatform((trx) => enqueue(trx, warnExpiringKeys, {}))
      await world.drain()
      const rows = await sql<{ userId: string }>(
        world.database.admin,
        `select user_id from user_mail where kind = 'key_expiring' and user_id = any(?::uuid[])`,
        [people.map(({ userId }) => userId)],
      )
      return rows.map(({ userId }) => people.findIndex((person) => person.userId === userId)).toSorted((a, b) => a - b)
    }
    expect(await told()).to.deep.equal([])
    await expiresIn(29)
    expect(await told()).to.deep.equal([0, 1])
    expect(await told()).to.deep.equal([0, 1])
    await sql(
      world.database.admin,
      `update api_key_warning set expires_at = (select expires_at from api_key where id = ?) + interval '23 days' where api_key_id = ?`,
      [body.id, body.id],
    )
    await expiresIn(6)
    expect(await told()).to.deep.equal([0, 0, 1, 1])
    expect(await told()).to.deep.equal([0, 0, 1, 1])
    const [mail] = await sql<{ id: string }>(
      world.database.admin,
      `update user_mail set status = 'queued' where kind = 'key_expiring' and user_id = ? returning id`,
      [boss.userId],
    )
    const letter = await inPlatform((trx) => readUserMail(trx, mail?.id ?? ''))
    expect(letter?.to).to.equal(boss.email)
    expect(letter?.text).to.match(/the API key "Channel "A"" of House expires on \d{4}-\d{2}-\d{2}/)
    expect(await events(body.id)).to.deep.equal(['api_key.created', 'api_key.expiry_neared', 'api_key.expiry_neared'])
  })
})
