import { expect } from 'chai'
import Koa from 'koa'
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { can } from '../../api/lib/access.ts'
import { route } from '../../api/lib/route.ts'
import { makeRouter } from '../../api/lib/router.ts'
import { Bool, Obj } from '../../config/schema.ts'
import { audit } from '../../db/audit.ts'
import { sql } from '../../db/connection.ts'
import { clientOf } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { forgetLimits, makeTenant, makeUser, signIn } from './support.ts'

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
    const app = new Koa()
    app.silent = true
    app.use(async (ctx, next) => {
      ctx.state.requestId = randomUUID()
      await next()
    })
    app.use(makeRouter([perform]))
    const server = app.listen(0, '127.0.0.1')
    try {
      await new Promise((resolve) => server.once('listening', resolve))
      const { port } = server.address() as AddressInfo
      const call = (token: string, idempotencyKey: string) =>
        clientOf(`http://127.0.0.1:${port}`)('POST', `/api/tenants/${tenantId}/housekeeping/perform`, {
          token,
          idempotencyKey,
        })
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
      await new Promise((resolve) => server.close(resolve))
    }
  })
})
