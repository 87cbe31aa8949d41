import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { inPlatform, makeKnex, sql, sqlOne } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { beginCall, endCall } from '../../db/jobs/external-calls.ts'
import { unresolvedCalls } from '../../db/jobs/observe.ts'
import { up as settleOld } from '../../db/migrations/0031_settled_calls.ts'
import { applyUnknown, nothingKnown } from '../../db/payment/calls.ts'
import { requestRefund } from '../../db/payment/index.ts'
import { cancelKey, refundKey, submitKey } from '../../db/payment/journal.ts'
import { applyRefundSnapshot } from '../../db/payment/refunds/snapshot.ts'
import { applySnapshot } from '../../db/payment/payments/snapshot.ts'
import type { PaymentSnapshot } from '../../db/payment/payments/snapshot.ts'
import { readPayment } from '../../jobs/payment.ts'
import { useDatabase } from '../support/database.ts'
import { makeBooking, makeTill, pay, paymentOf, refundsOf, within, work } from './support.ts'
import type { Till } from './support.ts'

const captured = (): PaymentSnapshot => ({
  ...nothingKnown,
  status: 'captured',
  externalId: `ch_${randomUUID()}`,
  currency: 'BRL',
  authorisedAmount: 20_000,
  capturedAmount: 20_000,
})

