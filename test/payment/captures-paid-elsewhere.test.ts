import { expect } from 'chai'
import { createReceipt } from '../../db/accounts-receivable/index.ts'
import { createCashAccount } from '../../db/cash/index.ts'
import { assignNumber } from '../../db/documents/index.ts'
import { createCompany } from '../../db/guests/index.ts'
import { inPlatform, sql, sqlOne } from '../../db/lib/connection.ts'
import { requestCapture, setAllocations } from '../../db/payment/index.ts'
import { chargeFolio, invoiceFolio, openFolio } from '../../db/reservations/index.ts'
import { billFromFolios } from '../../db/accounts-receivable/receivables/from-folios.ts'
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
      payerCompanyId = await createCompany(trx, { kind: 'company', legalName: 'Ondas Turismo', customerId })
      bankId = await createCashAccount(trx, { bookId: till.bookId, kind: 'bank', code: 'BANK', name: 'Banco' })
    })
  })

  const authorised = async (target: Target, amount = 20_000): Promise<string> => {
    const { id } = await pay(till, target.targetId, { ...target, amount, mode: 'authorise', channel: 'desk' })
    await work()
    return id
  }
  /** The authorisation of a payment has ended as it is to be captured. */
  const captureInVain = async (id: string): Promise<void> => {
    await inPlatform((trx) =>
      sql(trx, `update sandbox_object set state = state || ?::jsonb where kind = 'charge' and our_id = ?`, [
        JSON.stringify({ cancelledAt: Date.now() - 1 }),
        id,
      ]),
    )
    await within(till, (trx) => requestCapture(trx, id, undefined))
    await work()
    expect(await exceptionsOf(till, id)).to.deep.equal(['capture_refused'])
  }
  const refused = async (target: Target): Promise<string> => {
    const id = await authorised(target)
    await captureInVain(id)
    return id
  }
  let payerCompanyId = ''
  const folioOf = (amount: number): Promise<string> =>
    within(till, async (trx) => {
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

  /** Gives the document that bills a folio its number, or the one that its bill went into. */
  const issued = (folioId: string): Promise<string> =>
    within(till, async (trx) => {
      const document = await sqlOne<{ id: string }>(
        trx,
        `select coalesce(r.consolidated_into_id, r.id) as id from folio f join receivable r on r.id = f.receivable_id where f.id = ?`,
        [folioId],
      )
      await assignNumber(trx, 'receivable', document?.id ?? '')
      const due = await sqlOne<{ id: string }>(trx, `select id from receivable_installment where receivable_id = ?`, [
        document?.id ?? '',
      ])
      return due?.id ?? ''
    })

  it('by receipts of a bill that a firm had owed already when the capture was refused', async () => {
    const targetId = await folioOf(20_000)
    const id = await authorised({ targetType: 'folio', targetId })
    await within(till, (trx) => invoiceFolio(trx, targetId, {}))
    const installmentId = await issued(targetId)
    await captureInVain(id)
    await receive({ installmentId, amount: 12_000 })
    expect(await exceptionsOf(till, id)).to.deep.equal(['capture_refused'])
    await receive({ installmentId, amount: 8_000 })
    expect(await exceptionsOf(till, id)).to.deep.equal([])
  })

  it('by receipts of a bill of the month, as far as they come to more than other folios owe by it', async () => {
    const [mine, other] = [await folioOf(20_000), await folioOf(5_000)]
    const id = await authorised({ targetType: 'folio', targetId: mine })
    await within(till, async (trx) => {
      await sql(trx, `update customer set billing = 'monthly' where id = ?`, [customerId])
      await invoiceFolio(trx, mine, {})
      const bill = await sqlOne<{ id: string }>(trx, `select receivable_id as id from folio where id = ?`, [mine])
      await billFromFolios(trx, { customerId, receivableIds: [bill?.id ?? ''], folioIds: [other] })
    })
    const installmentId = await issued(mine)
    await captureInVain(id)
    await receive({ installmentId, amount: 20_000 })
    expect(await exceptionsOf(till, id)).to.deep.equal(['capture_refused'])
    await receive({ installmentId, amount: 5_000 })
    expect(await exceptionsOf(till, id)).to.deep.equal([])
  })
})
