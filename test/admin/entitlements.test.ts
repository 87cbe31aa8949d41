import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import type { Plan } from '../../config/plans.ts'
import { plans } from '../../config/plans.ts'
import { sql } from '../../db/lib/connection.ts'
import { forgetLimits, makeKey, makeSuperuser, makeTenant, makeUser, signIn } from '../auth/support.ts'
import { useWorld } from '../support/world.ts'

describe('the entitlements of a tenant', () => {
  const world = useWorld()
  let n1: string
  let n1Id: string
  before(async () => {
    const person = await makeSuperuser('N1')
    n1 = (await signIn(world, person)).token
    n1Id = person.userId
  })
  beforeEach(() => forgetLimits(world))

  const path = (tenantId: string, key = '') =>
    `/superuser/tenants/${tenantId}/entitlements${key === '' ? '' : `/${key}`}`
  const grant = (tenantId: string, body: unknown, token = n1) => world.request('POST', path(tenantId), { body, token })
  const revoke = (tenantId: string, key: string, body?: unknown, query = '') =>
    world.request('DELETE', `${path(tenantId, key)}${query}`, { token: n1, ...(body === undefined ? {} : { body }) })
  const keysOf = async (tenantId: string) => {
    const { status, body } = await world.request('GET', `${path(tenantId)}?limit=100`, { token: n1 })
    expect(status).to.equal(200)
    return (body.data as { key: string; source: string }[]).map(({ key, source }) => `${key} ${source}`)
  }
  const trail = (tenantId: string) =>
    sql<{ action: string; reason: string; actorType: string; actorId: string }>(
      world.database.admin,
      `select action, reason, actor_type, actor_id from audit_entry where chain = ? and action like 'entitlement.%' order by at`,
      [tenantId],
    )
  // The answer of an endpoint of the feature `core` to this caller.
  const reach = async (tenantId: string, credential: { token?: string; key?: string }) => {
    const { status, body } = await world.request('GET', `/api/tenants/${tenantId}/guests`, credential)
    return [status, body.code, body.error, body.errors]
  }
  const off = (feature: string) => [
    403,
    'feature_not_enabled',
    'ForbiddenException',
    [{ field: 'feature', message: feature }],
  ]
  const on = [200, undefined, undefined, undefined]

  for (const plan of plans)
    it(`on ${plan} are those of the plan, given by the system`, async () => {
      const tenantId = await makeTenant(plan)
      const expected: Record<Plan, string[]> = {
        Starter: ['core', 'financial', 'ocp', 'payments', 'portal'],
        Professional: ['api_read', 'core', 'financial', 'ocp', 'payments', 'portal', 'pos', 'suppliers'],
        Enterprise: [
          'api_read',
          'api_write',
          'core',
          'financial',
          'financial_overview',
          'ocp',
          'payments',
          'portal',
          'pos',
          'sla',
          'suppliers',
        ],
      }
      expect(await keysOf(tenantId)).to.deep.equal(expected[plan].map((key) => `${key} PLAN_DEFAULT`))
    })

  for (const plan of plans)
    it(`on ${plan}: a grant makes a feature active, a revoke of any source makes it inactive, each with its reason in the trail`, async () => {
      const tenantId = await makeTenant(plan)
      const before = await keysOf(tenantId)
      const granted = await grant(tenantId, { key: 'channels', reason: '  trial of a month  ' })
      expect(granted.status).to.equal(201)
      expect(granted.body).to.include({
        key: 'channels',
        name: 'Channels',
        source: 'N1_GRANT',
        reason: 'trial of a month',
        grantedBy: n1Id,
        billingType: 'FREE',
      })
      expect(await keysOf(tenantId)).to.deep.equal([...before, 'channels N1_GRANT'].toSorted())

      const both = await grant(tenantId, { key: 'core', reason: 'although the plan has it' })
      expect(both.status).to.equal(201)
      const ended = await revoke(tenantId, 'core', { reason: 'abuse of the service' })
      expect(ended.status).to.equal(200)
      expect(ended.body.ended.map((one: { source: string }) => one.source).toSorted()).to.deep.equal([
        'N1_GRANT',
        'PLAN_DEFAULT',
      ])
      expect(await keysOf(tenantId)).to.not.include.members(['core PLAN_DEFAULT'])

      expect(await trail(tenantId)).to.deep.equal(
        [
          ['entitlement.grant', 'trial of a month'],
          ['entitlement.grant', 'although the plan has it'],
          ['entitlement.revoke', 'abuse of the service'],
        ].map(([action, reason]) => ({ action, reason, actorType: 'superuser', actorId: n1Id })),
      )
      const events = await sql<{ type: string }>(
        world.database.admin,
        `select type from event where tenant_id = ? and type like 'entitlement.%' order by occurred_at`,
        [tenantId],
      )
      expect(events.map((event) => event.type)).to.deep.equal([
        'entitlement.granted',
        'entitlement.granted',
        'entitlement.ended',
        'entitlement.ended',
      ])
    })

  it('a second grant of the same key replaces the first; the feature stays active throughout', async () => {
    const tenantId = await makeTenant('Starter')
    await grant(tenantId, { key: 'pos', reason: 'first trial' })
    await grant(tenantId, {
      key: 'pos',
      reason: 'second trial',
      expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
    })
    const rows = await sql(
      world.database.admin,
      `select reason, end_cause, ended_by from entitlement_grant where tenant_id = ? and key = 'pos' order by starts_at`,
      [tenantId],
    )
    expect(rows).to.deep.equal([
      { reason: 'first trial', endCause: 'replaced', endedBy: n1Id },
      { reason: 'second trial', endCause: null, endedBy: null },
    ])
  })

  it('hold at the next request for the owner and for a key, and come back whole', async () => {
    const tenantId = await makeTenant('Enterprise')
    const owner = (await signIn(world, await makeUser({ [tenantId]: 'owner' }))).token
    const { key } = await makeKey(tenantId, ['read', 'write'])
    expect([await reach(tenantId, { token: owner }), await reach(tenantId, { key })]).to.deep.equal([on, on])
    await revoke(tenantId, 'core', { reason: 'not paid' })
    expect([await reach(tenantId, { token: owner }), await reach(tenantId, { key })]).to.deep.equal([
      off('core'),
      off('core'),
    ])
    await grant(tenantId, { key: 'core', reason: 'paid again' })
    expect([await reach(tenantId, { token: owner }), await reach(tenantId, { key })]).to.deep.equal([on, on])
  })

  it('that expire are over to the instant, with nobody writing anything', async () => {
    const tenantId = await makeTenant('Starter')
    const owner = (await signIn(world, await makeUser({ [tenantId]: 'owner' }))).token
    await revoke(tenantId, 'core', { reason: 'not paid' })
    const { body } = await grant(tenantId, {
      key: 'core',
      reason: 'a short grace',
      expiresAt: new Date(Date.now() + 4_000).toISOString(),
    })
    expect(await reach(tenantId, { token: owner })).to.deep.equal(on)
    await new Promise((resolve) => setTimeout(resolve, new Date(body.expiresAt as string).getTime() - Date.now() + 20))
    expect(await reach(tenantId, { token: owner })).to.deep.equal(off('core'))
    expect(await keysOf(tenantId)).to.not.include('core N1_GRANT')
    const again = await revoke(tenantId, 'core', { reason: 'too late' })
    expect([again.status, again.body.code]).to.deep.equal([404, 'feature_not_active'])
  })

  it('are changed by requests that meet one after the other: one revoke finds it, the others do not', async () => {
    const tenantId = await makeTenant('Professional')
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => revoke(tenantId, 'pos', { reason: 'at the same time' })),
    )
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([
      200,
      ...Array<number>(7).fill(404),
    ])
    expect((await trail(tenantId)).length).to.equal(1)
  })

  it('need a reason of 3 to 500 characters, in the body or in the query', async () => {
    const tenantId = await makeTenant('Professional')
    const refusals = [
      await grant(tenantId, { key: 'channels' }),
      await grant(tenantId, { key: 'channels', reason: '' }),
      await grant(tenantId, { key: 'channels', reason: '     ' }),
      await grant(tenantId, { key: 'channels', reason: 'no' }),
      await grant(tenantId, { key: 'channels', reason: 'x'.repeat(501) }),
      await revoke(tenantId, 'pos'),
      await revoke(tenantId, 'pos', {}),
      await revoke(tenantId, 'pos', { reason: 'no' }),
      await revoke(tenantId, 'pos', undefined, '?reason=%20%20%20'),
      await revoke(tenantId, 'pos', undefined, `?reason=${'x'.repeat(501)}`),
    ]
    for (const { status, body } of refusals) {
      expect([status, body.code]).to.deep.equal([400, 'validation_failed'])
      expect(body.errors.map((error: { field: string }) => error.field)).to.deep.equal(['reason'])
    }
    expect((await revoke(tenantId, 'pos', undefined, '?reason=yes')).status).to.equal(200)
    expect((await grant(tenantId, { key: 'pos', reason: 'x'.repeat(500) })).status).to.equal(201)
    expect((await trail(tenantId)).length).to.equal(2)
  })

  it('refuse what is no feature, no tenant, no date and no field, and change nothing', async () => {
    const tenantId = await makeTenant('Starter')
    const codes = async (reply: Promise<{ status: number; body: { code: string } }>) => {
      const { status, body } = await reply
      return [status, body.code]
    }
    expect(await codes(grant(tenantId, { key: 'nothing', reason: 'a trial' }))).to.deep.equal([422, 'unknown_feature'])
    expect(await codes(grant(tenantId, { key: 'constructor', reason: 'a trial' }))).to.deep.equal([
      422,
      'unknown_feature',
    ])
    expect(await codes(grant(randomUUID(), { key: 'pos', reason: 'a trial' }))).to.deep.equal([404, 'not_found'])
    expect(
      await codes(grant(tenantId, { key: 'pos', reason: 'a trial', expiresAt: '2020-01-01T00:00:00.000Z' })),
    ).to.deep.equal([400, 'validation_failed'])
    expect(
      await codes(grant(tenantId, { key: 'pos', reason: 'a trial', expiresAt: '2199-01-01T00:00:00.000Z' })),
    ).to.deep.equal([400, 'validation_failed'])
    expect(await codes(grant(tenantId, { key: 'pos', reason: 'a trial', source: 'PLAN_DEFAULT' }))).to.deep.equal([
      400,
      'validation_failed',
    ])
    expect(await codes(revoke(tenantId, 'pos', { reason: 'not active' }))).to.deep.equal([404, 'feature_not_active'])
    expect(await codes(revoke(tenantId, 'nothing', { reason: 'no feature' }))).to.deep.equal([
      404,
      'feature_not_active',
    ])
    expect(await codes(revoke(tenantId, "po's", { reason: 'no feature' }))).to.deep.equal([400, 'validation_failed'])
    expect(await trail(tenantId)).to.deep.equal([])
  })

  it('are for N1 alone, under both addresses', async () => {
    const tenantId = await makeTenant('Starter')
    const n2 = (await signIn(world, await makeSuperuser('N2'))).token
    const owner = (await signIn(world, await makeUser({ [tenantId]: 'owner' }))).token
    const { key } = await makeKey(tenantId, ['read', 'write'])
    for (const prefix of ['', '/api'])
      for (const [credential, code] of [
        [{ token: n2 }, 'level_required'],
        [{ token: owner }, 'forbidden'],
        [{ key }, 'key_not_allowed'],
      ] as const)
        for (const [method, at, body] of [
          ['GET', path(tenantId), undefined],
          ['POST', path(tenantId), { key: 'pos', reason: 'a trial' }],
          ['DELETE', path(tenantId, 'core'), { reason: 'a trial' }],
        ] as const) {
          const reply = await world.request(method, prefix + at, { ...credential, ...(body ? { body } : {}) })
          expect([reply.status, reply.body.code, reply.body.error], `${method} ${code}`).to.deep.equal([
            403,
            code,
            'ForbiddenException',
          ])
        }
    expect((await world.request('GET', `/api${path(tenantId)}`, { token: n1 })).status).to.equal(200)
  })

  it('ask for a proof of identity within ten minutes', async () => {
    const tenantId = await makeTenant('Starter')
    const person = await makeSuperuser('N1')
    const { token } = await signIn(world, person)
    await sql(
      world.database.admin,
      `update session set reauthenticated_at = now() - interval '11 minutes' where user_id = ?`,
      [person.userId],
    )
    await world.redis.del(...(await world.redis.keys('*sess:*')), 'none')
    const { status, body } = await grant(tenantId, { key: 'pos', reason: 'a trial' }, token)
    expect([status, body.code]).to.deep.equal([403, 'reauthentication_required'])
  })

  it('of a superuser whose level has ended are out of reach at once', async () => {
    const tenantId = await makeTenant('Starter')
    const person = await makeSuperuser('N1')
    const { token } = await signIn(world, person)
    expect((await grant(tenantId, { key: 'pos', reason: 'a trial' }, token)).status).to.equal(201)
    await sql(world.database.admin, `update superuser_account set ended_at = now() where user_id = ?`, [person.userId])
    expect((await grant(tenantId, { key: 'sla', reason: 'a trial' }, token)).status).to.equal(403)
  })
})
