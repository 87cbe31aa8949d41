import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { within } from '../../api/lib/access/properties.ts'
import type { Admission } from '../../api/lib/caller.ts'
import { sql } from '../../db/lib/connection.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'
import { forgetLimits, makeTenant, makeUser, newEmail, signIn } from './support.ts'

describe('who would have more than he was given', () => {
  const world = useWorld()
  beforeEach(() => forgetLimits(world))

  it('is out with the answer that removed him, however many requests he has under way', async function () {
    this.timeout(120_000)
    const tenantId = await makeTenant()
    const owner = await signIn(world, await makeUser({ [tenantId]: 'owner' }))
    const member = await makeUser({ [tenantId]: 'manager' })
    const sessions = await Promise.all(Array.from({ length: 4 }, () => signIn(world, member)))
    let over = false
    const seen: { began: number; status: number }[] = []
    const flood = sessions.map(async ({ token }) => {
      while (!over) {
        const began = performance.now()
        const { status } = await world.request('GET', `/api/tenants/${tenantId}/guests`, { token })
        seen.push({ began, status })
      }
    })
    await until(() => seen.filter(({ status }) => status === 200).length >= 8, { everyMs: 5 })
    const gone = await world.request('POST', `/api/tenants/${tenantId}/users/${member.userId}/deactivate`, {
      token: owner.token,
    })
    const removedAt = performance.now()
    await until(() => seen.filter(({ began }) => began > removedAt).length >= 8, { everyMs: 5 })
    over = true
    await Promise.all(flood)
    expect(gone.status).to.equal(200)
    expect(seen.some(({ status }) => status === 200)).to.equal(true)
    for (const { began, status } of seen) if (began > removedAt) expect(status).to.equal(403)
  })

  it('names another tenant in header, query or body, and is answered for his own, or not at all', async () => {
    const [mine, theirs] = [await makeTenant('Enterprise', 'Mine'), await makeTenant('Enterprise', 'Theirs')]
    const { token } = await signIn(world, await makeUser({ [mine]: 'owner' }))
    const victim = await makeUser({ [theirs]: 'manager' }, { name: 'Victim' })
    const path = `/api/tenants/${mine}`
    for (const name of [
      'x-tenant-id',
      'x-original-url',
      'x-rewrite-url',
      'x-forwarded-host',
      'x-http-method-override',
    ]) {
      const { status, body } = await world.request('GET', path, {
        token,
        headers: { [name]: `/api/tenants/${theirs}` },
      })
      expect([status, body.id], name).to.deep.equal([200, mine])
    }
    for (const query of [`tenantId=${theirs}`, `tenant_id=${theirs}`, 'app.tenant_id=x'])
      expect((await world.request('GET', `${path}/users?${query}`, { token })).status, query).to.equal(400)
    for (const extra of [
      { tenantId: theirs },
      { status: 'active' },
      { userId: victim.userId },
      { allProperties: true },
    ]) {
      const sent = { email: newEmail('mass'), role: 'stock', ...extra }
      const { status, body } = await world.request('POST', `${path}/users`, { token, body: sent })
      expect([status, body.code], JSON.stringify(extra)).to.deep.equal([400, 'validation_failed'])
    }
    for (const [method, address] of [
      ['GET', `users/${victim.userId}`],
      ['PATCH', `users/${victim.userId}`],
      ...['deactivate', 'reactivate', 'resend-invitation', 'revoke-sessions', 'reset-mfa'].map(
        (verb) => ['POST', `users/${victim.userId}/${verb}`] as const,
      ),
    ] as const) {
      const sent = method === 'PATCH' ? { body: { role: 'stock' } } : {}
      const foreign = await world.request(method, `${path}/${address}`, { token, ...sent })
      const unknown = await world.request(method, `${path}/${address.replace(victim.userId, randomUUID())}`, {
        token,
        ...sent,
      })
      expect(foreign.status, `${method} ${address}`).to.equal(404)
      expect({ ...foreign.body, requestId: '' }).to.deep.equal({ ...unknown.body, requestId: '' })
    }
    const kept = await sql(world.database.admin, `select role, status from membership where user_id = ?`, [
      victim.userId,
    ])
    expect(kept).to.deep.equal([{ role: 'manager', status: 'active' }])
  })

  it('names another property however deep, alone or in a list: 403; in the path: 404', () => {
    const [mine, other] = [randomUUID(), randomUUID()]
    const limited = { propertyIds: [mine] } as unknown as Admission
    const status = (input: { params?: object; query?: object; body?: unknown }) => {
      try {
        within(limited, { params: {}, query: {}, body: {}, ...input } as never)
        return 200
      } catch (error) {
        return (error as { status: number }).status
      }
    }
    for (const named of [mine, [mine], null]) expect(status({ body: { lines: [{ propertyId: named }] } })).to.equal(200)
    for (const body of [
      { propertyId: other },
      { propertyId: [mine, other] },
      { propertyIds: [mine, other] },
      { lines: [{ propertyId: mine }, { propertyId: other }] },
      [{ deep: { deeper: [{ propertyIds: [other] }] } }],
    ])
      expect(status({ body }), JSON.stringify(body)).to.equal(403)
    expect(status({ query: { propertyId: [mine, other] } })).to.equal(403)
    expect(status({ params: { propertyId: other } })).to.equal(404)
    expect(status({ params: { propertyId: mine } })).to.equal(200)
  })
})
