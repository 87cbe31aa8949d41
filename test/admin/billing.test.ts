import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { recordUsage } from '../../db/lib/usage.ts'
import { closePeriod } from '../../db/admin/index.ts'
import { settings } from '../../config/env.ts'
import { addDays } from '../../config/time.ts'
import { forgetLimits, makeSuperuser, makeTenant, makeUser, signIn } from '../auth/support.ts'
import { drain } from '../support/drain.ts'
import { useWorld } from '../support/world.ts'

type Line = { kind: string; subjectId: string; amount: number; quantity: number }

describe('the store and the invoices of tenants', function () {
  this.timeout(60_000)
  const world = useWorld()
  let n1: string
  let tenantId: string
  let owner: string
  before(async () => {
    n1 = (await signIn(world, await makeSuperuser('N1'))).token
  })
  beforeEach(async () => {
    await forgetLimits(world)
    tenantId = await makeTenant('Starter')
    owner = (await signIn(world, await makeUser({ [tenantId]: 'owner' }))).token
  })

  const own = (method: string, path: string, body?: unknown, token = owner) =>
    world.request(method, `/api/tenants/${tenantId}/billing/${path}`, {
      token,
      ...(body === undefined ? {} : { body }),
    })
  const operate = (method: string, path: string, body?: unknown, token = n1) =>
    world.request(method, `/superuser/${path}`, { token, ...(body === undefined ? {} : { body }) })
  const store = async () =>
    (await own('GET', 'add-ons?limit=100')).body.data as {
      addOn: { id: string; key: string }
      price: { priceId: string }
      state: string
    }[]
  const offer = async (key: string) => {
    const found = (await store()).find(({ addOn }) => addOn.key === key)
    if (!found) throw new Error(`no ${key} in the store`)
    return found
  }
  const buy = async (key: string, given: Partial<{ priceId: string; token: string }> = {}) => {
    const { addOn, price } = await offer(key)
    return own('POST', `add-ons/${addOn.id}/purchase`, { priceId: given.priceId ?? price.priceId }, given.token)
  }
  const cancel = async (key: string) => own('POST', `add-ons/${(await offer(key)).addOn.id}/cancel`)
  const next = async () =>
    (await own('GET', 'invoices/next')).body as { total: number; lines: Line[]; periodStart: string; periodEnd: string }
  const amounts = ({ lines }: { lines: Line[] }) => lines.map(({ kind, amount }) => [kind, amount])
  /** Closes what is due by the end of the period and a day. */
  const run = async (given: object = {}) => {
    const { periodEnd } = await next()
    const { status, body } = await operate('POST', 'billing-runs', {
      date: addDays(periodEnd, 1),
      tenantIds: [tenantId],
      ...given,
    })
    expect(status, JSON.stringify(body)).to.equal(201)
    await drain({ kinds: ['billing.close-period'] })
    return body as { id: string; date: string }
  }
  const invoices = async () =>
    (await own('GET', 'invoices?limit=100')).body.data as {
      id: string
      status: string
      number: string
      total: number
    }[]
  const reach = async (path: string) =>
    (await world.request('GET', `/api/tenants/${tenantId}/${path}`, { token: owner })).status

  it('sell an add-on that holds at once, and end it at once', async () => {
    expect(await reach('webhooks/endpoints')).to.equal(403)
    const bought = await buy('webhooks')
    expect([bought.status, bought.body.state]).to.deep.equal([200, 'owned'])
    expect(await reach('webhooks/endpoints')).to.equal(200)
    const again = await buy('webhooks')
    expect([again.status, again.body.code]).to.deep.equal([409, 'feature_already_active'])
    const ended = await cancel('webhooks')
    expect([ended.status, ended.body.state]).to.deep.equal([200, 'available'])
    expect(await reach('webhooks/endpoints')).to.equal(403)
    expect((await cancel('webhooks')).status).to.equal(200)
    const events = await inTenant(tenantId, (trx) =>
      sql<{ type: string }>(
        trx,
        `select type from event where type like 'add_on.%' or type like 'entitlement.%' order by occurred_at`,
      ),
    )
    expect(events.map(({ type }) => type)).to.deep.equal([
      'entitlement.granted',
      'add_on.purchased',
      'entitlement.ended',
      'add_on.cancelled',
    ])
  })

  it('put what is held on the next invoice, and take it off when it is cancelled', async () => {
    expect(amounts(await next())).to.deep.equal([['plan', 9_900]])
    await buy('pos')
    await buy('webhooks')
    const held = await next()
    expect(amounts(held)).to.deep.equal([
      ['plan', 9_900],
      ['add_on', 9_900],
      ['add_on', 0],
    ])
    expect(held.total).to.equal(19_800)
    await cancel('pos')
    expect((await next()).total).to.equal(9_900)
    const { body } = await own('GET', 'subscription')
    expect(body).to.deep.include({ plan: 'Starter', nextTotal: 9_900, currency: 'BRL' })
    expect(body.items.map(({ addOn }: { addOn: { key: string } }) => addOn.key)).to.deep.equal(['webhooks'])
  })

  it('bill usage while a metered add-on is held, and not what came before or after', async () => {
    const use = (quantity: number) =>
      inPlatform((trx) => recordUsage(trx, 'api.requests', randomUUID(), [{ tenantId, quantity, at: new Date() }]))
    await use(1_000)
    await buy('api-read')
    await use(123_457)
    expect((await next()).lines.find(({ kind }) => kind === 'usage')).to.include({ quantity: 123_457, amount: 6_173 })
    await cancel('api-read')
    await use(500)
    expect(amounts(await next())).to.deep.equal([
      ['plan', 9_900],
      ['usage', 6_173],
    ])
  })

  it('refuse another price than that shown, other plans’ features, and members who may not buy', async () => {
    const changed = await buy('pos', { priceId: randomUUID() })
    expect([changed.status, changed.body.code]).to.deep.equal([409, 'price_changed'])
    const manager = (await signIn(world, await makeUser({ [tenantId]: 'manager' }))).token
    expect((await buy('pos', { token: manager })).status).to.equal(403)
    expect((await own('POST', `add-ons/${randomUUID()}/purchase`, { priceId: randomUUID() })).status).to.equal(404)
    expect((await next()).total).to.equal(9_900)
    const other = await makeTenant('Enterprise')
    const theirs = (await signIn(world, await makeUser({ [other]: 'owner' }))).token
    const { addOn, price } = await offer('pos')
    const included = await world.request('POST', `/api/tenants/${other}/billing/add-ons/${addOn.id}/purchase`, {
      token: theirs,
      body: { priceId: price.priceId },
    })
    expect([included.status, included.body.code]).to.deep.equal([409, 'feature_already_active'])
  })

  it('sell nothing that is off sale, for other plans or without a price in the currency', async () => {
    const { addOn } = await offer('sla')
    const change = (body: object) => operate('PATCH', `add-ons/${addOn.id}`, body)
    const { price } = await offer('sla')
    const ask = async (tenant = tenantId, token = owner) => {
      const { status, body } = await world.request(
        'POST',
        `/api/tenants/${tenant}/billing/add-ons/${addOn.id}/purchase`,
        {
          token,
          body: { priceId: price.priceId },
        },
      )
      return [status, body.code]
    }
    expect((await change({ onSale: false })).status).to.equal(200)
    expect(await ask()).to.deep.equal([422, 'add_on_not_available'])
    await change({ onSale: true, plans: ['Professional'] })
    expect(await ask()).to.deep.equal([422, 'add_on_not_available'])
    await change({ plans: [] })
    for (const wrong of [{ priceId: 1 }, { priceId: 'cheap' }, { priceId: price.priceId, amount: -1 }, {}])
      expect((await own('POST', `add-ons/${addOn.id}/purchase`, wrong)).status, JSON.stringify(wrong)).to.equal(400)
    for (const amount of [0, 0.5, -0.5, 1_000_000_001, '5'])
      expect(
        (await operate('POST', `tenants/${tenantId}/adjustments`, { amount, description: 'x', reason: 'bad input' }))
          .status,
        String(amount),
      ).to.equal(400)
    expect(amounts(await next())).to.deep.equal([['plan', 9_900]])
  })

  it('sell an add-on once, however many ask at once', async () => {
    const replies = await Promise.all(Array.from({ length: 12 }, () => buy('pos')))
    expect(replies.filter(({ status }) => status === 200)).to.have.length(1)
    expect(new Set(replies.map(({ status }) => status))).to.deep.equal(new Set([200, 409]))
    expect(amounts(await next())).to.deep.equal([
      ['plan', 9_900],
      ['add_on', 9_900],
    ])
  })

  it('end what was bought when a superuser revokes it', async () => {
    await buy('pos')
    const revoked = await world.request('DELETE', `/superuser/tenants/${tenantId}/entitlements/pos`, {
      token: n1,
      body: { reason: 'fraud' },
    })
    expect(revoked.status, JSON.stringify(revoked.body)).to.equal(200)
    expect(revoked.body.ended[0]).to.include({ source: 'STORE_PURCHASE', billingType: 'FLAT_MONTHLY' })
    expect(amounts(await next())).to.deep.equal([['plan', 9_900]])
    expect((await offer('pos')).state).to.equal('available')
  })

  it('are issued once a period is over, with numbers that have no gap', async () => {
    await buy('pos')
    const before = await next()
    const first = await run()
    const [coming, issued] = await invoices()
    expect(coming).to.include({ id: 'next', status: 'next' })
    expect(issued).to.include({ status: 'issued', total: 19_800 })
    expect(issued!.number).to.match(/^\d{4}-\d{6}$/)
    const { body } = await own('GET', `invoices/${issued!.id}`)
    expect(amounts(body as { lines: Line[] })).to.deep.equal([
      ['plan', 9_900],
      ['add_on', 9_900],
    ])
    expect((await next()).periodStart).to.equal(before.periodEnd)
    // Asked for again, and closed again by a start that came late: nothing more.
    await operate('POST', 'billing-runs', { date: first.date, tenantIds: [tenantId] })
    await drain({ kinds: ['billing.close-period'] })
    await inTenant(tenantId, (trx) =>
      closePeriod(trx, { tenantId, periodStart: before.periodStart, runId: first.id, force: false }),
    )
    expect(await invoices()).to.have.length(2)
    const others = await Promise.all([1, 2, 3].map(() => makeTenant('Professional')))
    const date = addDays((await next()).periodEnd, 3)
    await operate('POST', 'billing-runs', { date, tenantIds: [tenantId, ...others] })
    await drain({ kinds: ['billing.close-period'] })
    const numbers = await sql<{ place: number }>(
      world.database.admin,
      `select split_part(number, '-', 2)::int as place from subscription_invoice order by 1`,
    )
    expect(numbers.map(({ place }) => place)).to.deep.equal(numbers.map((_, index) => index + 1))
    const runs = (await operate('GET', 'billing-runs')).body.data as { date: string; status: string; issued: number }[]
    expect(runs.find((one) => one.date === date)).to.include({ status: 'done', issued: 4 })
  })

  it('carry a credit over, and take each adjustment once', async () => {
    const adjusted = await operate('POST', `tenants/${tenantId}/adjustments`, {
      amount: -15_000,
      description: 'Courtesy',
      reason: 'the outage of Monday',
    })
    expect(adjusted.status, JSON.stringify(adjusted.body)).to.equal(201)
    expect(
      (await operate('POST', `tenants/${tenantId}/adjustments`, { amount: 0, description: 'x', reason: 'nothing' }))
        .status,
    ).to.equal(400)
    expect((await next()).total).to.equal(0)
    await run()
    const [, free] = await invoices()
    expect(free).to.include({ status: 'paid', total: 0 })
    expect(amounts(await next())).to.deep.equal([
      ['plan', 9_900],
      ['carried', -5_100],
    ])
    await run()
    expect((await invoices())[1]).to.include({ status: 'issued', total: 4_800 })
    expect(amounts(await next())).to.deep.equal([['plan', 9_900]])
  })

  it('are paid outside, or voided and billed again', async () => {
    await run()
    const [, issued] = await invoices()
    const [busy] = await sql<{ id: string }>(
      world.database.admin,
      `insert into invoice_payment (id, tenant_id, invoice_id, try, provider, method, amount, currency, status)
       values (gen_random_uuid(), ?, ?, 1, 'sandbox', 'pix', 9900, 'BRL', 'processing') returning id`,
      [tenantId, issued!.id],
    )
    const early = await operate('POST', `invoices/${issued!.id}/void`, { reason: 'wrong address', rebill: true })
    expect([early.status, early.body.code]).to.deep.equal([422, 'payment_in_flight'])
    await sql(world.database.admin, `delete from invoice_payment where id = ?`, [busy?.id])
    const voided = await operate('POST', `invoices/${issued!.id}/void`, { reason: 'wrong address', rebill: true })
    expect([voided.status, voided.body.status]).to.deep.equal([200, 'void'])
    expect(amounts(await next())).to.deep.equal([
      ['plan', 9_900],
      ['adjustment', 9_900],
    ])
    const dead = await operate('POST', `invoices/${issued!.id}/record-payment`, {
      paidOn: '2026-11-20',
      reference: 'TED 1',
    })
    expect([dead.status, dead.body.code]).to.deep.equal([409, 'invalid_transition'])
    await run()
    const [, second] = await invoices()
    const paid = await operate('POST', `invoices/${second!.id}/record-payment`, {
      paidOn: '2026-11-20',
      reference: 'TED 2',
    })
    expect([paid.status, paid.body.status, paid.body.total]).to.deep.equal([200, 'paid', 19_800])
    expect((await operate('GET', `invoices?tenantId=${tenantId}&status=paid`)).body.data).to.have.length(1)
  })

  it('that surprise wait for an operator, and stop nobody else', async () => {
    await run()
    await operate('POST', `tenants/${tenantId}/adjustments`, {
      amount: 400_000,
      description: 'A typo',
      reason: 'a typo of ours',
    })
    const { date } = await run()
    expect((await invoices()).filter(({ status }) => status !== 'next')).to.have.length(1)
    const find = async () =>
      (
        (await operate('GET', 'billing-runs?limit=100')).body.data as {
          date: string
          status: string
          parked: { tenantId: string; code: string }[]
        }[]
      ).find((one) => one.date === date)
    expect(await find()).to.deep.include({ status: 'parked' })
    expect((await find())?.parked[0]).to.include({ tenantId, code: 'total_surprising' })
    const forced = await run({ force: [tenantId] })
    expect((await invoices())[1]).to.include({ total: 409_900 })
    const entries = await sql<{ changes: { field: string; after: unknown }[] }>(
      world.database.admin,
      `select changes from audit_entry where chain = 'platform' and action = 'billing_run.create' and subject_id = ? order by at`,
      [forced.id],
    )
    expect(entries.at(-1)?.changes).to.deep.include({ field: 'force', after: [tenantId] })
    expect(await find()).to.deep.include({ parked: [] })
  })

  it('are paid by transfer alone where no provider is set up', async () => {
    const { billingGateway } = settings
    settings.billingGateway = 'none'
    expect((await own('PUT', 'payment-method', { kind: 'transfer' })).body.paymentMethod).to.deep.equal({
      kind: 'transfer',
      status: 'active',
    })
    const card = await own('PUT', 'payment-method', { kind: 'card', cardToken: 'success' })
    settings.billingGateway = billingGateway
    expect([card.status, card.body.code]).to.deep.equal([422, 'provider_not_configured'])
    expect((await own('PUT', 'payment-method', { kind: 'card' })).status).to.equal(400)
    expect((await own('PUT', 'payment-method', { kind: 'pix', cardToken: 'success' })).status).to.equal(400)
  })
})
