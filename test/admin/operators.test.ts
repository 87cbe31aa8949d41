import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { sql } from '../../db/lib/connection.ts'
import { forgetLimits, makeKey, makeSuperuser, makeTenant, makeUser, newEmail, signIn } from '../auth/support.ts'
import type { Person } from '../auth/support.ts'
import { drain } from '../support/drain.ts'
import { useWorld } from '../support/world.ts'

const ondas = {
  name: 'Ondas',
  country: 'BR',
  currency: 'BRL',
  timeZone: 'America/Sao_Paulo',
  locale: 'pt-BR',
  billingEmail: 'contas@ondas.example',
  plan: 'Professional',
}

describe('what operators do with tenants', function () {
  this.timeout(120_000)
  const world = useWorld()
  let n1: string
  let n2: string
  let other: Person
  before(async () => {
    n1 = (await signIn(world, await makeSuperuser('N1'))).token
    n2 = (await signIn(world, await makeSuperuser('N2'))).token
    other = await makeSuperuser('N1')
  })
  beforeEach(() => forgetLimits(world))

  const operate = (method: string, path: string, body?: unknown, token = n1) =>
    world.request(method, `/superuser/${path}`, { token, ...(body === undefined ? {} : { body }) })
  const codeOf = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code]

  it('make one that can be used at once, with its owner invited', async () => {
    const owner = { email: newEmail('dona'), name: 'Dona Maria' }
    const made = await operate('POST', 'tenants', { ...ondas, owner })
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    expect(made.body).to.deep.include({ name: 'Ondas', status: 'active', plan: 'Professional' })
    expect(made.body.features).to.include.members(['core', 'pos', 'api_read'])
    const [invited] = await sql<{ role: string }>(
      world.database.admin,
      `select m.role from membership m join app_user u on u.id = m.user_id where m.tenant_id = ? and u.email_key = lower(?) and m.status = 'invited'`,
      [made.body.id, owner.email],
    )
    expect(invited).to.deep.equal({ role: 'owner' })
    const wrong = await operate('POST', 'tenants', { ...ondas, owner, currency: 'CHF' })
    expect(codeOf(wrong)).to.deep.equal([422, 'plan_without_price'])
    expect(codeOf(await operate('POST', 'tenants', { ...ondas, owner, document: '123' }))).to.deep.equal([
      400,
      'validation_failed',
    ])
    expect(codeOf(await operate('POST', 'tenants', { ...ondas, owner }, n2))).to.deep.equal([403, 'level_required'])
    const read = await operate('GET', `tenants/${made.body.id}`)
    expect(read.body.counts).to.deep.equal({ properties: 0, units: 0, users: 0 })
    const found = await operate('GET', `tenants?q=onda&plan=Professional&feature=pos`)
    expect(found.body.data.map(({ id }: { id: string }) => id)).to.include(made.body.id)
    const changed = await operate('PATCH', `tenants/${made.body.id}`, { name: 'Ondas do Mar', currency: 'USD' }, n2)
    expect([changed.status, changed.body.name, changed.body.currency]).to.deep.equal([200, 'Ondas do Mar', 'USD'])
  })

  it('stop one and let it go on: its people read it and pay, keys and guests find nothing', async () => {
    const tenantId = await makeTenant('Enterprise')
    const owner = await makeUser({ [tenantId]: 'owner' })
    const { token } = await signIn(world, owner)
    const { key } = await makeKey(tenantId, ['read'])
    const suspended = await operate('POST', `tenants/${tenantId}/suspend`, { reason: 'unpaid' })
    expect([suspended.status, suspended.body.status]).to.deep.equal([200, 'suspended'])
    expect((await operate('POST', `tenants/${tenantId}/suspend`, { reason: 'unpaid' })).status).to.equal(200)
    const own = (path: string, given: object) => world.request('GET', `/api/tenants/${tenantId}${path}`, given)
    expect((await own('', { token })).status).to.equal(200)
    expect((await own('/billing/invoices', { token })).status).to.equal(200)
    expect(codeOf(await own('/guests', { token }))).to.deep.equal([403, 'tenant_suspended'])
    expect(codeOf(await own('/guests', { key }))).to.deep.equal([403, 'tenant_suspended'])
    expect((await signIn(world, owner)).token).to.be.a('string')
    const mails = await sql(
      world.database.admin,
      `select 1 from user_mail where user_id = ? and kind = 'tenant_suspended'`,
      [owner.userId],
    )
    expect(mails).to.have.length(1)
    expect((await operate('POST', `tenants/${tenantId}/reactivate`, { reason: 'paid' })).body.status).to.equal('active')
    expect((await own('/guests', { token })).status).to.equal(200)
  })

  it('change the plan of one, after a look: what was bought or granted stays', async () => {
    const tenantId = await makeTenant('Professional')
    await operate('POST', `tenants/${tenantId}/entitlements`, { key: 'suppliers', reason: 'a trial' })
    await operate('DELETE', `tenants/${tenantId}/entitlements/api_read`, { reason: 'misused' })
    const look = await operate('POST', `tenants/${tenantId}/change-plan`, {
      plan: 'Starter',
      reason: 'smaller now',
      dryRun: true,
    })
    expect(look.status, JSON.stringify(look.body)).to.equal(200)
    expect(look.body).to.deep.include({
      lost: ['pos'],
      keptBy: { suppliers: 'N1_GRANT' },
      nextTotal: 9_900,
      dryRun: true,
    })
    expect((await operate('GET', `tenants/${tenantId}`)).body.plan).to.equal('Professional')
    await operate('POST', `tenants/${tenantId}/change-plan`, { plan: 'Starter', reason: 'smaller now' })
    const features = async () => (await operate('GET', `tenants/${tenantId}`)).body.features as string[]
    expect(await features())
      .to.include('suppliers')
      .and.not.include('pos')
    const up = await operate('POST', `tenants/${tenantId}/change-plan`, { plan: 'Enterprise', reason: 'larger again' })
    expect(up.body.gained).to.include.members(['pos', 'api_read', 'sla'])
    const history = await operate('GET', `tenants/${tenantId}/entitlements/history?key=pos`)
    expect(history.body.data.map(({ endCause }: { endCause: string | null }) => endCause)).to.deep.equal([
      null,
      'plan_change',
    ])
    const why = await operate('GET', `tenants/${tenantId}/entitlements/suppliers/explain`)
    expect(why.body).to.deep.include({ key: 'suppliers', active: true })
    expect(why.body.because).to.have.length(2)
    expect(why.body.gates.subjects).to.include('Supplier')
  })

  it('refuse to take a feature that is in use, unless that is accepted', async () => {
    const tenantId = await makeTenant('Professional')
    const { key } = await makeKey(tenantId, ['read'])
    await world.request('GET', `/api/tenants/${tenantId}`, { key })
    await sql(world.database.admin, `update api_key set last_used_at = now() where tenant_id = ?`, [tenantId])
    const refused = await operate('POST', `tenants/${tenantId}/change-plan`, { plan: 'Starter', reason: 'smaller' })
    expect(codeOf(refused)).to.deep.equal([422, 'feature_in_use'])
    expect((await operate('GET', `tenants/${tenantId}`)).body.plan).to.equal('Professional')
    const accepted = await operate('POST', `tenants/${tenantId}/change-plan`, {
      plan: 'Starter',
      reason: 'smaller',
      acceptLoss: true,
    })
    expect([accepted.status, accepted.body.inUse[0].feature]).to.deep.equal([200, 'api_read'])
  })

  it('add a version of a plan, for new tenants or for all, with what differs', async () => {
    const before = await makeTenant('Starter')
    const [starter] = (await operate('GET', 'plans')).body.data.filter(
      ({ plan }: { plan: string }) => plan === 'Starter',
    )
    const { features, prices } = starter.versions[0]
    const version = (given: object) =>
      operate('POST', 'plans/Starter/versions', { features, prices, note: 'with the bar', ...given })
    expect(codeOf(await version({ features: [{ key: 'flying', billingType: 'FREE' }] }))).to.deep.equal([
      422,
      'unknown_feature',
    ])
    expect(codeOf(await version({ prices: {} }))).to.deep.equal([422, 'plan_without_price'])
    expect((await version({ prices: { BRL: 1.5 } })).status).to.equal(400)
    expect((await version({ prices: { BRL: -1 } })).status).to.equal(400)
    const withPos = [...features, { key: 'pos', billingType: 'FREE' }]
    const made = await version({ features: withPos, applyToExisting: true })
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    await drain({ kinds: ['billing.apply-plan-version'] })
    expect((await operate('GET', `tenants/${before}`)).body.features).to.include('pos')
    await version({ features, applyToExisting: true })
    await drain({ kinds: ['billing.apply-plan-version'] })
    expect((await operate('GET', `tenants/${before}`)).body.features).not.to.include('pos')
    const pos = (await operate('GET', 'features?limit=100')).body.data.find(({ key }: { key: string }) => key === 'pos')
    expect(pos.subjects).to.include('InventoryItem')
  })

  it('put add-ons into the store, with prices in versions', async () => {
    const key = `bar-${randomUUID().slice(0, 6)}`
    const given = {
      key,
      name: { en: 'Bar' },
      description: { en: 'A bar' },
      feature: 'pos',
      billingType: 'FLAT_MONTHLY',
      onSale: true,
      price: { prices: { BRL: { amount: 4_900 } } },
    }
    const made = await operate('POST', 'add-ons', given)
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    expect(codeOf(await operate('POST', 'add-ons', given))).to.deep.equal([409, 'duplicate_key'])
    for (const price of [{ prices: { BRL: { unitPrice: '1' } } }, { prices: { BRL: { amount: -1 } } }])
      expect((await operate('POST', 'add-ons', { ...given, key: `${key}-x`, price })).status).to.equal(400)
    expect(codeOf(await operate('POST', 'add-ons', { ...given, key: `${key}-y`, feature: 'flying' }))).to.deep.equal([
      422,
      'unknown_feature',
    ])
    const soon = await operate('PATCH', `add-ons/${made.body.id}`, {
      price: { prices: { BRL: { amount: 5_900 } }, applyToHolders: true },
    })
    expect(soon.status).to.equal(400)
    const changed = await operate('PATCH', `add-ons/${made.body.id}`, { price: { prices: { BRL: { amount: 5_900 } } } })
    expect(changed.body.prices.map(({ prices }: { prices: object }) => prices)).to.deep.equal([
      { BRL: { amount: 5_900 } },
      { BRL: { amount: 4_900 } },
    ])
  })

  it('give, change and end levels, but never their own, nor the last one', async () => {
    const email = newEmail('novo')
    const set = (level: string | null, token = n1, to = email) =>
      operate('POST', 'users', { email: to, level, reason: 'joined the support' }, token)
    const made = await set('N2')
    expect([made.status, made.body.level]).to.deep.equal([200, 'N2'])
    expect((await set('N1')).body.level).to.equal('N1')
    expect((await set(null)).body.level).to.equal(null)
    expect(codeOf(await set(null))).to.deep.equal([404, 'not_found'])
    expect(codeOf(await set('N2', n2))).to.deep.equal([403, 'level_required'])
    const me = (await operate('GET', 'users?level=N1&limit=100')).body.data as { email: string; userId: string }[]
    const mine = me.find(({ email: one }) => one !== other.email && one !== email)
    expect(codeOf(await set('N2', n1, mine?.email ?? ''))).to.deep.equal([422, 'own_level'])
    const user = await makeUser({})
    const { token } = await signIn(world, user)
    expect((await operate('POST', `users/${user.userId}/lock`, { reason: 'stolen' }, n2)).body.locked).to.equal(true)
    expect((await world.request('GET', '/api/auth/me', { token })).status).to.equal(401)
    expect((await operate('POST', `users/${user.userId}/unlock`, { reason: 'found' }, n2)).body.locked).to.equal(false)
    expect((await signIn(world, user)).token).to.be.a('string')
    expect((await operate('POST', `users/${other.userId}/lock`, { reason: 'stolen' }, n2)).status).to.equal(422)
  })

  it('keep one N1, though the last two end each other at once', async () => {
    const people = [await makeSuperuser('N1'), await makeSuperuser('N1')]
    const tokens = await Promise.all(people.map(async (person) => (await signIn(world, person)).token))
    const admin = world.database.admin
    const [first = { email: '' }, second = { email: '' }] = people
    const others = await sql<{ id: string }>(
      admin,
      `update superuser_account set ended_at = now() where ended_at is null and level = 'N1' and user_id not in (select id from app_user where email in (?, ?)) returning id`,
      [first.email, second.email],
    )
    const end = (email: string, token: string | undefined) =>
      operate('POST', 'users', { email, level: null, reason: 'left the team' }, token ?? '')
    const replies = await Promise.all([end(second.email, tokens[0]), end(first.email, tokens[1])])
    expect(replies.filter(({ status }) => status === 200)).to.have.length(1)
    const left = await sql(admin, `select id from superuser_account where ended_at is null and level = 'N1'`)
    expect(left).to.have.length(1)
    const winner = replies[0]?.status === 200 ? 0 : 1
    const own = await end(people[winner]?.email ?? '', tokens[winner])
    expect(codeOf(own)).to.deep.equal([422, 'own_level'])
    await sql(admin, `update superuser_account set ended_at = null where id = any(?::uuid[])`, [
      others.map(({ id }) => id),
    ])
  })

  it('announce to those whom it concerns, N2 incidents and maintenance alone', async () => {
    const tenantId = await makeTenant('Starter')
    const there = (await signIn(world, await makeUser({ [tenantId]: 'receptionist' }))).token
    const elsewhere = (await signIn(world, await makeUser({ [await makeTenant('Enterprise')]: 'owner' }))).token
    const one = (kind: string, audience: object) => ({
      kind,
      title: { en: kind },
      body: { en: 'Soon' },
      audience,
      startsAt: '2026-01-01T00:00:00Z',
      endsAt: null,
    })
    const put = (announcements: unknown[], token = n1) =>
      world.request('PUT', '/superuser/announcements', { token, body: { announcements } })
    const all = await put([
      one('info', {}),
      one('maintenance', { plans: ['Starter'] }),
      one('incident', { tenantIds: [tenantId] }),
    ])
    expect(all.status, JSON.stringify(all.body)).to.equal(200)
    const seen = async (token: string) =>
      ((await world.request('GET', '/api/announcements', { token })).body.data as { kind: string }[])
        .map(({ kind }) => kind)
        .toSorted()
    expect(await seen(there)).to.deep.equal(['incident', 'info', 'maintenance'])
    expect(await seen(elsewhere)).to.deep.equal(['info'])
    expect((await world.request('GET', '/api/announcements?all=true', { token: there })).status).to.equal(403)
    expect((await world.request('GET', '/api/announcements?all=true', { token: n2 })).body.meta.total).to.equal(3)
    const kept = all.body.announcements as { kind: string }[]
    const info = kept.find(({ kind }) => kind === 'info')
    const others = kept.filter(({ kind }) => kind !== 'info')
    expect(codeOf(await put(others, n2))).to.deep.equal([403, 'level_required'])
    expect((await put([info, others[0]], n2)).status).to.equal(200)
    expect((await put([])).body.announcements).to.deep.equal([])
  })

  it('find what was done, and who was refused', async () => {
    const tenantId = await makeTenant('Starter')
    await operate('POST', `tenants/${tenantId}/entitlements`, { key: 'pos', reason: 'a trial for the season' })
    const trail = await operate('GET', `audit-log?tenantId=${tenantId}&action=entitlement`)
    expect(trail.body.data[0]).to.deep.include({
      action: 'entitlement.grant',
      actorType: 'superuser',
      reason: 'a trial for the season',
    })
    expect(codeOf(await operate('GET', 'audit-log?from=2026-01-01T00:00:00Z&to=2026-11-01T00:00:00Z'))).to.deep.equal([
      400,
      'range_too_long',
    ])
    expect((await operate('GET', `audit-log?from=2026-01-01T00:00:00Z&requestId=none`)).status).to.equal(200)
    const owner = (await signIn(world, await makeUser({ [tenantId]: 'owner' }))).token
    const own = await world.request('GET', `/api/tenants/${tenantId}/audit-log?action=entitlement`, { token: owner })
    expect(own.body.data[0]).to.deep.include({ actorType: 'support', actorId: null })
    await operate('GET', 'tenants', undefined, owner)
    const refused = await operate('GET', 'audit-log?action=superuser.refused')
    expect(refused.body.data.length).to.be.above(0)
  })
})
