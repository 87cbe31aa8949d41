import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { seedDemo } from '../../db/demo/seed.ts'
import type { Demo } from '../../db/demo/seed.ts'
import { useWorld } from '../support/world.ts'

describe('The demo data', () => {
  const world = useWorld()
  let demo: Demo

  before(async function () {
    this.timeout(120_000)
    demo = await seedDemo()
  })

  const count = async (tenantId: string, table: string) => {
    const [row] = await inTenant(tenantId, (trx) =>
      sql<{ count: number }>(trx, `select count(*)::int as count from ${table}`),
    )
    return row?.count
  }

  it('is an inn with three types, twelve units, two plans and 400 days of prices', async () => {
    const { tenantId } = demo.sol
    expect(await count(tenantId, 'unit_type')).to.equal(3)
    expect(await count(tenantId, 'unit')).to.equal(12)
    expect(await count(tenantId, 'rate_plan')).to.equal(2)
    expect(await count(tenantId, 'rate_cell')).to.equal(1200)
    const [suite] = await inTenant(tenantId, (trx) =>
      sql<{ name: { 'pt-BR': string }; units: number }>(
        trx,
        `select t.name, (select count(*)::int from unit u where u.unit_type_id = t.id) as units from unit_type t where id = ?`,
        [demo.sol.master],
      ),
    )
    expect([suite?.name['pt-BR'], suite?.units]).to.deep.equal(['Suíte Master', 1])
  })

  it('has a desk at work: a booking with a note, an open quote, and a request that waits', async () => {
    const { tenantId } = demo.sol
    for (const table of ['booking', 'reservation_note', 'quote', 'waitlist_entry'])
      expect(await count(tenantId, table), table).to.equal(1)
  })

  it('has bought add-ons, and bills of two months: one that is paid, one that is open', async () => {
    for (const { tenantId, keys, totals } of [
      { tenantId: demo.sol.tenantId, keys: ['channels', 'webhooks'], totals: [94_180, 94_180] },
      { tenantId: demo.lua.tenantId, keys: ['suppliers'], totals: [9_900, 9_900] },
    ]) {
      const items = await inTenant(tenantId, (trx) =>
        sql<{ key: string }>(
          trx,
          `select a.key from subscription_item i join add_on a on a.id = i.add_on_id where i.ends_at is null order by 1`,
        ),
      )
      expect(items.map(({ key }) => key)).to.deep.equal(keys)
      const bills = await inTenant(tenantId, (trx) =>
        sql<{ status: string; total: number }>(
          trx,
          `select status, total from subscription_invoice order by period_start`,
        ),
      )
      expect(bills.map(({ status }) => status)).to.deep.equal(['paid', 'issued'])
      expect(bills.map(({ total }) => total)).to.deep.equal(totals)
    }
  })

  it('changes nothing when it comes again, and answers the same', async () => {
    expect(await seedDemo()).to.deep.equal(demo)
    expect(await count(demo.sol.tenantId, 'unit')).to.equal(12)
    expect(await count(demo.sol.tenantId, 'api_key')).to.equal(1)
  })

  it('lets every user sign in with the one password', async () => {
    for (const { email } of demo.users) {
      const { status } = await world.request('POST', '/api/auth/sign-in/email', {
        body: { email, password: demo.password },
      })
      expect(status, email).to.equal(200)
    }
  })

  it('shows both portals, and sells the dormitory by bed or whole from one pool', async () => {
    for (const { propertyId } of [demo.sol, demo.lua]) {
      const { status, body } = await world.request('GET', `/api/public/property/${propertyId}/config`)
      expect([status, body.sales]).to.deep.equal([200, 'open'])
    }
    const { status, body } = await world.request('GET', `/api/public/property/${demo.lua.propertyId}/rooms`)
    expect(status).to.equal(200)
    expect(body.unitTypes.map((type: { code: string }) => type.code)).to.deep.equal(['BED', 'PRIVATE', 'DORM'])
  })

  it('is refused in production', async () => {
    settings.production = true
    try {
      const refused = await seedDemo().catch((error: Error) => error.message)
      expect(refused).to.equal('demo data is for development alone')
    } finally {
      settings.production = false
    }
  })
})
