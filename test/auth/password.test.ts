import { expect } from 'chai'
import { mailedToken } from '../../config/derived-secrets.ts'
import { isGuessable } from '../../db/auth/strength.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { statementsOf } from '../support/statements.ts'
import { useWorld } from '../support/world.ts'
import { accountsOf } from './account-support.ts'
import { forgetLimits, makeTenant, makeUser, newEmail, password, signIn } from './support.ts'

const fresh = 'mar azul e vento norte'

describe('a password that is tried first', () => {
  it('is one of few words, rows of keys and digits, however it is written', async () => {
    for (const common of [
      'password1234',
      'P@ssw0rd2026!',
      'senhasenhasenha',
      'Administrator!1',
      'qwertyuiop12',
      '123456789012',
      'aaaaaaaaaaaa',
      'Summer2026!!',
      'MariaSilva1985!',
      'abcabcabcabc',
    ])
      expect(await isGuessable(common), common).to.equal(true)
    for (const good of [fresh, password, 'correct horse battery staple', 'kX9#qLm2vT8w', 'pousada-demo-2026'])
      expect(await isGuessable(good), good).to.equal(false)
  })

  it('may be shorter beside a second factor, and no word of the service or of the address', async () => {
    expect(await isGuessable('kX9#qLm2')).to.equal(true)
    expect(await isGuessable('kX9#qLm2', { mfaEnabled: true })).to.equal(false)
    expect(await isGuessable('senha2026', { mfaEnabled: true })).to.equal(true)
    expect(await isGuessable('quaresmeira-2026')).to.equal(false)
    expect(await isGuessable('quaresmeira-2026', { email: 'ana@quaresmeira.example' })).to.equal(true)
  })

  it('is told in bounded time, however long and strange it is', async () => {
    await isGuessable('something else')
    // Of a processor, which others use as well.
    const began = process.cpuUsage()
    for (const text of ['4@3$1!0', 'p4ssw0rd', '20261122', '12/11/1985 ', 'a'])
      expect(await isGuessable(text.repeat(128).slice(0, 128)), text).to.be.a('boolean')
    expect(process.cpuUsage(began).user / 1_000).to.be.lessThan(2_000)
  })
})

