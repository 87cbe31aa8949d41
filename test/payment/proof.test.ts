import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { settings } from '../../config/env.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { sweepPayments } from '../../jobs/payment.ts'
import { forgetLimits } from '../auth/support.ts'
import { until } from '../support/until.ts'
import { useProof } from './proof.ts'
import type { Body } from './proof.ts'

describe('the proof of payments against the gateway', () => {
  const {
    world,
    house,
    owner,
    work,
    post,
    get,
    pay,
    becomes,
    reconcile,
    balanceOf,
    open,
    resolve,
    writeOff,
    clearingIsProven,
  } = useProof()

  it('of a card, its fees, a refund and a payout adds up to the cent, in the lists and in the ledger', async () => {
    const id = await pay()
    const refund = { amount: 5_000, reason: 'guest_request' }
    const key = { idempotencyKey: randomUUID() }
    const [first, again] = [
      await owner().send('POST', `payments/${id}/refunds`, refund, key),
      await owner().send('POST', `payments/${id}/refunds`, refund, key),
    ]
    expect([first.status, again.body.id]).to.deep.equal([201, first.body.id])
    expect((await post(`/${id}/refunds`, { ...refund, amount: 7_001 })).body.code).to.equal('amount_exceeds_refundable')
    const payouts = await becomes('/payouts', ({ data }) => data[0]?.complete === true, 'the payout')
    expect(payouts.data).to.have.length(1)
    expect(payouts.data[0]).to.include({ amount: 6_377, difference: 0, status: 'paid' })
    const read = await get(`/payouts/${payouts.data[0].id}`)
    expect(read.totals.map((one: Body) => [one.kind, one.net])).to.deep.equal([
      ['charge', 11_302],
      ['platform_fee_refund', 75],
      ['refund', -5_000],
    ])
    expect(await get(`/${id}`)).to.deep.include({
      capturedAmount: 12_000,
      refundedAmount: 5_000,
      allocatedAmount: 7_000,
      feeAmount: 518,
      platformFeeAmount: 180,
      netAmount: 11_302,
    })
    const reconciled = await reconcile()
    expect(reconciled).to.deep.include({
      status: 'balanced',
      provisional: true,
      counts: { theirs: 4, ours: 2, matched: 4, exceptions: 0 },
      openingBalance: 0,
      net: 0,
      closingBalance: 0,
    })
    const roles = [
      'gateway_clearing',
      'unallocated_receipts',
      'refunds_payable',
      'deposits',
      'money_in_transit',
      'processor_fees',
      'platform_fees',
    ]
    expect(await Promise.all(roles.map(balanceOf))).to.deep.equal([0, 0, 0, -7_000, 6_377, 518, 105])
  })

  it('finds a refund that the bank returned after it had succeeded, though its one callback was lost', async () => {
    settings.sandboxSecondMs = 500
    const id = await pay({ cardToken: 'refund_returns' })
    const { body } = await post(`/${id}/refunds`, { amount: 2_000, reason: 'error' })
    await becomes(`/refunds/${body.id}`, ({ status }) => status === 'succeeded', 'the refund')
    // The callbacks of what comes next never arrive.
    await world.database.admin.raw(`delete from sandbox_object where kind = 'callback'`)
    await until(
      async () => {
        await reconcile()
        await forgetLimits(world)
        return (await get(`/refunds/${body.id}`)).status === 'failed'
      },
      { withinMs: 20_000, what: 'the returned refund being found' },
    )
    expect(await get(`/${id}`)).to.deep.include({ refundReserved: 0, refundedAmount: 0, status: 'captured' })
    expect((await get('/exceptions?status=open&kind=refund_failed')).data).to.have.length(1)
    expect(await reconcile()).to.deep.include({ status: 'balanced' })
  })

  it('finds money that no record here has, lets a person record it, and is balanced then', async () => {
    const id = await pay({ cardToken: 'lost_callback' })
    await reconcile()
    await world.database.admin.raw(
      `insert into sandbox_object (id, kind, account_ref, state) select 'txn_foreign', 'transaction', account_ref,
         state || '{"id": "txn_foreign", "gross": 900, "fee": 0, "platformFee": 0, "net": 900, "payout": null, "source": {"object": "charge", "id": "ch_foreign"}}'
       from sandbox_object where kind = 'transaction' and state->>'kind' = 'charge' and state->'source'->>'id' = (select external_id from payment where id = ?)`,
      [id],
    )
    const odd = await reconcile()
    expect(odd, JSON.stringify(odd)).to.deep.include({ status: 'exceptions' })
    const { data } = await get(`/exceptions?reconciliationId=${odd.id}&status=open`)
    expect(data.map((one: Body) => [one.kind, one.amount])).to.deep.equal([['missing_here', 900]])
    const done = await post(`/exceptions/${data[0].id}/resolve`, {
      resolution: 'recorded',
      reason: 'paid at the gateway',
    })
    expect(done.body, JSON.stringify(done.body)).to.include({ status: 'resolved', resolution: 'recorded' })
    const found = await get('?unallocated=true')
    expect(found.data[0]).to.include({ externalId: 'ch_foreign', capturedAmount: 900, allocatedAmount: 0 })
    await work()
    expect(await reconcile()).to.include({ status: 'balanced' })
    // Another transaction without a record: what the ledger lacks is written off to the account that was named.
    await world.database.admin.raw(
      `insert into sandbox_object (id, kind, account_ref, state, created_at) select 'txn_odd', 'transaction', account_ref,
         state || '{"id": "txn_odd", "gross": 400, "net": 400, "source": {"object": "charge", "id": "ch_odd"}}', clock_timestamp()
       from sandbox_object where id = 'txn_foreign'`,
    )
    const again = await reconcile()
    const [left] = await open('missing_here')
    await writeOff(left.id)
    expect(await reconcile()).to.include({ status: 'balanced' })
    expect(await balanceOf('gateway_clearing')).to.equal(again.closingBalance)
    await clearingIsProven()
  })

  it('finds money that the gateway has nothing of, and a person writes it off with a reason, once', async () => {
    const id = await pay({ cardToken: 'lost_callback' })
    expect((await get(`/${id}`)).status).to.equal('captured')
    const admin = world.database.admin
    await admin.raw(
      `delete from sandbox_object where kind = 'transaction' and account_ref in (select external_id from gateway_account where id = ?)`,
      [house().gatewayAccountId],
    )
    await admin.raw(`update payment set captured_at = now() - interval '25 hours' where id = ?`, [id])
    const yesterday = new Date(Date.now() - 25 * 3_600_000).toISOString().slice(0, 10)
    const proven = async (): Promise<Body> => {
      const made = await post('/reconciliations', { gatewayAccountId: house().gatewayAccountId, date: yesterday })
      expect([200, 201], JSON.stringify(made.body)).to.include(made.status)
      await work()
      return (
        await get(`/reconciliations?gatewayAccountId=${house().gatewayAccountId}&from=${yesterday}&to=${yesterday}`)
      ).data[0]
    }
    expect(await proven()).to.deep.include({ status: 'exceptions' })
    const { data } = await get('/exceptions?status=open&kind=missing_there')
    expect(data.map((one: Body) => [one.subjectId, one.amount])).to.deep.equal([[id, 12_000]])
    const settle = (body: object) => resolve(data[0].id, { reason: 'lost at the gateway', ...body })
    const account = async (text: string) =>
      (await house().inHouse((trx) => sql<{ id: string }>(trx, `select id from account where ${text} limit 1`)))[0]?.id
    expect((await settle({ resolution: 'written_off' })).body.code).to.equal('validation_failed')
    expect((await settle({ resolution: 'recorded' })).body.code).to.equal('invalid_transition')
    const control = await account(`control is not null`)
    expect((await settle({ resolution: 'written_off', accountId: control })).body.code).to.equal('account_not_usable')
    expect((await settle({ resolution: 'accepted', reason: ' ' })).status).to.equal(400)
    expect((await get(`/exceptions?status=open&kind=missing_there`)).data).to.have.length(1)
    const clearing = await balanceOf('gateway_clearing')
    const accountId = await account(`code = '6.1.10'`)
    const done = await settle({ resolution: 'written_off', accountId })
    expect(done.body, JSON.stringify(done.body)).to.include({ status: 'resolved', resolution: 'written_off' })
    expect((await settle({ resolution: 'written_off', accountId })).status).to.equal(200)
    expect((await settle({ resolution: 'accepted' })).body.code).to.equal('invalid_transition')
    await work()
    expect(await balanceOf('gateway_clearing')).to.equal(clearing - 12_000)
    expect(await proven()).to.deep.include({ status: 'balanced' })
    await clearingIsProven()
  })

  it('imports nothing twice, though it is cut off and begun again', async () => {
    await pay()
    await Promise.all([reconcile(), reconcile()])
    await inPlatform((trx) => enqueue(trx, sweepPayments, {}))
    await work()
    const [row] = await house().inHouse((trx) =>
      sql<{ transactions: number; postings: number }>(
        trx,
        `select (select count(*)::int from balance_transaction where kind = 'charge') as transactions,
           (select count(*)::int from posting_event where event = 'payment.gateway_fee_charged') as postings`,
      ),
    )
    expect(row).to.deep.equal({ transactions: 1, postings: 1 })
  })
})
