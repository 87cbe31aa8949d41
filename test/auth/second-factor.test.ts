import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { resetUserMfa } from '../../db/auth/lost-factor.ts'
import { enrolTotp, totp } from '../../db/auth/second-factor.ts'
import { revokeAll } from '../../db/auth/sessions.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { useWorld } from '../support/world.ts'
import { codeOf, roomInStep, secretBytes } from './authenticator.ts'
import { forgetLimits, makeSuperuser, makeTenant, makeUser, password, signIn } from './support.ts'
import type { Person } from './support.ts'

describe('a code of an authenticator', () => {
  it('is that of RFC 6238', () => {
    const secret = Buffer.from('12345678901234567890')
    for (const [seconds, code] of [
      [59, '94287082'],
      [1_111_111_109, '07081804'],
      [1_111_111_111, '14050471'],
      [1_234_567_890, '89005924'],
      [2_000_000_000, '69279037'],
      [20_000_000_000, '65353130'],
    ] as const)
      expect(totp(secret, Math.floor(seconds / 30), 8)).to.equal(code)
  })
})

describe('a second factor', () => {
  const world = useWorld()
  beforeEach(async () => {
    await forgetLimits(world)
    await sql(world.database.admin, `delete from sign_in_failure`)
  })

  const enrol = async (person: Person) => {
    const enrolment = await inPlatform((trx) => enrolTotp(trx, person.userId, person.email))
    return { ...enrolment, code: (offset = 0) => codeOf(enrolment.secret, offset) }
  }
  const begin = async ({ email }: Person) => {
    const { status, body } = await world.request('POST', '/api/auth/sign-in/email', { body: { email, password } })
    expect([status, body.mfaRequired, body.token, body.user]).to.deep.equal([200, true, undefined, undefined])
    return body.mfaToken as string
  }
  const verify = (body: unknown) => world.request('POST', '/api/auth/mfa/verify', { body })
  it('is asked for after the password, and then answers as a sign-in does', async () => {
    const person = await makeUser({ [await makeTenant()]: 'owner' })
    const { code } = await enrol(person)
    await roomInStep()
    const mfaToken = await begin(person)
    expect((await world.request('GET', '/api/auth/me', { token: mfaToken })).status).to.equal(401)
    const { status, body } = await verify({ mfaToken, code: code() })
    expect([status, body.user.role]).to.deep.equal([200, 'owner'])
    const me = await world.request('GET', '/api/auth/me', { token: body.token })
    expect([me.body.mfa.enabled, me.body.mfa.recoveryCodesLeft]).to.deep.equal([true, 10])
    const again = await verify({ mfaToken, code: code(1) })
    expect([again.status, again.body.code]).to.deep.equal([401, 'token_invalid'])
  })

  it('takes one step either way, and no step twice, also at the same moment', async () => {
    const person = await makeUser()
    const { code } = await enrol(person)
    await roomInStep()
    const tokens = [await begin(person), await begin(person), await begin(person)]
    for (const offset of [-2, 2])
      expect((await verify({ mfaToken: tokens[0], code: code(offset) })).body.code).to.equal('invalid_credentials')
    const both = await Promise.all([
      verify({ mfaToken: tokens[0], code: code() }),
      verify({ mfaToken: tokens[1], code: code() }),
    ])
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([200, 401])
    expect((await verify({ mfaToken: tokens[2], code: code(-1) })).status).to.equal(401)
    expect((await verify({ mfaToken: tokens[2], code: code(1) })).status).to.equal(200)
  })

  it('half asked for, is over with all sessions: revoked by the user, by who removes a lost factor, by the command line', async () => {
    const person = await makeUser()
    const { code } = await enrol(person)
    const ways: (() => Promise<void>)[] = [
      async () => {
        const { body } = await verify({ mfaToken: await begin(person), code: code() })
        const { status } = await world.request('POST', '/api/auth/revoke-all', { token: body.token })
        expect(status).to.equal(200)
      },
      async () => {
        await inPlatform((trx) => resetUserMfa(trx, randomUUID(), person.userId, 'lost'))
      },
      async () => {
        await inPlatform((trx) => revokeAll(trx, person.userId, 'mfa'))
      },
    ]
    for (const [index, way] of ways.entries()) {
      const mfaToken = await begin(person)
      await roomInStep()
      await way()
      // Enrols the authenticator again, so that its code would be right.
      const fresh = await enrol(person)
      const { status, body } = await verify({ mfaToken, code: fresh.code() })
      expect([index, status, body.code]).to.deep.equal([index, 401, 'token_invalid'])
    }
  })

  it('is throttled after five wrong codes, also for the right one', async () => {
    const person = await makeUser()
    const { code } = await enrol(person)
    await roomInStep()
    const mfaToken = await begin(person)
    for (let n = 0; n < 5; n += 1) expect((await verify({ mfaToken, code: code(40 + n) })).status).to.equal(401)
    const { status, body } = await verify({ mfaToken, code: code() })
    expect([status, body.code]).to.deep.equal([429, 'sign_in_throttled'])
  })

  it('can be a recovery code, which works once and is told to the user', async () => {
    const person = await makeUser()
    const { recoveryCodes } = await enrol(person)
    expect(new Set(recoveryCodes).size).to.equal(10)
    const [one = ''] = recoveryCodes
    const first = await verify({ mfaToken: await begin(person), recoveryCode: one.toLowerCase() })
    expect(first.status).to.equal(200)
    expect((await verify({ mfaToken: await begin(person), recoveryCode: one })).status).to.equal(401)
    expect(
      (await world.request('GET', '/api/auth/me', { token: first.body.token })).body.mfa.recoveryCodesLeft,
    ).to.equal(9)
    expect(
      await sql(world.database.admin, `select kind from user_mail where user_id = ?`, [person.userId]),
    ).to.deep.equal([{ kind: 'security_notice' }])
  })

  it('is refused with a token that was made elsewhere, has expired, or is for something else', async () => {
    const person = await makeUser()
    const { code } = await enrol(person)
    await roomInStep()
    const mfaToken = await begin(person)
    const other = `${mfaToken.slice(0, -2)}${mfaToken.endsWith('AA') ? 'BB' : 'AA'}`
    for (const bad of [other, mfaToken.replace('mfa_', 'rst_'), 'mfa_', 'mfa_AAAA', 'x'])
      expect((await verify({ mfaToken: bad, code: code() })).body.code, bad).to.equal('token_invalid')
    await sql(world.database.admin, `update one_time_token set expires_at = now() where user_id = ?`, [person.userId])
    expect((await verify({ mfaToken, code: code() })).body.code).to.equal('token_invalid')
    expect((await verify({ mfaToken })).status).to.equal(400)
    expect((await verify({ mfaToken, code: code(), recoveryCode: 'x' })).status).to.equal(400)
    expect((await verify({ mfaToken, code: '12345' })).status).to.equal(400)
  })

  it('stands nowhere in clear', async () => {
    const person = await makeUser()
    const { secret, recoveryCodes } = await enrol(person)
    const [row] = await sql<{ totpSecret: Buffer }>(
      world.database.admin,
      `select totp_secret from app_user where id = ?`,
      [person.userId],
    )
    expect(row?.totpSecret.includes(secretBytes(secret))).to.equal(false)
    const codes = await sql<{ text: string }>(
      world.database.admin,
      `select c::text as text from recovery_code c where user_id = ?`,
      [person.userId],
    )
    expect(codes).to.have.length(10)
    for (const { text } of codes) expect(text).to.not.include(recoveryCodes[0] ?? '')
  })

  it('opens the superusers’ endpoints where it is required, and nothing else does', async () => {
    const tenantId = await makeTenant()
    const path = `/superuser/tenants/${tenantId}/entitlements`
    const bare = await makeSuperuser('N1')
    const [without] = [await signIn(world, bare)]
    const person = await makeSuperuser('N1')
    const { code } = await enrol(person)
    await roomInStep()
    const { body } = await verify({ mfaToken: await begin(person), code: code() })
    const before = settings.superuserMfa
    settings.superuserMfa = 'required'
    try {
      const refused = await world.request('GET', path, { token: without.token })
      expect([refused.status, refused.body.code]).to.deep.equal([403, 'mfa_required'])
      expect((await world.request('GET', path, { token: body.token })).status).to.equal(200)
    } finally {
      settings.superuserMfa = before
    }
  })

  it('or the password proves identity again, for ten minutes', async () => {
    const [plain, guarded] = [await makeUser(), await makeUser()]
    const { code } = await enrol(guarded)
    await roomInStep()
    const one = (await signIn(world, plain)).token
    const two = (await verify({ mfaToken: await begin(guarded), code: code() })).body.token as string
    await sql(world.database.admin, `update session set reauthenticated_at = now() - interval '1 hour'`)
    const prove = (token: string, body: unknown) => world.request('POST', '/api/auth/reauthenticate', { token, body })
    expect((await prove(one, { password: 'wrong' })).body.code).to.equal('password_wrong')
    expect((await prove(two, { code: code() })).body.code).to.equal('code_wrong')
    for (const [token, body] of [
      [one, {}],
      [one, { code: code(1) }],
      [two, { password }],
      [two, { password, code: code(1) }],
    ] as const)
      expect((await prove(token, body)).status).to.equal(400)
    for (const [token, body] of [
      [one, { password }],
      [two, { code: code(1) }],
    ] as const) {
      const reply = await prove(token, body)
      expect(reply.status).to.equal(200)
      expect(Date.parse(reply.body.reauthenticatedUntil as string) - Date.now()).to.be.within(540_000, 600_000)
    }
  })
})
