import { expect } from 'chai'
import { createCashAccount } from '../../db/cash/index.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openReceivables } from './clerk.ts'

describe('an invoice in three installments', function () {
  this.timeout(120_000)
  const world = useWorld()

  it('is issued with its tax and the number 1, aged, written off and reinstated to the cent (story S4)', async () => {
    const a = await openReceivables(world)
    const { bookId, finance, owner, good, refused, on, account, path } = a
    const iss = await good(finance, 'POST', 'financial/tax-codes', {
      bookId,
      kind: 'document',
      code: 'ISS',
      name: 'ISS',
      liabilityAccountId: await account('2.1.3.01'),
      contraAccountId: await account('4.8.01'),
      rate: 50_000,
      validFrom: on('01-01'),
    })
    const { id: customerId } = await a.customer({ creditLimit: 1_000_001 })
    const body = {
      customerId,
      issuedOn: on('05-02'),
      lines: [
        {
          description: 'Hall',
          unitAmount: 450_000,
          quantity: '2',
          accountId: await account('4.2.04'),
          taxCodeId: iss.id,
        },
        { description: 'Decoration', unitAmount: 100_001, accountId: await account('4.3.08') },
      ],
      installments: [
        { dueOn: on('06-01'), amount: 333_334 },
        { dueOn: on('07-01'), amount: 333_334 },
        { dueOn: on('08-01'), amount: 333_333 },
      ],
    }
    const made = await a.invoice(body)
    expect(made).to.include({ status: 'issuing', number: null, total: 1_000_001, open: 1_000_001 })
    expect(made.lines.map(({ taxAmount }: Parsed) => taxAmount)).to.deep.equal([45_000, 0])
    expect(await a.customerNow(customerId)).to.include({ exposure: 1_000_001, overdue: 0 })
    // A unit more than the limit.
    expect(await refused(finance, 'POST', `${path}/receivables`, { ...body, bookId, issue: true })).to.deep.equal([
      422,
      'credit_limit_exceeded',
    ])
    await world.drain()
    const one = `${path}/receivables/${made.id}`
    expect(await a.read(made.id)).to.include({ status: 'issued', number: 1, series: on('').slice(0, 4) })
    expect(await good(finance, 'POST', `${one}/issue`, {})).to.include({ status: 'issued', number: 1 })
    expect(await a.customerNow(customerId)).to.include({ overdue: 1_000_001 })
    const nonZero = async (from: string, to: string) =>
      Object.fromEntries(Object.entries(await a.balances(from, to)).filter(([, value]) => value !== 0))
    expect(await nonZero(on('01-01'), on('12-31'))).to.deep.equal({
      '1.1.3.02': 1_000_001,
      '2.1.3.01': -45_000,
      '4.2.04': -900_000,
      '4.3.08': -100_001,
      '4.8.01': 45_000,
    })
    expect(await a.ageing(on('06-30'), customerId)).to.deep.equal({ notDue: 666_667, d1to30: 333_334 })
    expect(await a.ageing(on('08-31'), customerId)).to.deep.equal({
      d1to30: 333_333,
      d61to90: 333_334,
      over90: 333_334,
    })

    // After issue the schedule changes alone, and its past stays.
    expect(await refused(finance, 'PATCH', one, { lines: body.lines })).to.deep.equal([409, 'invalid_transition'])
    expect(await refused(finance, 'PATCH', one, { installments: [{ dueOn: on('09-01'), amount: 1 }] })).to.deep.equal([
      422,
      'installments_not_equal',
    ])
    const { data: due } = await good(finance, 'GET', `${path}/installments?bookId=${bookId}&overdue=true`)
    expect(due.map(({ open, seq, of, number }: Parsed) => [open, seq, of, number])).to.deep.equal([
      [333_334, 1, 3, '1'],
      [333_334, 2, 3, '1'],
      [333_333, 3, 3, '1'],
    ])

    const before = await a.ageing(on('08-31'), customerId)
    await good(owner, 'PATCH', `financial/books/${bookId}`, { approvalThreshold: 1_000_000 })
    const reason = { reason: 'The firm is insolvent' }
    expect(await refused(finance, 'POST', `${one}/write-off`, reason)).to.deep.equal([403, 'self_approval'])
    expect(await good(owner, 'POST', `${one}/write-off`, reason)).to.include({ status: 'written_off', open: 0 })
    expect(await good(owner, 'POST', `${one}/write-off`, reason)).to.include({ status: 'written_off' })
    expect(await a.customerNow(customerId)).to.include({ exposure: 0 })
    expect(await good(owner, 'POST', `${one}/reinstate`, reason)).to.include({ status: 'issued', open: 1_000_001 })
    expect(await refused(owner, 'POST', `${one}/reinstate`, reason)).to.deep.equal([409, 'invalid_transition'])
    expect(await a.ageing(on('08-31'), customerId)).to.deep.equal(before)
    await world.drain()
    const today = a.house.today
    expect(await nonZero(today, today)).to.deep.equal({ '6.1.09': 1_000_001, '4.4.05': -1_000_001 })

    const statement = await good(
      finance,
      'GET',
      `${path}/customers/${customerId}/statement?bookId=${bookId}&from=${on('01-01')}&to=${on('12-31')}`,
    )
    expect(statement.entries.map(({ type, balance }: Parsed) => [type, balance])).to.deep.equal([
      ['invoice', 1_000_001],
    ])
    const late = await good(finance, 'GET', `${path}/customers/${customerId}/statement?bookId=${bookId}`)
    expect(late.entries.map(({ type, balance }: Parsed) => [type, balance]).slice(-2)).to.deep.equal([
      ['write_off', 0],
      ['reinstated', 1_000_001],
    ])
    expect(await good(finance, 'POST', `${one}/void`, { reason: 'Billed to the wrong firm' })).to.include({
      status: 'void',
      number: 1,
    })
    expect(await refused(finance, 'POST', `${one}/issue`, {})).to.deep.equal([409, 'invalid_transition'])
    expect(await a.customerNow(customerId)).to.include({ exposure: 0 })
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
    expect(await good(finance, 'POST', `${path}/customers/${customerId}/archive`, {})).to.include({
      status: 'archived',
    })
    expect(await refused(finance, 'POST', `${path}/receivables`, { ...body, bookId })).to.deep.equal([
      409,
      'customer_archived',
    ])
  })

  it('may be a draft that changes whole, and a debt from before the start has no number', async () => {
    const a = await openReceivables(world)
    const { finance, good, refused, on, path, bookId } = a
    const { id: customerId } = await a.customer({ termDays: 10 })
    const draft = await good(finance, 'POST', `${path}/receivables`, {
      bookId,
      customerId,
      issuedOn: on('03-01'),
      lines: [await a.line(10_001)],
    })
    expect(draft.installments).to.have.length(1)
    expect(draft.installments[0]).to.include({ dueOn: on('03-11'), amount: 10_001 })
    const one = `${path}/receivables/${draft.id}`
    expect(
      await refused(finance, 'PATCH', one, { installments: [{ dueOn: on('04-01'), amount: 10_000 }] }),
    ).to.deep.equal([422, 'installments_not_equal'])
    const changed = await good(finance, 'PATCH', one, { lines: [await a.line(7), await a.line(8)] })
    expect(changed).to.include({ total: 15, status: 'draft' })
    expect(await a.customerNow(customerId)).to.include({ exposure: 0 })
    expect(
      await refused(finance, 'POST', `${path}/receivables`, {
        bookId,
        customerId,
        lines: [{ ...(await a.line(10)), accountId: await a.account('1.1.3.02') }],
      }),
    ).to.deep.equal([422, 'account_not_usable'])
    expect(await good(finance, 'POST', `${one}/void`, { reason: 'A mistake' })).to.include({
      status: 'void',
      number: null,
    })
    const old = {
      customerId,
      kind: 'opening',
      issuedOn: on('01-01'),
      customerReference: 'NF 881',
      lines: [{ description: 'Debt', unitAmount: 320_000, accountId: await a.account('3.9.01') }],
      installments: [{ dueOn: on('01-20'), amount: 320_000 }],
    }
    expect(await a.invoice(old)).to.include({ status: 'issued', number: null, open: 320_000 })
    expect(
      await refused(finance, 'POST', `${path}/receivables`, {
        ...old,
        bookId,
        lines: [await a.line(10)],
        installments: undefined,
      }),
    ).to.deep.equal([422, 'account_not_usable'])
    await good(finance, 'PATCH', `${path}/customers/${customerId}`, { onHold: true, holdReason: 'Pays late' })
    expect(await refused(finance, 'POST', `${path}/receivables`, { ...old, bookId, issue: true })).to.deep.equal([
      422,
      'customer_on_hold',
    ])
    expect(await refused(finance, 'PATCH', `${path}/customers/${customerId}`, { kind: 'ota' })).to.deep.equal([
      422,
      'locked_field',
    ])
    await world.drain()
    expect(await a.balances(on('01-01'), on('12-31'))).to.deep.equal({ '1.1.3.02': 320_000, '3.9.01': -320_000 })
    expect(await a.failing()).to.deep.equal([])
  })

  it('is paid, credited, given up and paid after all, as the whole story tells (story S4)', async () => {
    const a = await openReceivables(world)
    const { bookId, finance, owner, good, on, account, path, house } = a
    const code = (kind: string, name: string, more: object) =>
      good(finance, 'POST', 'financial/tax-codes', { bookId, kind, code: name, name, validFrom: on('01-01'), ...more })
    const iss = await code('document', 'ISS', {
      liabilityAccountId: await account('2.1.3.01'),
      contraAccountId: await account('4.8.01'),
      rate: 50_000,
    })
    const irrf = await code('withheld_by_customers', 'IRRF', {
      liabilityAccountId: await account('1.1.5.03'),
      rate: 15_000,
    })
    await good(owner, 'PUT', `${path}/settings?bookId=${bookId}`, {
      lateCharges: { fineRate: 200, monthlyInterestRate: 0 },
    })
    const cashAccountId = await house.inHouse((trx) =>
      createCashAccount(trx, { bookId, kind: 'bank', code: 'BANK', name: 'Banco' }),
    )
    const { id: customerId } = await a.customer()
    const made = await a.invoice({
      customerId,
      issuedOn: on('05-02'),
      lines: [
        { description: 'Hall', unitAmount: 900_000, accountId: await account('4.2.04'), taxCodeId: iss.id },
        { description: 'Decoration', unitAmount: 100_001, accountId: await account('4.3.08') },
      ],
      installments: [
        { dueOn: on('06-01'), amount: 333_334 },
        { dueOn: on('07-01'), amount: 333_334 },
        { dueOn: on('08-01'), amount: 333_333 },
      ],
    })
    await world.drain()
    const [first] = (await a.read(made.id)).installments as Parsed[]
    const receipt = (receivedOn: string, amount: number, more: object) =>
      good(finance, 'POST', `${path}/receipts`, {
        customerId,
        cashAccountId,
        method: 'bank',
        amount,
        receivedOn,
        ...more,
      })
    await receipt(on('06-03'), 328_000, {
      allocations: [
        {
          installmentId: first?.id,
          principal: 333_334,
          discount: 334,
          withheld: [{ taxCodeId: irrf.id, amount: 5_000 }],
        },
      ],
    })
    expect(await a.read(made.id)).to.include({ status: 'partly_paid', open: 666_667 })
    await receipt(on('07-10'), 500_000, { auto: true })
    expect(await a.ageing(on('06-30'), customerId)).to.deep.equal({ notDue: 666_667 })
    await good(finance, 'POST', `${path}/credit-notes`, {
      receivableId: made.id,
      amount: 50_000,
      reason: 'Too dear',
      issuedOn: on('07-15'),
    })
    await world.drain()
    const third = ((await a.read(made.id)).installments as Parsed[])[2]
    expect(third).to.include({ open: 116_667, credited: 50_000, settled: 166_666 })
    const aged = await a.ageing(on('08-31'), customerId)
    expect(aged).to.deep.equal({ d1to30: 116_667 })
    const nonZero = async (from: string, to: string) =>
      Object.fromEntries(Object.entries(await a.balances(from, to)).filter(([, value]) => value !== 0))
    expect(await a.moved(on('01-01'), on('12-31'))).to.deep.equal([2_758_585, 2_758_585])
    expect(await nonZero(on('01-01'), on('12-31'))).to.deep.equal({
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
      `${path}/customers/${customerId}/statement?bookId=${bookId}&from=${on('01-01')}&to=${on('12-31')}`,
    )
    expect(statement.entries.map(({ balance }: Parsed) => balance)).to.deep.equal([
      1_000_001, 666_667, 333_333, 166_667, 116_667,
    ])
    const one = `${path}/receivables/${made.id}`
    expect(await good(finance, 'POST', `${one}/write-off`, { reason: 'Insolvent' })).to.include({
      status: 'written_off',
    })
    expect(await good(finance, 'POST', `${one}/reinstate`, { reason: 'They pay' })).to.include({
      status: 'partly_paid',
    })
    await receipt(house.today, 119_000, {
      allocations: [{ installmentId: third?.id, principal: 116_667, fine: 2_333 }],
    })
    expect(await a.read(made.id)).to.include({ status: 'paid', open: 0, credited: 50_000, settled: 950_001 })
    await world.drain()
    expect(await nonZero(house.today, house.today)).to.deep.equal({
      '1.1.2.01': 119_000,
      '1.1.3.02': -116_667,
      '6.1.09': 116_667,
      '4.4.05': -116_667,
      '7.1': -2_333,
    })
    expect(await a.ageing(on('08-31'), customerId)).to.deep.equal(aged)
    expect(await a.customerNow(customerId)).to.include({ exposure: 0, overdue: 0, available: 0 })
    expect(await a.failing()).to.deep.equal([])
  })
})
