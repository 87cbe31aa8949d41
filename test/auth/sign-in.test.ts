import { expect } from 'chai'
import { availableParallelism } from 'node:os'
import { closeRedis } from '../../api/lib/redis.ts'
import { hashPassword } from '../../db/auth/hashing.ts'
import { addMembership } from '../../db/auth/members/create.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { connectRedis } from '../support/redis.ts'
import { useWorld } from '../support/world.ts'
import { verifies } from './hashing-work.ts'
import {
  forgetLimits,
  makeSuperuser,
  makeTenant,
  makeUser,
  newEmail,
  password,
  roomInMinute,
  signIn,
} from './support.ts'

describe('signing in', () => {
  const world = useWorld()
  let tenantId: string
  before(async () => {
    tenantId = await makeTenant()
  })
  // Each test begins as if nobody had tried before: failures of others would keep this address out.
  beforeEach(async () => {
    await forgetLimits(world)
    await sql(world.database.admin, `delete from sign_in_failure`)
  })
  afterEach(connectRedis)

  const post = (body: unknown) => world.request('POST', '/api/auth/sign-in/email', { body })
  const codeOf = async (body: unknown) => {
    const reply = await post(body)
    return [reply.status, reply.body.code]
  }
  const wrong = 'not the password at all'

  it('answers a token and the user with his role, whatever the case of the address', async () => {
    const person = await makeUser({ [tenantId]: 'admin' }, { name: 'Ana' })
    const { status, body } = await post({ email: person.email.toUpperCase(), password })
    expect(status).to.equal(200)
    expect(Object.keys(body).toSorted()).to.deep.equal(['token', 'user'])
    expect(body.user).to.deep.equal({ id: person.userId, email: person.email, name: 'Ana', role: 'admin' })
    const me = await world.request('GET', '/api/auth/me', { token: body.token })
    expect([me.status, me.body.activeTenantId, me.body.tenants]).to.deep.equal([
      200,
      tenantId,
      [{ tenantId, name: 'House', role: 'admin' }],
    ])
  })

  it('names a superuser without membership so, and of several tenants the last one’s role', async () => {
    expect((await signIn(world, await makeSuperuser('N1'))).user.role).to.equal('superuser')
    const other = await makeTenant()
    const both = await makeUser({ [tenantId]: 'finance' })
    await inTenant(other, (trx) => addMembership(trx, { userId: both.userId, role: 'stock' }))
    expect((await signIn(world, both)).user.role).to.equal('finance')
    await sql(world.database.admin, `update app_user set last_tenant_id = ? where id = ?`, [other, both.userId])
    expect((await signIn(world, both)).user.role).to.equal('stock')
  })

  it('answers alike for an unknown address, a wrong password, a locked and an invited user', async () => {
    const [known, locked, invited] = [await makeUser(), await makeUser(), await makeUser()]
    await sql(world.database.admin, `update app_user set status = 'locked' where id = ?`, [locked.userId])
    await sql(
      world.database.admin,
      `update app_user set status = 'invited', password_hash = null, pepper_id = null where id = ?`,
      [invited.userId],
    )
    const replies = [
      await post({ email: newEmail('nobody'), password }),
      await post({ email: known.email, password: wrong }),
      await post({ email: locked.email, password }),
      await post({ email: invited.email, password }),
    ]
    for (const { status, body } of replies) {
      expect(status).to.equal(401)
      expect({ ...body, requestId: '' }).to.deep.equal({ ...replies[0]?.body, requestId: '' })
      expect(body.code).to.equal('invalid_credentials')
    }
  })

  it('refuses what is no sign-in before any hashing', async () => {
    const { email } = await makeUser()
    for (const body of [
      {},
      { email },
      { password },
      { email: 'nobody', password },
      { email, password: '' },
      { email: [email], password },
      { email, password: 1 },
      { email, password, remember: true },
    ])
      expect(await codeOf(body)).to.deep.equal([400, 'validation_failed'])
    for (const long of ['x'.repeat(1_025), 'é'.repeat(513)])
      expect(await codeOf({ email, password: long })).to.deep.equal([400, 'validation_failed'])
    await forgetLimits(world)
    expect(await codeOf({ email, password: 'é'.repeat(512) })).to.deep.equal([401, 'invalid_credentials'])
    expect(await codeOf({ email: `"a"@house.example`, password })).to.deep.equal([400, 'validation_failed'])
  })

  it('takes a password byte for byte', async () => {
    const nfc = 'café com leite 12'
    const hash = await hashPassword(nfc.normalize('NFC'))
    expect(await verifies(nfc.normalize('NFC'), hash)).to.equal(true)
    expect(await verifies(nfc.normalize('NFD'), hash)).to.equal(false)
    expect(await verifies(`${nfc.normalize('NFC')} `, hash)).to.equal(false)
    expect(await verifies(nfc, null)).to.equal(false)
  })

  it('hashes at most one password per core at once, lets fifty wait, and sends the others away', async () => {
    const most = availableParallelism() + 50
    const hash = await hashPassword(password)
    const results = await Promise.allSettled(Array.from({ length: most + 7 }, () => verifies(password, hash)))
    expect(results.filter((result) => result.status === 'fulfilled' && result.value)).to.have.length(most)
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
    expect(refused).to.have.length(7)
    for (const one of refused) expect(one).to.include({ status: 429, code: 'hashing_busy', retryAfterSeconds: 2 })
    expect(await verifies(password, hash)).to.equal(true)
  })

  describe('again and again', () => {
    const failures = (email: string, count: number, { address = '198.51.100.7', ago = '0 seconds' } = {}) =>
      sql(
        world.database.admin,
        `insert into sign_in_failure (account_key, network, address, at)
         select sha256(convert_to('sign-in:' || ?, 'UTF8')), network(set_masklen(?::inet, 24)), ?::inet, now() - ?::interval from generate_series(1, ?)`,
        [email, address, address, ago, count],
      )
    const settle = () => sql(world.database.admin, `update sign_in_failure set at = at - interval '70 seconds'`)

    it('waits after five failures of an account, longer each time, also for the right password; a known network does not', async () => {
      const stranger = await makeUser()
      for (let n = 0; n < 5; n += 1)
        expect(await codeOf({ email: stranger.email, password: wrong })).to.deep.equal([401, 'invalid_credentials'])
      const sixth = await post({ email: stranger.email, password })
      expect([sixth.status, sixth.body.code, sixth.headers['retry-after']]).to.deep.equal([
        429,
        'sign_in_throttled',
        '1',
      ])
      await settle()
      expect(await codeOf({ email: stranger.email, password: wrong })).to.deep.equal([401, 'invalid_credentials'])
      expect((await post({ email: stranger.email, password })).headers['retry-after']).to.equal('2')
      await settle()
      expect((await post({ email: stranger.email, password })).status).to.equal(200)

      await forgetLimits(world)
      // From here on this network is known: failures of others do not keep its owner out.
      await failures(stranger.email, 30)
      expect((await post({ email: stranger.email, password })).status).to.equal(200)
    })

    it('counts an address that nobody has alike', async () => {
      const email = newEmail('nobody')
      for (let n = 0; n < 5; n += 1)
        expect(await codeOf({ email, password: wrong })).to.deep.equal([401, 'invalid_credentials'])
      expect(await codeOf({ email, password: wrong })).to.deep.equal([429, 'sign_in_throttled'])
    })

    it('lets no more than five of many at once be tried', async () => {
      const { email } = await makeUser()
      const replies = await Promise.all(Array.from({ length: 15 }, () => codeOf({ email, password: wrong })))
      const tried = replies.filter(([status]) => status === 401)
      expect(tried).to.have.length(5)
      expect(replies.filter(([status, code]) => status === 429 && code === 'sign_in_throttled')).to.have.length(10)
    })

    it('waits for an address after twenty failures, and for a network after 300, whatever the account', async () => {
      const person = await makeUser()
      await failures('other@house.example', 20, { address: '127.0.0.1' })
      expect(await codeOf({ email: person.email, password })).to.deep.equal([429, 'sign_in_throttled'])
      await sql(world.database.admin, `delete from sign_in_failure`)
      await failures('other@house.example', 300, { address: '127.0.0.9' })
      expect(await codeOf({ email: person.email, password })).to.deep.equal([429, 'sign_in_throttled'])
      await sql(world.database.admin, `update sign_in_failure set at = now() - interval '16 minutes'`)
      expect((await post({ email: person.email, password })).status).to.equal(200)
    })

    it('tells the owner after fifty failures of a day, and then lets known networks in alone', async () => {
      const person = await makeUser()
      await failures(person.email, 49, { ago: '3 hours' })
      expect(await codeOf({ email: person.email, password: wrong })).to.deep.equal([401, 'invalid_credentials'])
      expect(
        await sql(world.database.admin, `select kind from user_mail where user_id = ?`, [person.userId]),
      ).to.deep.equal([{ kind: 'security_notice' }])
      expect(
        await sql(
          world.database.admin,
          `select count(*) as n from audit_entry where action = 'session.failures_over_limit' and subject_id = ?`,
          [person.userId],
        ),
      ).to.deep.equal([{ n: 1 }])
      await settle()
      expect(await codeOf({ email: person.email, password })).to.deep.equal([429, 'sign_in_throttled'])
      await sql(world.database.admin, `insert into known_network (user_id, network) values (?, '127.0.0.0/24')`, [
        person.userId,
      ])
      expect((await post({ email: person.email, password })).status).to.equal(200)
    })

    it('is limited to 20 a minute for an address; with Redis gone by what this process counts', async () => {
      await roomInMinute(20)
      for (const gone of [false, true]) {
        if (gone) closeRedis()
        const statuses = []
        for (let n = 0; n < 22; n += 1) statuses.push((await post({ email: 'nobody', password })).status)
        const passed = statuses.findIndex((status) => status === 429)
        // Alone, a process has counted what earlier tests sent in this minute, too.
        if (gone) expect(passed).to.be.within(0, 20)
        else expect(passed).to.equal(20)
        expect(statuses.slice(passed).every((status) => status === 429)).to.equal(true)
      }
    })
  })

  it('is in the trail, with the network and not the address', async () => {
    const person = await makeUser({ [tenantId]: 'owner' })
    await signIn(world, person)
    const [entry] = await sql(
      world.database.admin,
      `select a.chain, a.address, a.actor_id from audit_entry a join session s on s.id::text = a.subject_id where a.action = 'session.sign_in' and s.user_id = ?`,
      [person.userId],
    )
    expect(entry).to.deep.equal({ chain: tenantId, address: '127.0.0.0/24', actorId: person.userId })
  })
})
