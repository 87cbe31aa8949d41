import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { sql } from '../../db/lib/connection.ts'
import { useWorld } from '../support/world.ts'
import { forgetLimits, makeTenant, makeUser, signIn } from './support.ts'

describe('a session and its tenant', () => {
  const world = useWorld()
  let tenantId: string
  before(async () => {
    tenantId = await makeTenant()
  })
  beforeEach(() => forgetLimits(world))

  const person = () => makeUser({ [tenantId]: 'manager' })

  const context = (token: string, body: unknown) => world.request('PUT', '/api/auth/tenant-context', { token, body })
  const read = (token: string, of: string) => world.request('GET', `/api/tenants/${of}/guests`, { token })

  it('is set at sign-in for the only one, and chosen among several', async () => {
    const other = await makeTenant('Starter', 'Hostel')
    const both = await makeUser({ [tenantId]: 'manager', [other]: 'receptionist' })
    const { token } = await signIn(world, both)
    const none = await read(token, other)
    expect([none.status, none.body.code]).to.deep.equal([403, 'tenant_context_required'])
    const { status, body } = await context(token, { tenantId: other })
    expect([status, body.tenantId, body.name, body.role, body.propertyIds]).to.deep.equal([
      200,
      other,
      'Hostel',
      'receptionist',
      null,
    ])
    expect(body.features).to.include('core')
    expect((await read(token, other)).status).to.equal(200)
    expect((await read(token, tenantId)).body.code).to.equal('tenant_not_active')
    await context(token, { tenantId })
    expect([(await read(token, tenantId)).status, (await read(token, other)).status]).to.deep.equal([200, 403])
  })

  it('is refused alike where it is another’s, and where there is none', async () => {
    const other = await makeTenant()
    const { token } = await signIn(world, await person())
    const strip = ({
      status,
      body,
    }: {
      status: number
      body: Record<string, unknown>
    }): { status: number; body: Record<string, unknown> } => ({ status, body: { ...body, requestId: '' } })
    const [foreign, unknown] = [
      strip(await context(token, { tenantId: other })),
      strip(await context(token, { tenantId: randomUUID() })),
    ]
    expect(foreign).to.deep.equal(unknown)
    expect([foreign.status, foreign.body.code]).to.deep.equal([403, 'tenant_not_active'])
    const [path, nowhere] = [strip(await read(token, other)), strip(await read(token, randomUUID()))]
    expect(path).to.deep.equal(nowhere)
    expect(path.body.code).to.equal('tenant_not_active')
    expect((await context(token, { tenantId: 'x' })).status).to.equal(400)
    expect((await context(token, {})).status).to.equal(400)
    expect((await read(token, tenantId)).status).to.equal(200)
  })

  it('switched during many reads never shows one as the other', async () => {
    const other = await makeTenant('Starter', 'Hostel')
    const both = await makeUser({ [tenantId]: 'manager', [other]: 'manager' })
    const { token } = await signIn(world, both)
    await context(token, { tenantId })
    const all = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        if (n % 10 === 5)
          return { kind: 'switch', ...(await context(token, { tenantId: n % 20 === 5 ? other : tenantId })) }
        const of = n % 2 === 0 ? tenantId : other
        return { kind: 'read', ...(await world.request('GET', `/api/tenants/${of}`, { token })), of }
      }),
    )
    for (const reply of all)
      if (reply.kind === 'read' && reply.status === 200 && 'of' in reply) expect(reply.body.id).to.equal(reply.of)
    expect(all.every((reply) => [200, 403].includes(reply.status))).to.equal(true)
    expect(all.some((reply) => reply.status === 200 && 'of' in reply)).to.equal(true)
    expect(all.some((reply) => reply.status === 403 && 'of' in reply)).to.equal(true)
  })

  it('is out of reach at the next request after the membership ends, or changes', async () => {
    const who = await makeUser({ [tenantId]: 'manager' })
    const { token } = await signIn(world, who)
    expect((await read(token, tenantId)).status).to.equal(200)
    const change = (to: string) =>
      sql(world.database.admin, `update membership set ${to} where user_id = ?`, [who.userId])
    await change(`role = 'stock'`)
    expect((await read(token, tenantId)).body.code).to.equal('forbidden')
    await change(`role = 'manager', status = 'deactivated', deactivated_at = now()`)
    expect((await read(token, tenantId)).body.code).to.equal('tenant_not_active')
    expect((await context(token, { tenantId })).body.code).to.equal('tenant_not_active')
  })
})
