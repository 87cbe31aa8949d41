import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { addDays } from '../../config/time.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { recordUsage } from '../../db/lib/usage.ts'
import { forgetLimits, makeSuperuser, makeTenant, makeUser, signIn } from '../auth/support.ts'
import { drain } from '../support/drain.ts'
import { useWorld } from '../support/world.ts'

type Line = { kind: string; subjectId: string; amount: number; quantity: number }
type Invoice = {
  id: string
  status: string
  number: string
  total: number
  payments: { status: string }[]
  lines: Line[]
}

const collecting = [
  'billing.close-period',
  'billing.collect',
  'billing.read-payment',
  'billing.retry-invoice',
  'payments.process-callback',
]

/** S3 of the stories: what tenants buy, are billed for and pay, over HTTP and to the cent. */
describe('the story of the store', function () {
  this.timeout(180_000)
  const world = useWorld()
  let n1: string
  let n2: string
  const { sandboxSecondMs } = settings
  before(async () => {
    settings.sandboxSecondMs = 10
    n1 = (await signIn(world, await makeSuperuser('N1'))).token
    n2 = (await signIn(world, await makeSuperuser('N2'))).token
  })
  after(() => {
    settings.sandboxSecondMs = sandboxSecondMs
  })
  beforeEach(() => forgetLimits(world))

  const tenantOf = async () => {
    const tenantId = await makeTenant('Starter')
    const { token } = await signIn(world, await makeUser({ [tenantId]: 'owner' }))
    const own = (method: string, path: string, body?: unknown, idempotencyKey?: string) =>
      world.request(method, `/api/tenants/${tenantId}/${path}`, {
        token,
        ...(body === undefined ? {} : { body }),
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      })
    const next = async () => (await own('GET', 'billing/invoices/next')).body as Invoice & { periodEnd: string }
    const invoice = async () => {
      const { body } = await own('GET', 'billing/invoices?limit=10')
      const { id } = (body.data as { id: string }[])[1] ?? { id: 'next' }
      return (await own('GET', `billing/invoices/${id}`)).body as Invoice
    }
    return { tenantId, token, own, next, invoice }
  }
  const operate = (method: string, path: string, body?: unknown, token = n1) =>
    world.request(method, `/superuser/${path}`, { token, ...(body === undefined ? {} : { body }) })
  const settle = () => drain({ kinds: collecting, aheadMs: 15_000 })

  it('sells at the price that was shown, once, bills it and collects it', async () => {
    const x = await tenantOf()
    const y = await tenantOf()
    const webhooks = () => x.own('GET', 'webhooks/endpoints')
    const refused = await webhooks()
    expect([refused.status, refused.body.code, refused.body.errors]).to.deep.equal([
      403,
      'feature_not_enabled',
      [{ field: 'feature', message: 'webhooks' }],
    ])
    const offers = (await x.own('GET', 'billing/add-ons?limit=100')).body.data as {
      addOn: { id: string; key: string }
      price: { priceId: string; amount?: number }
      state: string
    }[]
    const pos = offers.find(({ addOn }) => addOn.key === 'pos')!
    expect([pos.state, pos.price.amount]).to.deep.equal(['available', 9_900])
    const buy = (priceId: string, key: string) =>
      x.own('POST', `billing/add-ons/${pos.addOn.id}/purchase`, { priceId }, key)
    const other = offers.find(({ addOn }) => addOn.key === 'sla')!
    const wrong = await buy(other.price.priceId, 'wrong')
    expect([wrong.status, wrong.body.code]).to.deep.equal([409, 'price_changed'])
    const twenty = await Promise.all(Array.from({ length: 20 }, (_, index) => buy(pos.price.priceId, `key-${index}`)))
    const codes = twenty.map(({ status, body }) => (status < 300 ? 'bought' : (body.code as string)))
    expect(codes.filter((code) => code === 'bought')).to.have.length(1)
    expect(new Set(codes)).to.deep.equal(new Set(['bought', 'feature_already_active']))
    const amounts = async () => {
      const { total, lines } = await x.next()
      return [total, lines.map(({ kind, amount }) => [kind, amount])]
    }
    const both = [19_800, [['plan', 9_900], ['add_on', 9_900]]] // oxfmt-ignore
    expect(await amounts()).to.deep.equal(both)
    const held = (await operate('GET', `tenants/${x.tenantId}/entitlements?key=pos`)).body.data
    expect(held[0]).to.deep.include({ source: 'STORE_PURCHASE', addOnId: pos.addOn.id })
    await x.own('POST', `billing/add-ons/${pos.addOn.id}/cancel`)
    expect(await amounts()).to.deep.equal([9_900, [['plan', 9_900]]])
    expect((await buy(pos.price.priceId, 'again')).status).to.be.below(300)
    expect(await amounts()).to.deep.equal(both)

    await x.own('PUT', 'billing/payment-method', { kind: 'card', cardToken: 'success' })
    await y.own('PUT', 'billing/payment-method', { kind: 'card', cardToken: 'decline' })
    const { periodEnd } = await x.next()
    const run = () =>
      operate('POST', 'billing-runs', { date: addDays(periodEnd, 1), tenantIds: [x.tenantId, y.tenantId] })
    expect(
      (await operate('POST', 'billing-runs', { date: addDays(periodEnd, 1), tenantIds: [x.tenantId] }, n2)).body.code,
    ).to.equal('level_required')
    expect((await run()).status).to.equal(201)
    await settle()
    const [paid, open] = [await x.invoice(), await y.invoice()]
    expect([paid.status, paid.total]).to.deep.equal(['paid', 19_800])
    expect([open.status, open.total, open.payments.map(({ status }) => status)]).to.deep.equal([
      'issued',
      9_900,
      ['failed'],
    ])
    const numbers = [paid.number, open.number].toSorted()
    expect(numbers[0]).to.match(/^\d{4}-\d{6}$/)
    expect(Number(numbers[1]!.slice(5)) - Number(numbers[0]!.slice(5))).to.equal(1)
    await run()
    await settle()
    expect((await x.own('GET', 'billing/invoices')).body.meta.total).to.equal(2)
    const mails = await sql<{ kind: string }>(
      world.database.admin,
      `select n.kind from notice n where n.tenant_id = ? order by n.created_at`,
      [y.tenantId],
    )
    expect(mails.map(({ kind }) => kind)).to.deep.equal(['subscription_invoice', 'subscription_payment_failed'])
    await y.own('PUT', 'billing/payment-method', { kind: 'card', cardToken: 'success' })
    await settle()
    expect([(await y.invoice()).status, (await y.invoice()).payments.length]).to.deep.equal(['paid', 2])
    expect((await operate('GET', 'invoices', undefined, n2)).status).to.equal(200)
    const dead = await operate('GET', `jobs?status=dead&tenantId=${x.tenantId}`)
    expect(dead.body.meta.total).to.equal(0)
  })

  it('takes a Pix when it is paid, and money that comes twice as a credit', async () => {
    const x = await tenantOf()
    // Nobody pays it before the test says so.
    settings.sandboxSecondMs = 600_000
    await x.own('PUT', 'billing/payment-method', { kind: 'pix' })
    const { periodEnd } = await x.next()
    await operate('POST', 'billing-runs', { date: addDays(periodEnd, 1), tenantIds: [x.tenantId] })
    await drain({ kinds: ['billing.close-period', 'billing.collect'] })
    const { body } = await x.own('GET', 'billing/subscription')
    expect(body.action?.type, JSON.stringify([body, await x.invoice()])).to.equal('pix')
    settings.sandboxSecondMs = 10
    await x.own('PUT', 'billing/payment-method', { kind: 'card', cardToken: 'success' })
    await settle()
    expect((await x.invoice()).status).to.equal('paid')
    await sql(
      world.database.admin,
      `update sandbox_object set state = state || jsonb_build_object('paidAt', 1) where kind = 'charge' and state->>'method' = 'pix'`,
    )
    // It was read some times already, so that the next look is later.
    await drain({ kinds: collecting, aheadMs: 600_000 })
    const invoice = await x.invoice()
    expect([invoice.status, invoice.payments.map(({ status }) => status).toSorted()]).to.deep.equal([
      'paid',
      ['captured', 'captured'],
    ])
    expect((await x.next()).lines.map(({ kind, amount }) => [kind, amount])).to.deep.equal([
      ['plan', 9_900],
      ['adjustment', -9_900],
    ])
  })

  it('counts what is used late in the present period, and stores by their largest day', async () => {
    const x = await tenantOf()
    const use = (at: Date, key: string) =>
      inTenant(x.tenantId, (trx) =>
        recordUsage(trx, 'messages.phone', key, [{ tenantId: x.tenantId, quantity: 200, at }]),
      )
    await use(new Date(), 'one')
    await use(new Date(), 'one')
    const { periodEnd } = await x.next()
    await operate('POST', 'billing-runs', { date: addDays(periodEnd, 1), tenantIds: [x.tenantId] })
    await settle()
    expect((await x.invoice()).lines.map(({ kind, quantity, amount }) => [kind, quantity, amount])).to.deep.equal([
      ['plan', 1, 9_900],
      ['usage', 200, 4_500],
    ])
    await use(new Date(), 'late')
    await use(new Date(Date.now() - 40 * 86_400_000), 'very late')
    await inTenant(x.tenantId, (trx) => sql(trx, `insert into blob (bytes) values ('\\x00'::bytea)`))
    for (const _ of [1, 2]) await drain({ kinds: ['billing.snapshot-storage'] })
    expect((await x.next()).lines.map(({ kind, quantity, amount }) => [kind, quantity, amount])).to.deep.equal([
      ['plan', 1, 9_900],
      ['usage', 400, 13_500],
    ])
  })

  it('sets a tenant aside whose close fails, and bills the others', async () => {
    const [x, y] = [await tenantOf(), await tenantOf()]
    await sql(
      world.database.admin,
      `alter table subscription_invoice add constraint broken check (tenant_id <> '${x.tenantId}')`,
    )
    const { periodEnd } = await x.next()
    const date = addDays(periodEnd, 2)
    const run = () => operate('POST', 'billing-runs', { date, tenantIds: [x.tenantId, y.tenantId] })
    await run()
    await drain({ kinds: collecting })
    const state = async () =>
      (
        (await operate('GET', 'billing-runs?limit=100')).body.data as {
          date: string
          status: string
          issued: number
          parked: { tenantId: string; code: string }[]
        }[]
      ).find((one) => one.date === date)
    expect((await state())?.parked.map(({ tenantId, code }) => [tenantId, code])).to.deep.equal([
      [x.tenantId, 'close_failed'],
    ])
    expect(await state()).to.deep.include({ status: 'parked', issued: 1 })
    await sql(world.database.admin, `alter table subscription_invoice drop constraint broken`)
    await run()
    await drain({ kinds: collecting })
    expect(await state()).to.deep.include({ status: 'done', issued: 2, parked: [] })
  })

  it('tells of what is past its day, once for each step', async () => {
    const x = await tenantOf()
    const { periodEnd } = await x.next()
    await operate('POST', 'billing-runs', { date: addDays(periodEnd, 1), tenantIds: [x.tenantId] })
    await settle()
    await sql(world.database.admin, `update subscription_invoice set due_on = current_date - 9 where tenant_id = ?`, [
      x.tenantId,
    ])
    const { flagOverdueOf } = await import('../../db/admin/billing/sweeps.ts')
    for (const _ of [1, 2]) await inTenant(x.tenantId, (trx) => flagOverdueOf(trx, x.tenantId))
    const [all, owing, others] = await Promise.all(
      ['', '?pastDue=true', '?pastDue=false'].map(async (by) => (await operate('GET', `tenants${by}`)).body),
    )
    expect(owing.meta.total).to.be.above(0)
    expect(others.meta.total).to.equal(all.meta.total - owing.meta.total)
    expect(others.data.map(({ id }: { id: string }) => id)).to.have.length(Math.min(20, others.meta.total))
    expect((await operate('GET', `tenants?pastDue=true`)).body.data.map(({ id }: { id: string }) => id)).to.include(
      x.tenantId,
    )
    const told = await sql(
      world.database.admin,
      `select 1 from notice where tenant_id = ? and kind = 'subscription_overdue'`,
      [x.tenantId],
    )
    const events = await sql(
      world.database.admin,
      `select 1 from event where tenant_id = ? and type = 'subscription_invoice.due_date_passed'`,
      [x.tenantId],
    )
    expect([told.length, events.length]).to.deep.equal([1, 1])
    const { id } = await x.invoice()
    await operate('POST', `invoices/${id}/record-payment`, { paidOn: '2026-11-20', reference: 'TED 1' })
    expect((await operate('GET', `tenants/${x.tenantId}`)).body.pastDueSince).to.equal(null)
  })
})