describe('the question what became of a call', () => {
  const held = useDatabase()
  let till: Till
  before(async () => {
    till = await makeTill()
  })

  const stateOf = (key: string) =>
    within(till, async (trx) => {
      const row = await sqlOne<{ state: string }>(trx, `select state from external_call where idempotency_key = ?`, [
        key,
      ])
      return row?.state
    })
  const callOf = (paymentId: string) => ({ provider: 'sandbox', operation: 'submit', key: submitKey(paymentId) })
  const begun = (trx: Trx, paymentId: string) =>
    beginCall(trx, { ...callOf(paymentId), jobId: randomUUID(), tenantId: till.tenantId, requestHash: null })
  const sent = async () => {
    const { id } = await pay(till, await makeBooking(till))
    await within(till, (trx) => sql(trx, `update payment set sent_at = now() where id = ?`, [id]))
    await within(till, (trx) => begun(trx, id))
    return id
  }
  const unanswered = async (id: string) => {
    await within(till, async (trx) => {
      endCall(trx, callOf(id), { state: 'unknown', code: 'TimeoutError' })
      await applyUnknown(trx, id, true)
    })
    return stateOf(submitKey(id))
  }

  it('is over once a callback has told of the payment', async () => {
    const id = await sent()
    expect(await unanswered(id)).to.equal('unknown')
    expect((await paymentOf(till, id)).status).to.equal('unknown')
    await within(till, (trx) => applySnapshot(trx, id, captured()))
    expect(await stateOf(submitKey(id))).to.equal('succeeded')
  })

  it('is none where the callback came before the call had ended without an answer', async () => {
    const id = await sent()
    await within(till, (trx) => applySnapshot(trx, id, captured()))
    expect(await unanswered(id)).to.equal('succeeded')
    expect((await paymentOf(till, id)).status).to.equal('captured')
  })

  it('is over with the next start where the process died in the call, and a callback has told', async () => {
    const id = await sent()
    await within(till, (trx) => applySnapshot(trx, id, captured()))
    expect(await stateOf(submitKey(id))).to.equal('started')
    await work()
    expect(await stateOf(submitKey(id))).to.equal('succeeded')
  })

  const shown = (status: PaymentSnapshot['status']): PaymentSnapshot => ({
    ...nothingKnown,
    status,
    externalId: `ch_${randomUUID()}`,
    currency: 'BRL',
  })
  const cancelOf = (paymentId: string) => ({ provider: 'sandbox', operation: 'cancel', key: cancelKey(paymentId) })
  /** Shown to the guest, and asked to be closed. */
  const closing = async (change: string) => {
    const id = await sent()
    await within(till, async (trx) => {
      endCall(trx, callOf(id), { state: 'succeeded' })
      await applySnapshot(trx, id, shown('requires_action'))
      await sql(trx, `update payment set ${change} where id = ?`, [id])
      await beginCall(trx, { ...cancelOf(id), jobId: randomUUID(), tenantId: till.tenantId, requestHash: null })
    })
    return id
  }

  it('is over where a payment was closed since its time was over, and a callback tells what became of it', async () => {
    for (const status of ['cancelled', 'captured'] as const) {
      const id = await closing(`expires_at = now()`)
      await within(till, async (trx) => {
        endCall(trx, cancelOf(id), { state: 'unknown', code: 'TimeoutError' })
        await applyUnknown(trx, id, true)
      })
      expect(await stateOf(cancelKey(id))).to.equal('unknown')
      await within(till, (trx) => applySnapshot(trx, id, status === 'captured' ? captured() : shown(status)))
      expect(await stateOf(cancelKey(id)), status).to.equal('succeeded')
    }
  })

  it('is over with the next reading where an answer broke after a callback had told', async () => {
    const id = await closing(`cancel_requested_at = now()`)
    // No job comes that was made before.
    await work()
    await within(till, (trx) => applySnapshot(trx, id, captured()))
    await within(till, async (trx) => endCall(trx, cancelOf(id), { state: 'unknown', code: 'TypeError' }))
    await within(till, (trx) => enqueue(trx, readPayment, { tenantId: till.tenantId, paymentId: id }))
    await work()
    expect(await stateOf(cancelKey(id))).to.equal('succeeded')
  })

  it('keeps no callback waiting for the answer of the call, which waits for it', async () => {
    const id = await closing(`cancel_requested_at = now()`)
    await within(till, async (trx) => {
      endCall(trx, cancelOf(id), { state: 'unknown', code: 'TimeoutError' })
      // The journal comes first in what an answer writes; the callback is whole before the payment is looked at.
      await within(till, (other) => applySnapshot(other, id, shown('cancelled')))
      await applyUnknown(trx, id, true)
    })
    expect((await paymentOf(till, id)).status).to.equal('cancelled')
    expect(await stateOf(cancelKey(id))).to.equal('succeeded')
  })

  it('that was left open is over with the release that ends them, and no other', async () => {
    const [paid, open, over] = [await sent(), await sent(), await closing(`cancel_requested_at = now()`)]
    await within(till, (trx) => applySnapshot(trx, paid, captured()))
    const kept = await closing(`cancel_requested_at = now()`)
    await within(till, (trx) =>
      sql(trx, `update payment set status = 'cancelled', ended_at = now() where id = ?`, [over]),
    )
    const states = async () =>
      Promise.all([submitKey(paid), submitKey(open), cancelKey(over), cancelKey(kept)].map(stateOf))
    expect(await states()).to.deep.equal(['started', 'started', 'started', 'started'])
    const owner = makeKnex(held.database.ownerUrl, 1)
    await settleOld(owner).finally(() => owner.destroy())
    expect(await states()).to.deep.equal(['succeeded', 'started', 'succeeded', 'started'])
  })

  it('is over once it is told of a refund', async () => {
    const { id } = await pay(till, await makeBooking(till))
    await work()
    await within(till, (trx) => requestRefund(trx, { paymentId: id, reason: 'cancellation' }))
    const [refund] = await refundsOf(till, id)
    const key = refundKey(refund!.id)
    const call = { provider: 'sandbox', operation: 'refund', key }
    await within(till, async (trx) => {
      await beginCall(trx, { ...call, jobId: randomUUID(), tenantId: till.tenantId, requestHash: null })
      endCall(trx, call, { state: 'unknown' })
      await applyRefundSnapshot(trx, refund!.id, { status: 'unknown', externalId: null, failure: null })
    })
    expect(await stateOf(key)).to.equal('unknown')
    await within(till, (trx) =>
      applyRefundSnapshot(trx, refund!.id, { status: 'succeeded', externalId: 'rf_told', failure: null }),
    )
    expect(await stateOf(key)).to.equal('succeeded')
  })

  it('is asked of payments until it is answered, of all else for two hours', async () => {
    const minutes = [1, 6, 100, 130, 5_000]
    const insert = (provider: string, operation: string) =>
      inPlatform((trx) =>
        sql(
          trx,
          `insert into external_call (job_id, provider, operation, idempotency_key, state, started_at)
           select gen_random_uuid(), ?, ?, ? || n, 'unknown', now() - make_interval(mins => n) from unnest(?::int[]) n`,
          [provider, operation, `old-${provider}-`, minutes],
        ),
      )
    await insert('stripe', 'submit')
    await insert('twilio', 'send')
    await insert('simulator', 'push')
    const counts = await inPlatform((trx) => unresolvedCalls(trx))
    const of = (name: string) => counts.find(({ provider }) => provider === name)?.count
    expect([of('stripe'), of('twilio'), of('simulator')]).to.deep.equal([4, 2, 2])
  })
})
