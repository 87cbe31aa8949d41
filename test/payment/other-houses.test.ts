import { expect } from 'chai'
import { addDays } from '../../config/time.ts'
import { openBusinessDay } from '../../db/financial/index.ts'
import { sql } from '../../db/lib/connection.ts'
import { requestRefund, setAllocations } from '../../db/payment/index.ts'
import { chargeFolio, openFolio } from '../../db/reservations/index.ts'
import { addProperty } from '../financial/support.ts'
import { useDatabase } from '../support/database.ts'
import { makeBooking, makeTill, pay, paymentOf, within, work } from './support.ts'

describe('money of a booking that pays a folio of another house of the book', () => {
  useDatabase()

  it('comes and goes there on the business day of that house', async () => {
    const till = await makeTill()
    const { id } = await pay(till, await makeBooking(till), { channel: 'desk' })
    await work()
    const day = addDays(till.today, 1)
    const folioId = await within(till, async (trx) => {
      const propertyId = await addProperty(trx, till.bookId)
      await openBusinessDay(trx, propertyId, day)
      const folio = await openFolio(trx, { propertyId, kind: 'house' })
      await chargeFolio(trx, folio, { category: 'other', description: 'A feast', unitAmount: 20_000 })
      return folio
    })
    const { version } = await paymentOf(till, id)
    await within(till, (trx) =>
      setAllocations(trx, id, [{ targetType: 'folio', targetId: folioId, amount: 20_000 }], version, () => undefined),
    )
    await within(till, (trx) => requestRefund(trx, { paymentId: id, amount: 5_000, reason: 'guest_request' }))
    const lines = await within(till, (trx) =>
      sql<{ kind: string; amount: number; on: string }>(
        trx,
        `select kind, amount, business_date as "on" from folio_line where folio_id = ? and kind <> 'charge' order by seq`,
        [folioId],
      ),
    )
    expect(lines).to.deep.equal([
      { kind: 'payment', amount: -20_000, on: day },
      { kind: 'refund', amount: 5_000, on: day },
    ])
  })
})
