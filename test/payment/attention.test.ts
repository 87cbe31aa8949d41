import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { closeExceptions, openException } from '../../db/payment/exceptions.ts'
import { requestRefund, setAllocations } from '../../db/payment/index.ts'
import { resolveException } from '../../db/payment/resolve.ts'
import { drain } from '../support/drain.ts'
import { balanceOf } from '../financial/support.ts'
import { useDatabase } from '../support/database.ts'
import {
  bring,
  creditOf,
  exceptionsOf,
  makeBooking,
  makeTill,
  pay,
  paymentOf,
  refundsOf,
  secondMs,
  sweep,
  within,
  work,
} from './support.ts'
import type { Till } from './support.ts'

const setTimes = (till: Till, id: string, columns: string) =>
  within(till, (trx) => sql(trx, `update payment set ${columns} where id = ?`, [id]))

describe('a payment that people must look at', () => {
  useDatabase()
  let till: Till
  let bookingId: string

  beforeEach(async () => {
    till = await makeTill()
    bookingId = await makeBooking(till)
  })

  it('that is paid although another took its place is kept, calls for a person, and can go back', async () => {
    const pix = await pay(till, bookingId, { method: 'pix' })
    await work()
    const card = await pay(till, bookingId)
    await new Promise((resolve) => setTimeout(resolve, 5 * secondMs))
    await drain({ kinds: ['payments.submit', 'ledger.post'] })
    await work()
    expect((await paymentOf(till, card.id)).status).to.equal('captured')
    expect(await paymentOf(till, pix.id)).to.include({ status: 'captured', capturedAmount: 20_000, allocatedAmount: 0 })
    expect(await creditOf(till, bookingId)).to.equal(20_000)
    expect(await exceptionsOf(till, pix.id)).to.deep.equal(['duplicate_payment'])
    expect(await balanceOf(till, 'unallocated_receipts')).to.equal(20_000)
    await within(till, (trx) => requestRefund(trx, { paymentId: pix.id, reason: 'duplicate' }))
    await work()
    expect(await exceptionsOf(till, pix.id)).to.deep.equal([])
    expect(await balanceOf(till, 'unallocated_receipts')).to.equal(0)
    expect(await balanceOf(till, 'gateway_clearing')).to.equal(20_000)
    expect(await creditOf(till, bookingId)).to.equal(20_000)
  })

  it('unknown for a day calls for a person, and no more once it is known', async () => {
    const { id } = await pay(till, bookingId, { token: 'malformed' })
    await work()
    await setTimes(till, id, `created_at = now() - interval '25 hours', expires_at = now() + interval '1 hour'`)
    await bring(till, id, 'captured')
    expect(await exceptionsOf(till, id)).to.deep.equal([])
    const opened = await within(till, (trx) =>
      sql(trx, `select kind, automatic from payment_exception where subject_id = ?`, [id]),
    )
    expect(opened).to.deep.equal([{ kind: 'outcome_unknown', automatic: true }])
  })

  it('left unallocated for a day calls for a person', async () => {
    const { id } = await pay(till, bookingId, { token: 'refund_fails' })
    await work()
    await within(till, (trx) => requestRefund(trx, { paymentId: id, amount: 7_000, reason: 'guest_request' }))
    await work()
    await new Promise((resolve) => setTimeout(resolve, 5 * secondMs))
    await within(till, (trx) => sql(trx, `update refund set next_read_at = now() where payment_id = ?`, [id]))
    await sweep()
    await work()
    expect((await refundsOf(till, id))[0]?.status).to.equal('failed')
    await sweep()
    expect(await exceptionsOf(till, id)).to.deep.equal([])
    await setTimes(till, id, `captured_at = now() - interval '25 hours'`)
    await sweep()
    await sweep()
    expect(await exceptionsOf(till, id)).to.deep.equal(['unallocated'])
  })

  it('calls for a person though another exception of it is over, and again where its money loses a place that it had', async () => {
    const { id } = await pay(till, bookingId)
    await work()
    const place = async (amount: number) => {
      const { version } = await paymentOf(till, id)
      const wanted = amount > 0 ? [{ targetType: 'booking' as const, targetId: bookingId, amount }] : []
      await within(till, (trx) => setAllocations(trx, id, wanted, version, () => undefined))
      await sweep()
    }
    const subject = { type: 'payment', id, propertyId: till.propertyId, currency: 'BRL' } as const
    await within(till, async (trx) => {
      await openException(trx, 'fee_differs', subject, 1, 2)
      await closeExceptions(trx, subject, ['fee_differs'])
    })
    await setTimes(till, id, `captured_at = now() - interval '25 hours'`)
    await place(15_000)
    expect(await exceptionsOf(till, id)).to.deep.equal(['unallocated'])
    await place(20_000)
    expect(await exceptionsOf(till, id)).to.deep.equal([])
    await place(0)
    expect(await exceptionsOf(till, id)).to.deep.equal(['unallocated'])
  })

  it('is not asked about again by what a person has seen and let stand', async () => {
    const { id } = await pay(till, bookingId)
    await work()
    const subject = { type: 'payment', id, propertyId: till.propertyId, currency: 'BRL' } as const
    await within(till, async (trx) => {
      await openException(trx, 'duplicate_payment', subject, 20_000)
      const [open] = await sql<{ id: string }>(trx, `select id from payment_exception where subject_id = ?`, [id])
      await resolveException(trx, open?.id ?? '', { resolution: 'accepted', reason: 'The guest comes again' })
    })
    await setTimes(till, id, `captured_at = now() - interval '25 hours'`)
    const { version } = await paymentOf(till, id)
    await within(till, (trx) => setAllocations(trx, id, [], version, () => undefined))
    await sweep()
    expect(await exceptionsOf(till, id)).to.deep.equal([])
  })
})
