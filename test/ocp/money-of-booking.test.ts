import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { readStay } from '../../db/ocp/stay.ts'
import { setAllocations } from '../../db/payment/index.ts'
import { makeBooking, makeTill, pay, paymentOf, within, work } from '../payment/support.ts'
import { useDatabase } from '../support/database.ts'

describe('the balance of a booking, as messages tell it', () => {
  useDatabase()

  it('follows money that is moved to another booking', async () => {
    const till = await makeTill()
    const [from, to] = [await makeBooking(till), await makeBooking(till)]
    const { id } = await pay(till, from, { channel: 'desk' })
    await work()
    const isDue = (bookingId: string) =>
      within(till, async (trx) => {
        const [room] = await sql<{ id: string }>(trx, `select id from reservation where booking_id = ?`, [bookingId])
        return (await readStay(trx, room?.id ?? ''))?.balanceDue
      })
    expect([await isDue(from), await isDue(to)]).to.deep.equal([false, true])
    const { version } = await paymentOf(till, id)
    const wanted = [{ targetType: 'booking' as const, targetId: to, amount: 20_000 }]
    await within(till, (trx) => setAllocations(trx, id, wanted, version, () => undefined))
    expect([await isDue(from), await isDue(to)]).to.deep.equal([true, false])
  })
})
