import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { addDays } from '../../config/time.ts'
import { applyInvoicePayment, startCollection } from '../../db/admin/index.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import type { PaymentSnapshot } from '../../db/payment/index.ts'
import { forgetLimits, makeSuperuser, makeTenant, makeUser, signIn } from '../auth/support.ts'
import { drain } from '../support/drain.ts'
import { useWorld } from '../support/world.ts'

const snapshot = (given: Partial<PaymentSnapshot>): PaymentSnapshot => ({
  status: 'failed',
  externalId: null,
  currency: 'BRL',
  authorisedAmount: 0,
  capturedAmount: 0,
  action: null,
  failure: null,
  authorisationExpiresAt: null,
  ...given,
})
const declined = snapshot({ failure: { code: 'declined', message: 'The card was declined' } })
const asked = snapshot({
  status: 'requires_action',
  action: { type: 'pix', copyPaste: 'a code', expiresAt: '2026-12-01T12:00:00.000Z' },
})

describe('the collection of bills', function () {
  this.timeout(60_000)
  const world = useWorld()
  let n1: string
  let tenantId: string
  let owner: string
  before(async () => {
    expect(settings.billingGateway).to.equal('sandbox')
    n1 = (await signIn(world, await makeSuperuser('N1'))).token
  })
  beforeEach(async () => {
    await forgetLimits(world)
    tenantId = await makeTenant('Starter')
    owner = (await signIn(world, await makeUser({ [tenantId]: 'owner' }))).token
  })

  const pay = async (body: object) => {
    const { status } = await world.request('PUT', `/api/tenants/${tenantId}/billing/payment-method`, {
      token: owner,
      body,
    })
    expect(status).to.equal(200)
  }
  /** Bills a period; nothing is asked of the gateway. */
  const bill = async (): Promise<string> => {
    const [{ end } = { end: '' }] = await sql<{ end: string }>(
      world.database.admin,
      `select period_end::text as "end" from subscription where tenant_id = ?`,
      [tenantId],
    )
    await world.request('POST', '/superuser/billing-runs', {
      token: n1,
      body: { date: addDays(end, 1), tenantIds: [tenantId] },
    })
    await drain({ kinds: ['billing.close-period'] })
    const [row] = await sql<{ id: string }>(
      world.database.admin,
      `select id from subscription_invoice where tenant_id = ? order by period_start desc limit 1`,
      [tenantId],
    )
    return row?.id ?? ''
  }
  const tryOf = async (invoiceId: string): Promise<string> =>
    (
      await sql<{ id: string }>(
        world.database.admin,
        `select id from invoice_payment where invoice_id = ? order by try desc limit 1`,
        [invoiceId],
      )
    )[0]?.id ?? ''
  const apply = (id: string, given: PaymentSnapshot) => inTenant(tenantId, (trx) => applyInvoicePayment(trx, id, given))
  const retries = async (): Promise<(number | null)[]> =>
    (
      await sql<{ days: number | null }>(
        world.database.admin,
        `select round(extract(epoch from j.run_at - i.issued_at) / 86400)::int as days from jobs j
         join subscription_invoice i on i.id = (j.payload ->> 'invoiceId')::uuid
         where j.tenant_id = ? and j.kind = 'billing.retry-invoice' and j.status = 'pending' order by j.run_at`,
        [tenantId],
      )
    ).map(({ days }) => days)
  const actionOf = async (): Promise<string | null> =>
    (
      await sql<{ of: string | null }>(
        world.database.admin,
        `select action ->> 'invoiceId' as "of" from subscription where tenant_id = ?`,
        [tenantId],
      )
    )[0]?.of ?? null

  it('tries a card again on the next of its days that lies ahead, and never at once', async () => {
    await pay({ kind: 'card', cardToken: 'decline' })
    const invoiceId = await bill()
    await apply(await tryOf(invoiceId), declined)
    expect(await retries()).to.deep.equal([3])
    // A new card after five days has its next try on the seventh, and one after 25 days has none.
    for (const [later, next] of [
      [5, [7]],
      [20, []],
    ] as const) {
      await sql(world.database.admin, `delete from jobs where kind = 'billing.retry-invoice'`)
      await sql(
        world.database.admin,
        `update subscription_invoice set issued_at = issued_at - make_interval(days => ?) where id = ?`,
        [later, invoiceId],
      )
      await pay({ kind: 'card', cardToken: 'decline' })
      await apply(await tryOf(invoiceId), declined)
      expect(await retries()).to.deep.equal(next)
    }
  })

  it('comes back for a new card that was named while the former one was tried', async () => {
    await pay({ kind: 'card', cardToken: 'decline' })
    const invoiceId = await bill()
    await sql(world.database.admin, `update subscription_invoice set issued_at = issued_at - interval '20 days' where id = ?`, [
      invoiceId,
    ]) // oxfmt-ignore
    const former = await tryOf(invoiceId)
    await pay({ kind: 'card', cardToken: 'success' })
    expect(await tryOf(invoiceId)).to.equal(former)
    await apply(former, declined)
    await drain({ kinds: ['billing.retry-invoice'], aheadMs: 3_600_000 })
    expect(await tryOf(invoiceId)).not.to.equal(former)
  })

  it('asks a tenant to pay a bill until it is paid, void, or paid another way, and each by itself', async () => {
    await pay({ kind: 'pix' })
    const [first, second] = [await bill(), await bill()]
    for (const id of [first, second]) await apply(await tryOf(id), asked)
    expect(await actionOf()).to.equal(second)
    await apply(await tryOf(first), snapshot({ status: 'captured', capturedAmount: 9_900 }))
    expect(await actionOf()).to.equal(second)
    const voided = await world.request('POST', `/superuser/invoices/${second}/void`, {
      token: n1,
      body: { reason: 'The address was wrong' },
    })
    expect([voided.status, await actionOf()]).to.deep.equal([200, null])
    await apply(await tryOf(second), asked)
    expect(await actionOf()).to.equal(null)
    const third = await bill()
    await apply(await tryOf(third), asked)
    expect(await actionOf()).to.equal(third)
    const pix = await tryOf(third)
    await pay({ kind: 'card', cardToken: 'success' })
    await apply(pix, asked)
    expect(await actionOf()).to.equal(null)
    await inTenant(tenantId, (trx) => startCollection(trx, third))
  })
})
