import { expect } from 'chai'
import { createCashAccount } from '../../db/cash/index.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openReceivables } from './clerk.ts'

describe('invoices that customers pay', function () {
  this.timeout(180_000)
  const world = useWorld()

  const openDesk = async () => {
    const a = await openReceivables(world)
    const { bookId, finance, good } = a
    const bankId = await a.house.inHouse((trx) =>
      createCashAccount(trx, { bookId, kind: 'bank', code: 'BANCO', name: 'Banco' }),
    )
    const taxCode = (kind: string, code: string, more: object): Promise<string> =>
      good(finance, 'POST', 'financial/tax-codes', {
        bookId,
        kind,
        code,
        name: code,
        validFrom: a.on('01-01'),
        ...more,
      }).then(({ id }) => id as string)
    const receipt = (body: object): Promise<Parsed> =>
      good(finance, 'POST', `${a.path}/receipts`, { cashAccountId: bankId, method: 'bank', ...body })
    const receiptNow = (id: string): Promise<Parsed> => good(finance, 'GET', `${a.path}/receipts/${id}`)
    /** The movement of accounts over days, without those at 0. */
    const held = async (from: string, to: string) =>
      Object.fromEntries(Object.entries(await a.balances(from, to)).filter(([, value]) => value !== 0))
    return { ...a, bankId, taxCode, receipt, receiptNow, held }
  }

  it('in three installments, with a discount, a tax kept back, in advance, a credit note and a fine, to the cent (story S4)', async () => {
    const a = await openDesk()
    const { on, account, finance, good, bookId } = a
    const iss = await a.taxCode('document', 'ISS', {
      rate: 50_000,
      liabilityAccountId: await account('2.1.3.01'),
      contraAccountId: await account('4.8.01'),
    })
    const irrf = await a.taxCode('withheld_by_customers', 'IRRF', {
      rate: 15_000,
      liabilityAccountId: await account('1.1.5.03'),
    })
    const { id: customerId } = await a.customer()
    const made = await a.invoice({
      customerId,
      issuedOn: on('05-02'),
      lines: [{ ...(await a.line(900_000, '4.2.04')), taxCodeId: iss }, await a.line(100_001)],
      installments: [
        { dueOn: on('06-01'), amount: 333_334 },
        { dueOn: on('07-01'), amount: 333_334 },
        { dueOn: on('08-01'), amount: 333_333 },
      ],
    })
    await world.drain()
    const invoice = await a.read(made.id)
    expect(invoice).to.include({ status: 'issued', number: 1 })
    expect(invoice.lines[0].taxAmount).to.equal(45_000)
    const [first, , third] = invoice.installments as Parsed[]

    const one = await a.receipt({
      customerId,
      amount: 328_000,
      receivedOn: on('06-03'),
      allocations: [
        {
          installmentId: first?.id,
          principal: 333_334,
          discount: 334,
          withheld: [{ taxCodeId: irrf, amount: 5_000 }],
        },
      ],
    })
    expect(one).to.include({ allocated: 328_000, available: 0, status: 'recorded' })
    const two = await a.receipt({ customerId, amount: 500_000, receivedOn: on('07-10'), auto: true })
    expect(two.allocations.map(({ principal, on: day }: Parsed) => [principal, day])).to.deep.equal([
      [333_334, on('07-10')],
      [166_666, on('07-10')],
    ])
    expect(await a.ageing(on('06-30'), customerId)).to.deep.equal({ notDue: 666_667 })

    const note = await good(finance, 'POST', `${a.path}/credit-notes`, {
      receivableId: made.id,
      amount: 50_000,
      issuedOn: on('07-15'),
      reason: 'A hall was not free',
    })
    expect(note.lines.map(({ amount, taxAmount }: Parsed) => [amount, taxAmount])).to.deep.equal([
      [45_000, 2_250],
      [5_000, 0],
    ])
    expect(note).to.include({ applied: 50_000, excess: 0, receiptId: null })
    expect(note.applications).to.deep.equal([{ installmentId: third?.id, amount: 50_000 }])
    await world.drain()
    expect(await good(finance, 'GET', `${a.path}/credit-notes/${note.id}`)).to.include({ status: 'issued', number: 1 })
    expect([(await a.receiptNow(one.id)).number, (await a.receiptNow(two.id)).number]).to.have.members([1, 2])
    expect(await a.ageing(on('08-31'), customerId)).to.deep.equal({ d1to30: 116_667 })
    expect(await a.customerNow(customerId)).to.include({ exposure: 116_667 })

    expect(await a.moved(on('01-01'), on('12-31'))).to.deep.equal([2_758_585, 2_758_585])
    expect(await a.held(on('01-01'), on('12-31'))).to.deep.equal({
      '1.1.2.01': 828_000,
      '1.1.3.02': 116_667,
      '1.1.5.03': 5_000,
      '2.1.3.01': -42_750,
      '4.2.04': -855_000,
      '4.3.08': -95_001,
      '4.8.01': 42_750,
      '8.4': 334,
    })
    const statement = await good(
      finance,
      'GET',
      `${a.path}/customers/${customerId}/statement?bookId=${bookId}&from=${on('01-01')}&to=${on('12-31')}`,
    )
    expect(statement.entries.map(({ balance }: Parsed) => balance)).to.deep.equal([
      1_000_001, 666_667, 333_333, 166_667, 116_667,
    ])

    const at = `${a.path}/receivables/${made.id}`
    expect(await good(finance, 'POST', `${at}/write-off`, { reason: 'Will not be paid' })).to.include({
      status: 'written_off',
    })
    expect(
      await a.refused(finance, 'POST', `${a.path}/receipts`, {
        customerId,
        cashAccountId: a.bankId,
        method: 'bank',
        amount: 119_000,
        receivedOn: a.house.today,
        allocations: [{ installmentId: third?.id }],
      }),
    ).to.deep.equal([422, 'target_closed'])
    expect(await good(finance, 'POST', `${at}/reinstate`, { reason: 'It pays after all' })).to.include({
      status: 'partly_paid',
    })
    const last = await a.receipt({
      customerId,
      amount: 119_000,
      receivedOn: a.house.today,
      allocations: [{ installmentId: third?.id, principal: 116_667, fine: 2_333 }],
    })
    expect(last).to.include({ available: 0 })
    expect(await a.read(made.id)).to.include({ status: 'paid', open: 0 })
    expect(await a.customerNow(customerId)).to.include({ exposure: 0 })
    await world.drain()
    expect(await a.held(a.house.today, a.house.today)).to.deep.equal({
      '1.1.2.01': 119_000,
      '1.1.3.02': -116_667,
      '4.4.05': -116_667,
      '6.1.09': 116_667,
      '7.1': -2_333,
    })
    expect(await a.ageing(on('08-31'), customerId)).to.deep.equal({ d1to30: 116_667 })
    expect(await a.failing()).to.deep.equal([])
  })

  it('from before the start are paid, and undone, as any other (story S1)', async () => {
    const a = await openDesk()
    const { on, good, finance } = a
    const { id: customerId } = await a.customer()
    const debt = await a.invoice({
      kind: 'opening',
      customerId,
      issuedOn: on('01-01'),
      lines: [{ description: 'NF 881', unitAmount: 320_000, accountId: await a.account('3.9.01') }],
      installments: [{ dueOn: on('01-20'), amount: 320_000 }],
      customerReference: 'NF 881',
    })
    await world.drain()
    expect(await a.read(debt.id)).to.include({ status: 'issued', number: null })
    expect(await a.held(on('01-01'), on('01-31'))).to.deep.equal({ '1.1.3.02': 320_000, '3.9.01': -320_000 })
    const paid = await a.receipt({ customerId, amount: 400_000, receivedOn: on('01-25'), auto: true })
    expect(paid).to.include({ allocated: 320_000, available: 80_000 })
    await good(finance, 'DELETE', `${a.path}/receipts/${paid.id}/allocations/${paid.allocations[0].id}`)
    await world.drain()
    expect(await a.ageing(on('01-31'), customerId)).to.deep.equal({ availableReceipts: 80_000 })
    expect(await a.ageing(a.house.today, customerId)).to.include({ over90: 320_000, availableReceipts: 400_000 })
    expect(await a.held(on('01-01'), on('01-31'))).to.deep.equal({
      '1.1.2.01': 400_000,
      '2.1.5.04': -80_000,
      '3.9.01': -320_000,
    })
    expect(await a.failing()).to.deep.equal([])
  })
})
