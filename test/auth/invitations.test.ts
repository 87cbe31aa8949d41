import { expect } from 'chai'
import { mailedToken } from '../../config/derived-secrets.ts'
import { enrolTotp } from '../../db/auth/second-factor.ts'
import { inPlatform, sql, sqlOne, withoutTenant } from '../../db/lib/connection.ts'
import { readUserMail } from '../../db/ocp/user-mail.ts'
import { statementsOf } from '../support/statements.ts'
import { useWorld } from '../support/world.ts'
import { forgetLimits, makeTenant, makeUser, newEmail, password, signIn } from './support.ts'
import type { Person } from './support.ts'

describe('an invitation', () => {
  const world = useWorld()
  beforeEach(() => forgetLimits(world))

  const house = async (name = 'Casa Azul') => {
    const tenantId = await makeTenant('Enterprise', name)
    const owner = await makeUser({ [tenantId]: 'owner' }, { name: 'Olívia' })
    const { token } = await signIn(world, owner)
    const users = `/api/tenants/${tenantId}/users`
    const invite = (body: object) => world.request('POST', users, { token, body })
    return { tenantId, owner, token, users, invite }
  }
  /** The tokens that were mailed to a user for a tenant, latest first. */
  const mailed = async (userId: string, tenantId: string) =>
    (
      await sql<{ id: string }>(
        world.database.admin,
        `select id from one_time_token where user_id = ? and tenant_id = ? and purpose = 'invitation' order by created_at desc`,
        [userId, tenantId],
      )
    ).map(({ id }) => mailedToken('invitation', id))
  /** The address of an account that nobody has signed in to. */
  const makeShell = async () => {
    const email = newEmail('shell')
    await sql(
      world.database.admin,
      `insert into app_user (email, email_key, name, status) values (?, ?, 'Known', 'active')`,
      [email, email],
    )
    return email
  }
  const preview = (token: string) => world.request('POST', '/api/auth/invitations/preview', { body: { token } })
  const accept = (token: string, given: object = {}) =>
    world.request('POST', '/api/auth/invitations/accept', { body: { token, ...given } })
  const account = { name: 'Nina Nova', password }

  it('makes an account of who has none, with the address verified, once', async () => {
    const { tenantId, owner, invite } = await house()
    const email = newEmail('Nina')
    const invited = await invite({ email, role: 'receptionist' })
    expect(invited.status).to.equal(201)
    expect(invited.body).to.include({
      email: email.toLowerCase(),
      status: 'invited',
      role: 'receptionist',
      acceptedAt: null,
      mfaEnabled: false,
    })
    const [token = ''] = await mailed(invited.body.userId, tenantId)
    const mail = await sqlOne<{ id: string }>(world.database.admin, `select id from user_mail where user_id = ?`, [
      invited.body.userId,
    ])
    const written = await inPlatform((trx) => readUserMail(trx, mail?.id ?? ''))
    expect(written?.to).to.equal(email)
    expect(written?.subject).to.include('Casa Azul')
    expect(written?.text).to.include(token).and.to.include('/api/auth/invitations/accept')
    expect((await preview(token)).body).to.include({
      tenantName: 'Casa Azul',
      email,
      role: 'receptionist',
      inviterName: 'Olívia',
      accountExists: false,
    })
    for (const given of [{}, { name: 'Nina' }, { password }]) {
      const { status, body } = await accept(token, given)
      expect([status, body.code], JSON.stringify(given)).to.deep.equal([400, 'validation_failed'])
    }
    const weak = await accept(token, { ...account, password: 'short' })
    expect([weak.status, weak.body.code]).to.deep.equal([422, 'password_too_weak'])
    const accepted = await accept(token, account)
    expect([accepted.status, accepted.body]).to.deep.equal([200, { tenantId, email }])
    const again = await accept(token, account)
    expect([again.status, again.body.code]).to.deep.equal([401, 'token_invalid'])
    const session = await signIn(world, { email })
    expect(session.user).to.include({ name: 'Nina Nova', role: 'receptionist' })
    const user = await sqlOne<{ emailVerifiedAt: Date | null }>(
      world.database.admin,
      `select email_verified_at from app_user where email_key = lower(?)`,
      [email],
    )
    expect(user?.emailVerifiedAt).to.be.instanceOf(Date)
    const types = await sql<{ type: string; by: string | null }>(
      world.database.admin,
      `select type, actor ->> 'id' as by from event where tenant_id = ? and type like 'user.%' order by type`,
      [tenantId],
    )
    expect(types).to.deep.equal([
      { type: 'user.invited', by: owner.userId },
      { type: 'user.joined', by: invited.body.userId },
    ])
  })

  it('is accepted once by two who do so at the same moment', async () => {
    const { tenantId, invite } = await house()
    const { body } = await invite({ email: newEmail('twice'), role: 'stock' })
    const [token = ''] = await mailed(body.userId, tenantId)
    const replies = await Promise.all([accept(token, account), accept(token, account), accept(token, account)])
    expect(replies.map(({ status }) => status)).to.have.members([200, 401, 401])
    const joined = await sql(world.database.admin, `select 1 from event where tenant_id = ? and type = 'user.joined'`, [
      tenantId,
    ])
    expect(joined).to.have.length(1)
  })

  it('leaves an account that there is as it is: neither name nor password is taken', async () => {
    const { tenantId, invite } = await house()
    const known = await makeUser({}, { name: 'Known' })
    const { body } = await invite({ email: known.email.toUpperCase(), name: 'Another Name', role: 'manager' })
    const [token = ''] = await mailed(body.userId, tenantId)
    expect((await preview(token)).body.accountExists).to.equal(true)
    const refused = await accept(token, account)
    expect([refused.status, refused.body.errors.map((e: { field: string }) => e.field)]).to.deep.equal([
      400,
      ['name', 'password'],
    ])
    expect((await accept(token, { password })).status).to.equal(400)
    expect((await accept(token)).status).to.equal(200)
    const session = await signIn(world, known)
    expect(session.user).to.include({ name: 'Known', role: 'manager' })
  })

  it('tells the inviter nothing of an account: the same answer for an address that is known and one that is not', async () => {
    const { token, users, invite } = await house()
    const known: Person = await makeUser({}, { name: 'Real Name' })
    await withoutTenant((trx) => enrolTotp(trx, known.userId, known.email))
    const unknown = newEmail('user')
    const answers = [
      await invite({ email: known.email, role: 'stock' }),
      await invite({ email: unknown, role: 'stock' }),
    ]
    const shapes = answers.map(({ status, body, headers }) => {
      const { userId, email, name, invitedAt, ...rest } = body
      expect(name).to.equal(email.split('@')[0])
      expect(userId).to.match(/^[0-9a-f-]{36}$/)
      expect(invitedAt).to.be.a('string')
      return { status, rest, length: email.length, etag: headers.etag }
    })
    expect(shapes[0]).to.deep.equal(shapes[1])
    const { body } = await world.request('GET', `${users}/${known.userId}`, { token })
    expect(body).to.include({ name: known.email.split('@')[0], mfaEnabled: false, lastSeenAt: null })
    const reset = await world.request('POST', `${users}/${known.userId}/reset-mfa`, { token })
    expect([reset.status, reset.body.code]).to.deep.equal([409, 'invalid_transition'])
  })

  it('does the same work for an address that is known as for one that is not: the same statements, none more', async () => {
    const { invite } = await house()
    const known = await makeUser()
    const work = async (email: string) => {
      const seen = await statementsOf(async () => {
        const { status } = await invite({ email, role: 'stock' })
        expect(status).to.equal(201)
      })
      // Whether the session is looked up anew is the clock's to say, and no address's.
      return seen.filter((text) => !/\bsession\b/.test(text))
    }
    await work(newEmail('warm'))
    const first = await work(known.email)
    expect(first.length).to.be.greaterThan(10)
    for (let round = 0; round < 3; round += 1) {
      expect(await work(newEmail('nobody'))).to.deep.equal(first)
      expect(await work(await makeShell())).to.deep.equal(first)
    }
  })

  it('ends with its day, with a newer one, and with the access of whom it was for', async () => {
    const { tenantId, token, users, invite } = await house()
    const { body } = await invite({ email: newEmail('late'), role: 'stock' })
    const path = `${users}/${body.userId}`
    const [first = ''] = await mailed(body.userId, tenantId)
    expect((await world.request('POST', `${path}/resend-invitation`, { token })).status).to.equal(200)
    const [second = ''] = await mailed(body.userId, tenantId)
    expect(second).not.to.equal(first)
    for (const each of [await preview(first), await accept(first, account)])
      expect([each.status, each.body.code]).to.deep.equal([401, 'token_invalid'])

    await world.request('POST', `${path}/deactivate`, { token })
    expect((await accept(second, account)).status).to.equal(401)
    const back = await world.request('POST', `${path}/reactivate`, { token })
    expect(back.body.status).to.equal('invited')
    expect((await accept(second, account)).status).to.equal(401)

    await world.request('POST', `${path}/resend-invitation`, { token })
    const [third = ''] = await mailed(body.userId, tenantId)
    await sql(world.database.admin, `update one_time_token set expires_at = now() where user_id = ?`, [body.userId])
    expect((await accept(third, account)).status).to.equal(401)
    await world.request('POST', `${path}/resend-invitation`, { token })
    const [fourth = ''] = await mailed(body.userId, tenantId)
    expect((await accept(fourth, account)).status).to.equal(200)
    const late = await world.request('POST', `${path}/resend-invitation`, { token })
    expect([late.status, late.body.code]).to.deep.equal([409, 'invalid_transition'])
  })

  it('is sent again five times a day, and never made twice', async () => {
    const { token, users, invite } = await house()
    const email = newEmail('again')
    const { body } = await invite({ email, role: 'stock' })
    const twice = await invite({ email: email.toUpperCase(), role: 'stock' })
    expect([twice.status, twice.body.code]).to.deep.equal([409, 'member_exists'])
    const path = `${users}/${body.userId}/resend-invitation`
    for (let n = 0; n < 5; n += 1) expect((await world.request('POST', path, { token })).status).to.equal(200)
    const sixth = await world.request('POST', path, { token })
    expect([sixth.status, sixth.body.code]).to.deep.equal([422, 'too_many'])
    const other = newEmail('race')
    const race = await Promise.all([invite({ email: other, role: 'stock' }), invite({ email: other, role: 'stock' })])
    expect(race.map(({ status }) => status)).to.have.members([201, 409])
  })

  it('has a token of its own: another purpose, another row or one letter less is nothing', async () => {
    const { tenantId, invite } = await house()
    const { body } = await invite({ email: newEmail('forged'), role: 'stock' })
    const [token = ''] = await mailed(body.userId, tenantId)
    const row = await sqlOne<{ id: string }>(world.database.admin, `select id from one_time_token where user_id = ?`, [
      body.userId,
    ])
    const forged = [
      mailedToken('password_reset', row?.id ?? ''),
      mailedToken('password_reset', row?.id ?? '').replace('rst_', 'inv_'),
      token.slice(0, -1),
      `${token.slice(0, 10)}${token[10] === 'A' ? 'B' : 'A'}${token.slice(11)}`,
      `inv_${row?.id ?? ''}`,
      'inv_',
      '__proto__',
    ]
    for (const each of forged) {
      const { status, body: answer } = await preview(each)
      expect([status, answer.code], each).to.deep.equal([401, 'token_invalid'])
    }
    expect((await preview(token)).status).to.equal(200)
  })

  it('is not accepted into a house that is suspended, and finds room for five hundred', async () => {
    const { tenantId, invite } = await house()
    const { body } = await invite({ email: newEmail('closed'), role: 'stock' })
    const [token = ''] = await mailed(body.userId, tenantId)
    await sql(world.database.admin, `update tenant set status = 'suspended', reason = 'not paid' where id = ?`, [
      tenantId,
    ])
    expect((await accept(token, account)).body.code).to.equal('tenant_suspended')
    await sql(world.database.admin, `update tenant set status = 'active', reason = null where id = ?`, [tenantId])
    await sql(
      world.database.admin,
      `with made as (insert into app_user (email, email_key, name) select 'm' || n || '-' || ?, 'm' || n || '-' || ?, 'Member' from generate_series(1, 498) n returning id)
       insert into membership (tenant_id, user_id, role, status) select ?, id, 'stock', 'invited' from made`,
      [`${tenantId}@house.example`, `${tenantId}@house.example`, tenantId],
    )
    const full = await invite({ email: newEmail('beyond'), role: 'stock' })
    expect([full.status, full.body.code]).to.deep.equal([422, 'too_many'])
    expect(
      await sqlOne(world.database.admin, `select count(*) as n from membership where tenant_id = ?`, [tenantId]),
    ).to.deep.equal({ n: 500 })
    expect((await accept(token, account)).status).to.equal(200)
  })
})
