import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { requestRefund } from '../../db/payment/index.ts'
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
})
