import { createHash, randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { sql } from '../../db/lib/connection.ts'
import { addMembership } from '../../db/auth/members/create.ts'
import { forgetLimits, makeUser, signIn } from '../auth/support.ts'
import { deskOf, openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import type { Parsed } from '../support/client.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'

type Row = Record<string, number> & { code: string; key: string; name: string }

/** S13 of the stories: a card, its fees, a refund and a payout, and every report that tells of them. */
describe('the story of books that agree', function () {
  this.timeout(120_000)
  const world = useWorld()
  let house: House
  let owner: Desk
  let token: string
  const { sandboxSecondMs } = settings
  const today = () => new Date().toISOString().slice(0, 10)
  const work = () => world.drain({ starts: 2_000, aheadMs: 11_000 })
  const get = async (path: string, query: Record<string, string> = {}): Promise<Parsed> => {
    const { status, body } = await owner.get(`${path}?${new URLSearchParams(query).toString()}`)
    expect(status, `${path} ${JSON.stringify(body)}`).to.equal(200)
    return body
  }
  const post = async (path: string, body: object): Promise<Parsed> => {
    const reply = await owner.send('POST', path, body, { idempotencyKey: randomUUID() })
    expect(reply.status, `${path} ${JSON.stringify(reply.body)}`).to.be.below(300)
    return reply.body
  }

  before(async () => {
    // The payout is due sixty of these after the charge: not before the refund has gone, however busy the machine is.
    settings.sandboxSecondMs = 5_000
    settings.publicBaseUrl = world.baseUrl
    await forgetLimits(world)
    house = await makeHouse({ units: 4 })
    const person = await makeUser()
    await house.inHouse((trx) => addMembership(trx, { userId: person.userId, role: 'owner', propertyIds: null }))
    token = (await signIn(world, person)).token
    owner = deskOf(world, house.tenantId, token)
    await house.inHouse((trx) => sql(trx, `update gateway_account set platform_fee_rate = 150`))
    const targetId = await makeHold(house, { from: 4 })
    const charge = { method: 'card', amount: 12_000, currency: 'BRL', targetType: 'booking', targetId }
    const { id } = await post('payments', charge)
    await work()
    await post(`payments/${id}/refunds`, { amount: 5_000, reason: 'guest_request' })
    await until(
      async () => {
        await work()
        await forgetLimits(world)
        return (await get(`payments/${id}`)).refundedAmount === 5_000
      },
      { withinMs: 20_000, what: 'the refund' },
    )
    settings.sandboxSecondMs = 80
    // The sandbox has noted the payout by its slow seconds.
    await sql(
      world.database.admin,
      `update sandbox_object set due_at = now() + interval '1 second' where id like 'books %' and due_at is not null`,
    )
    await until(
      async () => {
        await work()
        await forgetLimits(world)
        return (await get('payments/payouts')).data[0]?.complete === true
      },
      { withinMs: 40_000, what: 'the payout' },
    )
    await work()
  })
  after(() => {
    settings.sandboxSecondMs = sandboxSecondMs
  })
  beforeEach(() => forgetLimits(world))

  it('shows the same figures in the trial balance, the cash flow and the ledgers of the hotel', async () => {
    const range = { bookId: house.bookId, startDate: today(), endDate: today() }
    const { data, totals } = await get('reports/trial-balance', range)
    expect(totals.debit).to.equal(totals.credit)
    expect(totals.closing).to.equal(0)
    const closing = new Map((data as Row[]).map((row) => [row.code, row['closing']]))
    const codes = await house.inHouse((trx) =>
      sql<{ role: string; code: string }>(trx, `select role, code from account where role = any(?)`, [
        ['deposits', 'money_in_transit', 'processor_fees', 'platform_fees', 'gateway_clearing'],
      ]),
    )
    expect(Object.fromEntries(codes.map(({ role, code }) => [role, closing.get(code) ?? 0]))).to.deep.equal({
      deposits: -7_000,
      money_in_transit: 6_377,
      processor_fees: 518,
      platform_fees: 105,
      gateway_clearing: 0,
    })
    const direct = await get('reports/cash-flow', range)
    const indirect = await get('reports/cash-flow', { ...range, method: 'indirect' })
    for (const { totals: flow } of [direct, indirect])
      expect(flow.opening + flow.operating + flow.investing + flow.financing).to.equal(flow.closing)
    expect(indirect.totals).to.deep.include({ opening: direct.totals.opening, closing: direct.totals.closing })
    const ledgers = await get('reports/hotel-ledgers', { ...range, propertyId: house.propertyId })
    expect((ledgers.data as Row[]).find(({ ledger }) => String(ledger) === 'deposits')).to.include({ closing: 7_000 })
  })

  it('sells one of four rooms on both nights', async () => {
    const nights = { propertyId: house.propertyId, startDate: house.day(4), endDate: house.day(5) }
    const { data, totals } = await get('reports/occupancy', nights)
    for (const row of [...(data as Row[]), totals as Row])
      expect(row).to.include({ occupancy: '0.2500', adr: 20_000, revpar: 5_000 })
    expect((data as Row[]).map(({ available, sold, basis }) => [available, sold, basis])).to.deep.equal([
      [4, 1, 'on_the_books'],
      [4, 1, 'on_the_books'],
    ])
    const forecast = await get('reports/forecast', { propertyId: house.propertyId, days: '6' })
    // It stands on the books as they were at the last close, before this booking.
    expect(new Set((forecast.data as Row[]).map(({ method }) => method))).to.deep.equal(new Set(['on_the_books']))
  })

  it('writes the trial balance as a file whose digest is told, and which nobody else may read', async () => {
    const run = await post('reports/runs', {
      report: 'trial_balance',
      format: 'csv',
      locale: 'pt-BR',
      parameters: { bookId: house.bookId, startDate: today(), endDate: today() },
    })
    await world.drain({ kinds: ['reports.run'] })
    const made = await get(`reports/runs/${run.id}`)
    expect(made.status, JSON.stringify(made)).to.equal('succeeded')
    const address = `${world.baseUrl}/api/tenants/${house.tenantId}/reports/runs/${run.id}/file`
    const file = await fetch(address, { headers: { authorization: `Bearer ${token}` } })
    const bytes = Buffer.from(await file.arrayBuffer())
    expect(createHash('sha256').update(bytes).digest('hex')).to.equal(made.sha256)
    expect(bytes.toString('utf8')).to.match(/;.*70,00/)
    const other = await openDesk(world, house, 'finance')
    const refused = await other.get(`reports/runs/${run.id}/file`)
    expect(refused.status).to.equal(404)
  })
})
