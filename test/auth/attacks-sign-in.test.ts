import { expect } from 'chai'
import { availableParallelism } from 'node:os'
import { sql } from '../../db/lib/connection.ts'
import { statementsOf } from '../support/statements.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'
import { codeOf, roomInStep, wrongCode } from './authenticator.ts'
import { hashAsInProduction, hashesOf, verifies } from './hashing-work.ts'
import { forgetLimits, makeTenant, makeUser, newEmail, password, signIn } from './support.ts'
import type { Person } from './support.ts'

const wrong = 'not the password at all'

describe('who attacks the sign-in', () => {
  const world = useWorld()
  hashAsInProduction()
  let tenantId: string
  before(async () => {
    tenantId = await makeTenant()
    // The hash that unknown addresses are compared with is made once.
    await verifies(password, null)
  })
  beforeEach(async () => {
    await forgetLimits(world)
    await sql(world.database.admin, `delete from sign_in_failure`)
  })

  const enter = (email: string, secret = password, from?: string) =>
    world.request('POST', '/api/auth/sign-in/email', {
      body: { email, password: secret },
      ...(from === undefined ? {} : { from }),
    })
  const verify = (mfaToken: string, code: string) =>
    world.request('POST', '/api/auth/mfa/verify', { body: { mfaToken, code } })

  it('learns nothing of who has an account: one comparison and the same statements for known, unknown, locked and invited', async () => {
    const [known, locked, invited] = [await makeUser(), await makeUser(), await makeUser()]
    await sql(world.database.admin, `update app_user set status = 'locked' where id = ?`, [locked.userId])
    await sql(
      world.database.admin,
      `update app_user set status = 'invited', password_hash = null, pepper_id = null where id = ?`,
      [invited.userId],
    )
    const tries: [string, string][] = [
      [known.email, wrong],
      [newEmail('nobody'), wrong],
      [locked.email, password],
      [invited.email, password],
    ]
    const seen = []
    for (const [email, secret] of tries) {
      let statements: string[] = []
      const work = await hashesOf(async () => {
        statements = await statementsOf(() => enter(email, secret))
      })
      expect(work, email).to.deep.equal({ store: 0, compare: 1 })
      seen.push(statements)
    }
    expect(seen[0]).to.have.length.above(0)
    for (const statements of seen) expect(statements).to.deep.equal(seen[0])
  })

  it('gets the same amount of work out of us for a wrong code as out of himself: none of it is hashing', async () => {
    const mfaToken = 'mfa_'.padEnd(70, 'A')
    expect(await hashesOf(() => verify(mfaToken, '123456'))).to.deep.equal({ store: 0, compare: 0 })
    expect(
      await hashesOf(() =>
        world.request('POST', '/api/auth/password/reset', { body: { token: 'rst_x', newPassword: `${wrong} 1` } }),
      ),
    ).to.deep.equal({ store: 0, compare: 0 })
    const { email } = await makeUser()
    await sql(
      world.database.admin,
      `insert into sign_in_failure (account_key, network, address)
       select sha256(convert_to('sign-in:' || ?, 'UTF8')), '198.51.100.0/24', '198.51.100.7' from generate_series(1, 9)`,
      [email],
    )
    // Throttled: nothing is compared any more.
    expect(await hashesOf(() => enter(email))).to.deep.equal({ store: 0, compare: 0 })
  })

  it('cannot lock the owner out: a day of failures from elsewhere, and he signs in from where he did before', async () => {
    const owner = await makeUser()
    expect((await enter(owner.email, password, '127.0.1.10')).status).to.equal(200)
    for (let n = 0; n < 6; n += 1) await enter(owner.email, wrong, `127.0.2.${10 + n}`)
    // As many as make the wait longer than this test.
    await sql(
      world.database.admin,
      `insert into sign_in_failure (account_key, network, address)
       select sha256(convert_to('sign-in:' || ?, 'UTF8')), '198.51.100.0/24', '198.51.100.7' from generate_series(1, 8)`,
      [owner.email],
    )
    expect((await enter(owner.email, password, '127.0.2.77')).body.code).to.equal('sign_in_throttled')
    // His neighbour's address, of the same network, is known as well.
    expect((await enter(owner.email, password, '127.0.1.200')).status).to.equal(200)
    await sql(
      world.database.admin,
      `insert into sign_in_failure (account_key, network, address)
       select sha256(convert_to('sign-in:' || ?, 'UTF8')), '198.51.100.0/24', '198.51.100.7' from generate_series(1, 60)`,
      [owner.email],
    )
    expect((await enter(owner.email, password, '127.0.2.77')).headers['retry-after']).to.equal('3600')
    expect((await enter(owner.email, password, '127.0.1.10')).status).to.equal(200)
    await sql(world.database.admin, `update known_network set last_at = now() - interval '31 days' where user_id = ?`, [
      owner.userId,
    ])
    await sql(
      world.database.admin,
      `insert into sign_in_failure (account_key, network, address)
       select sha256(convert_to('sign-in:' || ?, 'UTF8')), '198.51.100.0/24', '198.51.100.7' from generate_series(1, 60)`,
      [owner.email],
    )
    expect((await enter(owner.email, password, '127.0.1.10')).body.code).to.equal('sign_in_throttled')
  })

  it('by a flood keeps nobody else out: what is too much is 429 hashing_busy and no try, and others read meanwhile', async () => {
    const { token } = await signIn(world, await makeUser({ [tenantId]: 'owner' }))
    const flood = Array.from({ length: availableParallelism() + 90 }, (_, n) =>
      enter(newEmail('flood'), wrong, `127.1.${n}.1`),
    )
    const reads = await Promise.all(
      Array.from({ length: 20 }, () => world.request('GET', `/api/tenants/${tenantId}/guests`, { token })),
    )
    expect(reads.map(({ status }) => status)).to.deep.equal(Array<number>(20).fill(200))
    const replies = await Promise.all(flood)
    const busy = replies.filter(({ status }) => status === 429)
    expect(busy.length).to.be.greaterThan(0)
    for (const { body, headers } of busy)
      expect([body.code, headers['retry-after']]).to.deep.equal(['hashing_busy', '2'])
    expect(replies.filter(({ status }) => status === 401).length).to.equal(replies.length - busy.length)
    const [row] = await sql<{ n: number }>(world.database.admin, `select count(*) as n from sign_in_failure`)
    expect(row?.n).to.equal(replies.length - busy.length)
    expect((await enter((await makeUser()).email)).status).to.equal(200)
  })

  describe('with the password, and without the second factor', () => {
    const enrolled = async (): Promise<Person & { secret: string }> => {
      await roomInStep(4_000)
      const person = await makeUser()
      const { token } = await signIn(world, person)
      const secret = (await world.request('POST', '/api/auth/mfa/totp', { token })).body.secret as string
      await world.request('POST', '/api/auth/mfa/totp/confirm', { token, body: { code: codeOf(secret, -1) } })
      return { ...person, secret }
    }

    it('may guess five codes, over however many sign-ins, and from wherever', async () => {
      const person = await enrolled()
      const tokens: string[] = []
      for (let n = 0; n < 3; n += 1) tokens.push((await enter(person.email)).body.mfaToken as string)
      const replies = await Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          world.request('POST', '/api/auth/mfa/verify', {
            body: { mfaToken: tokens[n % 3], code: wrongCode(person.secret) },
            from: `127.3.${n}.1`,
          }),
        ),
      )
      expect(replies.filter(({ status }) => status === 401)).to.have.length(5)
      expect(replies.filter(({ status, body }) => status === 429 && body.code === 'sign_in_throttled')).to.have.length(
        7,
      )
      expect((await verify(tokens[0] ?? '', codeOf(person.secret))).status).to.equal(429)
    })

    it('cannot use a code that the owner has just used, at the same moment or after', async () => {
      const person = await enrolled()
      const tokens = [await enter(person.email), await enter(person.email)].map(({ body }) => body.mfaToken as string)
      const code = codeOf(person.secret)
      const replies = await Promise.all(tokens.map((mfaToken) => verify(mfaToken, code)))
      expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([200, 401])
      const later = (await enter(person.email)).body.mfaToken as string
      expect((await verify(later, code)).status).to.equal(401)
    })

    it('has with the half-way token no way to anything but the second half', async () => {
      const person = await enrolled()
      const { mfaToken } = (await enter(person.email)).body as { mfaToken: string }
      for (const [path, token] of [
        ['password/reset', mfaToken],
        ['password/reset', mfaToken.replace('mfa_', 'rst_')],
        ['email/confirm', mfaToken.replace('mfa_', 'eml_')],
        ['invitations/preview', mfaToken.replace('mfa_', 'inv_')],
      ] as const) {
        const { status, body } = await world.request('POST', `/api/auth/${path}`, {
          body: path === 'password/reset' ? { token, newPassword: 'mar azul e vento norte' } : { token },
        })
        expect([status, body.code], path).to.deep.equal([401, 'token_invalid'])
      }
      expect((await world.request('POST', '/api/auth/refresh', { token: mfaToken })).status).to.equal(401)
    })

    it('is out when the owner changes the password between the two halves', async () => {
      const person = await enrolled()
      const { mfaToken } = (await enter(person.email)).body as { mfaToken: string }
      const mine = (await enter(person.email)).body.mfaToken as string
      const { token } = (await verify(mine, codeOf(person.secret))).body as { token: string }
      await world.request('POST', '/api/auth/password/change', {
        token,
        body: { currentPassword: password, newPassword: 'mar azul e vento norte' },
      })
      const { status, body } = await verify(mfaToken, codeOf(person.secret, 1))
      expect([status, body.code]).to.deep.equal([401, 'token_invalid'])
    })
  })

  it('finds no secret in what is stored, kept or queued', async () => {
    const person = await makeUser({ [tenantId]: 'owner' })
    const { token } = await signIn(world, person)
    const begun = (await world.request('POST', '/api/auth/mfa/totp', { token, idempotencyKey: 'kept-1' })).body
    await world.request('POST', '/api/auth/password/forgot', { body: { email: person.email } })
    const made = await world.request('POST', `/api/tenants/${tenantId}/api-keys`, {
      token,
      idempotencyKey: 'kept-2',
      body: { name: 'Secret', scopes: ['read'] },
    })
    await world.request('GET', `/api/tenants/${tenantId}`, { key: made.body.key })
    await until(async () => (await world.redis.keys('*key:*')).length > 0)
    const tables = [
      'app_user',
      'session',
      'api_key',
      'jobs',
      'kept_reply',
      'user_mail',
      'one_time_token',
      'event',
      'audit_entry',
    ]
    const texts = []
    for (const table of tables)
      texts.push(...(await sql<{ text: string }>(world.database.admin, `select t::text as text from ?? t`, [table])))
    for (const key of await world.redis.keys('*'))
      if ((await world.redis.type(key)) === 'string') texts.push({ text: `${key} ${await world.redis.get(key)}` })
    const all = texts.map(({ text }) => text).join('\n')
    expect(all).to.include(person.userId)
    for (const secret of [token, token.slice(-40), begun.secret, (made.body.key as string).slice(18, 60), password])
      for (const form of [secret, Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64')])
        expect(all.includes(form), form.slice(0, 12)).to.equal(false)
  })
})
