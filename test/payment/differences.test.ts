import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { inPlatform } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { sweepPayments } from '../../jobs/payment.ts'
import { useProof } from './proof.ts'
import type { Body } from './proof.ts'

describe('the proof of payments, where the list of the gateway differs,', () => {
  const {
    world,
    owner,
    bookingId,
    work,
    get,
    pay,
    becomes,
    reconcile,
    balanceOf,
    open,
    resolve,
    writeOff,
    lossAccount,
    clearingIsProven,
  } = useProof()

  /** A payment that the list of the gateway tells otherwise than its charge. */
  const payMisreported = async (report: object): Promise<string> => {
    const id = await pay({ cardToken: 'lost_callback' })
    expect((await get('/balance-transactions')).data).to.deep.equal([])
    await world.database.admin.raw(
      `update sandbox_object t set state = t.state || :report::jsonb
         || jsonb_build_object('net', (n.n->>'gross')::bigint - (n.n->>'fee')::bigint - (n.n->>'platformFee')::bigint)
       from (select id, state || :report::jsonb as n from sandbox_object) n
       where n.id = t.id and t.kind = 'transaction' and t.state->'source'->>'id' = (select external_id from payment where id = :id)`,
      { report: JSON.stringify(report), id },
    )
    return id
  }

  it('finds a share of the platform that is not what was agreed: it is booked as it was taken, and a person accepts it', async () => {
    const id = await payMisreported({ platformFee: 200 })
    expect(await reconcile()).to.include({ status: 'exceptions' })
    const [found] = await open('fee_differs')
    expect(found).to.include({ subjectId: id, amount: 200, expectedAmount: 180, currency: 'BRL' })
    expect(await get(`/${id}`)).to.include({ platformFeeAmount: 200, netAmount: 11_282 })
    await work()
    expect(await balanceOf('platform_fees')).to.equal(200)
    expect(await balanceOf('gateway_clearing')).to.equal(11_282)
    // Nothing of it is left in the account of the gateway that could be written off.
    const refused = await resolve(found.id, { resolution: 'written_off', accountId: await lossAccount() })
    expect([refused.status, refused.body.code]).to.deep.equal([409, 'invalid_transition'])
    expect((await resolve(found.id, { resolution: 'accepted' })).status).to.equal(200)
    expect(await reconcile()).to.include({ status: 'balanced' })
    await clearingIsProven()
  })

  it('finds money that came in another currency, lets it pay for nothing more, and a person accepts it', async () => {
    const id = await payMisreported({ currency: 'USD' })
    expect(await reconcile()).to.include({ status: 'exceptions' })
    const [found] = await open('currency_differs')
    expect(found).to.include({ subjectId: id, amount: 12_000, expectedAmount: 12_000, currency: 'USD' })
    const allocations = [{ targetType: 'booking', targetId: bookingId(), amount: 5_000 }]
    const moved = await owner().send('PUT', `payments/${id}/allocations`, { allocations })
    expect([moved.status, moved.body.code]).to.deep.equal([422, 'currency_mismatch'])
    const refused = await resolve(found.id, { resolution: 'written_off', accountId: await lossAccount() })
    expect(refused.body.code).to.equal('invalid_transition')
    expect((await resolve(found.id, { resolution: 'accepted' })).status).to.equal(200)
    expect(await reconcile()).to.include({ status: 'balanced' })
  })

  it('finds amounts that the list has otherwise, and what is written off leaves what the gateway has', async () => {
    const id = await payMisreported({ gross: 11_000 })
    expect(await reconcile()).to.include({ status: 'exceptions' })
    const [found] = await open('amount_differs')
    expect(found).to.include({ subjectId: id, amount: 12_000, expectedAmount: 11_000 })
    await writeOff(found.id)
    const reconciled = await reconcile()
    expect(reconciled).to.include({ status: 'exceptions' })
    // The fee was taken of another amount than the list has.
    const [fee] = await open('fee_differs')
    await resolve(fee.id, { resolution: 'accepted' })
    expect(await reconcile()).to.include({ status: 'balanced' })
    expect(await balanceOf('gateway_clearing')).to.equal(reconciled.closingBalance)
    await clearingIsProven()
  })

  it('doubts a payout that does not add up: a late transaction proves it, and a person writes off what stays', async () => {
    settings.sandboxSecondMs = 20
    const { admin } = world.database
    await admin.raw(
      `create function pay_out_more() returns trigger language plpgsql as $$ begin
         if new.kind = 'payout' then new.state := new.state || jsonb_build_object('amount', (new.state->>'amount')::bigint + 5); end if;
         if new.kind = 'transaction' and new.state->>'kind' = 'payout' then new.state := new.state ||
           jsonb_build_object('gross', (new.state->>'gross')::bigint - 5, 'net', (new.state->>'net')::bigint - 5); end if;
         return new; end $$`,
    )
    await admin.raw(
      `create trigger pay_out_more before insert on sandbox_object for each row execute function pay_out_more()`,
    )
    const doubted = async (): Promise<{ payout: Body; found: Body }> => {
      const listed = await becomes('/payouts', ({ data }) => data[0]?.difference === 5, 'the payout')
      await admin.raw(`update payout set paid_at = now() - interval '49 hours' where id = ?`, [listed.data[0].id])
      await inPlatform((trx) => enqueue(trx, sweepPayments, {}))
      await work()
      const [found] = await open('payout_differs')
      expect(found).to.include({ subjectId: listed.data[0].id, amount: 5, expectedAmount: 0 })
      return { payout: listed.data[0], found }
    }
    try {
      await pay({ amount: 6_000 })
      const { payout, found } = await doubted()
      expect(payout).to.include({ amount: 5_637, complete: true })
      await admin.raw(
        `insert into sandbox_object (id, kind, account_ref, state, created_at) select 'txn_late', 'transaction', account_ref,
           state || '{"id": "txn_late", "kind": "platform_fee_refund", "gross": 5, "fee": 0, "platformFee": 0, "net": 5}', clock_timestamp()
         from sandbox_object where kind = 'transaction' and state->>'kind' = 'charge'
           and state->>'payout' = (select external_id from payout where id = ?)`,
        [payout.id],
      )
      await reconcile()
      expect(await get(`/payouts/${payout.id}`)).to.include({ difference: 0, complete: true })
      const closed = await get('/exceptions?status=resolved&kind=payout_differs')
      expect(closed.data[0]).to.include({ id: found.id, resolution: 'accepted', automatic: true })
      expect(await balanceOf('gateway_clearing')).to.equal(0)
      await pay({ amount: 6_000 })
      const { found: left } = await doubted()
      expect(await balanceOf('gateway_clearing')).to.equal(-5)
      await writeOff(left.id)
      expect(await balanceOf('gateway_clearing')).to.equal(0)
      await clearingIsProven()
    } finally {
      await admin.raw(`drop trigger pay_out_more on sandbox_object`)
      await admin.raw(`drop function pay_out_more()`)
    }
  })
})
