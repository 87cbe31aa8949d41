import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { openPayables } from '../accounts-payable/desk.ts'
import { line } from '../financial/accountant.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'

/** S1 of the stories of the books: what a house brings along when it begins, over HTTP and to the cent. */
describe('the story of opening balances', function () {
  this.timeout(60_000)
  const world = useWorld()

  it('brings cash, what is owed both ways, and the rest, and leaves no difference', async () => {
    const a = await openPayables(world)
    const { bookId, finance, good, account, on } = a
    const opened = (kind: string, amount: number) =>
      good(finance, 'POST', 'cash/accounts', {
        bookId,
        kind,
        code: kind.slice(0, 4).toUpperCase(),
        name: kind,
        opening: { amount, on: on('01-01') },
      })
    await opened('bank', 1_500_000)
    await opened('petty_cash', 50_000)
    const difference = await account('3.9.01')
    const customer = await good(finance, 'POST', 'accounts-receivable/customers', {
      kind: 'company',
      currency: 'BRL',
      legalName: 'Agência Sol Ltda',
      countryCode: 'BR',
      document: '11222333000181',
    })
    const owed = await good(finance, 'POST', 'accounts-receivable/receivables', {
      bookId,
      customerId: customer.id,
      kind: 'opening',
      issuedOn: on('01-01'),
      lines: [{ description: 'NF 881', unitAmount: 320_000, accountId: difference }],
      installments: [{ dueOn: on('01-20'), amount: 320_000 }],
      customerReference: 'NF 881',
      issue: true,
    })
    const { id: supplierId } = await a.supplier()
    const owing = await good(finance, 'POST', 'accounts-payable/payables', {
      bookId,
      kind: 'opening',
      supplierId,
      number: '771',
      issuedOn: on('01-01'),
      lines: [{ description: 'NF 771', accountId: difference, amount: 240_000 }],
      installments: [{ dueOn: on('01-15'), amount: 240_000 }],
      submit: true,
    })
    expect(owing).to.include({ status: 'approved', open: 240_000 })
    await world.drain()
    expect(await good(finance, 'GET', `accounts-receivable/receivables/${owed.id}`)).to.include({
      status: 'issued',
      number: null,
      open: 320_000,
    })

    const entry = {
      bookId,
      kind: 'opening',
      postingDate: on('01-01'),
      description: 'Opening',
      lines: [line('1.2.3.03', 8_000_000), line('1.2.9.01', -1_200_000), line('3.1.01', -7_000_000)],
    }
    const entries = 'financial/ledger-entries'
    const key = { idempotencyKey: randomUUID() }
    const [first, again] = [
      await finance.send('POST', entries, entry, key),
      await finance.send('POST', entries, entry, key),
    ]
    expect([first.status, again.status, again.body.id]).to.deep.equal([201, 201, first.body.id])
    expect(again.headers['idempotent-replayed']).to.equal('true')
    expect(first.body).to.include({ total: 8_200_000 })
    expect((first.body.lines as Parsed[]).at(-1)).to.include({ accountId: difference, debit: 200_000 })
    const other = await finance.send('POST', entries, { ...entry, description: 'Other' }, key)
    expect([other.status, other.body.code]).to.deep.equal([422, 'idempotency_key_reused'])
    const onControl = await finance.send('POST', entries, {
      ...entry,
      kind: 'standard',
      lines: [line('2.1.1.01', 100), line('3.1.01', -100)],
    })
    expect([onControl.status, onControl.body.code]).to.deep.equal([422, 'account_not_usable'])
    const tried = await finance.send('POST', `${entries}?dryRun=true`, {
      ...entry,
      kind: 'standard',
      lines: [line('5.1.09', 1_000), line('1.1.3.80', -999)],
    })
    expect([tried.status, (tried.body.errors as Parsed[]).map(({ code }) => code)]).to.deep.equal([
      200,
      ['entry_not_balanced'],
    ])
    expect((await a.balances(on('01-01'), on('01-31')))['3.9.01']).to.equal(-1_430_000)
    await a.entry(on('01-01'), [line('3.9.01', 1_430_000), line('3.2.01', -1_430_000)])

    const report = async (name: string, query: string): Promise<Parsed> => {
      await a.calm()
      return good(finance, 'GET', `reports/${name}?bookId=${bookId}&${query}`)
    }
    const { totals } = await report('trial-balance', `startDate=${on('01-01')}&endDate=${on('01-31')}`)
    expect(totals).to.include({ debit: 11_740_000, credit: 11_740_000, closing: 0 })
    expect(await a.balances(on('01-01'), on('01-31'))).to.deep.equal({
      '1.1.1.03': 50_000,
      '1.1.2.01': 1_500_000,
      '1.1.3.02': 320_000,
      '1.2.3.03': 8_000_000,
      '1.2.9.01': -1_200_000,
      '2.1.1.01': -240_000,
      '3.1.01': -7_000_000,
      '3.2.01': -1_430_000,
      '3.9.01': 0,
    })
    const sheet = await report('balance-sheet', `asOf=${on('01-31')}`)
    expect(sheet.totals).to.include({ assets: 8_670_000, liabilities: 240_000, equity: 8_430_000 })
    expect(await a.failing()).to.deep.equal([])
  })
})
