import { expect } from 'chai'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openPayables } from './desk.ts'

describe('what was open on a past day', function () {
  this.timeout(120_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPayables>>
  before(async () => {
    a = await openPayables(world)
  })
  beforeEach(() => a.calm())

  /** The open amount of a party on days, as the ageing of a side says. */
  const agedOn = (side: string, key: string, days: readonly string[]) =>
    Promise.all(
      days.map(async (asOf) => {
        const path = `${side}/ageing?bookId=${a.bookId}&asOf=${asOf}&limit=100`
        const { data } = await a.good(a.finance, 'GET', path)
        const row = (data as Parsed[]).find((one) => one.key === key)
        return [row?.total ?? 0, row?.notDue ?? 0]
      }),
    )
  const days = () => ['04-15', '04-20', '04-25'].map((day) => a.on(day))
  const plan = () => [
    { dueOn: a.on('05-10'), amount: 400 },
    { dueOn: a.on('06-10'), amount: 600 },
  ]

  it('is what the ledger owed, though a bill was divided before money of an earlier day was recorded', async () => {
    const { id: supplierId } = await a.supplier()
    const bill = await a.bill({
      supplierId,
      issuedOn: a.on('03-10'),
      lines: [{ description: 'Work', accountId: await a.account('6.4.03'), amount: 1_000 }],
      installments: [{ dueOn: a.on('04-30'), amount: 1_000 }],
    })
    const path = `accounts-payable/payables/${bill.id}`
    const { installments } = await a.good(a.finance, 'PATCH', path, { installments: plan() })
    const second = (installments as Parsed[]).find(({ amount }) => amount === 600)
    await a.good(a.finance, 'POST', 'accounts-payable/payments', {
      method: 'manual',
      cashAccountId: await a.bank(10_000, a.on('01-01')),
      payOn: a.on('04-20'),
      items: [{ installmentId: second?.id }],
    })
    await world.drain()
    expect(await agedOn('accounts-payable', supplierId, days())).to.deep.equal([
      [1_000, 1_000],
      [400, 400],
      [400, 400],
    ])
    const owed = await Promise.all(days().map(async (day) => (await a.balances(a.on('01-01'), day))['2.1.1.01']))
    expect(owed).to.deep.equal([-1_000, -400, -400])
    // The part that is open is dated as it was divided, from the day of the money on.
    const { open } = await a.good(
      a.finance,
      'GET',
      `accounts-payable/suppliers/${supplierId}/statement?bookId=${a.bookId}&from=${a.on('03-01')}&to=${a.on('04-25')}`,
    )
    expect((open as Parsed[]).map((one) => [one.dueOn, one.open])).to.deep.equal([[a.on('05-10'), 400]])
  })

  it('is what the ledger was owed, though an invoice was divided before a receipt of an earlier day was recorded', async () => {
    const { id: customerId } = await a.good(a.finance, 'POST', 'accounts-receivable/customers', {
      kind: 'company',
      legalName: 'Firma Ltda',
      currency: 'BRL',
    })
    const path = 'accounts-receivable/receivables'
    const { id } = await a.good(a.finance, 'POST', path, {
      bookId: a.bookId,
      customerId,
      issuedOn: a.on('03-10'),
      lines: [{ description: 'Hall', unitAmount: 1_000, accountId: await a.account('4.3.08') }],
      installments: [{ dueOn: a.on('04-30'), amount: 1_000 }],
      issue: true,
    })
    await world.drain()
    const { installments } = await a.good(a.finance, 'PATCH', `${path}/${id}`, { installments: plan() })
    const second = (installments as Parsed[]).find(({ amount }) => amount === 600)
    await a.good(a.finance, 'POST', 'accounts-receivable/receipts', {
      customerId,
      cashAccountId: await a.bank(10_000, a.on('01-01')),
      method: 'bank',
      amount: 600,
      receivedOn: a.on('04-20'),
      allocations: [{ installmentId: second?.id }],
    })
    await world.drain()
    expect(await agedOn('accounts-receivable', customerId, days())).to.deep.equal([
      [1_000, 1_000],
      [400, 400],
      [400, 400],
    ])
    const owed = await Promise.all(days().map(async (day) => (await a.balances(a.on('01-01'), day))['1.1.3.02']))
    expect(owed).to.deep.equal([1_000, 400, 400])
    expect(await a.failing()).to.deep.equal([])
  })
})
