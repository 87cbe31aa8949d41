import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { checkBook } from '../../db/financial/checks.ts'
import { raisePosting } from '../../db/financial/index.ts'
import type { Posting } from '../../db/financial/index.ts'
import { useDatabase } from '../support/database.ts'
import { balanceOf, makeHouse, post } from './support.ts'
import type { House } from './support.ts'

type Step = Pick<Posting, 'event'> & {
  id?: string
  seq?: number
  amounts: Record<string, number>
  documents: Record<string, string>
  context?: object
}

const gateway = { money: 'gateway' as const, method: 'card' }
const clearing = ['unallocated_receipts', 'refunds_payable', 'deposits', 'guest_ledger', 'gateway_clearing'] as const

describe('the ledger of a booking', () => {
  useDatabase()
  let house: House
  const ids = { booking: randomUUID(), folio: randomUUID(), payment: randomUUID(), refund: randomUUID() }
  beforeEach(async () => {
    house = await makeHouse()
  })
  const raise = (...steps: Step[]) =>
    inTenant(house.tenantId, async (trx) => {
      for (const { event, id = randomUUID(), seq = 0, amounts, documents, context = {} } of steps) {
        await raisePosting(trx, {
          event,
          source: { id, seq },
          propertyId: house.propertyId,
          payload: { amounts, documents, context },
        })
      }
    })
  const balances = async () =>
    Object.fromEntries(await Promise.all(clearing.map(async (role) => [role, await balanceOf(house, role)] as const)))
  const healthy = async () => {
    const results = await inTenant(house.tenantId, (trx) => checkBook(trx, house.bookId))
    // The events here have no records of a module behind them, which the controls are compared with.
    expect(results.filter(({ check, status }) => status !== 'passed' && !check.startsWith('control_'))).to.deep.equal(
      [],
    )
  }
  const captured: Step = {
    event: 'payment.payment_captured',
    id: ids.payment,
    amounts: { amount: 50_000 },
    documents: { payment: ids.payment },
    context: gateway,
  }
  const toBooking: Step = {
    event: 'payment.payment_allocated',
    amounts: { amount: 50_000 },
    documents: { payment: ids.payment, booking: ids.booking },
    context: { target: 'booking' },
  }
  const backToPayment: Step = {
    event: 'payment.payment_allocated',
    amounts: { amount: -40_000 },
    documents: { payment: ids.payment, folio: ids.folio },
    context: { target: 'folio', folioStage: 'deposit' },
  }
  const requested: Step = {
    event: 'payment.refund_requested',
    id: ids.refund,
    amounts: { amount: 40_000 },
    documents: { payment: ids.payment, refund: ids.refund },
  }
  const fromBookingToFolio: Step[] = [
    { ...toBooking, amounts: { amount: -50_000 } },
    {
      ...toBooking,
      documents: { payment: ids.payment, folio: ids.folio },
      context: { target: 'reservation', folioStage: 'deposit' },
    },
  ]
  const fee: Step = {
    event: 'reservations.cancellation_fee_charged',
    amounts: { amount: 10_000 },
    documents: { folio: ids.folio },
    context: { folioStage: 'deposit', category: 'cancellation' },
  }

  it('holds the deposit as a liability, and moves it from booking to folio on confirmation', async () => {
    await raise(captured, toBooking)
    await post(house)
    expect(await balances()).to.deep.equal({
      unallocated_receipts: 0,
      refunds_payable: 0,
      deposits: 50_000,
      guest_ledger: 0,
      gateway_clearing: 50_000,
    })
    await raise(...fromBookingToFolio)
    await post(house)
    const held = await inTenant(house.tenantId, (trx) =>
      sql(
        trx,
        `select l.document_type, l.document_id, sum(l.credit - l.debit) as balance from journal_line l join account a on a.id = l.account_id
        where a.role = 'deposits' group by 1, 2 having sum(l.credit - l.debit) <> 0`,
      ),
    )
    expect(held.map((row) => [row['documentType'], row['documentId'], Number(row['balance'])])).to.deep.equal([
      ['folio', ids.folio, 50_000],
    ])
    await healthy()
  })

  it('ends a cancellation with fee and refund with every clearing account at what its document says', async () => {
    await raise(captured, toBooking, ...fromBookingToFolio, fee, backToPayment, requested)
    await post(house)
    expect(await balances()).to.deep.equal({
      unallocated_receipts: 0,
      refunds_payable: 40_000,
      deposits: 0,
      guest_ledger: 0,
      gateway_clearing: 50_000,
    })
    await raise({
      event: 'payment.refund_succeeded',
      id: ids.refund,
      amounts: { amount: 40_000 },
      documents: { refund: ids.refund, payment: ids.payment },
      context: gateway,
    })
    await post(house)
    expect(await balances()).to.deep.equal({
      unallocated_receipts: 0,
      refunds_payable: 0,
      deposits: 0,
      guest_ledger: 0,
      gateway_clearing: 10_000,
    })
    expect(await balanceOf(house, 'cancellation_income')).to.equal(10_000)
    await healthy()
  })

  it('gives a failed refund back to the payment, before and after it had succeeded', async () => {
    await raise(captured, requested)
    const failed = (returned: number, seq: number): Step => ({
      event: 'payment.refund_failed',
      id: ids.refund,
      seq,
      amounts: { amount: 40_000, returned },
      documents: { refund: ids.refund, payment: ids.payment },
      context: gateway,
    })
    await raise(failed(0, 1))
    await post(house)
    expect(await balances()).to.include({ unallocated_receipts: 50_000, refunds_payable: 0, gateway_clearing: 50_000 })
    const second = { ...requested, id: randomUUID() }
    await raise(second, {
      event: 'payment.refund_succeeded',
      id: second.id,
      amounts: { amount: 40_000 },
      documents: second.documents,
      context: gateway,
    })
    await post(house)
    expect(await balances()).to.include({ unallocated_receipts: 10_000, refunds_payable: 0, gateway_clearing: 10_000 })
    await raise(failed(40_000, 2))
    await post(house)
    expect(await balances()).to.include({ unallocated_receipts: 50_000, refunds_payable: 0, gateway_clearing: 50_000 })
    await healthy()
  })

  it('applies the deposit at check-in, charges nights and taxes, and ends at zero', async () => {
    const stay = { folioStage: 'guest', category: 'room', marketSegment: 'transient' }
    await raise(
      captured,
      toBooking,
      ...fromBookingToFolio,
      {
        event: 'reservations.deposit_applied',
        id: ids.folio,
        seq: 1,
        amounts: { credit: 50_000 },
        documents: { folio: ids.folio },
      },
      {
        event: 'reservations.room_night_charged',
        amounts: { amount: 45_000 },
        documents: { folio: ids.folio },
        context: stay,
      },
      {
        event: 'reservations.tax_on_top_charged',
        amounts: { amount: 5_000 },
        documents: { folio: ids.folio },
        context: { ...stay, taxKind: 'fee' },
      },
      {
        event: 'reservations.tax_included_recognised',
        amounts: { amount: 2_250 },
        documents: { folio: ids.folio },
        context: { ...stay, taxKind: 'tax' },
      },
    )
    await post(house)
    expect(await balances()).to.include({ deposits: 0, guest_ledger: 0, unallocated_receipts: 0 })
    expect(
      await Promise.all(
        ['revenue_room_transient', 'tourism_fees_payable', 'sales_taxes_payable', 'sales_taxes_in_prices'].map((role) =>
          balanceOf(house, role),
        ),
      ),
    ).to.deep.equal([45_000, 5_000, 2_250, 2_250])
    await healthy()
  })
})
