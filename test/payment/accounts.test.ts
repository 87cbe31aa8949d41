import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { settings } from '../../config/env.ts'
import { createCashAccount } from '../../db/cash/index.ts'
import { sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { accountWithdrawn } from '../../db/payment/gateway-accounts/snapshot.ts'
import { requestRefund } from '../../db/payment/index.ts'
import { openAccount } from '../../jobs/payment.ts'
import { makeHold } from '../support/stay.ts'
import { until } from '../support/until.ts'
import { useProof } from './proof.ts'

describe('a gateway account', () => {
  const proof = useProof()
  const { work, post, get, pay, open } = proof
  const wanted = { method: 'card', amount: 1_000, currency: 'BRL', targetType: 'booking' }

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

  /** The gateway turns every call away while `during` runs. */
  const turnedAway = async (during: () => Promise<void>) => {
    const server = createServer((_, response) =>
      response
        .writeHead(403, { 'content-type': 'application/json', connection: 'close' })
        .end(JSON.stringify({ error: { code: 'account_invalid', message: 'The key has no access to the account' } })),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    settings.sandboxUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    try {
      await during()
    } finally {
      settings.sandboxUrl = null
      server.closeAllConnections()
      server.close()
    }
  }

  it('whose owner has withdrawn the connection is still asked: what is paid meanwhile is booked, and what is captured goes back', async () => {
    const house = proof.house()
    const id = await pay({ method: 'pix', cardToken: 'lost_callback' })
    expect((await get(`/${id}`)).status).to.equal('requires_action')
    await house.inHouse((trx) => accountWithdrawn(trx, house.gatewayAccountId))
    await until(
      async () => {
        const [asked] = await Promise.all([post(`/${id}/sync`, {}), work()])
        expect(asked.status, JSON.stringify(asked.body)).to.equal(200)
        return (await get(`/${id}`)).status === 'captured'
      },
      { withinMs: 20_000, what: 'the money of the Pix' },
    )
    expect(await get(`/${id}`)).to.include({ capturedAmount: 12_000 })
    expect((await post('', { ...wanted, targetId: proof.bookingId() })).body.code).to.equal('gateway_account_not_ready')
  })

  it('that turns us away for good ends what is over, so that it can be paid another way, and tells of what was to be captured', async () => {
    const house = proof.house()
    const waiting = await pay({ method: 'pix', cardToken: 'pix_unpaid' })
    const held = await pay({ mode: 'authorise', amount: 1_000, targetId: await makeHold(house, { from: 9 }) })
    expect((await get(`/${held}`)).status).to.equal('authorised')
    await house.inHouse((trx) => accountWithdrawn(trx, house.gatewayAccountId))
    await house.inHouse((trx) =>
      sql(trx, `update payment set expires_at = now() - interval '1 minute', next_read_at = now() where id = ?`, [
        waiting,
      ]),
    )
    await turnedAway(async () => {
      expect((await post(`/${held}/capture`, {})).status).to.equal(200)
      await proof.becomes(`/${held}`, ({ captureRequested }) => captureRequested === null, 'the end of the capture')
      expect((await post(`/${waiting}/cancel`, { reason: 'The account is gone' })).status).to.equal(200)
      await proof.becomes(`/${waiting}`, ({ status }) => status === 'cancelled', 'the end of the Pix')
    })
    expect((await open('capture_refused')).map(({ subjectId, amount }) => [subjectId, amount])).to.deep.equal([
      [held, 1_000],
    ])
  })

  it('that was opened is looked for by a job that comes back after days, when its key is forgotten: no second one is opened', async () => {
    const gatewayAccountId = randomUUID()
    const account = { object: 'account', id: `sbx_${gatewayAccountId}`, chargesEnabled: true, payoutsEnabled: true }
    const seen: string[] = []
    const server = createServer((request, response) => {
      seen.push(request.method ?? '')
      const body = request.method === 'POST' ? { ...account, id: 'sbx_second' } : { data: [account] }
      response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(body))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    settings.sandboxUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    try {
      const { tenantId, bookId, inHouse } = proof.house()
      await inHouse(async (trx) => {
        await sql(
          trx,
          `insert into gateway_account (id, provider, label, book_id, country, currency, created_at)
           values (?, 'sandbox', 'Second', ?, 'BR', 'BRL', now() - interval '2 days')`,
          [gatewayAccountId, bookId],
        )
        await enqueue(trx, openAccount, { tenantId, gatewayAccountId })
      })
      await proof.world.drain({ kinds: ['payments.open-account'] })
      expect(seen).to.deep.equal(['GET'])
      expect(await get(`/accounts/${gatewayAccountId}`)).to.include({ status: 'active', externalId: account.id })
    } finally {
      settings.sandboxUrl = null
      server.closeAllConnections()
      server.close()
    }
  })
})
