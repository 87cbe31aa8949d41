import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { enrolTotp } from '../../db/auth/second-factor.ts'
import { inTenant, sql, sqlOne, withoutTenant } from '../../db/lib/connection.ts'
import { makeHouse } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { forgetLimits, makeSuperuser, makeTenant, makeUser, newEmail, signIn } from './support.ts'
import type { Person } from './support.ts'

describe('members of a tenant', () => {
  const world = useWorld()
  beforeEach(() => forgetLimits(world))

  const team = async (roles: string[]) => {
    const tenantId = await makeTenant()
    const people = await Promise.all(roles.map((role) => makeUser({ [tenantId]: role })))
    const [first] = people as [Person, ...Person[]]
    const { token } = await signIn(world, first)
    const users = `/api/tenants/${tenantId}/users`
    return { tenantId, people: people as [Person, Person, Person], token, users }
  }
  const entries = (action: string, subjectId: string) =>
    sql<{ changes: unknown[] }>(
      world.database.admin,
      `select changes from audit_entry where action = ? and subject_id = ? order by at`,
      [action, subjectId],
    )
  const events = async (tenantId: string, type: string) =>
    (
      await sql<{ data: object }>(world.database.admin, `select data from event where tenant_id = ? and type = ?`, [
        tenantId,
        type,
      ])
    ).map(({ data }) => data)

  it('are listed with filters, whole to managers, by name alone to others', async () => {
    const { people, token, users } = await team(['owner', 'receptionist', 'manager'])
    const all = await world.request('GET', users, { token })
    expect(all.body.meta.total).to.equal(3)
    const one = await world.request(
      'GET',
      `${users}?role=receptionist&status=active&q=${people[1].email.slice(0, 9).toUpperCase()}`,
      { token },
    )
    expect(one.body.data).to.have.length(1)
    expect(one.body.data[0]).to.include({
      userId: people[1].userId,
      email: people[1].email,
      mfaEnabled: false,
      propertyIds: null,
    })
    expect((await world.request('GET', `${users}?q=%25`, { token })).body.data).to.deep.equal([])

    const desk = await signIn(world, people[1])
    const names = await world.request('GET', users, { token: desk.token })
    expect(names.body.data.map((row: object) => Object.keys(row).toSorted())).to.deep.equal(
      Array.from({ length: 3 }, () => ['name', 'userId']),
    )
    const single = await world.request('GET', `${users}/${people[0].userId}`, { token: desk.token })
    expect(single.body).to.deep.equal({ userId: people[0].userId, name: 'Somebody' })
    expect(single.headers).not.to.have.property('etag')
    for (const query of ['status=active', 'role=owner', `propertyId=${randomUUID()}`])
      expect((await world.request('GET', `${users}?${query}`, { token: desk.token })).status, query).to.equal(403)
    const byAddress = await world.request('GET', `${users}?q=${people[0].email}`, { token: desk.token })
    expect(byAddress.body.meta.total).to.equal(0)
    expect((await world.request('GET', `${users}/${(await makeUser()).userId}`, { token })).status).to.equal(404)
  })

  it('change role at once, with old and new in trail and event; not one’s own, and not with a stale version', async () => {
    const { tenantId, people, token, users } = await team(['owner', 'receptionist', 'manager'])
    const desk = await signIn(world, people[1])
    const guests = `/api/tenants/${tenantId}/guests`
    expect((await world.request('GET', guests, { token: desk.token })).status).to.equal(200)
    const path = `${users}/${people[1].userId}`
    const stale = await world.request('PATCH', path, { token, body: { role: 'stock' }, headers: { 'if-match': '"7"' } })
    expect([stale.status, stale.body.code]).to.deep.equal([409, 'version_conflict'])
    const changed = await world.request('PATCH', path, {
      token,
      body: { role: 'stock' },
      headers: { 'if-match': '"1"' },
    })
    expect([changed.status, changed.body.role, changed.body.version]).to.deep.equal([200, 'stock', 2])
    expect((await world.request('GET', guests, { token: desk.token })).status).to.equal(403)
    const again = await world.request('PATCH', path, { token, body: { role: 'stock' } })
    expect([again.status, again.body.version]).to.deep.equal([200, 2])
    const [entry] = await entries('user.change_role', people[1].userId)
    expect(entry?.changes).to.deep.equal([{ field: 'role', before: 'receptionist', after: 'stock' }])
    expect(await events(tenantId, 'user.role_changed')).to.deep.equal([
      { userId: people[1].userId, role: 'stock', propertyIds: null },
    ])
    const own = await world.request('PATCH', `${users}/${people[0].userId}`, { token, body: { role: 'admin' } })
    expect([own.status, own.body.code]).to.deep.equal([422, 'not_oneself'])
    const nobody = await world.request('PATCH', path, { token, body: { role: 'night-desk' } })
    expect([nobody.status, nobody.body.code]).to.deep.equal([422, 'reference_not_found'])
    expect((await world.request('PATCH', path, { token, body: {} })).status).to.equal(400)
  })

  it('are changed by nobody of lower rank, and only after a fresh proof of identity', async () => {
    const { people, users, token: owner } = await team(['owner', 'admin', 'manager'])
    const { token } = await signIn(world, people[1])
    const boss = `${users}/${people[0].userId}`
    const tries = [
      world.request('PATCH', boss, { token, body: { role: 'manager' } }),
      world.request('PATCH', `${users}/${people[2].userId}`, { token, body: { role: 'owner' } }),
      world.request('POST', users, { token, body: { email: newEmail('x'), role: 'owner' } }),
      ...['deactivate', 'reset-mfa', 'revoke-sessions'].map((verb) =>
        world.request('POST', `${boss}/${verb}`, { token }),
      ),
    ]
    for (const { status, body } of await Promise.all(tries))
      expect([status, body.code]).to.deep.equal([403, 'forbidden'])
    expect(
      (await world.request('PATCH', `${users}/${people[2].userId}`, { token, body: { role: 'admin' } })).status,
    ).to.equal(200)
    await sql(
      world.database.admin,
      `update session set reauthenticated_at = now() - interval '11 minutes' where user_id = ?`,
      [people[0].userId],
    )
    await world.redis.flushdb()
    const late = await world.request('PATCH', `${users}/${people[2].userId}`, { token: owner, body: { role: 'stock' } })
    expect([late.status, late.body.code]).to.deep.equal([403, 'reauthentication_required'])
  })

  it('lose their access with the commit, whatever token they hold, and have it again when it is given back', async () => {
    const { tenantId, people, token, users } = await team(['owner', 'manager', 'manager'])
    const member = await signIn(world, people[1])
    const path = `${users}/${people[1].userId}`
    const see = () => world.request('GET', `/api/tenants/${tenantId}/guests`, { token: member.token })
    expect((await see()).status).to.equal(200)
    const gone = await world.request('POST', `${path}/deactivate`, { token })
    expect([gone.status, gone.body.status, gone.body.lastSeenAt]).to.deep.equal([200, 'deactivated', null])
    const after = await see()
    expect([after.status, after.body.error]).to.deep.equal([403, 'ForbiddenException'])
    const enter = await world.request('PUT', '/api/auth/tenant-context', { token: member.token, body: { tenantId } })
    expect([enter.status, enter.body.code]).to.deep.equal([403, 'tenant_not_active'])
    expect((await world.request('POST', `${path}/deactivate`, { token })).status).to.equal(200)
    const change = await world.request('PATCH', path, { token, body: { role: 'stock' } })
    expect([change.status, change.body.code]).to.deep.equal([409, 'invalid_transition'])
    expect((await world.request('POST', `${path}/reactivate`, { token })).body.status).to.equal('active')
    expect(
      (await world.request('PUT', '/api/auth/tenant-context', { token: member.token, body: { tenantId } })).status,
    ).to.equal(200)
    expect((await see()).status).to.equal(200)
    expect(await events(tenantId, 'user.deactivated')).to.have.length(1)
    expect(await events(tenantId, 'user.reactivated')).to.have.length(1)
    const own = await world.request('POST', `${users}/${people[0].userId}/deactivate`, { token })
    expect([own.status, own.body.code]).to.deep.equal([422, 'not_oneself'])
  })

  it('keep an owner, though two owners deactivate each other at the same moment, twenty times over', async () => {
    const { tenantId, people, users, token } = await team(['owner', 'owner'])
    const other = await signIn(world, people[1])
    const outcomes = new Set<string>()
    for (let round = 0; round < 20; round += 1) {
      const replies = await Promise.all([
        world.request('POST', `${users}/${people[1].userId}/deactivate`, { token }),
        world.request('POST', `${users}/${people[0].userId}/deactivate`, { token: other.token }),
      ])
      outcomes.add(
        replies
          .map(({ status, body }) => `${status} ${status === 200 ? '' : body.code}`.trim())
          .toSorted()
          .join(', '),
      )
      const left = await sql<{ userId: string }>(
        world.database.admin,
        `select user_id from membership where tenant_id = ? and role = 'owner' and status = 'active'`,
        [tenantId],
      )
      expect(left, `round ${round}`).to.have.length(1)
      await sql(world.database.admin, `update membership set status = 'active' where tenant_id = ?`, [tenantId])
      await sql(world.database.admin, `update session set active_tenant_id = ? where user_id in (?, ?)`, [
        tenantId,
        people[0].userId,
        people[1].userId,
      ])
      await world.redis.flushdb()
    }
    for (const outcome of outcomes)
      expect(outcome).to.be.oneOf([
        '200, 422 last_owner',
        '200, 403 tenant_context_required',
        '200, 403 tenant_not_active',
      ])
  })

  it('have their sessions in this tenant ended, and no others', async () => {
    const { tenantId, people, token, users } = await team(['owner', 'manager'])
    const elsewhere = await makeTenant()
    await inTenant(elsewhere, (trx) =>
      sql(trx, `insert into membership (user_id, role, status, accepted_at) values (?, 'manager', 'active', now())`, [
        people[1].userId,
      ]),
    )
    const [here, there] = [await signIn(world, people[1]), await signIn(world, people[1])]
    for (const [session, tenant] of [
      [here, tenantId],
      [there, elsewhere],
    ] as const)
      await world.request('PUT', '/api/auth/tenant-context', { token: session.token, body: { tenantId: tenant } })
    const ended = await world.request('POST', `${users}/${people[1].userId}/revoke-sessions`, { token })
    expect(ended.body).to.deep.equal({ revoked: 1 })
    expect((await world.request('GET', '/api/auth/me', { token: here.token })).status).to.equal(401)
    expect((await world.request('GET', '/api/auth/me', { token: there.token })).status).to.equal(200)
    expect(await events(tenantId, 'session.revoked')).to.deep.equal([{ userId: people[1].userId, reason: 'admin' }])
  })

  it('have a lost second factor removed where they work here alone; for others the provider does it, with a reason', async () => {
    const { people, token, users } = await team(['owner', 'manager', 'manager'])
    const enrol = ({ userId, email }: Person) => withoutTenant((trx) => enrolTotp(trx, userId, email))
    const member = await signIn(world, people[1])
    await enrol(people[1])
    const path = `${users}/${people[1].userId}/reset-mfa`
    const reset = await world.request('POST', path, { token })
    expect([reset.status, reset.body.mfaEnabled]).to.deep.equal([200, false])
    expect((await world.request('GET', '/api/auth/me', { token: member.token })).status).to.equal(401)
    expect((await signIn(world, people[1])).token).to.be.a('string')
    const mails = await sql(world.database.admin, `select kind from user_mail where user_id = ?`, [people[1].userId])
    expect(mails).to.deep.equal([{ kind: 'security_notice' }])
    expect((await world.request('POST', path, { token })).status).to.equal(200)
    const own = await world.request('POST', `${users}/${people[0].userId}/reset-mfa`, { token })
    expect([own.status, own.body.code]).to.deep.equal([422, 'not_oneself'])

    const elsewhere = await makeTenant()
    await inTenant(elsewhere, (trx) =>
      sql(trx, `insert into membership (user_id, role, status, accepted_at) values (?, 'stock', 'active', now())`, [
        people[2].userId,
      ]),
    )
    await enrol(people[2])
    const refused = await world.request('POST', `${users}/${people[2].userId}/reset-mfa`, { token })
    expect([refused.status, refused.body.code]).to.deep.equal([422, 'user_has_other_tenants'])
    const boss = await signIn(world, await makeSuperuser('N1'))
    const address = `/superuser/users/${people[2].userId}/reset-mfa`
    expect((await world.request('POST', address, { token: boss.token, body: {} })).status).to.equal(400)
    const done = await world.request('POST', address, {
      token: boss.token,
      body: { reason: 'phone lost, passport seen' },
    })
    expect(done.status).to.equal(200)
    expect(
      await sqlOne(world.database.admin, `select totp_secret, totp_confirmed_at from app_user where id = ?`, [
        people[2].userId,
      ]),
    ).to.deep.equal({ totpSecret: null, totpConfirmedAt: null })
    const [entry] = await sql(
      world.database.admin,
      `select reason from audit_entry where action = 'user.reset_mfa' and reason is not null`,
    )
    expect(entry).to.deep.equal({ reason: 'phone lost, passport seen' })
    expect(
      (
        await world.request('POST', `/superuser/users/${randomUUID()}/reset-mfa`, {
          token: boss.token,
          body: { reason: 'nobody' },
        })
      ).status,
    ).to.equal(404)
  })

  it('with some properties reach no other, give no other, and lose one at once', async () => {
    const house = await makeHouse()
    const other = await makeHouse({ tenantId: house.tenantId })
    const owner = await signIn(world, await makeUser({ [house.tenantId]: 'owner' }))
    const limited = await makeUser({ [house.tenantId]: 'admin' })
    const users = `/api/tenants/${house.tenantId}/users`
    const path = `${users}/${limited.userId}`
    const set = (propertyIds: string[] | null) =>
      world.request('PATCH', path, { token: owner.token, body: { propertyIds } })
    expect((await set([house.propertyId])).body.propertyIds).to.deep.equal([house.propertyId])
    expect((await set([randomUUID()])).body.code).to.equal('reference_not_found')
    const { token } = await signIn(world, limited)
    const asked = (query: string) =>
      world.request('GET', `/api/tenants/${house.tenantId}/reservations${query}`, { token })
    expect((await asked(`?propertyId=${house.propertyId}`)).status).to.equal(200)
    const named = await asked(`?propertyId=${other.propertyId}`)
    expect([named.status, named.body.code]).to.deep.equal([403, 'forbidden'])
    const invite = (propertyIds?: string[] | null) =>
      world.request('POST', users, {
        token,
        body: { email: newEmail('new'), role: 'stock', ...(propertyIds === undefined ? {} : { propertyIds }) },
      })
    for (const given of [undefined, null, [other.propertyId], [house.propertyId, other.propertyId]])
      expect((await invite(given)).status, JSON.stringify(given)).to.equal(403)
    expect((await invite([house.propertyId])).status).to.equal(201)
    expect((await set([other.propertyId])).status).to.equal(200)
    expect((await asked(`?propertyId=${house.propertyId}`)).status).to.equal(403)
    const found = await world.request('GET', `${users}?propertyId=${other.propertyId}&role=admin`, {
      token: owner.token,
    })
    expect(found.body.data.map((row: { userId: string }) => row.userId)).to.deep.equal([limited.userId])
  })
})
