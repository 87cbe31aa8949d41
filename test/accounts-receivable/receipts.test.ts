import { expect } from 'chai'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openReceipts } from './receipts-desk.ts'

describe('receipts of an invoice in three installments', function () {
  this.timeout(180_000)
  const world = useWorld()

  it('pay it with a discount, a tax kept back, in advance and by a credit note, to the cent (story S4)', async () => {
    const a = await openReceipts(world)
    const { on, account, finance, good } = a
    const bankId = await a.bank()
    const iss = await a.taxCode('document', 'ISS', {
      rate: 50_000,
      liabilityAccountId: await account('2.1.3.01'),
      contraAccountId: await account('4.8.01'),
    })
    const irrf = await a.taxCode('withheld_by_customers', 'IRRF', {
      rate: 15_000,
      liabilityAccountId: await account('1.1.5.03'),
    })
    const customerId = await a.customer()
    const invoice = await a.invoice({
      customerId,
      issuedOn: on('05-02'),
      lines: [
        {
          description: 'Events',
          unitAmount: 900_000,
          accountId: await account('4.2.04'),
          taxCodeId: iss,
          tax: 45_000,
        },
        { description: 'Rooms', unitAmount: 100_001, accountId: await account('4.3.08') },
      ],
      installments: [
        { dueOn: on('06-01'), amount: 333_334 },
        { dueOn: on('07-01'), amount: 333_334 },
        { dueOn: on('08-01'), amount: 333_333 },
      ],
    })
    const [first] = invoice.installments
    const one = await a.receipt({
      customerId,
      cashAccountId: bankId,
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
    const two = await a.receipt({
      customerId,
      cashAccountId: bankId,
      amount: 500_000,
      receivedOn: on('07-10'),
      auto: true,
    })
    expect(two.allocations.map(({ principal, on: day }: Parsed) => [principal, day])).to.deep.equal([
      [333_334, on('07-10')],
      [166_666, on('07-10')],
    ])
    expect(await a.document(invoice.id)).to.include({ status: 'partly_paid', open: 166_667 })

    const note = await good(finance, 'POST', 'accounts-receivable/credit-notes', {
      receivableId: invoice.id,
      amount: 50_000,
      issuedOn: on('07-15'),
      reason: 'A hall was not free',
    })
    expect(note.lines.map(({ amount, taxAmount }: Parsed) => [amount, taxAmount])).to.deep.equal([
      [45_000, 2_250],
      [5_000, 0],
    ])
    expect(note).to.include({ applied: 50_000, excess: 0, receiptId: null })
    expect(note.applications).to.deep.equal([{ installmentId: invoice.installments[2]?.id, amount: 50_000 }])
    await world.drain()
    expect(await good(finance, 'GET', `accounts-receivable/credit-notes/${note.id}`)).to.include({
      status: 'issued',
      number: 1,
    })
    expect([(await a.read(one.id)).number, (await a.read(two.id)).number]).to.have.members([1, 2])

    expect(await a.moved(on('01-01'), on('12-31'))).to.deep.equal([2_758_585, 2_758_585])
    const balances = await a.balances(on('01-01'), on('12-31'))
    expect(Object.fromEntries(Object.entries(balances).filter(([, value]) => value !== 0))).to.deep.equal({
      '1.1.2.01': 828_000,
      '1.1.3.02': 116_667,
      '1.1.5.03': 5_000,
      '2.1.3.01': -42_750,
      '4.2.04': -855_000,
      '4.3.08': -95_001,
      '4.8.01': 42_750,
      '8.4': 334,
    })
    expect(await a.failing()).to.deep.equal([])
  })
})
