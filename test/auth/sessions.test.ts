import { expect } from 'chai'
import { closeRedis, openRedis } from '../../api/lib/redis.ts'
import { signToken, verifyToken } from '../../config/tokens.ts'
import { jtiHash, jtiOf, revokeSessions } from '../../db/auth/sessions.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { connectRedis } from '../support/redis.ts'
import { useWorld } from '../support/world.ts'
import { forgetLimits, makeSuperuser, makeTenant, makeUser, signIn } from './support.ts'
import type { Person } from './support.ts'

describe('a session', () => {
  const world = useWorld()
  let tenantId: string
  before(async () => {
    tenantId = await makeTenant()
  })
  beforeEach(() => forgetLimits(world))
  afterEach(connectRedis)

  const person = () => makeUser({ [tenantId]: 'manager' })
  const me = (token: string) => world.request('GET', '/api/auth/me', { token })
  const list = (token: string) => world.request('GET', '/api/auth/sessions', { token })
  const refresh = (token: string) => world.request('POST', '/api/auth/refresh', { token })
  const edit = (who: Person, change: string) =>
    sql(world.database.admin, `update session set ${change} where user_id = ?`, [who.userId])
  const claimsOf = async (token: string) => {
    const result = await verifyToken('access', token, { allowExpired: true })
    if (!result.ok) throw new Error('a token of the test is not good')
    return result.claims as { sid: string; jti: string; ep: number; sub: string; iat: string; exp: string }
  }
  // As the service signs it, at another time.
  const tokenAt = async (token: string, issuedAt: Date) => {
    const { sid, jti, ep, sub } = await claimsOf(token)
    return signToken('access', { sid, jti, ep, sub }, 24 * 3_600, issuedAt)
  }
  const hours = (count: number) => new Date(Date.now() - count * 3_600_000)

  describe('refreshed', () => {
    it('goes on with a new token; the old one still counts for half a minute', async () => {
      const { token } = await signIn(world, await person())
      const { status, body } = await refresh(token)
      expect(status).to.equal(200)
      expect(body.token).to.not.equal(token)
      expect(Date.parse(body.expiresAt as string) - Date.now()).to.be.within(86_300_000, 86_400_000)
      expect([(await me(body.token as string)).status, (await me(token)).status]).to.deep.equal([200, 200])
      const [a, b] = [await claimsOf(token), await claimsOf(body.token as string)]
      expect([a.sid === b.sid, a.jti === b.jti]).to.deep.equal([true, false])
    })

    it('with a token that has expired, up to seven days ago, and not a minute more', async () => {
      const who = await person()
      const { token } = await signIn(world, who)
      const old = await tokenAt(token, hours(24 + 7 * 24 + 0.02))
      expect((await me(old)).body.code).to.equal('token_expired')
      expect((await refresh(old)).status).to.equal(401)
      const almost = await tokenAt(token, hours(24 + 7 * 24 - 0.02))
      const { status, body } = await refresh(almost)
      expect(status).to.equal(200)
      expect((await me(body.token as string)).status).to.equal(200)
    })

    it('of a superuser within an hour of expiry', async () => {
      const who = await makeSuperuser('N2')
      const { token } = await signIn(world, who)
      expect((await refresh(await tokenAt(token, hours(25.02)))).status).to.equal(401)
      expect((await refresh(await tokenAt(token, hours(24.9)))).status).to.equal(200)
    })

    it('twenty times at once has one new token, and all are answered', async () => {
      const { token } = await signIn(world, await person())
      await sql(world.database.admin, 'select 1')
      const replies = []
      for (let round = 0; round < 2; round += 1) {
        await forgetLimits(world)
        replies.push(...(await Promise.all(Array.from({ length: 10 }, () => refresh(token)))))
      }
      expect(replies.map(({ status }) => status)).to.deep.equal(Array<number>(20).fill(200))
      expect(new Set(replies.map(({ body }) => body.token)).size).to.equal(1)
    })

    it('with a token that was used 31 s ago ends, with its successor, is in the trail and is told to the user', async () => {
      const who = await person()
      const { token } = await signIn(world, who)
      const { body } = await refresh(token)
      await edit(who, `rotated_at = now() - interval '31 seconds'`)
      const { status } = await refresh(token)
      expect(status).to.equal(401)
      expect((await me(body.token as string)).status).to.equal(401)
      const [row] = await sql(world.database.admin, `select revoke_reason from session where user_id = ?`, [who.userId])
      expect(row).to.deep.equal({ revokeReason: 'reuse' })
      const { sid } = await claimsOf(token)
      expect(
        await sql(
          world.database.admin,
          `select action from audit_entry where subject_id = ? and action = 'session.reuse'`,
          [sid],
        ),
      ).to.have.length(1)
      expect(
        await sql(world.database.admin, `select kind from user_mail where user_id = ?`, [who.userId]),
      ).to.deep.equal([{ kind: 'security_notice' }])
    })

    it('with a token of two generations ago ends as well', async () => {
      const who = await person()
      const { token } = await signIn(world, who)
      const second = (await refresh(token)).body.token as string
      const third = (await refresh(second)).body.token as string
      expect((await refresh(token)).status).to.equal(401)
      expect((await me(third)).status).to.equal(401)
    })

    it('keeps no token alive beyond 30 days from the sign-in', async () => {
      const who = await person()
      const { token } = await signIn(world, who)
      await edit(who, `absolute_expires_at = now() + interval '1 hour'`)
      const { body } = await refresh(token)
      expect(Date.parse(body.expiresAt as string) - Date.now()).to.be.lessThan(3_600_001)
      expect(Date.parse((await claimsOf(body.token as string)).exp) - Date.now()).to.be.lessThan(3_601_000)
      await edit(who, `absolute_expires_at = now() - interval '1 second'`)
      expect((await refresh(body.token as string)).status).to.equal(401)
    })

    it('does not come back after it was revoked, nor for a user who was locked', async () => {
      const who = await person()
      const one = await signIn(world, who)
      await world.request('POST', '/api/auth/sign-out', { token: one.token })
      expect((await refresh(one.token)).status).to.equal(401)
      const two = await signIn(world, who)
      await sql(world.database.admin, `update app_user set status = 'locked' where id = ?`, [who.userId])
      expect((await refresh(two.token)).status).to.equal(401)
    })

    it('is nothing that a key or nobody may ask for', async () => {
      expect((await world.request('POST', '/api/auth/refresh')).status).to.equal(401)
      expect((await world.request('POST', '/api/auth/refresh', { key: 'pou_test_x' })).status).to.equal(401)
    })
  })

  describe('revoked', () => {
    it('by its prefix ends, and no other does', async () => {
      const who = await person()
      const [one, two] = [await signIn(world, who), await signIn(world, who)]
      const { body } = await list(one.token)
      expect(body.meta).to.deep.equal({ page: 1, limit: 20, total: 2, totalPages: 1 })
      const other = body.data.find((session: { current: boolean }) => !session.current)
      const reply = await world.request('DELETE', `/api/auth/sessions/${other.tokenPrefix}`, { token: one.token })
      expect([reply.status, reply.body]).to.deep.equal([200, { revoked: 1 }])
      expect([(await me(one.token)).status, (await me(two.token)).status]).to.deep.equal([200, 401])
      const again = await world.request('DELETE', `/api/auth/sessions/${other.tokenPrefix}`, { token: one.token })
      expect(again.status).to.equal(404)
    })

    it('shows its network and not its address', async () => {
      const { token } = await signIn(world, await person(), { 'user-agent': 'A browser' })
      const { body } = await list(token)
      expect(body.data[0]).to.deep.include({
        ip: '127.0.0.0/24',
        userAgent: 'A browser',
        current: true,
        activeTenantId: tenantId,
      })
      expect(body.data[0].tokenPrefix).to.match(/^[0-9A-HJKMNP-TV-Z]{12}$/)
      expect(token).to.not.include(body.data[0].tokenPrefix)
    })

    it('is not found by another’s prefix, and what is no prefix is 400', async () => {
      const [mine, other] = [await signIn(world, await person()), await signIn(world, await person())]
      const { body } = await list(other.token)
      const revoke = async (prefix: string) =>
        (await world.request('DELETE', `/api/auth/sessions/${prefix}`, { token: mine.token })).status
      expect(await revoke(body.data[0].tokenPrefix as string)).to.equal(404)
      expect((await me(other.token)).status).to.equal(200)
      for (const prefix of [
        '%25',
        '_',
        '____________',
        '%25%25%25%25%25%25%25%25%25%25%25%25',
        'v4.public.ey',
        mine.token.slice(0, 12),
        (body.data[0].tokenPrefix as string).toLowerCase().replace(/^\d+$/, 'a'),
        `${'0'.repeat(13)}`,
      ])
        if (!/^[0-9A-HJKMNP-TV-Z]{12}$/.test(prefix)) expect(await revoke(prefix), prefix).to.equal(400)
      expect((await me(mine.token)).status).to.equal(200)
    })

    it('with all others, ends them all, the caller’s included', async () => {
      const who = await person()
      const tokens = [
        (await signIn(world, who)).token,
        (await signIn(world, who)).token,
        (await signIn(world, who)).token,
      ]
      const reply = await world.request('POST', '/api/auth/revoke-all', { token: tokens[0] ?? '' })
      expect([reply.status, reply.body]).to.deep.equal([200, { revoked: 3 }])
      for (const token of tokens) {
        expect((await me(token)).status).to.equal(401)
        expect((await refresh(token)).status).to.equal(401)
      }
      expect((await me((await signIn(world, who)).token)).status).to.equal(200)
    })

    for (const [name, before] of [
      ['with Redis as it is', async () => {}],
      ['with Redis emptied', () => world.redis.flushall().then(() => {})],
      ['with Redis gone', () => Promise.resolve(openRedis('redis://127.0.0.1:1'))],
      ['with no Redis at all', () => Promise.resolve(closeRedis())],
    ] as const)
      it(`is over at the next request, ${name}`, async () => {
        const who = await person()
        const [one, two] = [await signIn(world, who), await signIn(world, who)]
        expect([(await me(one.token)).status, (await me(two.token)).status]).to.deep.equal([200, 200])
        await before()
        expect([(await me(one.token)).status, (await me(two.token)).status]).to.deep.equal([200, 200])
        expect((await world.request('POST', '/api/auth/revoke-all', { token: one.token })).status).to.equal(200)
        expect([(await me(one.token)).status, (await me(two.token)).status]).to.deep.equal([401, 401])
      })

    it('elsewhere, by somebody whom Redis and this process did not hear, is over within a second', async () => {
      for (const gone of [false, true]) {
        if (gone) openRedis('redis://127.0.0.1:1')
        const who = await person()
        const { token } = await signIn(world, who)
        expect((await me(token)).status).to.equal(200)
        await inPlatform((trx) => revokeSessions(trx, { userId: who.userId }, 'admin'))
        await new Promise((resolve) => setTimeout(resolve, 900))
        expect((await me(token)).status, gone ? 'without Redis' : 'with Redis').to.equal(401)
      }
    })

    it('stays over though a slow reader brings back what it had read before', async () => {
      const who = await person()
      const { token } = await signIn(world, who)
      await me(token)
      const { sid } = await claimsOf(token)
      const key = (await world.redis.keys(`*sess:${sid}`))[0] ?? ''
      const before = (await world.redis.get(key)) ?? ''
      await world.request('POST', '/api/auth/sign-out', { token })
      expect(await world.redis.get(key)).to.equal('revoked')
      // Even where the tombstone itself was lost:
      await world.redis.set(key, before, 'EX', 600)
      await new Promise((resolve) => setTimeout(resolve, 900))
      expect((await me(token)).status).to.equal(401)
    })

    it('cannot live again, whoever writes its row', async () => {
      const who = await person()
      const { token } = await signIn(world, who)
      await world.request('POST', '/api/auth/sign-out', { token })
      const refused = await edit(who, `revoked_at = null, revoke_reason = null`).catch((error: unknown) => error)
      expect(refused).to.include({ code: 'PL010' })
    })
  })

  it('is one of twenty at most: the oldest gives way', async () => {
    const who = await person()
    const first = await signIn(world, who)
    for (let n = 0; n < 20; n += 1) {
      if (n % 10 === 0) await forgetLimits(world)
      await signIn(world, who)
    }
    expect((await me(first.token)).status).to.equal(401)
    const [row] = await sql<{ live: number }>(
      world.database.admin,
      `select count(*) filter (where revoked_at is null) as live from session where user_id = ?`,
      [who.userId],
    )
    expect(row?.live).to.equal(20)
    const trail = await sql<{ by: string }>(
      world.database.admin,
      `select actor_id as by from audit_entry where action = 'session.revoke' and subject_id in (select id::text from session where user_id = ? and revoke_reason = 'too_many')`,
      [who.userId],
    )
    expect(trail).to.deep.equal([{ by: who.userId }])
  })

  it('of a user whose epoch has moved is dead, though its row lives', async () => {
    const who = await person()
    const { token } = await signIn(world, who)
    await sql(world.database.admin, `update app_user set session_epoch = session_epoch + 1 where id = ?`, [who.userId])
    expect((await me(token)).status).to.equal(401)
  })

  it('stores no token, and of its id the hash alone', async () => {
    const who = await person()
    const { token } = await signIn(world, who)
    const { sid, jti } = await claimsOf(token)
    expect(jti).to.equal(jtiOf(sid, 0))
    const [row] = await sql<{ text: string; hash: Buffer }>(
      world.database.admin,
      `select s::text as text, current_jti_hash as hash from session s where id = ?`,
      [sid],
    )
    expect(row?.text).to.not.include(jti)
    expect(row?.hash.equals(jtiHash(jti))).to.equal(true)
  })
})
