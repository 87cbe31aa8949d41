import { expect } from 'chai'
import { requestRefund } from '../../db/payment/index.ts'
import { sql } from '../../db/lib/connection.ts'
import { balanceOf } from '../financial/support.ts'
import { useDatabase } from '../support/database.ts'
import {
  creditOf,
  exceptionsOf,
  makeBooking,
  makeTill,
  pay,
  paymentOf,
  providers,
  refundsOf,
  secondMs,
  useProvider,
  within,
  work,
} from './support.ts'
import type { Till } from './support.ts'

for (const provider of providers)
  describe(`a refund through ${provider}`, () => {
    useDatabase()
    useProvider(provider)
    let till: Till
    let bookingId: string

    beforeEach(async () => {
      till = await makeTill(undefined, provider)
      bookingId = await makeBooking(till)
    })

    const paid = async (token = 'success') => {
      const { id } = await pay(till, bookingId, { token })
      await work()
      return id
    }
    const refund = (wanted: { amount?: number }) =>
      within(till, (trx) =>
        requestRefund(trx, { targetType: 'booking', targetId: bookingId, reason: 'cancellation', ...wanted }),
      )

    it('in part leaves the rest where it was', async () => {
      const id = await paid()
      await refund({ amount: 5_000 })
      expect(await paymentOf(till, id)).to.include({
        refundReserved: 5_000,
        refundedAmount: 0,
        allocatedAmount: 15_000,
      })
      await work()
      expect(await paymentOf(till, id)).to.include({
        refundReserved: 5_000,
        refundedAmount: 5_000,
        allocatedAmount: 15_000,
      })
      expect(await creditOf(till, bookingId)).to.equal(15_000)
      expect(await balanceOf(till, 'deposits')).to.equal(15_000)
      expect(await balanceOf(till, 'gateway_clearing')).to.equal(15_000)
      expect(await balanceOf(till, 'refunds_payable')).to.equal(0)
    })

    it('in parts, twenty at once for the whole: one passes', async () => {
      const id = await paid()
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, () =>
          within(till, (trx) => requestRefund(trx, { paymentId: id, amount: 20_000, reason: 'guest_request' })),
        ),
      )
      expect(results.filter((one) => one.status === 'fulfilled')).to.have.length(1)
      await work()
      expect(await refundsOf(till, id)).to.have.length(1)
      expect(await paymentOf(till, id)).to.include({ refundedAmount: 20_000, allocatedAmount: 0 })
    })

    it('of two that were asked for a version of the payment, the later one is refused', async () => {
      const id = await paid()
      const { version } = await paymentOf(till, id)
      const results = await Promise.allSettled(
        [1, 2].map(() =>
          within(till, (trx) =>
            requestRefund(trx, { paymentId: id, amount: 5_000, reason: 'guest_request', expected: version }),
          ),
        ),
      )
      expect(
        results.flatMap((one) => (one.status === 'rejected' ? [(one.reason as Error & { code: string }).code] : [])),
      ).to.deep.equal(['version_conflict'])
      expect(await refundsOf(till, id)).to.have.length(1)
    })

    it('beyond what stands there is refused', async () => {
      await paid()
      const refused = await refund({ amount: 20_001 }).catch((error: unknown) => error)
      expect(refused).to.include({ status: 422, code: 'amount_exceeds_refundable' })
    })

    it('of what a bank disputes waits for the end of the dispute', async () => {
      const id = await paid()
      await within(till, (trx) => sql(trx, `update payment set disputed_amount = 15000 where id = ?`, [id]))
      const refused = await refund({ amount: 5_001 }).catch((error: unknown) => error)
      expect(refused).to.include({ status: 422, code: 'amount_disputed' })
      await refund({})
      expect(await paymentOf(till, id)).to.include({ refundReserved: 5_000, allocatedAmount: 15_000 })
      expect(await refund({})).to.deep.equal([])
    })

    it('of a payment without an amount is of all that no bank disputes', async () => {
      const id = await paid()
      const ofAll = () =>
        within(till, (trx) => requestRefund(trx, { paymentId: id, reason: 'guest_request' })).catch(
          (error: unknown) => error,
        )
      await within(till, (trx) => sql(trx, `update payment set disputed_amount = 15000 where id = ?`, [id]))
      expect(await ofAll()).to.have.nested.property('[0].amount', 5_000)
      expect(await paymentOf(till, id)).to.include({ refundReserved: 5_000 })
      expect(await ofAll()).to.include({ status: 422, code: 'amount_disputed' })
    })

    for (const token of ['refund_fails', 'refund_returns'])
      it(`with token ${token} comes back as unallocated money, and calls for a person`, async () => {
        const id = await paid(token)
        await refund({})
        await work()
        const [requested] = await refundsOf(till, id)
        expect(requested?.status).to.equal(token === 'refund_fails' ? 'processing' : 'succeeded')
        await new Promise((resolve) => setTimeout(resolve, 7 * secondMs))
        await within(till, async (trx) => {
          const { enqueue } = await import('../../db/lib/enqueue.ts')
          const { readRefund } = await import('../../jobs/payment.ts')
          await enqueue(trx, readRefund, { tenantId: till.tenantId, refundId: requested!.id })
        })
        await work()
        expect((await refundsOf(till, id))[0]?.status).to.equal('failed')
        expect(await paymentOf(till, id)).to.include({ refundReserved: 0, refundedAmount: 0, allocatedAmount: 0 })
        expect(await exceptionsOf(till, requested!.id)).to.deep.equal(['refund_failed'])
        expect(await balanceOf(till, 'unallocated_receipts')).to.equal(20_000)
        expect(await balanceOf(till, 'gateway_clearing')).to.equal(20_000)
        expect(await balanceOf(till, 'refunds_payable')).to.equal(0)
      })
  })
