import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { addDays } from '../../config/time.ts'
import { sql } from '../../db/lib/connection.ts'
import { stripeContract } from '../payment/stripe/contract.ts'
import { startStripePeer } from '../payment/stripe/peer.ts'
import type { Peer } from '../payment/stripe/peer.ts'
import { forgetLimits, makeSuperuser, makeTenant, makeUser, signIn } from '../auth/support.ts'
import { done } from '../stories/inn.ts'
import { drain } from '../support/drain.ts'
import { useWorld } from '../support/world.ts'

const collecting = ['billing.collect', 'billing.read-payment', 'payments.process-callback']
type Charge = {
  token: string
  savedMethod: string | null
  customer: string | null
  returnUrl: string | null
  amount: number
}

describe('the ways in which tenants pay their bills', function () {
  this.timeout(60_000)
  const world = useWorld()
  const { sandboxSecondMs } = settings
  let n1: string
  let owner: string
  let tenantId: string
  before(async () => {
    n1 = (await signIn(world, await makeSuperuser('N1'))).token
  })
  beforeEach(async () => {
    settings.sandboxSecondMs = 10
    await forgetLimits(world)
    tenantId = await makeTenant('Starter')
    owner = (await signIn(world, await makeUser({ [tenantId]: 'owner' }))).token
  })
  afterEach(() => {
    settings.sandboxSecondMs = sandboxSecondMs
  })

  const own = (method: string, path: string, body?: object) =>
    world.request(method, `/api/tenants/${tenantId}/billing/${path}`, { token: owner, ...(body ? { body } : {}) })
  const operate = (method: string, path: string, body: object) =>
    world.request(method, `/superuser/${path}`, { token: n1, body })
  const pay = async (body: object) => done(await own('PUT', 'payment-method', body))
  const subscription = async () => done(await own('GET', 'subscription'))
  const next = async () => done(await own('GET', 'invoices/next'))
  /** Bills the present period, and asks for nothing yet. */
  const bill = async () => {
    const date = addDays((await next()).periodEnd as string, 1)
    done(await operate('POST', 'billing-runs', { date, tenantIds: [tenantId] }), 201)
    await drain({ kinds: ['billing.close-period'] })
  }
  const collect = () => drain({ kinds: collecting, aheadMs: 15_000 })
  /** The newest invoice but the next one. */
  const invoice = async () => {
    const { data } = done(await own('GET', 'invoices?limit=2'))
    return done(await own('GET', `invoices/${data[1].id}`))
  }
  const statuses = async () => {
    const { status, payments } = await invoice()
    return [status, payments.map((one: { status: string }) => one.status)]
  }
  const charges = async () => {
    const found = await sql<{ state: Charge }>(
      world.database.admin,
      `select o.state from sandbox_object o join invoice_payment p on p.id::text = o.state->>'ourId'
       where o.kind = 'charge' and p.tenant_id = ? order by p.created_at`,
      [tenantId],
    )
    return found.map(({ state }) => state)
  }

  it('charge a card again by what the gateway keeps of it: the card with its customer', async () => {
    await pay({ kind: 'card', cardToken: 'success', returnUrl: 'https://app.example.com/bills' })
    await bill()
    await collect()
    expect(await statuses()).to.deep.equal(['paid', ['captured']])
    expect((await subscription()).paymentMethod).to.deep.equal({
      kind: 'card',
      status: 'active',
      brand: 'visa',
      last4: '4242',
    })
    await bill()
    await collect()
    expect(await statuses()).to.deep.equal(['paid', ['captured']])
    const [first, second] = await charges()
    expect(first).to.include({ returnUrl: 'https://app.example.com/bills' })
    expect(first?.savedMethod).to.match(/^pm_/)
    expect(second).to.include({ savedMethod: first?.savedMethod, customer: first?.customer })
  })

  it('keep the card that was set while an earlier one was being charged', async () => {
    await pay({ kind: 'card', cardToken: 'success' })
    await bill()
    await pay({ kind: 'card', cardToken: 'duplicate_callback' })
    await collect()
    expect(await statuses()).to.deep.equal(['paid', ['captured']])
    expect((await subscription()).paymentMethod).to.deep.equal({ kind: 'card', status: 'pending' })
    await bill()
    await collect()
    expect((await charges()).map(({ token }) => token)).to.deep.equal(['success', 'duplicate_callback'])
    expect((await subscription()).paymentMethod).to.include({ status: 'active' })
  })

  it('ask the present card at once where an earlier one was refused meanwhile', async () => {
    await pay({ kind: 'card', cardToken: 'decline' })
    await bill()
    await pay({ kind: 'card', cardToken: 'success' })
    await collect()
    expect(await statuses()).to.deep.equal(['paid', ['captured', 'failed']])
    expect((await subscription()).paymentMethod).to.include({ status: 'active' })
  })

  it('do not wait for a card whose owner never proved it, once another is set', async () => {
    await pay({ kind: 'card', cardToken: 'action_abandoned' })
    await bill()
    await drain({ kinds: collecting })
    expect((await subscription()).action?.type).to.equal('redirect')
    await pay({ kind: 'card', cardToken: 'success' })
    await collect()
    expect((await invoice()).status).to.equal('paid')
    const after = await subscription()
    expect([after.action, after.paymentMethod.status]).to.deep.equal([null, 'active'])
  })

  it('try a refused card again on the next of its days that is to come, once', async () => {
    await bill()
    const issuedAgo = (days: number) =>
      sql(
        world.database.admin,
        `update subscription_invoice set issued_at = now() - make_interval(days => ?) where tenant_id = ?`,
        [days, tenantId],
      )
    const retries = () =>
      sql<{ days: number }>(
        world.database.admin,
        `select extract(epoch from j.run_at - i.issued_at)::int / 86400 as days from jobs j join subscription_invoice i on i.tenant_id = j.tenant_id
         where j.kind = 'billing.retry-invoice' and j.tenant_id = ? order by 1`,
        [tenantId],
      )
    const all = () => drain({ kinds: [...collecting, 'billing.retry-invoice'], aheadMs: 15_000 })
    await issuedAgo(20)
    await pay({ kind: 'card', cardToken: 'decline' })
    await all()
    expect(await statuses()).to.deep.equal(['issued', ['failed']])
    expect(await retries()).to.deep.equal([])
    await issuedAgo(5)
    await pay({ kind: 'card', cardToken: 'decline' })
    await all()
    await pay({ kind: 'card', cardToken: 'decline_expired' })
    await all()
    expect(await statuses()).to.deep.equal(['issued', ['failed', 'failed', 'failed']])
    expect(await retries()).to.deep.equal([{ days: 7 }])
  })

  it('bill the plan that a period ended with, though it was changed before the close', async () => {
    await sql(
      world.database.admin,
      `update subscription set period_start = current_date - 40, period_end = current_date - 2 where tenant_id = ?`,
      [tenantId],
    )
    const before = await next()
    const change = { plan: 'Enterprise', reason: 'they grow' }
    const asked = done(await operate('POST', `tenants/${tenantId}/change-plan`, { ...change, dryRun: true }))
    expect(asked.nextTotal).to.equal(before.total)
    done(await operate('POST', `tenants/${tenantId}/change-plan`, change))
    done(await operate('POST', `tenants/${tenantId}/change-plan`, { plan: 'Professional', reason: 'not so much' }))
    expect((await next()).lines).to.deep.equal(before.lines)
    done(await operate('POST', 'billing-runs', { tenantIds: [tenantId] }), 201)
    await drain({ kinds: ['billing.close-period'] })
    const billed = await invoice()
    expect([billed.total, billed.lines[0].description]).to.deep.equal([9_900, 'Starter'])
    const following = await next()
    expect(following.lines[0]).to.include({ description: 'Professional' })
    expect(following.total).to.be.above(9_900)
  })

  describe('at Stripe', () => {
    const { billingGateway, stripe } = settings
    let peer: Peer
    before(async function () {
      this.timeout(120_000)
      peer = await startStripePeer(await stripeContract())
      settings.stripe = { ...stripe, secretKey: 'sk_test_x', publishableKey: 'pk_test_x', apiBase: peer.url }
      settings.billingGateway = 'stripe'
    })
    after(async () => {
      settings.stripe = stripe
      settings.billingGateway = billingGateway
      await peer.close()
    })
    const intents = () => peer.seen.filter(({ path, method }) => path === '/v1/payment_intents' && method === 'POST')

    it('name the customer of a card that is kept, and of a slip its payer', async () => {
      await pay({ kind: 'card', cardToken: 'pm_card_visa' })
      await bill()
      await collect()
      await bill()
      await collect()
      expect((await invoice()).status).to.equal('paid')
      const [first, second] = intents().map(({ body }) => body)
      expect(first).to.include({ payment_method: 'pm_card_visa', setup_future_usage: 'off_session' })
      expect(first?.['customer']).to.match(/^cus_/)
      expect(second).to.include({ payment_method: 'pm_1', off_session: 'true', customer: first?.['customer'] })

      await sql(
        world.database.admin,
        `update tenant set document = '11444777000161', billing_address = ?::jsonb where id = ?`,
        [
          JSON.stringify({ line1: 'Rua A, 1', city: 'Rio', region: 'RJ', postalCode: '20000-000', countryCode: 'BR' }),
          tenantId,
        ],
      )
      await pay({ kind: 'boleto' })
      await bill()
      await drain({ kinds: ['billing.collect'] })
      const slip = intents().at(-1)?.body['payment_method_data'] as Record<string, unknown> | undefined
      expect(slip).to.deep.include({ type: 'boleto', boleto: { tax_id: '11444777000161' } })
      expect(slip?.['billing_details']).to.deep.include({
        address: { line1: 'Rua A, 1', city: 'Rio', state: 'RJ', postal_code: '20000-000', country: 'BR' },
      })
    })
  })
})
