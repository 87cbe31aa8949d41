import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { sql } from '../../db/lib/connection.ts'
import { days, useKeys } from './api-keys-support.ts'
import type { Made } from './api-keys-support.ts'
import { makeTenant, makeUser, signIn } from './support.ts'

describe('a tenant’s API keys', () => {
  const keys = useKeys()
  const { world, proven, call, make, use, events } = keys

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
    expect(made).to.deep.include({
      status: 'active',
      propertyIds: null,
      createdBy: keys.owner.userId,
      lastUsedAt: null,
    })
    expect(await use(key)).to.deep.equal([200, undefined])
    const again = await call('POST', '', body, { 'idempotency-key': 'make-1' })
    expect([again.status, again.body]).to.deep.equal([201, { ...made, key: null }])
    const { body: page } = await call('GET', '?status=active')
    const shown = page.data.find(({ id }: Made) => id === made.id)
    expect(shown).to.deep.equal({ ...made })
    // The answer that is kept for a repeated request is sealed. The reply to the repetition shows that the key is not in it.
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
      propertyIds: [keys.house.propertyId],
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
    await call('PATCH', `/${id}`, { scopes: ['guests:read'], propertyIds: [keys.house.propertyId] })
    expect(await use(key)).to.deep.equal([200, undefined])
    await call('PATCH', `/${id}`, { cidrs: ['203.0.113.0/24'] })
    expect(await use(key)).to.deep.equal([403, 'address_not_allowed'])
    await call('PATCH', `/${id}`, { cidrs: [] })
    expect((await call('POST', `/${id}/revoke`, {})).body).to.deep.include({
      status: 'revoked',
      revokedBy: keys.owner.userId,
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
    const admin = await makeUser({ [keys.tenantId]: 'admin' })
    await sql(world.database.admin, `update membership set all_properties = false where user_id = ?`, [admin.userId])
    await sql(
      world.database.admin,
      `insert into membership_property (tenant_id, membership_id, property_id) select tenant_id, id, ? from membership where user_id = ?`,
      [keys.house.propertyId, admin.userId],
    )
    const limited = (await signIn(world, admin)).token
    const as = (method: string, suffix: string, body?: unknown) =>
      world.request(method, `/api/tenants/${keys.tenantId}/api-keys${suffix}`, {
        token: limited,
        ...(body === undefined ? {} : { body }),
      })
    const given = { scopes: ['guests:read'] }
    expect((await as('POST', '', { name: 'all', ...given })).body.code).to.equal('forbidden')
    expect((await as('POST', '', { name: 'other', ...given, propertyIds: [randomUUID()] })).body.code).to.equal(
      'forbidden',
    )
    const own = await as('POST', '', { name: 'own', ...given, propertyIds: [keys.house.propertyId] })
    expect(own.status).to.equal(201)
    expect((await as('PATCH', `/${own.body.id}`, { propertyIds: null })).body.code).to.equal('forbidden')
    expect((await as('POST', `/${id}/revoke`, {})).status).to.equal(404)
    const seen = (await as('GET', '?limit=100')).body.data as Made[]
    expect(seen.map((one) => one.id)).to.include(own.body.id)
    for (const one of seen) expect(one.propertyIds).to.deep.equal([keys.house.propertyId])
    expect(await use(key)).to.deep.equal([200, undefined])
  })
})
