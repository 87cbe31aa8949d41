import { expect } from 'chai'
import { routes } from '../../api/routes.ts'
import { supportMay } from '../../config/support.ts'
import { grantEntitlement } from '../../db/admin/index.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { addMembership } from '../../db/auth/members/create.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { createGuest } from '../../db/guests/index.ts'
import { sequenceEvents } from '../../jobs/webhooks.ts'
import { forgetLimits, makeSuperuser, makeTenant, makeUser, signIn } from '../auth/support.ts'
import { drain } from '../support/drain.ts'
import { makeHouse } from '../support/factories.ts'
import { pay, refundsOf } from '../support/pay.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'

describe('a support session', function () {
  this.timeout(180_000)
  const world = useWorld()
  let tenantId: string
  let owner: { userId: string; email: string }
  let n1: string
  let n2: string
  before(async () => {
    tenantId = await makeTenant('Enterprise')
    owner = await makeUser({ [tenantId]: 'owner' })
    n1 = (await signIn(world, await makeSuperuser('N1'))).token
    n2 = (await signIn(world, await makeSuperuser('N2'))).token
  })
  beforeEach(() => forgetLimits(world))
  afterEach(async () => {
    for (const token of [n1, n2]) {
      const { body } = await world.request('GET', '/superuser/support-sessions?running=true&limit=100', { token })
      for (const { id } of body.data as { id: string }[])
        await world.request('POST', `/superuser/support-sessions/${id}/end`, { token: n1 })
    }
  })

  const start = (given: object = {}, token = n1) =>
    world.request('POST', '/superuser/support-sessions', {
      token,
      body: { tenantId, reason: 'Ticket 4711: prices do not load', ...given },
    })
  const own = (method: string, path: string, token: string, body?: unknown) =>
    world.request(method, `/api/tenants/${tenantId}${path}`, { token, ...(body === undefined ? {} : { body }) })
  const codeOf = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code]
  const trail = (sessionId: string) =>
    sql<{ action: string; actorType: string }>(
      world.database.admin,
      `select action, actor_type from audit_entry where support_session_id = ? order by at`,
      [sessionId],
    )

  it('reads, masked, and every step of it stands in the trail of the tenant', async () => {
    await inTenant(tenantId, (trx) => createGuest(trx, { firstName: 'Ana', email: 'ana@example.com', source: 'staff' }))
    const begun = await start()
    expect(begun.status, JSON.stringify(begun.body)).to.equal(201)
    const { id, token } = begun.body as { id: string; token: string }
    const guests = await own('GET', '/guests', token)
    expect([guests.status, guests.headers['x-support-session']]).to.deep.equal([200, id])
    expect(JSON.stringify(guests.body)).not.to.include('ana@example.com')
    expect(codeOf(await own('POST', '/guests', token, { firstName: 'Rui', source: 'staff' }))).to.deep.equal([
      403,
      'forbidden',
    ])
    expect((await trail(id)).map(({ action, actorType }) => `${actorType} ${action}`)).to.deep.equal([
      'support guests.list',
      'support support_session.refused',
    ])
    const mails = await sql(
      world.database.admin,
      `select 1 from user_mail where user_id = ? and kind = 'support_session'`,
      [owner.userId],
    )
    expect(mails).to.have.length(1)
    const other = await makeTenant('Starter')
    expect(codeOf(await world.request('GET', `/api/tenants/${other}/guests`, { token }))).to.deep.equal([
      403,
      'tenant_not_active',
    ])
    for (const path of ['/superuser/tenants', '/api/auth/me', '/api/auth/sessions'])
      expect((await world.request('GET', path, { token })).status, path).to.equal(403)
    const ended = await world.request('POST', `/superuser/support-sessions/${id}/end`, { token: n1 })
    expect(ended.body.endCause).to.equal('ended')
    expect((await own('GET', '/guests', token)).status).to.equal(401)
  })

  it('never does what it must not, over all endpoints, whatever its mode', async () => {
    const { token } = (await start({ mode: 'write' })).body as { token: string }
    const reached: string[] = []
    const tried = new Set<string>()
    for (const route of routes) {
      const { access } = route
      if (access.kind === 'tenant' && supportMay(access.action, access.subject) && route.support !== 'never') continue
      // Strangers' endpoints know no sessions; these two are the session's own.
      if (!['tenant', 'session', 'superuser'].includes(access.kind)) continue
      if (['auth.signOut', 'announcements.list'].includes(route.id)) continue
      const path = route.path
        .replace(':tenantId', tenantId)
        .replace(/:[A-Za-z]+/g, '00000000-0000-4000-8000-000000000000')
      const { status, body } = await world.request(route.method, path, {
        token,
        ...(route.method === 'GET' ? {} : { body: {} }),
      })
      tried.add(route.id)
      if (status !== 403 || !['forbidden', 'level_required'].includes(body.code as string))
        reached.push(`${route.id} ${status} ${body.code}`)
      await forgetLimits(world)
    }
    expect([...tried]).to.include.members([
      'tenant.update',
      'approvalPolicy.set',
      'issueAttachments.read',
      'auth.changePassword',
      'superuser.tenants.list',
    ])
    expect(reached).to.deep.equal([])
    for (const [action, subject] of [
      ['read', 'User'],
      ['create', 'ApiKey'],
      ['update', 'Role'],
      ['purchase', 'AddOn'],
      ['reveal', 'Guest'],
      ['refund', 'Payment'],
      ['create', 'GatewayAccount'],
      ['approve', 'EntryDraft'],
      ['export', 'PrivacyRequest'],
      ['create', 'CashTransfer'],
      ['update', 'Tenant'],
      ['update', 'ApprovalPolicy'],
      ['update', 'CashAccount'],
      ['update', 'PropertyPaymentMethod'],
      ['update', 'MessageChannel'],
      ['create', 'ChannelConnection'],
      ['create', 'WebhookEndpoint'],
      ['create', 'ReportSchedule'],
    ] as const)
      // oxfmt-ignore
      expect(supportMay(action, subject), `${action} ${subject}`).to.equal(false)
    const made = await own('POST', '/guests', token, { firstName: 'Rui', source: 'staff' })
    expect(made.status, JSON.stringify(made.body)).to.be.oneOf([201, 400])
  })

  it('sets no address to which data of guests would go', async () => {
    const { propertyId } = await makeHouse({ tenantId })
    const { token } = (await start({ mode: 'write' })).body as { token: string }
    const set = (registration: object) => own('PATCH', `/properties/${propertyId}/settings`, token, { registration })
    for (const registration of [
      { authority: 'open', endpointUrl: 'https://elsewhere.example/v1', credentials: 'a secret of their own' },
      { endpointUrl: 'https://elsewhere.example/v1' },
      { credentials: null },
    ])
      expect(codeOf(await set(registration))).to.deep.equal([403, 'forbidden'])
    expect((await set({ linkDaysBefore: 2 })).status).to.equal(200)
  })

  it('sends no money back, also not by what it cancels', async () => {
    const house = await makeHouse({ tenantId })
    const bookingId = await makeHold(house)
    await pay(house, bookingId, 'all')
    await drain()
    const { token } = (await start({ mode: 'write' })).body as { token: string }
    const cancel = (more: object) =>
      own('POST', `/bookings/${bookingId}/cancel`, token, { reason: 'changed_plans', ...more })
    expect(codeOf(await cancel({}))).to.deep.equal([403, 'forbidden'])
    const later = await cancel({ refund: 'later' })
    expect([later.status, await refundsOf(house)], JSON.stringify(later.body)).to.deep.equal([200, []])
  })

  it('reads only for N2, one at a time, for 5 to 60 minutes, with a reason', async () => {
    expect(codeOf(await start({ mode: 'write' }, n2))).to.deep.equal([403, 'level_required'])
    for (const given of [{ minutes: 4 }, { minutes: 61 }, { reason: 'too short' }])
      expect((await start(given, n2)).status, JSON.stringify(given)).to.equal(400)
    expect((await start({}, n2)).status).to.equal(201)
    expect(codeOf(await start({}, n2))).to.deep.equal([409, 'session_running'])
    const twice = await Promise.all([start(), start()])
    expect(twice.map(({ status }) => status).toSorted((one, other) => one - other)).to.deep.equal([201, 409])
  })

  it('acts as a member with the rights of that member', async () => {
    const keeper = await makeUser({ [tenantId]: 'housekeeper' })
    const { token } = (await start({ asUserId: keeper.userId })).body as { token: string }
    expect(codeOf(await own('GET', '/guests', token))).to.deep.equal([403, 'forbidden'])
    const stranger = await makeUser({})
    expect(codeOf(await start({ asUserId: stranger.userId }, n2))).to.deep.equal([422, 'reference_not_found'])
  })

  it('has Idempotency-Keys of its own: no reply that its superuser had as a member is replayed in it', async () => {
    const person = await makeSuperuser('N1')
    await inTenant(tenantId, (trx) => addMembership(trx, { userId: person.userId, role: 'owner' }))
    const member = (await signIn(world, person)).token
    const email = 'rita@example.com'
    const ask = (token: string) =>
      world.request('POST', `/api/tenants/${tenantId}/guests`, {
        token,
        body: { firstName: 'Rita', email },
        idempotencyKey: 'rita-once',
      })
    const first = await ask(member)
    expect([first.status, first.body.email], JSON.stringify(first.body)).to.deep.equal([201, email])
    const begun = await start({ mode: 'write' }, member)
    const { token } = begun.body as { token: string }
    const inside = await ask(token)
    expect([inside.status, inside.headers['idempotent-replayed']]).to.deep.equal([201, undefined])
    expect(JSON.stringify(inside.body)).not.to.include(email)
    const again = await ask(token)
    expect([again.headers['idempotent-replayed'], again.body]).to.deep.equal(['true', inside.body])
  })

  it('is told of to the tenant in one way: as support, without an id, in trail, feed and histories', async () => {
    const house = await makeHouse()
    await inPlatform((trx) =>
      grantEntitlement(trx, { tenantId: house.tenantId, key: 'webhooks', reason: 'they read the feed' }),
    )
    const person = await makeSuperuser('N1')
    const ownerToken = (await signIn(world, await makeUser({ [house.tenantId]: 'owner' }))).token
    const at = (method: string, path: string, token: string, body?: unknown) =>
      world.request(method, `/api/tenants/${house.tenantId}${path}`, { token, ...(body === undefined ? {} : { body }) })
    const personToken = (await signIn(world, person)).token
    const begun = await start({ mode: 'write', tenantId: house.tenantId }, personToken)
    const { token } = begun.body as { token: string }
    const { body: categories } = await at('GET', '/issues/categories', token)
    const made = await at('POST', '/issues', token, {
      propertyId: house.propertyId,
      categoryId: categories.data[0].id,
      title: 'The window does not close',
    })
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    const suspend = await world.request('POST', `/superuser/tenants/${house.tenantId}/suspend`, {
      token: personToken,
      body: { reason: 'they asked for it' },
    })
    expect(suspend.status).to.equal(200)
    await world.request('POST', `/superuser/tenants/${house.tenantId}/reactivate`, {
      token: personToken,
      body: { reason: 'they asked for it' },
    })
    await inPlatform((trx) => enqueue(trx, sequenceEvents, {}))
    await drain({ kinds: [sequenceEvents.name] })
    const support = { type: 'support', id: null }
    const { body: issue } = await at('GET', `/issues/${made.body.id}`, ownerToken)
    expect(issue.history[0].actor).to.deep.equal(support)
    const { status: fed, body: feed } = await at('GET', '/events?limit=100', ownerToken)
    expect(fed, JSON.stringify(feed)).to.equal(200)
    const found = (feed.data as { type: string; actor: object }[]).map(({ type, actor }) => [type, actor])
    expect(found).to.deep.include.members([
      ['issue.opened', support],
      ['tenant.suspended', support],
    ])
    const { body: trail_ } = await at('GET', '/audit-log?limit=100', ownerToken)
    const texts = JSON.stringify([trail_, feed, issue])
    expect(texts).to.include('"support"')
    expect(texts).not.to.include(person.userId)
    const byId = await at('GET', `/audit-log?actorId=${person.userId}`, ownerToken)
    expect([byId.status, byId.body.data]).to.deep.equal([200, []])
    const { body: ofAll } = await world.request('GET', `/superuser/audit-log?actorId=${person.userId}`, { token: n1 })
    expect((ofAll.data as { action: string }[]).map(({ action }) => action)).to.include('tenant.suspend')
  })

  it('is for the tenant to allow: it ends at once where that is withdrawn', async () => {
    const { token: ownerToken } = await signIn(world, owner)
    const { id, token } = (await start()).body as { id: string; token: string }
    expect((await own('PATCH', '', ownerToken, { settings: { support: { access: 'none' } } })).status).to.equal(200)
    expect((await own('GET', '/guests', token)).status).to.equal(401)
    const [row] = await sql<{ endCause: string }>(
      world.database.admin,
      `select end_cause from support_session where id = ?`,
      [id],
    )
    expect(row?.endCause).to.equal('consent_withdrawn')
    expect(codeOf(await start())).to.deep.equal([422, 'support_not_allowed'])
    await own('PATCH', '', ownerToken, { settings: { support: { access: 'read' } } })
    const entries = await sql<{ changes: unknown }>(
      world.database.admin,
      `select changes from audit_entry where chain = ? and action = 'tenant.update' order by at`,
      [tenantId],
    )
    const opened = { field: 'settings.support.access', before: 'none', after: 'read' }
    expect(entries.at(-1)?.changes).to.deep.equal([opened])
    expect(codeOf(await start({ mode: 'write' }))).to.deep.equal([422, 'support_not_allowed'])
    await own('PATCH', '', ownerToken, { settings: { support: { access: 'write' } } })
  })

  it('is over with its time, its sign-out, and the level of its superuser', async () => {
    const first = (await start()).body as { id: string; token: string }
    await sql(
      world.database.admin,
      `update support_session set started_at = now() - interval '1 hour', expires_at = now() - interval '1 minute' where id = ?`,
      [first.id],
    )
    expect((await own('GET', '/guests', first.token)).status).to.equal(403)
    await drain({ kinds: ['maintenance.end-support-sessions'] })
    const second = await start()
    expect(second.status, JSON.stringify(second.body)).to.equal(201)
    const { id, token } = second.body as { id: string; token: string }
    expect((await world.request('POST', '/api/auth/sign-out', { token })).status).to.equal(200)
    const causes = await sql<{ endCause: string }>(
      world.database.admin,
      `select end_cause from support_session where id = any(?::uuid[]) order by started_at`,
      [[first.id, id]],
    )
    expect(causes.map(({ endCause }) => endCause)).to.deep.equal(['expired', 'signed_out'])
    const leaving = await makeSuperuser('N1')
    const theirs = (await start({}, (await signIn(world, leaving)).token)).body as { token: string }
    const ended = await world.request('POST', '/superuser/users', {
      token: n1,
      body: { email: leaving.email, level: null, reason: 'has left us' },
    })
    expect(ended.status, JSON.stringify(ended.body)).to.equal(200)
    expect((await own('GET', '/guests', theirs.token)).status).to.equal(401)
  })
})
