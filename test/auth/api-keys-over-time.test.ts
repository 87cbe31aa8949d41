import { expect } from 'chai'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { readUserMail } from '../../db/ocp/user-mail.ts'
import { warnExpiringKeys } from '../../jobs/auth.ts'
import { useKeys } from './api-keys-support.ts'
import type { Made } from './api-keys-support.ts'
import { makeTenant, makeUser, signIn } from './support.ts'

describe('a tenant’s API keys, over time', () => {
  const keys = useKeys()
  const { world, call, make, use, events } = keys

  it('rotated go on beside the new one until the overlap is over, and no longer than they would have', async () => {
    const { id, key, name } = await make({ cidrs: ['127.0.0.0/8'] })
    const { status, body: next } = await call('POST', `/${id}/rotate`, { overlapHours: 2 }, { 'idempotency-key': 'r1' })
    expect([status, next.name, next.replacesId, next.cidrs]).to.deep.equal([200, name, id, ['127.0.0.0/8']])
    expect(next.key).to.not.equal(key)
    expect((await call('POST', `/${id}/rotate`, { overlapHours: 2 }, { 'idempotency-key': 'r1' })).body).to.deep.equal({
      ...next,
      key: null,
    })
    expect([await use(key), await use(next.key)]).to.deep.equal([
      [200, undefined],
      [200, undefined],
    ])
    const again = await call('POST', `/${id}/rotate`, {})
    expect([again.status, again.body.code]).to.deep.equal([409, 'invalid_transition'])
    // Its end, ahead and past: the clock of the record is moved, not ours.
    const endsIn = async (seconds: number) => {
      await sql(world.database.admin, `update api_key set expires_at = now() + make_interval(secs => ?) where id = ?`, [
        seconds,
        id,
      ])
      await world.redis.flushall()
    }
    const { body: page } = await call('GET', '?limit=100')
    const old = page.data.find((one: Made) => one.id === id)
    expect(Date.parse(old.expiresAt) - Date.now()).to.be.within(7_100_000, 7_200_000)
    await endsIn(30)
    expect(await use(key)).to.deep.equal([200, undefined])
    await endsIn(-1)
    expect(await use(key)).to.deep.equal([401, 'unauthenticated'])
    expect(await use(next.key)).to.deep.equal([200, undefined])
    expect(await events(next.id)).to.deep.equal(['api_key.rotated'])
    const short = await make({ expiresAt: new Date(Date.now() + 3_600_000).toISOString() })
    await call('POST', `/${short.id}/rotate`, {})
    const { body: later } = await call('GET', '?limit=100')
    expect(later.data.find((one: Made) => one.id === short.id).expiresAt).to.equal(short.expiresAt)
    for (const overlapHours of [-1, 169, 1.5])
      expect((await call('POST', `/${next.id}/rotate`, { overlapHours })).status).to.equal(400)
    expect((await call('POST', `/${next.id}/rotate`, { overlapHours: 0 })).status).to.equal(200)
    expect(await use(next.key)).to.deep.equal([401, 'unauthenticated'])
  })

  it('rotated twice at once have one successor', async () => {
    const { id } = await make()
    const replies = await Promise.all([1, 2, 3].map(() => call('POST', `/${id}/rotate`, {})))
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([200, 409, 409])
  })

  it('that expire soon are told of to owner and admins, once 30 and once 7 days before', async () => {
    const house2 = await makeTenant()
    const people = [
      await makeUser({ [house2]: 'owner' }),
      await makeUser({ [house2]: 'admin' }),
      await makeUser({ [house2]: 'manager' }),
    ]
    const [boss] = people
    if (!boss) throw new Error('an owner was made')
    const session = await signIn(world, boss)
    const { body } = await world.request('POST', `/api/tenants/${house2}/api-keys`, {
      token: session.token,
      body: { name: 'Channel "A"', scopes: ['read'] },
    })
    const expiresIn = (count: number) =>
      sql(world.database.admin, `update api_key set expires_at = now() + make_interval(days => ?) where id = ?`, [
        count,
        body.id,
      ])
    const told = async () => {
      await inPlatform((trx) => enqueue(trx, warnExpiringKeys, {}))
      await world.drain()
      const rows = await sql<{ userId: string }>(
        world.database.admin,
        `select user_id from user_mail where kind = 'key_expiring' and user_id = any(?::uuid[])`,
        [people.map(({ userId }) => userId)],
      )
      return rows.map(({ userId }) => people.findIndex((person) => person.userId === userId)).toSorted((a, b) => a - b)
    }
    expect(await told()).to.deep.equal([])
    await expiresIn(29)
    expect(await told()).to.deep.equal([0, 1])
    expect(await told()).to.deep.equal([0, 1])
    await sql(
      world.database.admin,
      `update api_key_warning set expires_at = (select expires_at from api_key where id = ?) + interval '23 days' where api_key_id = ?`,
      [body.id, body.id],
    )
    await expiresIn(6)
    expect(await told()).to.deep.equal([0, 0, 1, 1])
    expect(await told()).to.deep.equal([0, 0, 1, 1])
    const [mail] = await sql<{ id: string }>(
      world.database.admin,
      `update user_mail set status = 'queued' where kind = 'key_expiring' and user_id = ? returning id`,
      [boss.userId],
    )
    const letter = await inPlatform((trx) => readUserMail(trx, mail?.id ?? ''))
    expect(letter?.to).to.equal(boss.email)
    expect(letter?.text).to.match(/the API key "Channel "A"" of House expires on \d{4}-\d{2}-\d{2}/)
    expect(await events(body.id)).to.deep.equal(['api_key.created', 'api_key.expiry_neared', 'api_key.expiry_neared'])
  })
})
