import { expect } from 'chai'
import { createReceipt } from '../../db/accounts-receivable/index.ts'
import { createCashAccount } from '../../db/cash/index.ts'
import { createCompany } from '../../db/guests/index.ts'
import { inPlatform, sql, sqlOne } from '../../db/lib/connection.ts'
import { requestCapture, setAllocations } from '../../db/payment/index.ts'
import { chargeFolio, invoiceFolio, openFolio } from '../../db/reservations/index.ts'
import { useDatabase } from '../support/database.ts'
import { makeCustomer, makeInvoice } from '../support/receipts.ts'
import { exceptionsOf, makeBooking, makeTill, pay, paymentOf, within, work } from './support.ts'
import type { Till } from './support.ts'

type Target = { targetType: 'booking' | 'folio' | 'receivable'; targetId: string }

describe('the money of a refused capture, as it comes', () => {
  useDatabase()
  let till: Till
  let customerId: string
  let bankId: string
  beforeEach(async () => {
    till = await makeTill()
    await within(till, async (trx) => {
      customerId = await makeCustomer(trx)
      bankId = await createCashAccount(trx, { bookId: till.bookId, kind: 'bank', code: 'BANK', name: 'Banco' })
    })
  })

  /** A payment that was authorised for a target, and whose authorisation has ended as it was to be captured. */
  const refused = async (target: Target): Promise<string> => {
    const { id } = await pay(till, target.targetId, { ...target, mode: 'authorise', channel: 'desk' })
    await work()
    await inPlatform((trx) =>
      sql(trx, `update sandbox_object set state = state || ?::jsonb where kind = 'charge' and our_id = ?`, [
        JSON.stringify({ cancelledAt: Date.now() - 1 }),
        id,
      ]),
    )
    await within(till, (trx) => requestCapture(trx, id, undefined))
    await work()
    expect(await exceptionsOf(till, id)).to.deep.equal(['capture_refused'])
    return id
  }
  const folioOf = (amount: number): Promise<string> =>
    within(till, async (trx) => {
      const payerCompanyId = await createCompany(trx, { kind: 'company', legalName: 'Ondas Turismo', customerId })
      const id = await openFolio(trx, { propertyId: till.propertyId, kind: 'house', payerCompanyId })
      await chargeFolio(trx, id, { category: 'other', description: 'A feast', unitAmount: amount })
      return id
    })
  type Paid = { installmentId: string; amount: number } | { targetType: 'folio'; targetId: string; amount: number }
  const receive = (paid: Paid) =>
    within(till, (trx) =>
      createReceipt(
        trx,
        {
          customerId,
          cashAccountId: bankId,
          method: 'bank',
          amount: paid.amount,
          receivedOn: till.today,
          allocations: [paid],
        },
        { ownOf: null, judge: () => undefined },
      ),
    )

  it('by receipts of the document', async () => {
    const { id: targetId, installments } = await within(till, async (trx) => {
      const account = await sqlOne<{ id: string }>(
        trx,
        `select id from account where book_id = ? and code = '4.3.08'`,
        [till.bookId],
      )
      return makeInvoice(trx, {
        bookId: till.bookId,
        propertyId: till.propertyId,
        customerId,
        issuedOn: till.today,
        lines: [{ description: 'Hall', unitAmount: 20_000, accountId: account?.id ?? '' }],
        installments: [{ dueOn: till.today, amount: 20_000 }],
      })
    })
    const id = await refused({ targetType: 'receivable', targetId })
    const installmentId = installments[0]?.id ?? ''
    await receive({ installmentId, amount: 12_000 })
    expect(await exceptionsOf(till, id)).to.deep.equal(['capture_refused'])
    await receive({ installmentId, amount: 8_000 })
    expect(await exceptionsOf(till, id)).to.deep.equal([])
  })

  it('by a receipt that pays a part of the folio, and a bill of the rest that a firm owes instead', async () => {
    const targetId = await folioOf(20_000)
    const id = await refused({ targetType: 'folio', targetId })
    await receive({ targetType: 'folio', targetId, amount: 5_000 })
    expect(await exceptionsOf(till, id)).to.deep.equal(['capture_refused'])
    await within(till, (trx) => invoiceFolio(trx, targetId, {}))
    expect(await exceptionsOf(till, id)).to.deep.equal([])
  })

  it('by money of another booking that is moved to it', async () => {
    const [from, to] = [await makeBooking(till), await makeBooking(till)]
    const id = await refused({ targetType: 'booking', targetId: to })
    const other = await pay(till, from, { channel: 'desk' })
    await work()
    const move = async (amount: number) => {
      const { version } = await paymentOf(till, other.id)
      const wanted = [{ targetType: 'booking' as const, targetId: to, amount }]
      await within(till, (trx) => setAllocations(trx, other.id, wanted, version, () => undefined))
    }
    await move(19_999)
    expect(await exceptionsOf(till, id)).to.deep.equal(['capture_refused'])
    await move(20_000)
    expect(await exceptionsOf(till, id)).to.deep.equal([])
  })
})
