import { expect } from 'chai'
import { closeRedis, openRedis } from '../../api/lib/redis.ts'
import { keyIdOf } from '../../db/auth/keys.ts'
import { sql } from '../../db/lib/connection.ts'
import { connectRedis } from '../support/redis.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'
import { forgetLimits, makeKey, makeTenant } from './support.ts'

describe('an API key', () => {
  const world = useWorld()
  let tenantId: string
  before(async () => {
    tenantId = await makeTenant('Enterprise')
  })
  beforeEach(() => forgetLimits(world))
  afterEach(connectRedis)

  const guests = async (key: string, of = tenantId, headers: Record<string, string> = {}) => {
    const { status, body } = await world.request('GET', `/api/tenants/${of}/guests`, { key, headers })
    return [status, body.code]
  }
  const changed = (text: string, at: number, to: string) =>
    text.slice(0, at) + (text[at] === to ? 'Z' : to) + text.slice(at + 1)

  it('has the form that scanners find, and is stored as a hash alone', async () => {
    const { key, keyId, apiKeyId } = await makeKey(tenantId, ['read'])
    expect(key).to.match(/^pou_(live|test)_[0-9A-Z]{8}_[0-9A-Za-z]{49}$/)
    expect(keyIdOf(key)).to.equal(keyId)
    const [row] = await sql<{ text: string; hint: string }>(
      world.database.admin,
      `select k::text as text, hint from api_key k where id = ?`,
      [apiKeyId],
    )
    expect(row?.text).to.not.include(key.slice(18, 60))
    expect(row?.hint).to.equal(`${key.slice(0, 17)}…${key.slice(-4)}`)
    expect(await guests(key)).to.deep.equal([200, undefined])
    const stored = []
    for (const name of await world.redis.keys('*key:*'))
      if ((await world.redis.type(name)) === 'string') stored.push(await world.redis.get(name))
    expect(stored.join()).to.not.include(key.slice(18, 60))
  })

  it('with a wrong sign, length or checksum is refused before anything is read', async () => {
    const { key } = await makeKey(tenantId, ['read'])
    const bad = [
      '',
      'x',
      key.slice(0, -1),
      `${key}0`,
      changed(key, 10, '0'),
      changed(key, 20, 'a'),
      changed(key, key.length - 1, 'a'),
      key.replace('pou_test_', 'pou_live_'),
      key.toLowerCase(),
      key.replaceAll('_', '-'),
      `pou_test_${'I'.repeat(8)}_${'a'.repeat(49)}`,
      'p'.repeat(4_000),
    ]
    for (const one of bad) expect(keyIdOf(one), one.slice(0, 20)).to.equal(null)
    for (const one of bad.slice(1, -1)) expect(await guests(one)).to.deep.equal([401, 'unauthenticated'])
  })

  it('that is unknown, revoked or expired is one 401', async () => {
    const [revoked, expired] = [
      await makeKey(tenantId, ['read']),
      await makeKey(tenantId, ['read'], { expiresAt: new Date(Date.now() - 1_000) }),
    ]
    const foreign = await makeKey(tenantId, ['read'])
    await sql(world.database.admin, `update api_key set revoked_at = now() where id = ?`, [revoked.apiKeyId])
    await sql(world.database.admin, `update api_key set hash = sha256('other') where id = ?`, [foreign.apiKeyId])
    for (const { key } of [revoked, expired, foreign]) expect(await guests(key)).to.deep.equal([401, 'unauthenticated'])
    const soon = await makeKey(tenantId, ['read'], { expiresAt: new Date(Date.now() + 1_500) })
    await until(async () => (await guests(soon.key))[0] === 401)
  })

  it('works with Redis gone as with Redis', async () => {
    const { key } = await makeKey(tenantId, ['read'])
    closeRedis()
    expect(await guests(key)).to.deep.equal([200, undefined])
    openRedis('redis://127.0.0.1:1')
    expect(await guests(key)).to.deep.equal([200, undefined])
  })

  it('may only what its scopes name', async () => {
    const allowed: [string[], number, string | undefined][] = [
      [['read'], 200, undefined],
      [['guests:read'], 200, undefined],
      [['write'], 403, 'scope_missing'],
      [['guests:write'], 403, 'scope_missing'],
      [['reservations:read'], 403, 'scope_missing'],
      [['guests:reveal'], 403, 'scope_missing'],
      [['channel:deliver'], 403, 'scope_missing'],
    ]
    for (const [scopes, status, code] of allowed)
      expect(await guests((await makeKey(tenantId, scopes)).key), scopes.join()).to.deep.equal([status, code])
    const { key } = await makeKey(tenantId, ['channel:deliver'])
    expect((await world.request('GET', `/api/tenants/${tenantId}`, { key })).status).to.equal(200)
  })

  it('needs the feature of the API on its tenant’s plan', async () => {
    const [starter, professional] = [await makeTenant('Starter'), await makeTenant('Professional')]
    const refused = await world.request('GET', `/api/tenants/${starter}/guests`, {
      key: (await makeKey(starter, ['read', 'write'])).key,
    })
    expect([refused.status, refused.body.code, refused.body.errors]).to.deep.equal([
      403,
      'feature_not_enabled',
      [{ field: 'feature', message: 'api_read' }],
    ])
    expect(await guests((await makeKey(professional, ['read', 'write'])).key, professional)).to.deep.equal([
      200,
      undefined,
    ])
  })

  it('reaches no other tenant, no session and no superuser’s path', async () => {
    const { key } = await makeKey(tenantId, ['read', 'write'])
    expect(await guests(key, await makeTenant())).to.deep.equal([403, 'tenant_not_active'])
    for (const [method, path] of [
      ['GET', '/api/auth/me'],
      ['GET', '/api/auth/sessions'],
      ['POST', '/api/auth/revoke-all'],
      ['GET', `/superuser/tenants/${tenantId}/entitlements`],
    ] as const) {
      const { status, body } = await world.request(method, path, { key })
      expect([status, body.code], path).to.deep.equal([403, 'key_not_allowed'])
    }
  })

  it('is bound to its addresses, which a forged header does not change', async () => {
    const inside = await makeKey(tenantId, ['read'], { cidrs: ['127.0.0.0/8'] })
    const outside = await makeKey(tenantId, ['read'], { cidrs: ['203.0.113.0/24', '2001:db8::/32'] })
    expect(await guests(inside.key)).to.deep.equal([200, undefined])
    expect(await guests(outside.key)).to.deep.equal([403, 'address_not_allowed'])
    expect(await guests(outside.key, tenantId, { 'x-forwarded-for': '203.0.113.9' })).to.deep.equal([
      403,
      'address_not_allowed',
    ])
    const { headers } = await world.request('GET', `/api/tenants/${tenantId}`, { key: outside.key })
    expect(headers['x-ratelimit-limit']).to.equal('1000')
  })

  it('is read from its header alone', async () => {
    const { key } = await makeKey(tenantId, ['read'])
    expect((await world.request('GET', `/api/tenants/${tenantId}/guests?api_key=${key}`)).status).to.equal(401)
    expect((await world.request('GET', `/api/tenants/${tenantId}/guests`, { token: key })).status).to.equal(401)
    expect(
      (await world.request('GET', `/api/tenants/${tenantId}/guests`, { headers: { cookie: `x-api-key=${key}` } }))
        .status,
    ).to.equal(401)
  })

  it('on public endpoints stands for a portal’s server of that tenant, and a bad one is 401', async () => {
    const { status } = await world.request('POST', '/api/auth/sign-in/email', {
      key: 'pou_test_nonsense',
      body: { email: 'a@house.example', password: 'x' },
    })
    expect(status).to.equal(401)
  })
})
