import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { takePix } from '../../db/cash/index.ts'
import { forgetLimits } from '../auth/support.ts'
import { done } from '../stories/inn.ts'
import type { Parsed } from '../support/client.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { openPix } from './pix-desk.ts'

const facts = { txid: null, at: new Date(), payerName: null, payerDocument: null, text: null }

describe('A Pix that goes back', function () {
  this.timeout(180_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPix>>
  before(async () => {
    a = await openPix(world)
    await a.connect()
  })
  beforeEach(() => forgetLimits(world))

  /** A payment of a booking by Pix, through the bank. */
  const paidByPix = async (
    from: number,
  ): Promise<{ targetId: string; paymentId: string; endToEndId: string; chargeId: string }> => {
    const targetId = await makeHold(a.house, { from })
    const made = await a.charge({ amount: 5_000, targetType: 'booking', targetId, text: 'pays' })
    await world.drain()
    const [endToEndId = ''] = await a.comes(made.txid)
    await a.call([endToEndId])
    await world.drain()
    const paymentId = (await a.read(made.id)).receipts[0].claimedById as string
    return { targetId, paymentId, endToEndId, chargeId: made.id as string }
  }
  const refund = async (paymentId: string, body: object) => {
    const { status, body: said } = await a.owner.send(
      'POST',
      `payments/${paymentId}/refunds`,
      { reason: 'guest_request', ...body },
      { idempotencyKey: randomUUID() },
    )
    return { status, said }
  }

  it('of a payment goes back by the bank, in parts and never twice', async () => {
    const before = await a.balance()
    const { paymentId, chargeId } = await paidByPix(24)
    expect((await refund(paymentId, { via: 'manual' })).said.code).to.equal('refund_through_gateway')
    expect((await refund(paymentId, { via: 'gateway' })).said.code).to.equal('method_unavailable')
    const asked = await Promise.all(Array.from({ length: 5 }, () => refund(paymentId, { amount: 2_000 })))
    expect(asked.map(({ status, said }) => String(said.code ?? status)).toSorted()).to.deep.equal([
      '201',
      '201',
      'amount_exceeds_refundable',
      'amount_exceeds_refundable',
      'amount_exceeds_refundable',
    ])
    expect(asked.find(({ status }) => status === 201)?.said).to.include({ via: 'pix_return', status: 'requested' })
    expect(done(await a.owner.get(`payments/${paymentId}`))).to.include({ refundReserved: 4_000, refundedAmount: 0 })
    await world.drain()
    const payment = done(await a.owner.get(`payments/${paymentId}`))
    expect(payment).to.include({ refundReserved: 4_000, refundedAmount: 4_000, allocatedAmount: 1_000 })
    expect(payment.refunds.map(({ via, status }: Parsed) => [via, status])).to.deep.equal([
      ['pix_return', 'succeeded'],
      ['pix_return', 'succeeded'],
    ])
    expect(await a.balance()).to.equal(before + 1_000)

    // The charge and the money that came for it tell what went back, and which calls were made.
    const charge = await a.read(chargeId)
    expect(charge.attempts.map(({ operation, outcome }: Parsed) => [operation, outcome])).to.deep.equal([
      ['create-charge', 'known'],
    ])
    const [receipt] = charge.receipts as Parsed[]
    expect(receipt?.pixReturns).to.have.length(2)
    for (const one of (receipt?.pixReturns ?? []) as Parsed[]) {
      expect(one).to.include({ amount: 2_000, origin: 'request', status: 'succeeded', failure: null })
      expect(one.attempts.map(({ operation, outcome }: Parsed) => [operation, outcome])).to.deep.equal([
        ['return', 'known'],
      ])
      const out = done(await a.owner.get(`cash/movements/${one.cashMovementId}`))
      expect(out).to.deep.include({ kind: 'pix_return', amount: -2_000, matches: [], pixReturns: [] })
    }
    const came = done(await a.owner.get(`cash/movements/${receipt?.cashMovementId}`))
    expect(came.pixReturns).to.deep.equal(receipt?.pixReturns)
  })

  it('that the bank does not send back is free again, calls for a person, and goes back by hand', async () => {
    const before = await a.balance()
    const { paymentId, endToEndId } = await paidByPix(26)
    await a.rows(`delete from sandbox_object where kind = 'pix' and our_id = :endToEndId`, { endToEndId })
    const asked = await refund(paymentId, { via: 'pix_return' })
    expect(asked.status, JSON.stringify(asked.said)).to.equal(201)
    await world.drain()
    expect(done(await a.owner.get(`payments/refunds/${asked.said.id}`))).to.deep.include({
      status: 'failed',
      failure: { code: 'other', message: 'There is no such Pix' },
    })
    expect(done(await a.owner.get(`payments/${paymentId}`))).to.include({ refundReserved: 0, allocatedAmount: 0 })
    const open = done(await a.owner.get('payments/exceptions?status=open&kind=refund_failed'))
    expect(open.data.map(({ subjectId }: Parsed) => subjectId)).to.include(asked.said.id)
    const byHand = await refund(paymentId, { via: 'manual' })
    expect(byHand.said, JSON.stringify(byHand.said)).to.include({ via: 'manual', status: 'succeeded' })
    expect(await a.balance()).to.equal(before)
  })

  it('whole by the bank itself although a part had gone back by hand is booked, and calls for a person', async () => {
    const before = await a.balance()
    const { targetId, paymentId, endToEndId } = await paidByPix(30)
    await a.rows(
      `update pix_receipt set provider_time = now() - interval '91 days' where end_to_end_id = :endToEndId`,
      {
        endToEndId,
      },
    )
    expect((await refund(paymentId, { via: 'manual', amount: 2_000 })).said).to.include({ status: 'succeeded' })
    const heard = {
      ...facts,
      endToEndId,
      amount: 5_000,
      returns: [{ code: 'MED1', amount: 5_000, status: 'done' as const, byBank: true }],
    }
    for (const _ of [1, 2]) await a.house.inHouse((trx) => takePix(trx, a.bankId, heard))
    await world.drain()
    expect(await a.balance()).to.equal(before - 2_000)
    const payment = done(await a.owner.get(`payments/${paymentId}`))
    expect(payment).to.deep.include({
      refundReserved: 7_000,
      refundedAmount: 7_000,
      allocatedAmount: 0,
      overReturned: 2_000,
      payable: { unallocated: 0, refundable: 0 },
    })
    expect(payment.targetId).to.equal(targetId)
    const open = async () => {
      const { data } = done(await a.owner.get('payments/exceptions?kind=over_returned'))
      return (data as Parsed[]).find(({ subjectId }) => subjectId === paymentId)
    }
    expect(await open()).to.include({ status: 'open', amount: 2_000, subjectType: 'payment' })
    const [account] = await a.rows(
      `select id from account where tenant_id = :tenantId and book_id = :bookId and code = '1.1.3.80'`,
      { bookId: a.house.bookId },
    )
    const { status } = await a.finance.send(
      'POST',
      `payments/exceptions/${(await open())?.id}/resolve`,
      { resolution: 'written_off', reason: 'The guest pays it back', accountId: account?.['id'] },
      { idempotencyKey: randomUUID() },
    )
    expect(status).to.equal(200)
    expect(await open()).to.include({ status: 'resolved' })
    await world.drain()
    done(await a.finance.send('POST', 'financial/integrity-checks/run', { bookId: a.house.bookId }), 201)
    await world.drain()
    const { data } = done(await a.finance.get(`financial/integrity-checks?bookId=${a.house.bookId}`))
    expect(data.filter((one: Parsed) => one.status === 'failed')).to.deep.equal([])
  })

  it('for a booking that was cancelled goes back in full by itself', async () => {
    const before = await a.balance()
    const targetId = await makeHold(a.house, { from: 28 })
    const made = await a.charge({ amount: 5_000, targetType: 'booking', targetId, text: 'pays' })
    await world.drain()
    const ids = await a.comes(made.txid)
    await a.rows(
      `update reservation set status = 'cancelled', cancelled_at = now(), cancel_reason = 'changed_plans' where booking_id = :targetId`,
      { targetId },
    )
    await a.rows(
      `update booking set hold_kind = null, hold_expires_at = null, hold_cap_at = null, hold_version = null, ended_at = now() where id = :targetId`,
      { targetId },
    )
    await a.call(ids)
    await world.drain()
    const payment = done(await a.owner.get(`payments/${(await a.read(made.id)).receipts[0].claimedById}`))
    expect(payment).to.include({ allocatedAmount: 0, refundedAmount: 5_000 })
    expect(payment.refunds[0]).to.include({ via: 'pix_return', reason: 'late_payment', status: 'succeeded' })
    expect(await a.balance()).to.equal(before)
  })

  it('goes back once, by a refund or by the bank itself, and the books agree', async () => {
    const before = await a.balance()
    const [mine, theirs] = [
      await a.charge({ amount: 4_000, text: 'pays' }),
      await a.charge({ amount: 3_000, text: 'bank_return' }),
    ]
    await world.drain()
    await a.call([...(await a.comes(mine.txid)), ...(await a.comes(theirs.txid))])
    await world.drain()
    const returned = await a.read(theirs.id)
    expect(returned.receipts[0]).to.include({ amount: 3_000, returned: 3_000 })
    expect(await a.balance()).to.equal(before + 4_000)
    const [receipt] = (await a.read(mine.id)).receipts as Parsed[]
    const back = await Promise.all(
      Array.from({ length: 20 }, () =>
        a.finance.send(
          'POST',
          `accounts-receivable/receipts/${receipt?.claimedById}/refund`,
          { via: 'pix_return', amount: 4_000, reason: 'Sent twice' },
          { idempotencyKey: randomUUID() },
        ),
      ),
    )
    expect(back.filter(({ status }) => status < 300)).to.have.length(1)
    await world.drain()
    expect((await a.read(mine.id)).receipts[0]).to.include({ returned: 4_000 })
    expect(await a.balance()).to.equal(before)
    const made = await a.rows(
      `select r.status, r.origin from pix_return r join pix_receipt p on p.id = r.pix_receipt_id
       where r.tenant_id = :tenantId and p.claimed_by_type = 'receipt' order by r.origin`,
    )
    expect(made).to.deep.equal([
      { status: 'succeeded', origin: 'bank' },
      { status: 'succeeded', origin: 'request' },
    ])
    done(await a.finance.send('POST', 'financial/integrity-checks/run', { bookId: a.house.bookId }), 201)
    await world.drain()
    const { data } = done(await a.finance.get(`financial/integrity-checks?bookId=${a.house.bookId}`))
    expect(data.filter((one: Parsed) => one.status === 'failed')).to.deep.equal([])
  })

  it('goes back in part by the bank itself while a return of another part is under way, whether that is done or refused', async () => {
    const before = await a.balance()
    const made = await a.charge({ amount: 5_000, text: 'pays' })
    const other = await a.charge({ amount: 5_000, text: 'pays' })
    await world.drain()
    const ids = [...(await a.comes(made.txid)), ...(await a.comes(other.txid))]
    await a.call(ids)
    await world.drain()
    for (const [index, { id }] of [made, other].entries()) {
      const [receipt] = (await a.read(id)).receipts as Parsed[]
      const body = { via: 'pix_return', amount: 2_000, reason: 'Too much' }
      const path = `accounts-receivable/receipts/${receipt?.claimedById}/refund`
      done(await a.finance.send('POST', path, body, { idempotencyKey: randomUUID() }))
      const returns = [{ code: `BANK${index}`, amount: 2_500, status: 'done' as const, byBank: true }]
      const heard = { ...facts, endToEndId: receipt?.endToEndId, amount: 5_000, returns }
      for (const _ of [1, 2]) await a.house.inHouse((trx) => takePix(trx, a.bankId, heard))
      // The second return is of a Pix that the bank has lost: it refuses.
      if (index === 1)
        await a.rows(`delete from sandbox_object where kind = 'pix' and our_id = :id`, { id: receipt?.endToEndId })
      await world.drain()
      expect((await a.read(id)).receipts[0]).to.include({ returned: index === 0 ? 4_500 : 2_500 })
    }
    const kept = await a.rows(
      `select p.returned, p.return_reserved as reserved from pix_receipt p where p.pix_charge_id in (:made, :other) order by 1`,
      { made: made.id, other: other.id },
    )
    expect(kept.map(({ returned, reserved }) => [Number(returned), Number(reserved)])).to.deep.equal([
      [2_500, 2_500],
      [4_500, 4_500],
    ])
    expect(await a.balance()).to.equal(before + 3_000)
  })
})