describe('the password of an account', () => {
  const world = useWorld()
  let tenantId: string
  before(async () => {
    tenantId = await makeTenant()
  })
  beforeEach(async () => {
    await forgetLimits(world)
    await sql(world.database.admin, `delete from sign_in_failure`)
  })

  const { me, post, answer, enter, mails, mailed, forgot, reasons } = accountsOf(world)

  describe('its password changed', () => {
    it('keeps the session that changed it, by a new token, and ends all others', async () => {
      const person = await makeUser({ [tenantId]: 'owner' })
      const [one, two] = [await signIn(world, person), await signIn(world, person)]
      const waiting = await inPlatform((trx) =>
        sql<{ id: string }>(
          trx,
          `insert into one_time_token (purpose, user_id, expires_at) values ('mfa', ?, now() + interval '5 minutes') returning id`,
          [person.userId],
        ),
      )
      const reset = await forgot(person)
      const { status, body } = await post(
        'password/change',
        { currentPassword: password, newPassword: fresh },
        one.token,
      )
      expect(status).to.equal(200)
      expect([(await me(body.token)).status, (await me(one.token)).status, (await me(two.token)).status]).to.deep.equal(
        [200, 401, 401],
      )
      expect((await me(body.token)).body.session.tokenPrefix).to.be.a('string')
      expect(await reasons(person)).to.deep.equal([null, 'password'])
      expect((await post('refresh', undefined, one.token)).status).to.equal(401)
      expect((await post('refresh', undefined, body.token)).status).to.equal(200)
      expect([(await enter(person.email, password)).status, (await enter(person.email, fresh)).status]).to.deep.equal([
        401, 200,
      ])
      expect(await answer(post('password/reset', { token: reset, newPassword: password }))).to.deep.equal([
        401,
        'token_invalid',
      ])
      const mfaToken = mailedToken('mfa', waiting[0]?.id ?? '')
      expect(await answer(post('mfa/verify', { mfaToken, code: '123456' }))).to.deep.equal([401, 'token_invalid'])
      expect(await mails(person)).to.include('security_notice')
      const told = await sql(
        world.database.admin,
        `select e.tenant_id, e.data from event e join session s on s.id::text = e.entity->>'id' where e.type = 'session.revoked' and s.user_id = ?`,
        [person.userId],
      )
      expect(told).to.deep.equal([{ tenantId, data: { userId: person.userId, reason: 'password' } }])
    })

    it('asks for the present one: wrong ones are 422 and count as failures', async () => {
      const person = await makeUser()
      const { token } = await signIn(world, person)
      await sql(world.database.admin, `delete from known_network`)
      for (let n = 0; n < 5; n += 1)
        expect(
          await answer(post('password/change', { currentPassword: `wrong ${n}`, newPassword: fresh }, token)),
        ).to.deep.equal([422, 'password_wrong'])
      expect(
        await answer(post('password/change', { currentPassword: password, newPassword: fresh }, token)),
      ).to.deep.equal([429, 'sign_in_throttled'])
      expect((await me(token)).status).to.equal(200)
    })

    it('is refused where the new one is short, long, common, or holds the address; over 1,024 bytes it is not hashed', async () => {
      const person = await makeUser({}, { email: newEmail('beatrice') })
      const { token } = await signIn(world, person)
      const change = (newPassword: string) =>
        answer(post('password/change', { currentPassword: password, newPassword }, token))
      const local = person.email.split('@')[0] ?? ''
      for (const weak of ['eleven char', 'é'.repeat(11), 'Password1234', `x ${local.toUpperCase()} y`, 'ab'.repeat(65)])
        expect(await change(weak), weak).to.deep.equal([422, 'password_too_weak'])
      expect(await change('é'.repeat(513))).to.deep.equal([400, 'validation_failed'])
      expect((await change('nul \u0000 byte within'))[0]).to.equal(400)
      expect((await change(`${'日本語の長い合言葉'}だよね`))[0]).to.equal(200)
    })

    for (const sessions of [1, 2])
      it(`twice at once, in ${sessions === 1 ? 'one session' : 'two sessions'}, happens once`, async () => {
        const person = await makeUser()
        const tokens = [(await signIn(world, person)).token]
        if (sessions === 2) tokens.push((await signIn(world, person)).token)
        const replies = await Promise.all(
          [0, 1].map((n) =>
            post('password/change', { currentPassword: password, newPassword: `${fresh} ${n}` }, tokens[n % sessions]),
          ),
        )
        expect(replies.filter(({ status }) => status === 200)).to.have.length(1)
        expect(replies.every(({ status }) => [200, 401, 422].includes(status))).to.equal(true)
        const won = replies.findIndex(({ status }) => status === 200)
        expect((await me(replies[won]?.body.token)).status).to.equal(200)
        expect((await enter(person.email, `${fresh} ${won}`)).status).to.equal(200)
        expect((await enter(person.email, `${fresh} ${1 - won}`)).status).to.equal(401)
      })
  })

  describe('its password forgotten', () => {
    it('is set anew by the mailed token, once; all sessions end, and failures are forgiven', async () => {
      const person = await makeUser()
      const { token } = await signIn(world, person)
      await sql(world.database.admin, `delete from known_network`)
      for (let n = 0; n < 5; n += 1) await enter(person.email, 'wrong wrong wrong')
      expect((await enter(person.email, password)).status).to.equal(429)
      const reset = await forgot(person)
      expect(await answer(post('password/reset', { token: reset, newPassword: 'short' }))).to.deep.equal([
        422,
        'password_too_weak',
      ])
      const both = await Promise.all(
        [fresh, `${fresh} 2`].map((newPassword) => post('password/reset', { token: reset, newPassword })),
      )
      expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([200, 401])
      expect(both.find(({ status }) => status === 200)?.body).to.deep.equal({})
      expect((await me(token)).status).to.equal(401)
      const chosen = both[0]?.status === 200 ? fresh : `${fresh} 2`
      expect((await enter(person.email, chosen)).status).to.equal(200)
      expect(await mails(person)).to.deep.equal(['password_reset', 'security_notice'])
    })

    it('answers alike and does the same for a known, an unknown, a locked and an invited address', async () => {
      const [known, locked, invited] = [await makeUser(), await makeUser(), await makeUser()]
      await sql(world.database.admin, `update app_user set status = 'locked' where id = ?`, [locked.userId])
      await sql(
        world.database.admin,
        `update app_user set status = 'invited', password_hash = null, pepper_id = null where id = ?`,
        [invited.userId],
      )
      const statements: string[][] = []
      for (const email of [known.email, newEmail('nobody'), locked.email, invited.email]) {
        statements.push(
          await statementsOf(async () => {
            const { status, body } = await post('password/forgot', { email })
            expect([status, body]).to.deep.equal([200, { accepted: true }])
          }),
        )
      }
      expect(statements[0]).to.have.length.above(0)
      for (const other of statements) expect(other).to.deep.equal(statements[0])
      await world.drain()
      expect(await mails(known)).to.deep.equal(['password_reset'])
      expect([await mails(locked), await mails(invited)]).to.deep.equal([[], []])
      expect(await sql(world.database.admin, `select 1 from password_request`)).to.deep.equal([])
    })

    it('is mailed once a minute and five times an hour at most; the last token alone is good, for half an hour', async () => {
      const person = await makeUser()
      const older = await forgot(person)
      expect(await forgot(person)).to.equal(older)
      const age = () =>
        sql(
          world.database.admin,
          `update one_time_token set created_at = created_at - interval '2 minutes' where user_id = ?`,
          [person.userId],
        )
      await age()
      const newer = await forgot(person)
      expect(newer).to.not.equal(older)
      expect((await answer(post('password/reset', { token: older, newPassword: fresh })))[0]).to.equal(401)
      for (let n = 0; n < 5; n += 1) {
        await age()
        await forgot(person)
      }
      expect((await mails(person)).filter((kind) => kind === 'password_reset')).to.have.length(5)
      const last = await mailed('password_reset', person)
      for (const bad of [last.replace('rst_', 'inv_'), `${last}A`, last.slice(0, -1), 'rst_'])
        expect((await answer(post('password/reset', { token: bad, newPassword: fresh })))[1]).to.equal('token_invalid')
      await sql(
        world.database.admin,
        `update one_time_token set expires_at = expires_at - interval '30 minutes' where user_id = ?`,
        [person.userId],
      )
      expect(await answer(post('password/reset', { token: last, newPassword: fresh }))).to.deep.equal([
        401,
        'token_invalid',
      ])
    })
  })
})
