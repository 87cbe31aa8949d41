import { expect } from 'chai'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { applyTransactions } from '../../db/payment/index.ts'
import { applyDisputeSnapshot } from '../../db/payment/disputes/snapshot.ts'
import type { GatewayAccountRow } from '../../db/rows.ts'
import { gatewaySays } from '../support/pay.ts'
import { useProof } from './proof.ts'
import { endBooking } from './support.ts'

describe('facts of a gateway that come in an order of their own', () => {
  const proof = useProof()
  const { work, get, pay, reconcile, balanceOf, open, resolve, clearingIsProven } = proof

  const disputed = async (paymentId: string) => {
    const { externalId } = await get(`/${paymentId}`)
    return proof.house().inHouse((trx) =>
      applyDisputeSnapshot(trx, proof.house().gatewayAccountId, {
        externalId: `dp_${paymentId.slice(0, 8)}`,
        paymentRef: externalId,
        phase: 'dispute',
        status: 'needs_response',
        amount: 8_000,
        currency: 'BRL',
        reason: 'fraudulent',
        responseDueAt: null,
        openedAt: new Date(),
      }),
    )
  }

  it('dispute money before its capture is heard of: the whole is disputed, and only the rest goes back to a guest who is owed it', async () => {
    const id = await pay({ method: 'pix', cardToken: 'pix_unpaid' })
    expect(await disputed(id)).to.equal('applied')
    expect(await get(`/${id}`)).to.include({ disputedAmount: 8_000 })
    const asked = await proof
      .house()
      .inHouse((trx) =>
        sql(trx, `select id from jobs where kind = 'payments.read' and payload->>'paymentId' = ?`, [id]),
      )
    expect(asked).to.have.length(1)
    await endBooking(proof.house(), proof.bookingId(), 'cancelled')
    await gatewaySays(proof.house(), id, 'captured')
    expect(await get(`/${id}`)).to.include({ capturedAmount: 12_000, disputedAmount: 8_000, refundReserved: 4_000 })
    expect((await get(`/refunds?paymentId=${id}`)).data[0]).to.include({ amount: 4_000, reason: 'late_payment' })
    await work()
    expect(await balanceOf('disputed_amounts')).to.equal(8_000)
    await clearingIsProven()
  })

  it('give back the share of the platform within a refund: it is booked, and the money at the gateway is proven', async () => {
    const id = await pay({ cardToken: 'lost_callback' })
    await reconcile()
    const { gatewayAccountId, inHouse } = proof.house()
    await inHouse(async (trx) => {
      const account = await sqlOne<GatewayAccountRow>(trx, `select * from gateway_account where id = ?`, [
        gatewayAccountId,
      ])
      const at = new Date()
      const share = { gross: 0, fee: 0, platformFee: -90, net: 90, currency: 'BRL', occurredAt: at, availableAt: at }
      for (const _ of [1, 2])
        await applyTransactions(trx, account!, [{ externalId: `txn_${id}`, kind: 'refund', ...share, source: null }])
    })
    await work()
    expect(await balanceOf('platform_fees')).to.equal(180 - 90)
    await clearingIsProven()
  })

  it('tell of money that may be ours and unknown yet: it is not recorded a second time', async () => {
    const id = await pay({ cardToken: 'lost_callback' })
    const own = await pay({ amount: 900, cardToken: 'timeout_nothing' })
    expect(await get(`/${own}`)).to.include({ status: 'unknown' })
    await proof.world.database.admin.raw(
      `insert into sandbox_object (id, kind, account_ref, state) select 'txn_own', 'transaction', account_ref,
         state || '{"id": "txn_own", "gross": 900, "fee": 0, "platformFee": 0, "net": 900, "payout": null, "source": {"object": "charge", "id": "ch_own"}}'
       from sandbox_object where kind = 'transaction' and state->>'kind' = 'charge' and state->'source'->>'id' = (select external_id from payment where id = ?)`,
      [id],
    )
    await reconcile()
    const [found] = await open('missing_here')
    const refused = await resolve(found.id, { resolution: 'recorded' })
    expect([refused.status, refused.body.code]).to.deep.equal([409, 'invalid_transition'])
  })
})
