import { expect } from 'chai'
import { applyPlanVersion, changePlan, closePeriod, createPlanVersion } from '../../db/admin/index.ts'
import { addDays } from '../../config/time.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { makeSuperuser, makeTenant, signIn } from '../auth/support.ts'
import { waitsForLock } from '../support/deadlocks.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'

describe('a plan that changes at the moment', function () {
  this.timeout(60_000)
  const world = useWorld()

  /** Does `second` while `first` has written and not committed, and answers what comes of it. */
  const during = async <T>(
    first: (trx: Parameters<typeof changePlan>[0]) => Promise<unknown>,
    second: () => Promise<T>,
  ): Promise<T> => {
    let isOver = false
    const { waiting } = await inPlatform(async (trx) => {
      await first(trx)
      const work = second().finally(() => (isOver = true))
      work.catch(() => {})
      await until(async () => isOver || (await waitsForLock(world.database.admin)))
      return { waiting: work }
    })
    return waiting
  }
  const periodOf = async (tenantId: string) =>
    (
      await sql<{ start: string; end: string }>(
        world.database.admin,
        `select period_start::text as start, period_end::text as "end" from subscription where tenant_id = ?`,
        [tenantId],
      )
    )[0]!
  const versionOf = async (tenantId: string) =>
    (
      await sql<{ plan: string; number: number }>(
        world.database.admin,
        `select v.plan, v.number from subscription s join plan_version v on v.id = s.plan_version_id where s.tenant_id = ?`,
        [tenantId],
      )
    )[0]

  it('is the one that a period is billed by which closes just then', async () => {
    const { token } = await signIn(world, await makeSuperuser('N1'))
    const tenantId = await makeTenant('Starter')
    const { start, end } = await periodOf(tenantId)
    const { body } = await world.request('POST', '/superuser/billing-runs', {
      token,
      body: { date: addDays(end, 1), tenantIds: [tenantId] },
    })
    const closing = { tenantId, periodStart: start, runId: body.id as string, force: false }
    await during(
      (trx) => changePlan(trx, tenantId, { plan: 'Professional', reason: 'The house has grown' }),
      () => inTenant(tenantId, (trx) => closePeriod(trx, closing)),
    )
    const issued = await sql(world.database.admin, `select total from subscription_invoice where tenant_id = ?`, [
      tenantId,
    ])
    expect(issued).to.deep.equal([{ total: 29_900 }])
  })

  it('goes to the newest of two versions that reach a tenant together, and to none without a price for it', async () => {
    const tenantId = await makeTenant('Starter')
    const write = (prices: Record<string, number>) =>
      inPlatform(async (trx) => {
        const [now] = await sql<{ features: never[] }>(
          trx,
          `select features from plan_version where plan = 'Starter' order by number desc limit 1`,
        )
        const features = now?.features ?? []
        const given = { features, prices: { BRL: 9_900, USD: 1_900, EUR: 1_900, ...prices }, note: 'A new price' }
        const { versions } = await createPlanVersion(trx, 'Starter', given)
        return versions[0]!
      })
    const [older, newer] = [await write({ BRL: 10_900 }), await write({ BRL: 11_900 })]
    await during(
      (trx) => applyPlanVersion(trx as never, tenantId, older.id),
      () => inTenant(tenantId, (trx) => applyPlanVersion(trx, tenantId, newer.id)),
    )
    expect(await versionOf(tenantId)).to.deep.equal({ plan: 'Starter', number: newer.number })
    await sql(world.database.admin, `update tenant set currency = 'CHF' where id = ?`, [tenantId])
    const later = await write({ BRL: 12_900 })
    await inTenant(tenantId, (trx) => applyPlanVersion(trx, tenantId, later.id))
    expect((await versionOf(tenantId))?.number).to.equal(newer.number)
  })
})
