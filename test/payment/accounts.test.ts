import { expect } from 'chai'
import { createCashAccount } from '../../db/cash/index.ts'
import { accountWithdrawn } from '../../db/payment/gateway-accounts/snapshot.ts'
import { requestRefund } from '../../db/payment/index.ts'
import { useProof } from './proof.ts'

describe('a gateway account', () => {
  const proof = useProof()
  const { work, post, get, pay, open } = proof

  it('whose owner has withdrawn the connection sends nothing back: what a cancellation asks for ends as failed, and a person hands the money back', async () => {
    const id = await pay()
    const house = proof.house()
    await house.inHouse((trx) => accountWithdrawn(trx, house.gatewayAccountId))

    await house.inHouse((trx) => requestRefund(trx, { paymentId: id, reason: 'cancellation', amount: 5_000 }))
    await work()
    const refunds = async () => (await get(`/refunds?paymentId=${id}`)).data
    expect((await refunds())[0]).to.include({ status: 'failed', via: 'gateway', amount: 5_000 })
    expect(await open('refund_failed')).to.have.length(1)
    expect(await get(`/${id}`)).to.include({ refundReserved: 0, refundedAmount: 0 })
    const cashAccountId = await house.inHouse((trx) =>
      createCashAccount(trx, { bookId: house.bookId, kind: 'bank', code: 'BANK', name: 'Banco' }),
    )
    const back = await post(`/${id}/refunds`, { reason: 'guest_request', amount: 5_000, cashAccountId })
    expect([back.status, back.body.via, back.body.status], JSON.stringify(back.body)).to.deep.equal([
      201,
      'manual',
      'succeeded',
    ])
  })
})
