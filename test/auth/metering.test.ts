import { expect } from 'chai'
import { writeMetered } from '../../api/lib/metering.ts'
import { recordUsage } from '../../db/lib/usage.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { useWorld } from '../support/world.ts'
import { forgetLimits, makeKey, makeTenant } from './support.ts'

type Day = { day: string; quantity: number }

describe('requests by API key', () => {
  const world = useWorld()
  let tenantId: string
  beforeEach(async () => {
    await writeMetered()
    await forgetLimits(world)
    tenantId = await makeTenant('Enterprise')
  })

  const days = (of = tenantId) =>
    sql<Day>(
      world.database.admin,
      `select day, quantity from usage_day where tenant_id = ? and meter = 'api.requests' order by day`,
      [of],
    )
  const used = async (of = tenantId) => (await days(of)).reduce((sum, each) => sum + each.quantity, 0)
  const ask = async (key: string, path = 'guests', of = tenantId) =>
    (await world.request('GET', `/api/tenants/${of}/${path}`, { key })).status

  it('are counted where they were let in, and nowhere else', async () => {
    const { key } = await makeKey(tenantId, ['read'])
    const { key: narrow } = await makeKey(tenantId, ['guests:read'])
    expect(await Promise.all([ask(key), ask(key), ask(narrow), ask(key, 'guests?unknown=1')])).to.deep.equal([
      200, 200, 200, 400,
    ])
    expect(await ask(narrow, 'reservations'), 'no scope').to.equal(403)
    expect(await ask(key, 'guests', await makeTenant('Enterprise')), "another's tenant").to.equal(403)
    expect(await ask(`${key.slice(0, -1)}_`), 'no key').to.equal(401)
    expect(await used(), 'before they are written').to.equal(0)
    await writeMetered()
    expect(await used()).to.equal(4)
    await writeMetered()
    expect(await used(), 'nothing new').to.equal(4)
  })

  it('that could not be written are written later, once', async () => {
    const { key } = await makeKey(tenantId, ['read'])
    const admin = world.database.admin
    await ask(key)
    await admin.raw('revoke insert on usage_day from pousada_service')
    await writeMetered()
    await ask(key)
    await writeMetered()
    await admin.raw('grant insert on usage_day to pousada_service')
    expect(await used()).to.equal(0)
    await writeMetered()
    await writeMetered()
    expect(await used()).to.equal(2)
  })

  it('of several processes add up, whatever order they come in, and a fact that comes twice counts once', async () => {
    const other = await makeTenant('Enterprise')
    const at = new Date()
    const both = [tenantId, other].map((id) => ({ tenantId: id, quantity: 3, at }))
    const write = (key: string, used: typeof both) => inPlatform((trx) => recordUsage(trx, 'api.requests', key, used))
    const written = await Promise.all(
      Array.from({ length: 20 }, (_, n) => write(`p${n % 10}`, n % 2 === 0 ? both : both.toReversed())),
    )
    expect(written.reduce((sum, each) => sum + each, 0)).to.be.greaterThan(0)
    expect([await used(), await used(other)]).to.deep.equal([30, 30])
  })

  it('fall on the days of the tenant, who sees its own alone', async () => {
    await sql(world.database.admin, `update tenant set time_zone = 'America/Sao_Paulo' where id = ?`, [tenantId])
    for (const instant of ['2099-03-02T02:59:59Z', '2099-03-02T03:00:00Z'])
      await inPlatform((trx) =>
        recordUsage(trx, 'api.requests', instant, [{ tenantId, quantity: 2, at: new Date(instant) }]),
      )
    expect(await days()).to.deep.equal([
      { day: '2099-03-01', quantity: 2 },
      { day: '2099-03-02', quantity: 2 },
    ])
    const other = await makeTenant('Enterprise')
    const seen = (of: string) => inTenant(of, (trx) => sql(trx, `select 1 from usage_day`))
    expect([(await seen(tenantId)).length, (await seen(other)).length]).to.deep.equal([2, 0])
  })

  it('are facts: none is changed, and none goes before its time', async () => {
    await inPlatform((trx) => recordUsage(trx, 'api.requests', 'kept', [{ tenantId, quantity: 1, at: new Date() }]))
    const gone = await inPlatform((trx) =>
      sql(trx, `delete from usage_event where tenant_id = ? returning 1`, [tenantId]),
    )
    expect(gone).to.deep.equal([])
    const change = sql(world.database.admin, `update usage_event set quantity = 9 where tenant_id = ?`, [tenantId])
    expect(await change.catch(() => 'refused')).to.equal('refused')
  })
})
