import { expect } from 'chai'
import Koa from 'koa'
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { can } from '../../api/lib/access/kinds.ts'
import { route } from '../../api/lib/route.ts'
import type { AnyRoute } from '../../api/lib/route.ts'
import { makeRouter } from '../../api/lib/router.ts'
import { ApiError } from '../../config/errors.ts'
import { Bool, Obj } from '../../config/schema.ts'
import { audit } from '../../db/lib/audit.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { clientOf } from '../support/client.ts'
import { makeHouse } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { forgetLimits, makeTenant, makeUser, signIn } from './support.ts'

/** One endpoint alone, as the pipeline answers it. */
const serve = async (endpoint: AnyRoute) => {
  const app = new Koa()
  app.silent = true
  app.use(async (ctx, next) => {
    ctx.state.requestId = randomUUID()
    await next().catch((error: unknown) => {
      ctx.status = error instanceof ApiError ? error.status : 500
      ctx.body = {}
    })
  })
  app.use(makeRouter([endpoint]))
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  return {
    call: clientOf(`http://127.0.0.1:${port}`),
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

describe('an endpoint that forgets the condition of a role', () => {
  const world = useWorld()

  it('answers 500 to who has one, with nothing changed; others, and a repetition of what was done, are answered', async () => {
    await forgetLimits(world)
    const tenantId = await makeTenant()
    const sign = (role: string) => makeUser({ [tenantId]: role }).then((person) => signIn(world, person))
    const [keeper, manager] = [await sign('housekeeper'), await sign('manager')]
    let asks = false
    const perform = route({
      id: 'test.perform',
      method: 'POST',
      path: '/api/tenants/:tenantId/housekeeping/perform',
      summary: 'For this test alone',
      access: can('perform', 'HousekeepingTask'),
      returns: Obj({ done: Bool }),
      handle: async ({ trx, admission }) => {
        await audit(trx, { action: 'test.perform', subjectType: 'HousekeepingTask' })
        if (asks) admission.check('perform', 'HousekeepingTask', { assigneeId: null })
        return { done: true }
      },
    })
    const { call: send, close } = await serve(perform)
    const call = (token: string, idempotencyKey: string) =>
      send('POST', `/api/tenants/${tenantId}/housekeeping/perform`, { token, idempotencyKey })
    try {
      const written = async () =>
        (
          await sql(world.database.admin, `select 1 from audit_entry where tenant_id = ? and action = 'test.perform'`, [
            tenantId,
          ])
        ).length
      expect((await call(keeper.token, 'first')).status).to.equal(500)
      expect(await written()).to.equal(0)
      expect((await call(manager.token, 'first')).status).to.equal(200)
      asks = true
      expect((await call(keeper.token, 'first')).status).to.equal(200)
      const again = await call(keeper.token, 'first')
      expect([again.status, again.headers['idempotent-replayed']]).to.deep.equal([200, 'true'])
      expect(await written()).to.equal(2)
    } finally {
      await close()
    }
  })
})

describe('a record that a path names', () => {
  const world = useWorld()

  it('is judged by the role’s condition once it is locked: another’s is 403, of another property 404, as if unknown', async () => {
    await forgetLimits(world)
    const house = await makeHouse()
    const other = await makeHouse({ tenantId: house.tenantId })
    const { tenantId } = house
    const person = async () => {
      const made = await makeUser({ [tenantId]: 'manager' })
      return { ...made, ...(await signIn(world, made)) }
    }
    const [mine, theirs, elsewhere] = [await person(), await person(), await person()]
    await inTenant(tenantId, async (trx) => {
      await sql(trx, `update membership set all_properties = false where user_id = ?`, [elsewhere.userId])
      await sql(
        trx,
        `insert into membership_property (membership_id, property_id) select id, ? from membership where user_id = ?`,
        [other.propertyId, elsewhere.userId],
      )
    })
    const [draft] = await inTenant(tenantId, (trx) =>
      sql<{ id: string }>(
        trx,
        `insert into rate_change (property_id, status, items, cell_count, created_by) values (?, 'queued', '[]', 0, ?) returning id`,
        [house.propertyId, mine.userId],
      ),
    )
    const { call, close } = await serve(
      route({
        id: 'test.update',
        method: 'PATCH',
        path: '/api/tenants/:tenantId/financial/:draftId',
        summary: 'For this test alone',
        access: can('update', 'EntryDraft'),
        record: { table: 'rate_change', param: 'draftId' },
        body: Obj({}),
        returns: Obj({}),
        handle: () => Promise.resolve({}),
      }),
    )
    try {
      const status = async ({ token }: { token: string }, id: string, version = '*') =>
        (
          await call('PATCH', `/api/tenants/${tenantId}/financial/${id}`, {
            token,
            body: {},
            headers: { 'if-match': version },
          })
        ).status
      expect([await status(mine, draft?.id ?? ''), await status(mine, draft?.id ?? '', '"9"')]).to.deep.equal([
        200, 409,
      ])
      expect(await status(theirs, draft?.id ?? '', '"9"')).to.equal(403)
      expect([await status(elsewhere, draft?.id ?? ''), await status(elsewhere, randomUUID())]).to.deep.equal([
        404, 404,
      ])
      const owner = await signIn(world, await makeUser({ [tenantId]: 'owner' }))
      expect(await status(owner, draft?.id ?? '')).to.equal(200)
    } finally {
      await close()
    }
  })
})
