import { expect } from 'chai'
import { tenantData } from '../../config/tenant-data/index.ts'
import { addDays } from '../../config/time.ts'
import { sol } from '../../db/demo/ids.ts'
import { liveSol } from '../../db/demo/life/index.ts'
import { seedDemo } from '../../db/demo/seed.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import type { Demo } from '../../db/demo/seed.ts'
import { numberEvents } from '../../db/webhooks/index.ts'
import { purgeTenant } from '../../jobs/admin.ts'
import { routes } from '../../api/routes.ts'
import { forgetLimits, makeSuperuser, signIn as signInSuperuser } from '../auth/support.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'

const settled = ['inventory', 'payments', 'ledger'] as const

describe('The life of the demo', () => {
  const world = useWorld()
  let demo: Demo
  let token: string
  let today: string

  const rows = <Row>(text: string) => inTenant(demo.sol.tenantId, (trx) => sql<Row>(trx, text))

  before(async function () {
    this.timeout(240_000)
    demo = await seedDemo()
    expect(await liveSol(() => world.drain({ queues: settled }))).to.equal(true)
    // The payer disputes some seconds after the payment.
    await until(async () => {
      await world.drain({ queues: settled })
      return (await rows(`select id from dispute`)).length > 0
    })
    const { body } = await world.request('POST', '/api/auth/sign-in/email', {
      body: { email: 'owner@sol.example', password: demo.password },
    })
    token = body.token
    // The feed of events is numbered after the fact.
    await inTenant(demo.sol.tenantId, numberEvents)
    const [property] = await rows<{ day: string }>(`select business_date as day from property`)
    today = property?.day ?? ''
  })

  it('has some 40 bookings, in every state that a stay can be in once its late hold has ended', async () => {
    await until(async () => {
      await world.drain({ queues: settled })
      return (await rows(`select id from reservation where status = 'expired'`)).length > 0
    })
    const [count] = await rows<{ bookings: number }>(`select count(*)::int as bookings from booking`)
    expect(count?.bookings).to.be.within(38, 50)
    const states = await rows<{ status: string }>(`select distinct status from reservation order by 1`)
    expect(states.map((row) => row.status)).to.deep.equal([
      'cancelled', 'checked_in', 'checked_out', 'confirmed', 'expired', 'held', 'no_show',
    ]) // oxfmt-ignore
  })

  it('has closed two business days, whose audits found what the ledger and the folios say too', async () => {
    const days = await rows<{ date: string; status: string }>(`select date, status from business_day order by date`)
    expect(days).to.deep.equal([
      { date: addDays(today, -2), status: 'closed' },
      { date: addDays(today, -1), status: 'closed' },
      { date: today, status: 'open' },
    ])
    expect(await rows(`select id from posting_event where status <> 'posted'`)).to.deep.equal([])
    expect(
      await rows(
        `select e.id from journal_entry e join journal_line l on l.tenant_id = e.tenant_id and l.entry_id = e.id group by e.id
         having sum(l.debit) <> sum(l.credit)`,
      ),
    ).to.deep.equal([])
  })

  it('counts the nights that are sold as its reservations do', async () => {
    expect(
      await rows(
        `select c.pool_id, c.night from pool_night c
         left join (select p.unit_pool_id, n.date, sum(p.quantity) filter (where r.status <> 'held')::int as sold, sum(p.quantity) filter (where r.status = 'held')::int as held
           from reservation_night n join reservation r on r.tenant_id = n.tenant_id and r.id = n.reservation_id
           join unit_type_pool p on p.tenant_id = n.tenant_id and p.unit_type_id = n.unit_type_id where n.status <> 'released' group by 1, 2) x
           on x.unit_pool_id = c.pool_id and x.date = c.night
         where (c.sold, c.held) is distinct from (coalesce(x.sold, 0), coalesce(x.held, 0))`,
      ),
    ).to.deep.equal([])
  })

  const at = `propertyId=${sol.propertyId}`

  /** Lists that the README, the guides and the pages of modules ask for. */
  const lists: [path: string, least: number][] = [
    ['reservations?status=confirmed', 10],
    ['reservations?status=checked_in', 5],
    ['reservations?status=checked_out', 2],
    [`bookings?${at}`, 20],
    [`front-desk/arrivals?${at}`, 3],
    [`front-desk/departures?${at}`, 1],
    [`front-desk/in-house?${at}`, 5],
    [`units?${at}&condition=dirty`, 2],
    [`unit-blocks?${at}`, 2],
    [`housekeeping/tasks?${at}`, 5],
    ['guests?q=lin', 1],
    ['companies', 2],
    [`folios?${at}`, 20],
    [`folios?${at}&kind=company`, 1],
    [`groups?${at}`, 2],
    [`quotes?${at}`, 3],
    [`waitlist?${at}`, 2],
    ['payments?status=captured', 15],
    ['payments?status=failed', 1],
    ['payments/refunds', 1],
    ['financial/ledger-entries', 20],
    ['financial/entry-drafts', 2],
    ['privacy-requests', 1],
    ['webhooks/endpoints', 1],
    ['events?limit=20', 20],
    [`housekeeping/sheets?${at}`, 1],
    [`night-audits?${at}`, 2],
    ['cash/accounts', 4],
    ['cash/accounts?kind=petty_cash', 1],
    ['cash/movements?limit=50', 15],
    ['cash/sessions?status=closed', 1],
    ['cash/sessions?status=open', 1],
    ['cash/transfers', 2],
    ['cash/bank-statements', 1],
    ['accounts-payable/suppliers', 3],
    ['accounts-payable/payables?status=paid', 1],
    ['accounts-payable/payables?status=partly_paid', 1],
    ['accounts-payable/payables?status=approved', 1],
    ['accounts-payable/payables?status=awaiting_approval', 1],
    ['accounts-payable/payables?status=draft', 1],
    ['accounts-payable/payments', 2],
    ['accounts-payable/purchase-orders?status=approved', 1],
    ['accounts-payable/recurring-payables', 1],
    ['accounts-receivable/customers', 2],
    ['accounts-receivable/receivables', 3],
    ['accounts-receivable/receipts', 1],
    ['inventory/items', 3],
    ['issues?status=open', 1],
    ['issues?status=in_progress', 1],
    ['issues?status=resolved', 1],
    ['issues/compensations?status=proposed', 1],
    ['issues/lost-items', 2],
    [`channel-connections?${at}`, 1],
    [`guest-registrations?${at}`, 1],
    ['reports/runs', 1],
    ['reports/schedules', 1],
    [`ocp/campaigns?${at}`, 1],
    ['accounts-receivable/fiscal-documents', 1],
    ['accounts-receivable/dunning-runs', 1],
    ['accounts-receivable/credit-notes', 1],
    [`inventory/counts?${at}`, 1],
    [`properties/${sol.propertyId}/seasons`, 2],
    ['financial/budgets', 1],
    ['payments/disputes', 1],
  ]
  for (const [path, least] of lists)
    it(`answers ${path.replace(at, 'propertyId=…')} with ${least} or more`, async () => {
      const { status, body } = await world.request('GET', `/api/tenants/${sol.tenantId}/${path}`, { token })
      expect(status, JSON.stringify(body).slice(0, 300)).to.equal(200)
      expect(body.data.length).to.be.at.least(least)
    })

  /** Lists that may well be empty in an inn that has been open for two days: of failures, and of reports never asked for. */
  const mayBeEmpty =
    `balanceTransactions.list bankStatementLines.list channelBookings.list dunningNotices.list guestDuplicates.list inventoryConsumptions.list
    inventoryStock.suggestPurchases paymentExceptions.list payouts.list pixCharges.list postingRules.list reconciliations.list taxAssessments.list
    webhookDeliveries.list`.split(/\s+/)
  /** Lists of a guest, a span or another thing that is to be named. */
  const asksMore = ['paymentMethods.list', 'units.available']

  it('has something in every list of the house that needs nothing but the property or the book', async function () {
    this.timeout(120_000)
    const [book] = await rows<{ id: string }>(`select id from book where is_default`)
    const given: Record<string, string> = { propertyId: sol.propertyId, bookId: book?.id ?? '' }
    const [empty, more]: [string[], string[]] = [[], []]
    for (const route of routes) {
      const { properties = {} } = route.returns as { properties?: { data?: { type?: string } } }
      if (route.method !== 'GET' || properties.data?.type !== 'array') continue
      const path = route.path.replace(':tenantId', sol.tenantId).replace(':propertyId', sol.propertyId)
      const { properties: asked = {}, required = [] } = (route.query ?? {}) as {
        properties?: object
        required?: string[]
      }
      if (
        !route.path.startsWith('/api/tenants/:tenantId/') ||
        path.includes(':') ||
        required.some((name) => !(name in given))
      )
        continue
      const query = Object.keys(asked).flatMap((name) => (required.includes(name) ? [`${name}=${given[name]}`] : []))
      await forgetLimits(world)
      const { status, body } = await world.request('GET', `${path}?${query.join('&')}`, { token })
      if (status === 200 ? body.data.length === 0 : status !== 400) empty.push(route.id)
      if (status === 400) more.push(route.id)
    }
    expect([empty.toSorted(), more.toSorted()]).to.deep.equal([mayBeEmpty, asksMore])
  })

  it('has money that is the sum of its movements, and a statement of which all lines but one are explained', async () => {
    await world.drain({ kinds: ['reports.import-statement', 'payments.connect-pix'] })
    expect(
      await rows(
        `select a.code from cash_account a where a.balance <> (select coalesce(sum(m.amount), 0) from cash_movement m where m.tenant_id = a.tenant_id and m.cash_account_id = a.id)
           or a.balance < 0`,
      ),
    ).to.deep.equal([])
    const [statement] = await rows<{ status: string }>(`select status from bank_statement`)
    expect(statement?.status).to.equal('imported')
    const { body } = await world.request('GET', `/api/tenants/${sol.tenantId}/cash/bank-statement-lines`, { token })
    const open = body.data as { suggestions: unknown[] }[]
    expect([open.length, open.filter(({ suggestions }) => suggestions.length === 0).length]).to.deep.equal([4, 1])
    expect(await rows(`select status from pix_connection`)).to.deep.equal([{ status: 'active' }])
  })

  it('has mail for its guests, which the workers send', async () => {
    await world.drain({ kinds: ['messages.trigger'] })
    const [mails] = await rows<{ count: number }>(`select count(*)::int as count from message`)
    expect(mails?.count).to.be.at.least(40)
  })

  it('changes nothing when it comes again', async () => {
    const before = await rows(`select count(*)::int as count from event`)
    expect(await liveSol(() => world.drain({ queues: settled }))).to.equal(true)
    expect(await rows(`select count(*)::int as count from event`)).to.deep.equal(before)
  })

  /** Rows of a tenant in each table that has some. */
  const rowsOf = async (tenantId: string): Promise<Map<string, number>> => {
    const counts = new Map<string, number>()
    for (const { table } of tenantData) {
      const [row] = await sql<{ n: number }>(
        world.database.admin,
        `select count(*)::int as n from "${table}" where tenant_id = ?`,
        [tenantId],
      )
      if (row && row.n > 0) counts.set(table, row.n)
    }
    return counts
  }

  it('leaves with all that it has, waits while money is on its way, and nothing is left', async function () {
    this.timeout(120_000)
    const { tenantId } = demo.sol
    const admin = world.database.admin
    const neighbour = await rowsOf(demo.lua.tenantId)
    const n1 = (await signInSuperuser(world, await makeSuperuser('N1'))).token
    const asked = await world.request('POST', `/superuser/tenants/${tenantId}/export`, {
      token: n1,
      body: { reason: 'they asked for it' },
    })
    expect(asked.status, JSON.stringify(asked.body)).to.equal(201)
    await world.drain({ kinds: ['privacy.export-tenant'] })
    const ready = (await world.request('GET', `/superuser/tenants/${tenantId}/export`, { token: n1 })).body
    expect(ready.status, JSON.stringify(ready)).to.equal('ready')
    const parts = await sql<{ size: number }>(
      admin,
      `select length(bytes) as size from tenant_export_part where export_id = ?`,
      [asked.body.id],
    )
    for (const { size } of parts) expect(size).to.be.at.most(8 * 1_048_576)
    const before = await rowsOf(tenantId)
    expect(before.size).to.be.at.least(100)
    const purge = async () => {
      await sql(admin, `update tenant set status = 'deleting', delete_after = current_date - 1 where id = ?`, [
        tenantId,
      ])
      await sql(admin, `delete from jobs where kind = 'privacy.purge-tenant'`)
      await inTenant(tenantId, (trx) => enqueue(trx, purgeTenant, { tenantId }))
      return world.drain({ kinds: ['privacy.purge-tenant'] })
    }
    await sql(
      admin,
      `insert into payment (tenant_id, origin, channel, method, gateway_account_id, property_id, amount, currency, status)
       select tenant_id, 'gateway', 'desk', 'pix', id, ?, 100, currency, 'requires_action' from gateway_account where tenant_id = ? limit 1`,
      [sol.propertyId, tenantId],
    )
    await purge()
    expect((await rowsOf(tenantId)).get('booking')).to.equal(before.get('booking'))
    const [waiting] = await sql<{ isLater: boolean }>(
      admin,
      `select delete_after > current_date as is_later from tenant where id = ?`,
      [tenantId],
    )
    expect(waiting?.isLater).to.equal(true)
    await sql(
      admin,
      `update payment set status = 'cancelled', ended_at = now()
       where tenant_id = ? and status in ('created', 'unknown', 'requires_action', 'processing', 'authorised')`,
      [tenantId],
    )
    await sql(admin, `update dispute set status = 'lost' where tenant_id = ?`, [tenantId])
    expect((await purge()).map(({ outcome }) => outcome)).to.deep.equal(['done'])
    const kept = new Set([
      ...tenantData.filter(({ keep }) => keep !== undefined).map(({ table }) => table),
      'job_archive',
    ])
    expect([...(await rowsOf(tenantId)).keys()].filter((table) => !kept.has(table))).to.deep.equal([])
    expect(await rowsOf(demo.lua.tenantId)).to.deep.equal(neighbour)
  })
})
