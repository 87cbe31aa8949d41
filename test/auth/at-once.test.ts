import { expect } from 'chai'
import type { Knex } from 'knex'
import { emailChangesPerHour, invitationsPerDay } from '../../config/limits.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { startPasswordReset } from '../../db/auth/index.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'
import { accountsOf } from './account-support.ts'
import { forgetLimits, makeSuperuser, makeTenant, makeUser, newEmail, signIn } from './support.ts'

describe('two acts on one account at the same moment', () => {
  const world = useWorld()
  const { post, mails, mailed } = accountsOf(world)
  beforeEach(() => forgetLimits(world))

  const rowsOf = (text: string, values: unknown[]) => sql<{ id: string }>(world.database.admin, text, values)
  /** Holds what `text` locks while `acts` begin, until so many of them wait; `meanwhile` is in the transaction that holds it. */
  const heldBack = async <T>(
    [text, values]: [string, unknown[]],
    acts: () => Promise<T>[],
    meanwhile: (holder: Knex.Transaction) => Promise<unknown> = () => Promise.resolve(),
  ): Promise<T[]> => {
    const holder = await world.database.admin.transaction()
    try {
      await sql(holder, text, values)
      const begun = acts()
      const answers = Promise.all(begun)
      answers.catch(() => {})
      await until(
        async () =>
          (
            await rowsOf(
              `select pid as id from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
              [],
            )
          ).length >= begun.length,
      )
      await meanwhile(holder)
      await holder.commit()
      return await answers
    } catch (error) {
      await holder.rollback()
      throw error
    }
  }
  const lockUser = (userId: string): [string, unknown[]] => [`select 1 from app_user where id = ? for update`, [userId]]

  it('leave an owner of all properties, though two of them take that from each other', async () => {
    const tenantId = await makeTenant()
    const people = [await makeUser({ [tenantId]: 'owner' }), await makeUser({ [tenantId]: 'owner' })]
    const tokens = await Promise.all(people.map(async (person) => (await signIn(world, person)).token))
    const house = await world.request('POST', `/api/tenants/${tenantId}/properties`, {
      token: tokens[0] ?? '',
      body: {
        code: 'ONE',
        slug: `one-${tenantId.slice(0, 8)}`,
        name: 'One',
        kind: 'inn',
        timezone: 'America/Sao_Paulo',
        currency: 'BRL',
        locales: ['pt-BR'],
      },
    })
    expect(house.status, JSON.stringify(house.body)).to.equal(201)
    const limit = (by: number, of: number) =>
      world.request('PATCH', `/api/tenants/${tenantId}/users/${people[of]?.userId}`, {
        token: tokens[by] ?? '',
        body: { propertyIds: [house.body.id] },
      })
    const replies = await heldBack([`select 1 from membership where tenant_id = ? for update`, [tenantId]], () => [
      limit(0, 1),
      limit(1, 0),
    ])
    expect(replies.map(({ status, body }) => body.code ?? status)).to.have.members([200, 'last_owner'])
    expect(
      await rowsOf(`select user_id as id from membership where tenant_id = ? and all_properties`, [tenantId]),
    ).to.have.length(1)
    const left = replies.findIndex(({ status }) => status === 200)
    expect((await limit(left, left === 0 ? 1 : 0)).body.propertyIds).to.deep.equal([house.body.id])
  })

  it('mail one link to a new password, though two asked for it', async () => {
    const person = await makeUser()
    const ask = await rowsOf(`insert into password_request (email) values (?), (?) returning id`, [
      person.email,
      person.email.toUpperCase(),
    ])
    await heldBack(lockUser(person.userId), () => ask.map(({ id }) => inPlatform((trx) => startPasswordReset(trx, id))))
    expect(await mails(person)).to.deep.equal(['password_reset'])
  })

  it('ask for no more changes of address an hour than one may', async () => {
    const person = await makeUser()
    const { token } = await signIn(world, person)
    await rowsOf(
      `insert into one_time_token (user_id, purpose, data, expires_at, used_at)
       select ?, 'email_change', '{"email": "x@x.example"}', now(), now() from generate_series(1, ${emailChangesPerHour - 1})`,
      [person.userId],
    )
    const replies = await heldBack(lockUser(person.userId), () =>
      ['one', 'two'].map((name) =>
        world.request('POST', '/api/auth/email/change', { token, body: { email: newEmail(name) } }),
      ),
    )
    expect(replies.map(({ status }) => status)).to.have.members([200, 429])
  })

  it('invite no more people a day than a tenant may', async () => {
    const tenantId = await makeTenant()
    const owner = await makeUser({ [tenantId]: 'owner' })
    const { token } = await signIn(world, owner)
    await rowsOf(
      `insert into one_time_token (user_id, tenant_id, purpose, expires_at, used_at)
       select ?, ?, 'invitation', now(), now() from generate_series(1, ${invitationsPerDay - 1})`,
      [owner.userId, tenantId],
    )
    const replies = await heldBack([`select 1 from tenant where id = ? for no key update`, [tenantId]], () =>
      ['one', 'two'].map((name) =>
        world.request('POST', `/api/tenants/${tenantId}/users`, {
          token,
          body: { email: newEmail(name), name, role: 'receptionist' },
        }),
      ),
    )
    expect(replies.map(({ status, body }) => body.code ?? status)).to.have.members([201, 'too_many'])
  })

  it('lock the user first: a choice of the tenant, and a mailed token', async () => {
    const tenants = [await makeTenant(), await makeTenant()]
    const person = await makeUser(Object.fromEntries(tenants.map((tenantId) => [tenantId, 'owner'])))
    const { token } = await signIn(world, person)
    const isFree = (table: string) => (holder: Knex.Transaction) =>
      sql(holder, `select 1 from ${table} where user_id = ? for update nowait`, [person.userId])
    const [chosen] = await heldBack(
      lockUser(person.userId),
      () => [world.request('PUT', '/api/auth/tenant-context', { token, body: { tenantId: tenants[0] } })],
      isFree('session'),
    )
    expect(chosen?.status).to.equal(200)
    const asked = await world.request('POST', '/api/auth/email/change', { token, body: { email: newEmail('new') } })
    expect(asked.status).to.equal(200)
    const link = await mailed('email_change', person)
    const [confirmed] = await heldBack(
      lockUser(person.userId),
      () => [post('email/confirm', { token: link })],
      isFree('one_time_token'),
    )
    expect(confirmed?.status).to.equal(200)
  })

  it('of a level begin with a sign-in: a session of a month is none of a superuser', async () => {
    const n1 = (await signIn(world, await makeSuperuser('N1'))).token
    const person = await makeUser()
    const { token } = await signIn(world, person)
    const set = (level: string) =>
      world.request('POST', '/superuser/users', {
        token: n1,
        body: { email: person.email, level, reason: 'joined the support' },
      })
    expect((await set('N2')).status).to.equal(200)
    expect((await world.request('GET', '/api/auth/me', { token })).status).to.equal(401)
    const anew = (await signIn(world, person)).token
    expect((await set('N1')).status).to.equal(200)
    const { body } = await world.request('GET', '/api/auth/me', { token: anew })
    expect(Date.parse(body.session.absoluteExpiresAt) - Date.now()).to.be.below(12.1 * 3_600_000)
  })
})
