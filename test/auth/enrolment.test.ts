import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { settings } from '../../config/env.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { createToken } from '../../db/auth/one-time-tokens.ts'
import { built } from '../support/built.ts'
import { useWorld } from '../support/world.ts'
import { codeOf, roomInStep, secretBytes, wrongCode } from './authenticator.ts'
import { forgetLimits, makeSuperuser, makeTenant, makeUser, newEmail, password, signIn } from './support.ts'
import type { Person } from './support.ts'

describe('an authenticator', () => {
  const world = useWorld()
  beforeEach(async () => {
    await forgetLimits(world)
    await sql(world.database.admin, `delete from sign_in_failure`)
    await roomInStep()
  })

  const post = (path: string, token?: string, body?: unknown, idempotencyKey?: string) =>
    world.request('POST', `/api/auth/${path}`, {
      ...(body === undefined ? {} : { body }),
      ...(token === undefined ? {} : { token }),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    })
  const remove = (token: string) => world.request('DELETE', '/api/auth/mfa/totp', { token })
  const me = (token: string) => world.request('GET', '/api/auth/me', { token })
  const answer = async (reply: ReturnType<typeof post>) => {
    const { status, body } = await reply
    return [status, body.code]
  }
  const longAgo = ({ userId }: Person) =>
    sql(
      world.database.admin,
      `update session set reauthenticated_at = now() - interval '11 minutes' where user_id = ?`,
      [userId],
    )
  const begin = async (token: string) => (await post('mfa/totp', token)).body.secret as string
  /** Signed in and enrolled: the token that goes on, the secret, and the codes. */
  const enrolled = async (person: Person) => {
    const { token } = await signIn(world, person)
    const secret = await begin(token)
    const { status, body } = await post('mfa/totp/confirm', token, { code: codeOf(secret) })
    expect(status).to.equal(200)
    return { token: body.token as string, secret, recoveryCodes: body.recoveryCodes as string[] }
  }
  const kinds = async ({ userId }: Person) =>
    sql<{ kind: string }>(world.database.admin, `select kind from user_mail where user_id = ?`, [userId])

  it('is set up by a secret that is shown once and kept sealed, and a code of it', async () => {
    const person = await makeUser({ [await makeTenant()]: 'owner' })
    const [one, two] = [await signIn(world, person), await signIn(world, person)]
    const { body: begun } = await post('mfa/totp', one.token, undefined, 'begin-1')
    expect(begun.secret).to.match(/^[A-Z2-7]{32}$/)
    expect(begun.otpauthUri).to.equal(
      `otpauth://totp/${encodeURIComponent(`Pousada:${person.email}`)}?secret=${begun.secret}&issuer=Pousada`,
    )
    const [row] = await sql<{ sealed: Buffer; confirmed: Date | null }>(
      world.database.admin,
      `select totp_secret as sealed, totp_confirmed_at as confirmed from app_user where id = ?`,
      [person.userId],
    )
    expect([row?.sealed.includes(secretBytes(begun.secret)), row?.confirmed]).to.deep.equal([false, null])
    // The effect is not repeated, and the secret is not kept.
    expect((await post('mfa/totp', one.token, undefined, 'begin-1')).body).to.deep.equal({
      secret: null,
      otpauthUri: null,
    })
    // Not yet: a sign-in asks for nothing more.
    expect((await signIn(world, person)).token).to.be.a('string')
    const { status, body } = await post('mfa/totp/confirm', one.token, { code: codeOf(begun.secret) })
    expect([status, new Set(body.recoveryCodes).size]).to.deep.equal([200, 10])
    expect([(await me(one.token)).status, (await me(two.token)).status]).to.deep.equal([401, 401])
    const { body: account } = await me(body.token)
    expect([account.mfa.enabled, account.mfa.recoveryCodesLeft]).to.deep.equal([true, 10])
    expect(await kinds(person)).to.deep.equal([{ kind: 'security_notice' }])
    // The step that confirmed it is used up, for a sign-in too.
    const { body: half } = await post('sign-in/email', undefined, { email: person.email, password })
    const again = { mfaToken: half.mfaToken, code: codeOf(begun.secret) }
    expect(await answer(post('mfa/verify', undefined, again))).to.deep.equal([401, 'invalid_credentials'])
    expect((await post('mfa/verify', undefined, { ...again, code: codeOf(begun.secret, 1) })).status).to.equal(200)
  })

  it('waits ten minutes for its code; begun again, the first secret counts no more; five wrong codes are enough', async () => {
    const person = await makeUser()
    const { token } = await signIn(world, person)
    expect(await answer(post('mfa/totp/confirm', token, { code: '123456' }))).to.deep.equal([409, 'invalid_transition'])
    const first = await begin(token)
    const second = await begin(token)
    expect(await answer(post('mfa/totp/confirm', token, { code: codeOf(first) }))).to.deep.equal([422, 'code_wrong'])
    const pending = (minutes: number) =>
      sql(
        world.database.admin,
        `update app_user set totp_pending_at = now() - make_interval(mins => ?, secs => 1) where id = ?`,
        [minutes, person.userId],
      )
    await pending(10)
    expect(await answer(post('mfa/totp/confirm', token, { code: codeOf(second) }))).to.deep.equal([
      409,
      'invalid_transition',
    ])
    await pending(9)
    for (let n = 0; n < 4; n += 1)
      expect((await answer(post('mfa/totp/confirm', token, { code: wrongCode(second) })))[1]).to.equal('code_wrong')
    expect(await answer(post('mfa/totp/confirm', token, { code: codeOf(second) }))).to.deep.equal([
      429,
      'sign_in_throttled',
    ])
    expect((await me(token)).body.mfa.enabled).to.equal(false)
  })

  it('confirmed twice at once is on once', async () => {
    const person = await makeUser()
    const { token } = await signIn(world, person)
    const secret = await begin(token)
    const replies = await Promise.all(
      [0, 1].map((offset) => post('mfa/totp/confirm', token, { code: codeOf(secret, offset) })),
    )
    expect(replies.filter(({ status }) => status === 200)).to.have.length(1)
    expect(replies.every(({ status }) => [200, 401, 409].includes(status))).to.equal(true)
    const [row] = await sql<{ n: number }>(
      world.database.admin,
      `select count(*) as n from recovery_code where user_id = ?`,
      [person.userId],
    )
    expect(row?.n).to.equal(10)
  })

  it('goes by its owner’s fresh proof, with its codes; sessions but the present one end', async () => {
    const person = await makeUser()
    const { token, recoveryCodes } = await enrolled(person)
    const mfaToken = (await post('sign-in/email', undefined, { email: person.email, password })).body.mfaToken as string
    const other = await post('mfa/verify', undefined, { mfaToken, recoveryCode: recoveryCodes[0] })
    expect(await answer(post('mfa/totp', token))).to.deep.equal([409, 'invalid_transition'])
    await longAgo(person)
    await world.redis.flushall()
    for (const refused of [await remove(token), await post('mfa/totp', token), await post('mfa/recovery-codes', token)])
      expect([refused.status, refused.body.code]).to.deep.equal([403, 'reauthentication_required'])
    await sql(world.database.admin, `update session set reauthenticated_at = now() where user_id = ?`, [person.userId])
    await world.redis.flushall()
    const { status, body } = await remove(token)
    expect([status, (await me(token)).status, (await me(other.body.token)).status]).to.deep.equal([200, 401, 401])
    expect((await me(body.token)).body.mfa).to.deep.equal({ enabled: false, since: null, recoveryCodesLeft: 0 })
    expect((await signIn(world, person)).token).to.be.a('string')
    // Once more: nothing is there to remove, and the token stays the one that it is.
    const repeated = await remove(body.token)
    expect([repeated.status, repeated.body.token]).to.deep.equal([200, body.token])
  })

  it('has ten recovery codes; new ones end the old ones, and are not kept for a repeated request', async () => {
    const person = await makeUser()
    const { token, recoveryCodes } = await enrolled(person)
    const { body } = await post('mfa/recovery-codes', token, undefined, 'codes-1')
    expect(new Set([...body.recoveryCodes, ...recoveryCodes]).size).to.equal(20)
    expect((await post('mfa/recovery-codes', token, undefined, 'codes-1')).body).to.deep.equal({ recoveryCodes: null })
    const mfaToken = (await post('sign-in/email', undefined, { email: person.email, password })).body.mfaToken as string
    const use = (recoveryCode: string) => post('mfa/verify', undefined, { mfaToken, recoveryCode })
    expect((await use(recoveryCodes[0] ?? '')).status).to.equal(401)
    // Of two at the same moment, with two sign-ins under way, one has it.
    const second = (await post('sign-in/email', undefined, { email: person.email, password })).body.mfaToken as string
    const both = await Promise.all(
      [mfaToken, second].map((one) =>
        post('mfa/verify', undefined, { mfaToken: one, recoveryCode: body.recoveryCodes[1] }),
      ),
    )
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([200, 401])
    const plain = await signIn(world, await makeUser())
    expect(await answer(post('mfa/recovery-codes', plain.token))).to.deep.equal([409, 'invalid_transition'])
  })

  it('is asked for after a password was reset by mail, and allows shorter passwords', async () => {
    const person = await makeUser()
    const { secret } = await enrolled(person)
    const { token } = await inPlatform((trx) => createToken(trx, 'password_reset', { userId: person.userId }))
    const newPassword = 'kX9#qLm2'
    expect((await post('password/reset', undefined, { token, newPassword })).status).to.equal(200)
    const { body } = await post('sign-in/email', undefined, { email: person.email, password: newPassword })
    expect([body.mfaRequired, body.token]).to.deep.equal([true, undefined])
    const verified = await post('mfa/verify', undefined, { mfaToken: body.mfaToken, code: codeOf(secret, 1) })
    expect(verified.status).to.equal(200)
  })

  describe('where superusers need one', () => {
    const before = settings.superuserMfa
    beforeEach(() => {
      settings.superuserMfa = 'required'
    })
    afterEach(() => {
      settings.superuserMfa = before
    })
    const act = async (token: string) =>
      (await world.request('GET', `/superuser/tenants/${await makeTenant()}/entitlements`, { token })).status

    it('lets a superuser who enrols act, by the token of the enrolment and by the next sign-in', async () => {
      const person = await makeSuperuser('N1')
      expect(await act((await signIn(world, person)).token)).to.equal(403)
      const { token, secret } = await enrolled(person)
      expect(await act(token)).to.equal(200)
      const { body } = await post('sign-in/email', undefined, { email: person.email, password })
      const verified = await post('mfa/verify', undefined, { mfaToken: body.mfaToken, code: codeOf(secret, 1) })
      expect(await act(verified.body.token)).to.equal(200)
    })

    it('lets the one who was made on the command line act', async function () {
      this.timeout(120_000)
      const email = newEmail('first')
      const script = join(await built(), 'scripts/superuser-create.js')
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [script, '--email', email, '--name', 'The First'],
        { env: { ...process.env, DATABASE_URL: settings.databaseUrl, SUPERUSER_PASSWORD: 'mar azul e vento norte' } },
      )
      const secret = /secret=([A-Z2-7]{32})/.exec(stdout)?.[1] ?? ''
      expect(stdout).to.not.include('mar azul')
      const { body } = await post('sign-in/email', undefined, { email, password: 'mar azul e vento norte' })
      expect(body.mfaRequired).to.equal(true)
      await roomInStep()
      const verified = await post('mfa/verify', undefined, { mfaToken: body.mfaToken, code: codeOf(secret) })
      expect([verified.status, verified.body.user.role]).to.deep.equal([200, 'superuser'])
      expect(await act(verified.body.token)).to.equal(200)
    })
  })
})
