import { expect } from 'chai'
import { createHmac, randomUUID } from 'node:crypto'
import { hash } from '@node-rs/argon2'
import { settings } from '../../config/env.ts'
import { mailedToken } from '../../config/derived-secrets.ts'
import { hashPassword } from '../../db/auth/hashing.ts'
import { enrolTotp } from '../../db/auth/second-factor.ts'
import { beginSecondHalf, confirmPassword, proveIdentity } from '../../db/auth/sign-in.ts'
import type { Open } from '../../db/auth/sign-in.ts'
import { inTenant, sql, sqlOne, withoutTenant } from '../../db/lib/connection.ts'
import { makeHouse } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { verifies } from './hashing-work.ts'
import { accountsOf } from './account-support.ts'
import { forgetLimits, makeSuperuser, makeTenant, makeUser, newEmail, password, signIn } from './support.ts'

const origin = { address: '192.0.2.77', network: '192.0.2.0/24' }
const fresh = 'mar azul e vento norte'

describe('who attacks an account', () => {
  const world = useWorld()
  const { post, answer, mailed } = accountsOf(world)
  beforeEach(() => forgetLimits(world))

  const pendingToken = async (userId: string, tenantId: string) => {
    const row = await sqlOne<{ id: string }>(
      world.database.admin,
      `select id from one_time_token where user_id = ? and tenant_id = ? and purpose = 'invitation' and used_at is null`,
      [userId, tenantId],
    )
    return mailedToken('invitation', row?.id ?? randomUUID())
  }
  const accept = (token: string, given: object = {}) =>
    world.request('POST', '/api/auth/invitations/accept', { body: { token, ...given } })

  describe('with a password that is no longer the one', () => {
    /** Something happens between the comparison, which is the first transaction, and what comes next. */
    const between = (what: () => Promise<unknown>): Open => {
      let transactions = 0
      return async (work) => {
        transactions += 1
        if (transactions === 2) await what()
        return withoutTenant(work)
      }
    }

    it('does not bring it back by a sign-in that was under way, though its hash was due for renewal', async () => {
      const person = await makeUser()
      const peppered = createHmac('sha256', settings.peppers[0]?.key ?? '')
        .update(password)
        .digest('base64url')
      const old = await hash(peppered, { memoryCost: 16, timeCost: 1, parallelism: 1 })
      await sql(world.database.admin, `update app_user set password_hash = ? where id = ?`, [old, person.userId])
      const changed = await hashPassword(fresh)
      const open = between(() =>
        sql(
          world.database.admin,
          `update app_user set password_hash = ?, session_epoch = session_epoch + 1 where id = ?`,
          [changed.passwordHash, person.userId],
        ),
      )
      await proveIdentity(open, { email: person.email, password, userAgent: '', origin })
      const row = await sqlOne<{ passwordHash: string; pepperId: string }>(
        world.database.admin,
        `select password_hash, pepper_id from app_user where id = ?`,
        [person.userId],
      )
      expect(await verifies(fresh, row)).to.equal(true)
    })

    it('gets no second half of a sign-in whose first half was overtaken', async () => {
      const person = await makeUser()
      await withoutTenant((trx) => enrolTotp(trx, person.userId, person.email))
      const user = await proveIdentity(withoutTenant, { email: person.email, password, userAgent: '', origin })
      expect((await withoutTenant((trx) => beginSecondHalf(trx, user))).id).to.be.a('string')
      await sql(world.database.admin, `update app_user set session_epoch = session_epoch + 1 where id = ?`, [user.id])
      const late = await withoutTenant((trx) => beginSecondHalf(trx, user)).catch((error: unknown) => error)
      expect(late).to.include({ status: 401, code: 'invalid_credentials' })
    })
  })

  it('by guessing as who is signed in is told of to the owner, as by guessing at the sign-in', async () => {
    const person = await makeUser()
    await sql(
      world.database.admin,
      `insert into sign_in_failure (account_key, address, network, at)
       select sha256(convert_to('sign-in:' || ?, 'UTF8')), '198.51.100.1', '198.51.100.0/24', now() - interval '3 hours' from generate_series(1, 49)`,
      [person.email],
    )
    expect(await confirmPassword(withoutTenant, person.userId, 'not the one', origin)).to.equal(null)
    expect(
      await sql(world.database.admin, `select kind from user_mail where user_id = ?`, [person.userId]),
    ).to.deep.equal([{ kind: 'security_notice' }])
  })

  it('that is locked does not unlock it by an invitation', async () => {
    const tenantId = await makeTenant()
    const { token } = await signIn(world, await makeUser({ [tenantId]: 'owner' }))
    const { body } = await world.request('POST', `/api/tenants/${tenantId}/users`, {
      token,
      body: { email: newEmail('locked'), role: 'stock' },
    })
    await sql(world.database.admin, `update app_user set status = 'locked' where id = ?`, [body.userId])
    const { status, body: refused } = await accept(await pendingToken(body.userId, tenantId), {
      name: 'Nina',
      password,
    })
    expect([status, refused.code]).to.deep.equal([401, 'token_invalid'])
    expect(
      await sqlOne(world.database.admin, `select status, password_hash from app_user where id = ?`, [body.userId]),
    ).to.deep.equal({ status: 'locked', passwordHash: null })
  })

  it('by inviting strangers and taking it back, again and again, mails a thousand of them a day at most', async () => {
    const tenantId = await makeTenant()
    const owner = await makeUser({ [tenantId]: 'owner' })
    const { token } = await signIn(world, owner)
    const invite = () =>
      world.request('POST', `/api/tenants/${tenantId}/users`, {
        token,
        body: { email: newEmail('stranger'), role: 'stock' },
      })
    await sql(
      world.database.admin,
      `insert into one_time_token (purpose, user_id, tenant_id, expires_at, used_at)
       select 'invitation', ?, ?, now(), now() from generate_series(1, 999)`,
      [owner.userId, tenantId],
    )
    expect((await invite()).status).to.equal(201)
    const { status, body } = await invite()
    expect([status, body.code]).to.deep.equal([422, 'too_many'])
    await sql(
      world.database.admin,
      `update one_time_token set created_at = created_at - interval '24 hours' where tenant_id = ?`,
      [tenantId],
    )
    expect((await invite()).status).to.equal(201)
  })

  it('learns nothing of a new address: neither who invited the old one, nor who reads the old one’s mail', async () => {
    const tenantId = await makeTenant()
    const { token } = await signIn(world, await makeUser({ [tenantId]: 'owner' }))
    const known = await makeUser()
    const users = `/api/tenants/${tenantId}/users`
    await world.request('POST', users, { token, body: { email: known.email, role: 'stock' } })
    const invitation = await pendingToken(known.userId, tenantId)
    const { token: own } = await signIn(world, known)
    const email = newEmail('secret')
    await post('email/change', { email }, own)
    await post('email/confirm', { token: await mailed('email_change', known) })
    const seen = await world.request('GET', `${users}/${known.userId}`, { token })
    expect(seen.body.email).to.equal(known.email)
    expect((await world.request('GET', `${users}?q=secret`, { token })).body.meta.total).to.equal(0)
    expect(await answer(post('invitations/preview', { token: invitation }))).to.deep.equal([401, 'token_invalid'])
    expect((await accept(invitation)).status).to.equal(401)
    // Sent again, it goes to the new address, and the inviter sees what they wrote.
    const again = await world.request('POST', `${users}/${known.userId}/resend-invitation`, { token })
    expect([again.status, again.body.email]).to.deep.equal([200, known.email])
    expect((await accept(await pendingToken(known.userId, tenantId))).status).to.equal(200)
    expect((await world.request('GET', `${users}/${known.userId}`, { token })).body.email).to.equal(email)
  })

  it('as an admin of one property makes nobody admin of all, nor gives that back', async () => {
    const house = await makeHouse()
    const owner = await signIn(world, await makeUser({ [house.tenantId]: 'owner' }))
    const limited = await makeUser({ [house.tenantId]: 'admin' })
    const friend = await makeUser({ [house.tenantId]: 'stock' })
    const users = `/api/tenants/${house.tenantId}/users`
    await world.request('PATCH', `${users}/${limited.userId}`, {
      token: owner.token,
      body: { propertyIds: [house.propertyId] },
    })
    const { token } = await signIn(world, limited)
    const path = `${users}/${friend.userId}`
    const promote = () => world.request('PATCH', path, { token, body: { role: 'admin' } })
    expect((await promote()).status).to.equal(403)
    expect((await world.request('POST', `${path}/deactivate`, { token: owner.token })).status).to.equal(200)
    expect((await world.request('POST', `${path}/reactivate`, { token })).status).to.equal(403)
    expect((await world.request('POST', `${path}/reactivate`, { token: owner.token })).status).to.equal(200)
    const within = { token: owner.token, body: { propertyIds: [house.propertyId] } }
    expect((await world.request('PATCH', path, within)).status).to.equal(200)
    expect((await promote()).status).to.equal(200)
  })

  it('is heard of: tenants are told of the sessions that end with a second factor', async () => {
    const tenantId = await makeTenant()
    const { token } = await signIn(world, await makeUser({ [tenantId]: 'owner' }))
    const member = await makeUser({ [tenantId]: 'manager' })
    await signIn(world, member)
    await withoutTenant((trx) => enrolTotp(trx, member.userId, member.email))
    const path = `/api/tenants/${tenantId}/users/${member.userId}/reset-mfa`
    expect((await world.request('POST', path, { token })).status).to.equal(200)
    const told = async () =>
      (
        await inTenant(tenantId, (trx) =>
          sql<{ data: object }>(trx, `select data from event where type = 'session.revoked'`),
        )
      ).map(({ data }) => data)
    const ended = { userId: member.userId, reason: 'mfa' }
    expect(await told()).to.deep.equal([ended])
    // By the provider, who is in no tenant, and asks twice.
    await signIn(world, member)
    await withoutTenant((trx) => enrolTotp(trx, member.userId, member.email))
    const boss = await signIn(world, await makeSuperuser('N1'))
    for (const replayed of [undefined, 'true']) {
      const { status, body, headers } = await world.request('POST', `/superuser/users/${member.userId}/reset-mfa`, {
        token: boss.token,
        idempotencyKey: 'reset',
        body: { reason: 'phone lost' },
      })
      expect([status, body.revoked, headers['idempotent-replayed']]).to.deep.equal([200, 1, replayed])
    }
    expect(await told()).to.deep.equal([ended, ended])
  })
})
