import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { enqueue } from '../../db/lib/enqueue.ts'
import { ledgerRunDue } from '../../jobs/financial.ts'
import { openPayables } from '../accounts-payable/desk.ts'
import { ofxFile } from '../cash/statement-files.ts'
import { line } from '../financial/accountant.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'

const nonzero = (balances: Record<string, number>) =>
  Object.fromEntries(Object.entries(balances).filter(([, value]) => value !== 0))

/** Days that an accountant meets a few times a year, over HTTP and to the cent. */
describe('the story of odd months', function () {
  this.timeout(120_000)
  const world = useWorld()
  const begin = async () => {
    const a = await openPayables(world)
    await a.calm()
    const key = () => randomUUID().slice(0, 8).toUpperCase()
    const bank = async (): Promise<string> =>
      (
        await a.good(a.finance, 'POST', 'cash/accounts', {
          bookId: a.bookId,
          kind: 'bank',
          code: key(),
          name: 'Banco',
          bankCode: '341',
          number: '12345-6',
          opening: { amount: 1_000_000, on: a.on('01-01') },
        })
      ).id as string
    const runDue = async (date: string) => {
      const { tenantId } = a.house
      await a.house.inHouse((trx) => enqueue(trx, ledgerRunDue, { tenantId, bookId: a.bookId, date }))
      await world.drain()
    }
    return { ...a, bankOf: bank, runDue }
  }
  type Story = Awaited<ReturnType<typeof begin>>

  it('sells an asset in the middle of a month: its depreciation ends, and the loss is what the books had left', async () => {
    const a: Story = await begin()
    const { good, finance, account, on } = a
    const beds = await account('1.2.3.03')
    await a.entry(on('01-02'), [line('1.2.3.03', 6_000_000), line('1.1.3.80', -6_000_000)])
    const asset = await good(finance, 'POST', 'financial/accrual-schedules', {
      bookId: a.bookId,
      kind: 'depreciation',
      amount: 5_000_000,
      firstMonth: on('01'),
      months: 48,
      asset: { number: 'CAMA-02', accountId: beds, cost: 6_000_000, residual: 1_000_000 },
      description: 'Beds',
    })
    await world.drain()
    const path = `financial/accrual-schedules/${asset.id}`
    const before = await good(finance, 'GET', path)
    // Months that are over, of the year before and of this one; the rest of this month is none.
    const months = 12 + Number(a.house.today.slice(5, 7)) - 1
    const posted = Math.floor((5_000_000 * months) / 48)
    expect(before).to.include({ status: 'running', posted, postedMonths: months, bookValue: 6_000_000 - posted })
    expect(await good(finance, 'POST', `${path}/cancel`, { rest: 'leave' })).to.include({
      status: 'cancelled',
      posted,
      bookValue: 6_000_000 - posted,
    })
    const price = 3_100_000
    await a.entry(a.house.today, [
      line('1.1.3.80', price),
      line('1.2.9.01', posted),
      line('6.8.02', 6_000_000 - posted - price),
      line('1.2.3.03', -6_000_000),
    ])
    await a.runDue(`${a.year + 3}-12-31`)
    const all = nonzero(await a.balances(on('01-01'), `${a.year + 3}-12-31`))
    expect(all).to.deep.equal({
      '1.1.3.80': price - 6_000_000,
      '6.8.01': posted,
      '6.8.02': 6_000_000 - posted - price,
    })
    expect(await a.failing()).to.deep.equal([])
  })

  it('turns an accrual over the end of a year, which stays in the old year and lowers the new one', async () => {
    const a: Story = await begin()
    const { good, finance, owner, on } = a
    const next = (day: string) => `${a.year + 1}-${day}`
    const accrued = await a.entry(on('12-31'), [line('6.5.01', 98_765), line('2.1.7.01', -98_765)], {
      reverseOn: next('01-01'),
    })
    await world.drain()
    // The bill itself comes in January.
    await a.entry(next('01-12'), [line('6.5.01', 100_000), line('1.1.3.80', -100_000)])
    const { reversedByEntryId } = await good(finance, 'GET', `financial/ledger-entries/${accrued.id}`)
    expect(await good(finance, 'GET', `financial/ledger-entries/${reversedByEntryId}`)).to.include({
      postingDate: next('01-01'),
      total: 98_765,
    })
    const result = async (from: string, to: string): Promise<number> => {
      await a.calm()
      const { data } = await good(
        finance,
        'GET',
        `reports/income-statement?bookId=${a.bookId}&startDate=${from}&endDate=${to}`,
      )
      return (data as { key: string; amount: number }[]).find(({ key }) => key === 'result')?.amount ?? 0
    }
    expect([await result(on('01-01'), on('12-31')), await result(next('01-01'), next('01-31'))]).to.deep.equal([
      -98_765, -1_235,
    ])
    await a.closeMonths()
    const [year] = await a.rows<{ id: string }>(
      `select id from fiscal_year where book_id = :bookId and year = ${a.year}`,
    )
    await a.calm()
    await good(finance, 'POST', `financial/fiscal-years/${year?.id}/close`)
    await world.drain()
    const equity = async () => {
      await a.calm()
      const { data } = await good(finance, 'GET', `financial/balances?bookId=${a.bookId}&asOf=${on('12-31')}`)
      const row = (data as Parsed[]).find(({ code }) => code === '3.2.01')
      return (row?.balance ?? 0) as number
    }
    const [carried] = await a.rows<{ sum: number }>(
      `select coalesce(sum(l.debit - l.credit), 0)::bigint as sum from journal_line l join account a on a.id = l.account_id where l.book_id = :bookId and a.role = 'retained_earnings'`,
    )
    expect(Number(carried?.sum)).to.equal(98_765)
    // Closing entries stand in a period of their own: the result of the year stays readable.
    expect(await result(on('01-01'), on('12-31'))).to.equal(-98_765)
    await good(owner, 'POST', `financial/fiscal-years/${year?.id}/reopen`, { reason: 'A bill was forgotten' })
    await world.drain()
    expect(await equity()).to.equal(0)
    const sums = await a.balances(on('01-01'), next('12-31'))
    expect(nonzero(sums)).to.deep.equal({ '1.1.3.80': -100_000, '6.5.01': 100_000 })
    expect(await a.failing()).to.deep.equal([])
  })

  it('is paid in a foreign currency in two parts, at two rates, by lines of the bank', async () => {
    const a: Story = await begin()
    const { good, refused, finance, account, on } = a
    const bankId = await a.bankOf()
    const customers = 'accounts-receivable/customers'
    const dollars = await good(finance, 'POST', customers, { kind: 'company', legalName: 'Sea Inc', currency: 'USD' })
    const customer = await good(finance, 'POST', customers, {
      kind: 'company',
      legalName: 'Ocean Inc',
      currency: 'BRL',
    })
    const lines = [
      { description: 'Event of 1,000.00 USD at 5.10', unitAmount: 510_000, accountId: await account('4.3.08') },
    ]
    const invoice = { bookId: a.bookId, issuedOn: on('04-01'), lines, issue: true }
    // A book has one currency, and so have those whom it bills.
    expect(
      await refused(finance, 'POST', 'accounts-receivable/receivables', { ...invoice, customerId: dollars.id }),
    ).to.deep.equal([422, 'currency_mismatch'])
    const made = await good(finance, 'POST', 'accounts-receivable/receivables', {
      ...invoice,
      customerId: customer.id,
      installments: [
        { dueOn: on('05-01'), amount: 204_000 },
        { dueOn: on('06-01'), amount: 306_000 },
      ],
    })
    await world.drain()
    const file = ofxFile(
      [
        { on: on('05-04'), amount: '2080.00', id: 'A1', memo: 'ORDEM 400 USD A 5,20' },
        { on: on('06-03'), amount: '3000.00', id: 'A2', memo: 'ORDEM 600 USD A 5,00' },
      ],
      { balance: '15080.00', to: on('06-30') },
    )
    const statement = await good(finance, 'POST', 'cash/bank-statements', {
      cashAccountId: bankId,
      format: 'ofx',
      fileName: 'june.ofx',
      content: file.toString('base64'),
    })
    await world.drain()
    const { data: found } = await good(finance, 'GET', `cash/bank-statement-lines?bankStatementId=${statement.id}`)
    const [first, second] = (found as Parsed[]).toSorted((one, other) => one.amount - other.amount) as [Parsed, Parsed]
    const { installments } = await good(finance, 'GET', `accounts-receivable/receivables/${made.id}`)
    const [one, other] = installments as [Parsed, Parsed]
    const match = (of: Parsed, targets: object[]) =>
      a.send(finance, 'POST', `cash/bank-statement-lines/${of.id}/match`, { targets })
    const book = async (code: string, amount: number) => ({
      book: { accountId: await account(code), amount, description: 'Exchange difference' },
    })
    const short = [{ receivableInstallmentId: one.id, principal: 204_000 }, await book('7.3', 3_999)]
    expect((await match(first, short))[1].code).to.equal('match_not_equal')
    for (const [of, targets] of [
      [first, [{ receivableInstallmentId: one.id, principal: 204_000 }, await book('7.3', 4_000)]],
      [second, [{ receivableInstallmentId: other.id, principal: 306_000 }, await book('8.5', -6_000)]],
    ] as const) {
      const [status, reply] = await match(of, [...targets])
      expect(status, JSON.stringify(reply)).to.be.below(300)
    }
    expect(await good(finance, 'POST', `cash/bank-statements/${statement.id}/reconcile`, {})).to.include({
      status: 'reconciled',
    })
    await world.drain()
    expect(await good(finance, 'GET', `accounts-receivable/receivables/${made.id}`)).to.include({ status: 'paid' })
    expect(nonzero(await a.balances(on('01-01'), on('12-31')))).to.deep.equal({
      '1.1.2.01': 1_508_000,
      '3.9.01': -1_000_000,
      '4.3.08': -510_000,
      '7.3': -4_000,
      '8.5': 6_000,
    })
    expect(await a.failing()).to.deep.equal([])
  })

  it('pays a bill with withholdings by installments, one of them with a credit and one of them twice', async () => {
    const a: Story = await begin()
    const { good, refused, finance, account, on } = a
    const bankId = await a.bankOf()
    const code = async (name: string, rate: number): Promise<string> =>
      (
        await good(finance, 'POST', 'financial/tax-codes', {
          bookId: a.bookId,
          kind: 'withheld_from_suppliers',
          code: name,
          name,
          liabilityAccountId: await account('2.1.3.07'),
          rate,
          validFrom: on('01-01'),
          payeeName: 'Receita Federal',
          dueDay: 20,
        })
      ).id as string
    const withholdings = [{ taxCodeId: await code('IRRF', 15_000) }, { taxCodeId: await code('CSRF', 46_500) }]
    const { id: supplierId } = await a.supplier()
    const repairs = await account('6.4.03')
    const bill = await a.bill({
      supplierId,
      number: '77',
      issuedOn: on('03-10'),
      lines: [{ description: 'Repairs', accountId: repairs, amount: 1_000_001 }],
      withholdings,
      installments: [
        { dueOn: on('04-10'), amount: 312_834 },
        { dueOn: on('05-10'), amount: 312_834 },
        { dueOn: on('06-10'), amount: 312_833 },
      ],
    })
    expect(bill).to.include({ gross: 1_000_001, withheld: 61_500, net: 938_501 })
    const [first, second, third] = bill.installments as [Parsed, Parsed, Parsed]
    const credit = await good(finance, 'POST', 'accounts-payable/credits', {
      supplierId,
      payableId: bill.id,
      number: 'NC 9',
      issuedOn: on('04-02'),
      amount: 100_000,
    })
    const manual = (installmentId: string, payOn: string, item: object = {}) => ({
      method: 'manual',
      cashAccountId: bankId,
      payOn,
      items: [{ installmentId, ...item }],
    })
    await good(finance, 'POST', 'accounts-payable/payments', manual(first.id, on('04-10')))
    const set = await good(finance, 'POST', 'accounts-payable/payments', {
      method: 'credit',
      creditId: credit.id,
      items: [{ installmentId: second.id, principal: 100_000 }],
    })
    expect(
      await refused(
        finance,
        'POST',
        'accounts-payable/payments',
        manual(second.id, on('05-10'), { principal: 212_835 }),
      ),
    ).to.deep.equal([422, 'amount_exceeds_open'])
    await good(finance, 'POST', 'accounts-payable/payments', manual(second.id, on('05-10')))
    expect(await refused(finance, 'POST', 'accounts-payable/payments', manual(second.id, on('05-10')))).to.deep.equal([
      422,
      'amount_exceeds_open',
    ])
    await good(
      finance,
      'POST',
      'accounts-payable/payments',
      manual(third.id, on('06-12'), { interest: 1_011, fine: 6_257 }),
    )
    expect(await a.read(bill.id as string)).to.include({ status: 'paid', open: 0 })
    await world.drain()
    const expected = {
      '1.1.2.01': 1_000_000 - 312_834 - 212_834 - 312_833 - 7_268,
      '2.1.3.07': -61_500,
      '3.9.01': -1_000_000,
      '6.4.03': 900_001,
      '8.1': 7_268,
    }
    expect(nonzero(await a.balances(on('01-01'), `${a.year + 1}-12-31`))).to.deep.equal(expected)
    // The credit is given back: the installment opens again, and what is owed with it.
    await good(finance, 'POST', `accounts-payable/payments/${set.id}/void`, { reason: 'Of another bill' })
    expect(await a.read(bill.id as string)).to.include({ status: 'partly_paid', open: 100_000 })
    await good(finance, 'POST', `accounts-payable/credits/${credit.id}/refund`, {
      amount: 100_000,
      cashAccountId: bankId,
      receivedOn: on('07-01'),
    })
    await good(finance, 'POST', 'accounts-payable/payments', manual(second.id, on('07-02')))
    await world.drain()
    expect(nonzero(await a.balances(on('01-01'), `${a.year + 1}-12-31`))).to.deep.equal(expected)
    const statement = await good(
      finance,
      'GET',
      `accounts-payable/suppliers/${supplierId}/statement?bookId=${a.bookId}&from=${on('01-01')}&to=${on('12-31')}`,
    )
    expect(statement).to.include({ opening: 0, closing: 0 })
    expect(await a.failing()).to.deep.equal([])
  })
})
