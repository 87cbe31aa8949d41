import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { purgeOver } from '../../db/auth/last-seen.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { flushLastSeen, purgeSessions } from '../../jobs/auth.ts'
import { useWorld } from '../support/world.ts'
import { makeKey, makeTenant, makeUser, signIn } from './support.ts'

describe('last use', () => {
  const world = useWorld()

  it('is noted without a write in the request, and written by the job; the newest time wins', async () => {
    const tenantId = await makeTenant()
    const person = await makeUser({ [tenantId]: 'owner' })
    const { token } = await signIn(world, person)
    const { key, apiKeyId } = await makeKey(tenantId, ['read'])
    await sql(world.database.admin, `update session set last_seen_at = now() - interval '1 hour' where user_id = ?`, [
      person.userId,
    ])
    await world.request('GET', '/api/auth/me', { token })
    await world.request('GET', `/api/tenants/${tenantId}`, { key })
    const read = async () => ({
      session: (
        await sql<{ ago: number; version: number }>(
          world.database.admin,
          `select extract(epoch from now() - last_seen_at)::float8 as ago, version from session where user_id = ?`,
          [person.userId],
        )
      )[0],
      key: (
        await sql<{ lastUsedAt: Date | null; ip: string | null }>(
          world.database.admin,
          `select last_used_at, host(last_used_ip) as ip from api_key where id = ?`,
          [apiKeyId],
        )
      )[0],
    })
    const before = await read()
    expect(before.session?.ago).to.be.greaterThan(3_000)
    expect(before.key?.lastUsedAt).to.equal(null)
    const noted = await world.redis.hgetall(`${settings.redisPrefix}:seen`)
    expect(Object.keys(noted)).to.have.length(2)
    await world.redis.hset(`${settings.redisPrefix}:seen`, 'nonsense', 'x')
    await inPlatform((trx) => enqueue(trx, flushLastSeen, {}))
    await world.drain()
    const after = await read()
    expect(after.session?.ago).to.be.lessThan(30)
    expect(after.session?.version).to.equal(before.session?.version)
    expect(after.key?.ip).to.equal('127.0.0.1')
    expect(await world.redis.hgetall(`${settings.redisPrefix}:seen`)).to.deep.equal({})
    // An older note that comes late changes nothing.
    await world.redis.hset(
      `${settings.redisPrefix}:seen`,
      Object.fromEntries(Object.keys(noted).map((field) => [field, `${Date.now() - 7_200_000}|10.0.0.1`])),
    )
    await inPlatform((trx) => enqueue(trx, flushLastSeen, {}))
    await world.drain()
    expect((await read()).key?.ip).to.equal('127.0.0.1')
  })
})

describe('what has been kept for its time', () => {
  const world = useWorld()

  it('goes: sessions after 90 days, tokens after 7, mails after 30, and nothing younger', async () => {
    const person = await makeUser()
    for (let n = 0; n < 3; n += 1) await signIn(world, person)
    const ids = (
      await sql<{ id: string }>(world.database.admin, `select id from session where user_id = ? order by created_at`, [
        person.userId,
      ])
    ).map(({ id }) => id)
    await sql(
      world.database.admin,
      `update session set revoked_at = now() - interval '91 days', revoke_reason = 'user' where id = ?`,
      [ids[0]],
    )
    await sql(
      world.database.admin,
      `update session set revoked_at = now() - interval '89 days', revoke_reason = 'user' where id = ?`,
      [ids[1]],
    )
    for (const days of [8, 6])
      await sql(
        world.database.admin,
        `insert into one_time_token (purpose, user_id, expires_at) values ('mfa', ?, now() - make_interval(days => ?))`,
        [person.userId, days],
      )
    for (const [days, status] of [
      [31, 'sent'],
      [31, 'queued'],
      [29, 'sent'],
    ] as const)
      await sql(
        world.database.admin,
        `insert into user_mail (user_id, kind, reference_id, status, created_at) values (?, 'security_notice', gen_random_uuid(), ?, now() - make_interval(days => ?))`,
        [person.userId, status, days],
      )
    for (const hours of [23, 25])
      await sql(
        world.database.admin,
        `insert into password_request (email, created_at) values ('x@house.example', now() - make_interval(hours => ?))`,
        [hours],
      )
    await inPlatform((trx) => enqueue(trx, purgeSessions, {}))
    await world.drain()
    expect(
      (
        await sql<{ id: string }>(
          world.database.admin,
          `select id from session where user_id = ? order by created_at`,
          [person.userId],
        )
      ).map(({ id }) => id),
    ).to.deep.equal(ids.slice(1))
    expect(
      await sql(world.database.admin, `select count(*) as n from one_time_token where user_id = ?`, [person.userId]),
    ).to.deep.equal([{ n: 1 }])
    expect(
      await sql(world.database.admin, `select count(*) as n from user_mail where user_id = ?`, [person.userId]),
    ).to.deep.equal([{ n: 2 }])
    expect(await sql(world.database.admin, `select count(*) as n from password_request`)).to.deep.equal([{ n: 1 }])
    expect(await inPlatform((trx) => purgeOver(trx))).to.equal(false)
  })

  it('goes: failures after 25 hours, networks after 30 days, usage after 60, replies after 72 hours, and nothing younger', async () => {
    const { userId } = await makeUser()
    const tenantId = await makeTenant()
    const put = (statement: string, bindings: unknown[]) => sql(world.database.admin, statement, bindings)
    const ages = async (table: string, column: string) =>
      (
        await sql<{ hours: number }>(
          world.database.admin,
          `select round(extract(epoch from now() - ${column}) / 3600)::int as hours from ${table} order by 1`,
        )
      ).map(({ hours }) => hours)
    for (const table of ['sign_in_failure', 'known_network', 'usage_event', 'kept_reply'])
      await put(`delete from ${table}`, [])
    for (const hours of [24, 26])
      await put(
        `insert into sign_in_failure (account_key, address, network, at) values ('x', '192.0.2.1', '192.0.2.0/24', now() - make_interval(hours => ?))`,
        [hours],
      )
    for (const [hours, network] of [
      [29 * 24, '192.0.2.0/24'],
      [31 * 24, '198.51.100.0/24'],
    ] as const)
      await put(
        `insert into known_network (user_id, network, last_at) values (?, ?, now() - make_interval(hours => ?))`,
        [userId, network, hours],
      )
    for (const hours of [59 * 24, 61 * 24])
      await put(
        `insert into usage_event (tenant_id, meter, key, quantity, at) values (?, 'api.requests', ?, 1, now() - make_interval(hours => ?))`,
        [tenantId, `k${hours}`, hours],
      )
    for (const hours of [71, 73])
      await put(
        `insert into kept_reply (caller, key, request_hash, status, body, created_at) values ('c', ?, 'x', 200, 'x', now() - make_interval(hours => ?))`,
        [`k${hours}`, hours],
      )
    expect(await inPlatform((trx) => purgeOver(trx))).to.equal(false)
    expect(await ages('sign_in_failure', 'at')).to.deep.equal([24])
    expect(await ages('known_network', 'last_at')).to.deep.equal([29 * 24])
    expect(await ages('usage_event', 'at')).to.deep.equal([59 * 24])
    expect(await ages('kept_reply', 'created_at')).to.deep.equal([71])
  })
})
