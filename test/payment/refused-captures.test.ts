import { expect } from 'chai'
import { createCashAccount } from '../../db/cash/index.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { cancelPaymentById, createPayment, recordPayment, requestCapture } from '../../db/payment/index.ts'
import { useDatabase } from '../support/database.ts'
import { bring, exceptionsOf, makeBooking, makeTill, pay, paymentOf, within, work } from './support.ts'
import type { Till } from './support.ts'

/** Record of a payment at the gateway, changed behind its back. */
const holding = (id: string, state: object) =>
  inPlatform((trx) =>
    sql(trx, `update sandbox_object set state = state || ?::jsonb where kind = 'charge' and our_id = ?`, [
      JSON.stringify(state),
      id,
    ]),
  )

describe('a capture that the gateway refuses', () => {
  useDatabase()
  let till: Till
  let bookingId: string

  beforeEach(async () => {
    till = await makeTill()
    bookingId = await makeBooking(till)
  })

  const authorised = async (): Promise<string> => {
    const { id } = await pay(till, bookingId, { mode: 'authorise', channel: 'desk' })
    await work()
    expect((await paymentOf(till, id)).status).to.equal('authorised')
    return id
  }
  const capture = async (id: string, amount?: number) => {
    await within(till, (trx) => requestCapture(trx, id, amount))
    await work()
  }
  const told = (id: string) =>
    within(till, (trx) =>
      sql<{ amount: number; status: string; automatic: boolean }>(
        trx,
        `select amount, status, automatic from payment_exception where subject_id = ? and kind = 'capture_refused' order by created_at`,
        [id],
      ),
    )

  it('of money that it still holds calls for a person, once, and another amount may be asked for', async () => {
    const id = await authorised()
    await holding(id, { paidAmount: 12_000 })
    await capture(id)
    expect(await paymentOf(till, id)).to.include({ status: 'authorised', captureRequested: null, captureRefusals: 1 })
    await bring(till, id, 'authorised')
    expect(await told(id)).to.deep.equal([{ amount: 20_000, status: 'open', automatic: false }])
    await capture(id, 12_000)
    expect(await paymentOf(till, id)).to.include({ status: 'captured', capturedAmount: 12_000 })
    expect(await told(id)).to.deep.equal([{ amount: 20_000, status: 'resolved', automatic: true }])
    const calls = await within(till, (trx) =>
      sql<{ key: string; state: string }>(
        trx,
        `select idempotency_key as key, state from external_call where operation = 'capture' and idempotency_key like ? order by started_at`,
        [`pay-${id}-%`],
      ),
    )
    expect(calls.map(({ key }) => key)).to.deep.equal([`pay-${id}-capture`, `pay-${id}-capture-1`])
  })

  it('of an authorisation that has ended there calls for a person, and for none once a person lets the money go', async () => {
    const id = await authorised()
    await holding(id, { cancelledAt: Date.now() - 1 })
    await capture(id, 15_000)
    expect((await paymentOf(till, id)).status).to.be.oneOf(['cancelled', 'expired'])
    expect(await told(id)).to.deep.equal([{ amount: 15_000, status: 'open', automatic: false }])

    const other = await authorised()
    await holding(other, { paidAmount: 1 })
    await capture(other)
    expect(await exceptionsOf(till, other)).to.deep.equal(['capture_refused'])
    await within(till, (trx) => cancelPaymentById(trx, other, 'The guest has paid elsewhere'))
    await work()
    expect(await exceptionsOf(till, other)).to.deep.equal([])
    expect(await exceptionsOf(till, id)).to.deep.equal(['capture_refused'])
  })

  it('ends as the whole of its money comes another way, of any part of the booking', async () => {
    const id = await authorised()
    await holding(id, { cancelledAt: Date.now() - 1 })
    await capture(id)
    const elsewhere = await makeBooking(till)
    const by = (targetId: string, amount: number) =>
      within(till, async (trx) => {
        const { payment } = await createPayment(trx, {
          channel: 'desk',
          method: 'card',
          amount,
          currency: 'BRL',
          targetType: 'booking',
          targetId,
          propertyId: till.propertyId,
          cardToken: 'success',
        })
        return payment.id
      })
    await by(elsewhere, 20_000)
    await by(bookingId, 12_000)
    await work()
    expect(await exceptionsOf(till, id)).to.deep.equal(['capture_refused'])
    await within(till, async (trx) =>
      recordPayment(trx, {
        propertyId: till.propertyId,
        method: 'bank_transfer',
        amount: 8_000,
        currency: 'BRL',
        targetType: 'booking',
        targetId: bookingId,
        cashAccountId: await createCashAccount(trx, {
          bookId: till.bookId,
          kind: 'bank',
          code: 'BANK',
          name: 'Banco',
        }),
      }),
    )
    expect(await exceptionsOf(till, id)).to.deep.equal([])
    expect(await told(id)).to.deep.equal([{ amount: 20_000, status: 'resolved', automatic: true }])
  })
})
