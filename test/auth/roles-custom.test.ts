import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { sql } from '../../db/lib/connection.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'
import { forgetLimits, makeTenant, makeUser, signIn } from './support.ts'

describe('a role of the tenant’s own', () => {
  const world = useWorld()
  beforeEach(() => forgetLimits(world))

  const house = async () => {
    const tenantId = await makeTenant()
    const { token } = await signIn(world, await makeUser({ [tenantId]: 'owner' }))
    const at = (path: string) => `/api/tenants/${tenantId}/${path}`
    const make = (key: string, permissions: object[]) =>
      world.request('POST', at('roles'), { token, body: { key, name: key, permissions } })
    /** An active member who holds the role. */
    const holder = async (key: string) => {
      const person = await makeUser({ [tenantId]: 'stock' })
      const { status } = await world.request('PATCH', at(`users/${person.userId}`), { token, body: { role: key } })
      expect(status).to.equal(200)
      return { ...person, ...(await signIn(world, person)) }
    }
    return { tenantId, token, at, make, holder }
  }
  const guests = [{ subject: 'Guest', actions: ['read'] }]

  it('is made, held, changed for its holders at once, and deleted once nobody has it', async () => {
    const { token, at, make, holder, tenantId } = await house()
    const made = await make('night-desk', [...guests, { subject: 'Guest', actions: ['read', 'update'] }])
    expect([made.status, made.body.version, made.body.members]).to.deep.equal([201, 1, 0])
    expect(made.body.permissions).to.deep.equal([{ subject: 'Guest', actions: ['read', 'update'] }])
    const desk = await holder('night-desk')
    expect(desk.user.role).to.equal('night-desk')
    const see = (what: string) => world.request('GET', at(what), { token: desk.token })
    expect([(await see('guests')).status, (await see('reservations')).status]).to.deep.equal([200, 403])
    const path = at(`roles/${made.body.id}`)
    const changed = await world.request('PATCH', path, {
      token,
      body: { permissions: [{ subject: 'Reservation', actions: ['read'] }] },
      headers: { 'if-match': '"1"' },
    })
    expect([changed.status, changed.body.version, changed.body.members]).to.deep.equal([200, 2, 1])
    expect([(await see('guests')).status, (await see('reservations')).status]).to.deep.equal([403, 200])
    const stale = await world.request('PATCH', path, { token, body: { name: 'x' }, headers: { 'if-match': '"1"' } })
    expect([stale.status, stale.body.code]).to.deep.equal([409, 'version_conflict'])
    const inUse = await world.request('DELETE', path, { token })
    expect([inUse.status, inUse.body.code]).to.deep.equal([409, 'role_in_use'])
    await world.request('PATCH', at(`users/${desk.userId}`), { token, body: { role: 'stock' } })
    expect((await world.request('DELETE', path, { token })).status).to.equal(200)
    expect((await world.request('DELETE', path, { token })).status).to.equal(404)
    const [entry] = await sql<{ changes: unknown }>(
      world.database.admin,
      `select changes from audit_entry where action = 'role.change' and subject_id = ?`,
      [made.body.id],
    )
    expect(entry?.changes).to.deep.equal([
      {
        field: 'permissions',
        before: [{ subject: 'Guest', actions: ['read', 'update'] }],
        after: [{ subject: 'Reservation', actions: ['read'] }],
      },
    ])
    const types = await sql<{ type: string }>(
      world.database.admin,
      `select type from event where tenant_id = ? and type like 'role.%' order by type`,
      [tenantId],
    )
    expect(types.map(({ type }) => type)).to.deep.equal(['role.changed', 'role.created', 'role.deleted'])
  })

  it('that is made again under the key of one that was deleted gives what it names now', async () => {
    const { token, at, make, holder } = await house()
    const first = await make('relief', guests)
    const held = await holder('relief')
    expect((await world.request('GET', at('guests'), { token: held.token })).status).to.equal(200)
    await world.request('PATCH', at(`users/${held.userId}`), { token, body: { role: 'stock' } })
    await world.request('DELETE', at(`roles/${first.body.id}`), { token })
    const second = await make('relief', [{ subject: 'Reservation', actions: ['read'] }])
    expect([second.status, second.body.version]).to.deep.equal([201, 1])
    await world.request('PATCH', at(`users/${held.userId}`), { token, body: { role: 'relief' } })
    expect((await world.request('GET', at('guests'), { token: held.token })).status).to.equal(403)
    expect((await world.request('GET', at('reservations'), { token: held.token })).status).to.equal(200)
  })

  it('changed while a request of its holder runs lets that one end as it began, and the next begin as it is now', async () => {
    const { token, at, make, holder } = await house()
    const made = await make('billing', [{ subject: 'Property', actions: ['create', 'read'] }])
    const held = await holder('billing')
    const body = {
      code: 'NOVA',
      slug: `nova-${randomUUID().slice(0, 8)}`,
      name: 'Nova',
      kind: 'inn',
      timezone: 'America/Sao_Paulo',
      currency: 'BRL',
      locales: ['pt-BR'],
    }
    const create = (code: string) =>
      world.request('POST', at('properties'), {
        token: held.token,
        body: { ...body, code, slug: `${body.slug}-${code.toLowerCase()}` },
      })
    // The request is past its checks, and waits for a table that somebody holds.
    const blocker = await world.database.admin.transaction()
    await blocker.raw(`lock table property in share row exclusive mode`)
    const waiting = create('ONE')
    await until(async () => {
      const blocked = await sql(world.database.admin, `select 1 from pg_locks where not granted`)
      return blocked.length > 0
    })
    const changed = await world.request('PATCH', at(`roles/${made.body.id}`), { token, body: { permissions: guests } })
    expect(changed.status).to.equal(200)
    await blocker.rollback()
    expect((await waiting).status).to.equal(201)
    expect((await create('TWO')).status).to.equal(403)
  })

  it('holds nothing that is unknown or kept to owner and admin, and no more than its bounds', async () => {
    const { token, at, make } = await house()
    const refused = [
      { subject: 'Nothing', actions: ['read'] },
      { subject: '__proto__', actions: ['read'] },
      { subject: 'Guest', actions: ['fly'] },
      { subject: 'Guest', actions: ['manage'] },
      { subject: 'Session', actions: ['read'] },
      { subject: 'Entitlement', actions: ['grant'] },
      ...['User', 'Role', 'ApiKey', 'Tenant', 'Subscription', 'AddOn', 'GatewayAccount', 'WebhookEndpoint'].map(
        (subject) => ({ subject, actions: ['read', 'update'] }),
      ),
      { subject: 'PixConnection', actions: ['configure'] },
    ]
    for (const permission of refused) {
      const { status, body } = await make('bold', [...guests, permission])
      if (permission.subject === '__proto__') expect(status).to.equal(400)
      else
        expect([status, body.code, body.errors[0].field], permission.subject).to.deep.equal([
          422,
          'permission_unknown',
          'permissions.1',
        ])
    }
    const reading = ['User', 'Role', 'ApiKey', 'Tenant'].map((subject) => ({ subject, actions: ['read'] }))
    expect((await make('reader', reading)).status).to.equal(201)
    const again = await make('reader', guests)
    expect([again.status, again.body.code]).to.deep.equal([409, 'duplicate_key'])
    for (const key of ['owner', 'auditor']) expect((await make(key, guests)).body.code, key).to.equal('duplicate_key')
    for (const key of ['ab', 'Upper', '1st', 'a'.repeat(41), 'under_score'])
      expect((await make(key, guests)).status, key).to.equal(400)
    expect((await make('empty', [])).status).to.equal(400)
    expect(
      (
        await make(
          'many',
          Array.from({ length: 301 }, () => guests[0] as object),
        )
      ).status,
    ).to.equal(400)
    await sql(
      world.database.admin,
      `insert into role (tenant_id, key, name, permissions) select t.tenant_id, 'role-' || n, 'Role', '[{"subject":"Guest","actions":["read"]}]'
       from (select tenant_id from role where key = 'reader' order by created_at desc limit 1) t, generate_series(1, 48) n`,
    )
    const race = await Promise.all(['last-one', 'one-more', 'and-more'].map((key) => make(key, guests)))
    expect(race.map(({ status }) => status)).to.have.members([201, 422, 422])
    expect((await world.request('GET', at('roles?limit=100'), { token })).body.meta.total).to.equal(60)
  })

  it('is listed with the built-in ones and how many hold each; permissions say what is one’s own', async () => {
    const { tenantId, token, at, make } = await house()
    await make('night-desk', guests)
    const manager = await signIn(world, await makeUser({ [tenantId]: 'manager' }))
    const roles = await world.request('GET', at('roles?limit=100'), { token: manager.token })
    expect(
      roles.body.data.map(({ key, builtIn, members }: Record<string, unknown>) => [key, builtIn, members]),
    ).to.deep.equal([
      ...[
        'owner',
        'admin',
        'manager',
        'receptionist',
        'housekeeper',
        'maintenance',
        'finance',
        'stock',
        'relations',
        'auditor',
      ].map((key) => [key, true, key === 'owner' || key === 'manager' ? 1 : 0]),
      ['night-desk', false, 0],
    ])
    const mine = await world.request('GET', at('permissions'), { token: manager.token })
    const of = (subject: string) => mine.body.subjects.find((row: { subject: string }) => row.subject === subject)
    expect(of('User')).to.deep.include({ held: ['read'], reserved: true, feature: null })
    expect(of('LedgerEntry')).to.deep.include({ held: ['read'], reserved: false, feature: 'financial' })
    expect(of('Session')).to.equal(undefined)
    const held = (body: { scopes: { scope: string; held: boolean }[] }) =>
      body.scopes.filter((row) => row.held).map((row) => row.scope)
    expect(held(mine.body)).to.include('units:read').and.not.include('financial:write').and.not.include('write')
    const all = await world.request('GET', at('permissions'), { token })
    expect(held(all.body)).to.have.length(all.body.scopes.length)
    const auditor = await signIn(world, await makeUser({ [tenantId]: 'auditor' }))
    const seen = await world.request('GET', at('permissions'), { token: auditor.token })
    expect(held(seen.body)).to.deep.equal([])
    const refused = await world.request('POST', at('roles'), {
      token: manager.token,
      body: { key: 'mine', name: 'Mine', permissions: guests },
    })
    expect(refused.status).to.equal(403)
  })

  it('of another tenant is not there', async () => {
    const [one, two] = [await house(), await house()]
    const { body } = await one.make('theirs', guests)
    for (const [method, sent] of [
      ['PATCH', { name: 'x' }],
      ['DELETE', undefined],
    ] as const) {
      const foreign = await world.request(method, two.at(`roles/${body.id}`), {
        token: two.token,
        ...(sent ? { body: sent } : {}),
      })
      const unknown = await world.request(method, two.at(`roles/${randomUUID()}`), {
        token: two.token,
        ...(sent ? { body: sent } : {}),
      })
      expect(foreign.status).to.equal(404)
      expect({ ...foreign.body, requestId: '' }).to.deep.equal({ ...unknown.body, requestId: '' })
    }
    const person = await makeUser({ [two.tenantId]: 'stock' })
    const given = await world.request('PATCH', two.at(`users/${person.userId}`), {
      token: two.token,
      body: { role: 'theirs' },
    })
    expect([given.status, given.body.code]).to.deep.equal([422, 'reference_not_found'])
  })
})
